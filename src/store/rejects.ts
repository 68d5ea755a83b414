// What operators have rejected (protocol.md §10): records that the first writer decides, read by every builder. A
// rejection is for ever; where a chain has the message in a block, it means nothing.

import { decodeRejectRecord, encodeRejectRecord } from '../chain/record-codec.ts'
import type { RejectRecord } from '../chain/records.ts'
import { DecodeError } from '../model/errors.ts'
import type { DatasetId } from '../model/events.ts'
import { type Claim, claim } from './claims.ts'
import { numberOfName, rejectKey, rejectsPrefix } from './layout.ts'
import type { ObjectStore } from './object-store.ts'

/** A place in a log. */
export interface MessagePlace {
  readonly log: string
  readonly partition: number
  readonly position: number
}

/** The rejected messages of one partition, by position. */
export type Rejects = ReadonlyMap<number, RejectRecord>

/** Rejects the message at `at`; the first such record stands. Durable when it resolves. Throws `DecodeError`. */
export function putReject(store: ObjectStore, at: MessagePlace, record: RejectRecord): Promise<Claim<RejectRecord>> {
  const key = rejectKey(at.log, at.partition, at.position)
  return claim(store, key, { bytes: encodeRejectRecord(record), decode: decodeRejectRecord })
}

/**
 * All rejections of one partition. One that cannot be read is handed to `onDamaged` and counts as none: its dataset
 * stays halted, and others are not stopped by it.
 */
export async function readRejects(
  store: ObjectStore,
  { log, partition }: Pick<MessagePlace, 'log' | 'partition'>,
  onDamaged: (position: number, error: DecodeError) => void,
): Promise<Rejects> {
  const rejects = new Map<number, RejectRecord>()
  for (const name of await store.list(rejectsPrefix(log, partition))) {
    const position = numberOfName(name)
    const bytes = position === undefined ? undefined : await store.get(rejectKey(log, partition, position))
    if (position === undefined || bytes === undefined) continue
    try {
      rejects.set(position, decodeRejectRecord(bytes))
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      onDamaged(position, error)
    }
  }
  return rejects
}

/** Why an operator has rejected rows of `dataset` that lie at `positions`, as their outcome says it; or undefined. */
export function rejectionOf(rejects: Rejects, dataset: DatasetId, positions: readonly number[]): string | undefined {
  if (rejects.size === 0) return undefined
  for (const position of positions) {
    const record = rejects.get(position)
    if (record?.dataset === dataset) return `Rejected by an operator (${record.by}): ${record.reason}`
  }
  return undefined
}
