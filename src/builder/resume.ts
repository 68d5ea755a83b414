// Where a builder begins to read a partition, and the checks that log, floor and chain belong together
// (protocol.md §5). Nothing is guessed or reset: what does not fit is a halt with a reason.

import type { AdoptionRecord, FloorRecord } from '../chain/records.ts'
import { sha3Hash } from '../ids/multihash.ts'
import type { EventLog } from '../log/event-log.ts'
import { decodeMessage } from '../log/messages.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import { adoptionsFrom, putLog, readAdoption } from '../store/records.ts'
import { logsPrefix } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { LoadedDataset } from './load-dataset.ts'

/** Declares the log, or checks that its declaration stands and that it is not given up. Throws HaltError `LogReplaced`. */
export async function declareLog(store: ObjectStore, log: EventLog): Promise<void> {
  const { id, kind, partitions } = log
  const adoption = await readAdoption(store, id)
  if (adoption !== undefined) throw new HaltError('LogReplaced', `log ${id} was given up for log ${adoption.new}`)
  const claim = await putLog(store, { id, kind, partitions })
  if (claim.outcome === 'won' || claim.inForce.partitions === partitions) return
  const count = claim.inForce.partitions
  throw new HaltError('LogReplaced', `log ${id} is declared with ${count} partitions, but has ${partitions}`)
}

/** Ids of the logs that the store knows and that neither are `log` nor were given up for it. */
export async function otherLogs(store: ObjectStore, log: EventLog): Promise<readonly string[]> {
  const others: string[] = []
  for (const id of await store.list(logsPrefix)) {
    const adoptions = await adoptionsOf(store, id).catch(() => [])
    if ((adoptions.at(-1)?.new ?? id) !== log.id) others.push(id)
  }
  return others
}

/** The adoptions that lead on from a log. Throws HaltError `ChainBroken` where a record is damaged. */
export async function adoptionsOf(store: ObjectStore, id: string): Promise<readonly AdoptionRecord[]> {
  try {
    return await adoptionsFrom(store, id)
  } catch (error) {
    if (error instanceof DecodeError) throw new HaltError('ChainBroken', `log ${id}: ${error.message}`, error)
    throw error
  }
}

/** Checks that the log still fits the newest floor. Throws HaltError `LogTruncated`, `LogRegressed`, `LogReplaced`. */
export async function checkFloor(log: EventLog, partition: number, floor: FloorRecord | undefined): Promise<void> {
  const position = floor?.position ?? 0
  const { start, end } = await log.range(partition)
  if (position < start) {
    throw new HaltError('LogTruncated', `the log begins at ${start}, but all below ${position} alone is committed`)
  }
  if (position > end) throw new HaltError('LogRegressed', `the log ends at ${end}, but was read up to ${position}`)
  if (floor?.anchor !== undefined) {
    const message = await log.get(partition, position - 1)
    if (message !== undefined && sha3Hash(message) !== floor.anchor) {
      throw new HaltError('LogReplaced', `message ${position - 1} is not the one that was read before`)
    }
  }
}

/**
 * Checks that a chain that has read beyond `floor` read this log: the message below its next position must hash to
 * its anchor (a bare creation: must be that creation). Throws HaltError `LogRegressed`, `LogReplaced`.
 */
export async function checkAnchor(
  log: EventLog,
  at: { readonly partition: number; readonly floor: number },
  loaded: LoadedDataset,
): Promise<void> {
  const { record } = loaded.commit
  const { id, next } = loaded.state
  if (record.log !== log.id || record.partition !== at.partition) {
    throw new HaltError('LogReplaced', `dataset ${id} was made from log ${record.log}, partition ${record.partition}`)
  }
  if (next <= at.floor) return
  const message = await log.get(at.partition, next - 1)
  if (message === undefined) {
    throw new HaltError('LogRegressed', `dataset ${id} was read up to ${next}, but the log has no message ${next - 1}`)
  }
  const same = loaded.anchor === undefined ? isCreation(message, id) : sha3Hash(message) === loaded.anchor
  if (!same) throw new HaltError('LogReplaced', `message ${next - 1} is not the one that dataset ${id} was made from`)
}

function isCreation(bytes: Uint8Array, id: string): boolean {
  const message = decodeMessage(bytes)
  return message.kind === 'message' && message.header.kind === 'create' && message.header.dataset === id
}
