// A chain that was made from a log that has since been given up goes on in the log that took over: its positions begin
// anew there, and the next block says which logs it has left. Pure: all builders come to the same.

import type { AdoptionRecord, LeftLog } from '../chain/records.ts'
import { partitionOf } from '../log/partitions.ts'
import { HaltError } from '../model/errors.ts'
import { foldAscii } from '../model/names.ts'
import type { LoadedDataset } from './load-dataset.ts'

/** The log that a builder reads. */
export interface LogPlace {
  readonly log: string
  readonly partition: number
}

/**
 * `loaded` as a dataset of the log `to`, to which `adoptions` lead from the log of its last commit. `alias` is the
 * dataset's name. Throws HaltError `LogReplaced` when they lead elsewhere.
 */
export function adoptChain(
  loaded: LoadedDataset,
  adoptions: readonly AdoptionRecord[],
  to: LogPlace & { readonly alias: string | undefined },
): LoadedDataset {
  const { id } = loaded.state
  const { record } = loaded.commit
  const upTo = adoptions.findIndex((adoption) => adoption.new === to.log)
  if (upTo < 0 || to.alias === undefined) {
    throw new HaltError('LogReplaced', `dataset ${id} was made from log ${record.log}, partition ${record.partition}`)
  }
  const folded = foldAscii(to.alias)
  const adopted: LeftLog[] = []
  let { partition, next } = record
  for (const adoption of adoptions.slice(0, upTo + 1)) {
    adopted.push(leftLog(adoption, { id, partition, next }))
    partition = partitionOf(folded, adoption.begin.length)
    next = adoption.begin[partition] ?? 0
  }
  if (partition !== to.partition) {
    throw new HaltError('LogReplaced', `the rows of dataset ${id} go to partition ${partition}, not to ${to.partition}`)
  }
  return {
    ...loaded,
    // What came of a batch in parts stays in the log that was left.
    state: { ...loaded.state, next, attempts: new Map() },
    tip: { ...loaded.tip, adopted },
    anchor: undefined,
  }
}

/** What the chain says of the log that it leaves, having read it up to `next`. */
function leftLog(
  { old, partitions, halted }: AdoptionRecord,
  at: { readonly id: string; readonly partition: number; readonly next: number },
): LeftLog {
  const { id, partition, next } = at
  const { floor, end } = partitions[partition] ?? { floor: 0 }
  const committed = halted.find(({ dataset }) => dataset === id)?.position ?? floor
  const from = Math.max(next, committed)
  if (end === undefined) return { log: old, partition, givenUp: { from } }
  return from < end ? { log: old, partition, givenUp: { from, to: end } } : { log: old, partition }
}
