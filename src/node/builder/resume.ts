// Where a builder begins to read a partition, and the checks that log, floor and chain belong together
// (docs/spec/protocol.md §5). Nothing is guessed or reset: what does not fit is a halt with a reason. A chain whose log
// was given up for another goes on in that one: its positions begin anew there, and its next block says what it left.

import { leftLog } from '../../libraries/odf/chain/left-log.ts'
import type { AdoptionRecord, LeftLog, LowWaterMark } from '../../libraries/odf/chain/records.ts'
import { type DatasetId, sha3Hash } from '../../libraries/base/ids/identifiers.ts'
import type { EventLog } from '../log/event-log.ts'
import { decodeMessage } from '../log/messages.ts'
import { partitionOf } from '../log/partitions.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { logsPrefix, progressKey, progressPrefix } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { adoptionsFrom, listNumbers, newestLowWaterMark, putLog, readAdoption } from '../store/records.ts'
import type { NameIndex } from './name-index.ts'
import { loadDataset, type LoadedDataset } from './load-dataset.ts'

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
async function adoptionsOf(store: ObjectStore, id: string): Promise<readonly AdoptionRecord[]> {
  try {
    return await adoptionsFrom(store, id)
  } catch (error) {
    if (error instanceof DecodeError) throw new HaltError('ChainBroken', `log ${id}: ${error.message}`, error)
    throw error
  }
}

/** Checks that the log still fits the newest floor. Throws HaltError `LogTruncated`, `LogRegressed`, `LogReplaced`. */
export async function checkLowWaterMark(log: EventLog, partition: number, floor: Floor): Promise<void> {
  const { position, anchor } = floor
  const { start, end } = await log.range(partition)
  if (position < start) {
    throw new HaltError('LogTruncated', `the log begins at ${start}, but all below ${position} alone is committed`)
  }
  if (position > end) throw new HaltError('LogRegressed', `the log ends at ${end}, but was read up to ${position}`)
  if (anchor !== undefined) {
    const message = await log.get(partition, position - 1)
    if (message !== undefined && sha3Hash(message) !== anchor) {
      throw new HaltError('LogReplaced', `message ${position - 1} is not the one that was read before`)
    }
  }
}

/**
 * When the newest floor of the log was stored, in milliseconds since 1970 by the clock of the store; undefined where there is
 * none, or the store does not know.
 */
export async function lastFloorMs(store: ObjectStore, { id, partitions }: EventLog): Promise<number | undefined> {
  let lastMs = 0
  for (let partition = 0; partition < partitions; partition++) {
    const position = (await listNumbers(store, progressPrefix(id, partition))).at(-1)
    const storedMs = position && (await store.modifiedMs(progressKey(id, partition, position)))
    lastMs = Math.max(lastMs, storedMs ?? 0)
  }
  return lastMs > 0 ? lastMs : undefined
}

type Floor = Pick<LowWaterMark, 'position' | 'halted' | 'anchor'>

/** The newest floor of a partition, as far as this builder knows. */
export class LowWaterMarks {
  readonly #of: { readonly store: ObjectStore; readonly log: EventLog; readonly partition: number }
  /** Everything below is committed, but for halted datasets. */
  position = 0

  constructor(of: { readonly store: ObjectStore; readonly log: EventLog; readonly partition: number }) {
    this.#of = of
  }

  /** Reads the newest floor. Throws what the store throws. */
  async refresh(): Promise<Floor> {
    const { store, log, partition } = this.#of
    const newest = await newestLowWaterMark(store, log.id, partition)
    this.position = Math.max(this.position, newest?.position ?? 0)
    return newest ?? { position: 0, halted: [] }
  }
}

/** What is needed to read chains that go on in one partition. */
export interface ChainSource {
  readonly log: EventLog
  readonly partition: number
  readonly store: ObjectStore
  readonly names: NameIndex
  readonly floors: LowWaterMarks
}

/**
 * The dataset as its chain has it and as this log goes on with it; undefined when there is no chain. Throws HaltErrors
 * `ChainBroken`, `LogRegressed`, `LogReplaced` when it cannot go on.
 */
export async function openChain(from: ChainSource, id: DatasetId): Promise<LoadedDataset | undefined> {
  const { log, partition, store, names, floors } = from
  const loaded = await loadDataset(store, id)
  if (loaded === undefined) return undefined
  const { log: madeFrom } = loaded.commit.record
  if (madeFrom !== log.id) {
    const name = await names.of(id)
    // Its partition is a hash of the alias at birth.
    const alias = name?.born ?? name?.alias
    return adoptChain(loaded, await adoptionsOf(store, madeFrom), { log: log.id, partition, alias })
  }
  try {
    await checkAnchor(log, { partition, floor: floors.position }, loaded)
  } catch (error) {
    if (!(error instanceof HaltError) || error.reason !== 'LogRegressed') throw error
    // Another builder may have raised the floor, and the log have let go of what lies below it.
    await floors.refresh()
    await checkAnchor(log, { partition, floor: floors.position }, loaded)
  }
  return loaded
}

/**
 * Checks that a chain that has read beyond `floor` read this log: the message below its next position must hash to
 * its anchor (a bare creation: must be that creation). Throws HaltError `LogRegressed`, `LogReplaced`.
 */
async function checkAnchor(
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

/**
 * `loaded` as a dataset of the log `to`, to which `adoptions` lead from the log of its last commit. `alias` is that of the
 * dataset's birth. Throws HaltError `LogReplaced` when they lead elsewhere.
 */
function adoptChain(
  loaded: LoadedDataset,
  adoptions: readonly AdoptionRecord[],
  to: { readonly log: string; readonly partition: number; readonly alias: string | undefined },
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
