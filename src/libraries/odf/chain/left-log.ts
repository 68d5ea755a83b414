// What a chain leaves behind in a log that was given up for another (docs/decisions/log.md#adopting-another-log): the
// messages that it has not read. It follows from the record of the adoption and the chain alone. Pure.

import type { DatasetId } from '../../base/ids/identifiers.ts'
import type { AdoptionRecord, LeftLog } from './records.ts'

/** What the chain of dataset `id` says of the log that it leaves, having read partition `partition` of it up to `next`. */
export function leftLog(
  { old, partitions, halted }: AdoptionRecord,
  at: { readonly id: DatasetId; readonly partition: number; readonly next: number },
): LeftLog {
  const { id, partition, next } = at
  const { floor, end } = partitions[partition] ?? { floor: 0 }
  const committed = halted.find(({ dataset }) => dataset === id)?.position ?? floor
  const from = Math.max(next, committed)
  if (end === undefined) return { log: old, partition, givenUp: { from } }
  return from < end ? { log: old, partition, givenUp: { from, to: end } } : { log: old, partition }
}
