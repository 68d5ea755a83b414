// Removes loose copies of what packs hold, long after the packs were made. Of each commit its objects go first and its
// record last: the records that still lie loose say what is left to do, so that a sweep goes on wherever it was stopped, and
// at every step each object is found, loose or packed. Readers already ignore a loose commit that a pack covers.

import { packedSliceBytesMost } from '../../libraries/odf/chain/pack-span.ts'
import { hashIn, type PackSummary } from '../../libraries/odf/chain/pack-summary.ts'
import { logCodec, sweptFormat } from '../../libraries/odf/chain/records.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import {
  blockKey,
  checkpointKey,
  commitKey,
  commitsPrefix,
  dataKey,
  logKey,
  logsPrefix,
  packFileKey,
  packFilesPrefix,
  packKey,
  packLevelPrefix,
} from './layout.ts'
import type { ObjectStore } from './object-store.ts'
import { fileHash, listPacks, type Pack, PackGone, PackReader } from './packs.ts'
import { listNumbers, readLog, sweptSince } from './records.ts'

/** Commits that are swept in one step: each step makes four directories durable. */
const stepCommits = 64

export interface SweepOptions {
  /** Only what was packed, in a store that was marked, before this time (milliseconds since 1970) by the store's clock. */
  readonly beforeMs: number
  /** Called after each step; the next one waits for it. */
  readonly onStep?: () => Promise<void>
  /** Ends the sweep between two steps; the reason is thrown. */
  readonly signal?: AbortSignal
}

/** Marks the store as one whose loose copies may be missing. Durable when it resolves. Throws DecodeError. */
export async function markSwept(store: ObjectStore): Promise<void> {
  for (const id of await store.list(logsPrefix)) {
    const record = await readLog(store, id)
    if (record === undefined || record.storeFormat !== undefined) continue
    await store.replace(logKey(id), logCodec.encode({ ...record, storeFormat: sweptFormat }))
  }
}

/**
 * Removes the loose copies of what the packs of a chain hold, as `beforeMs` says. A pack is read through and checked before
 * anything of it goes. Returns how many commits were swept; durable when it resolves. Throws HaltError `ChainBroken` for a
 * pack that is not what its record says, and what the store throws.
 */
export async function sweepChain(
  store: ObjectStore,
  id: DatasetId,
  { beforeMs, onStep = async () => {}, signal }: SweepOptions,
): Promise<number> {
  const markedMs = await sweptSince(store)
  if (markedMs === undefined || markedMs > beforeMs) return 0
  const loose = await listNumbers(store, commitsPrefix(id))
  const reader = new PackReader(store)
  let count = 0
  for (const pack of await listPacks(store, id)) {
    const sequences = loose.filter((sequence) => sequence >= pack.from && sequence < pack.to)
    if (sequences.length === 0) continue
    const putMs = await store.modifiedMs(packKey(id, pack.level, pack.number))
    if (putMs === undefined || putMs > beforeMs) return count
    // mutant: loose copies go before their pack is durable
    await demandWhole(store, pack)
    // mutant end
    const summary = await reader.summary(pack)
    for (let at = 0; at < sequences.length; at += stepCommits) {
      signal?.throwIfAborted()
      const some = sequences.slice(at, at + stepCommits)
      await store.delete(...some.flatMap((sequence) => objectsOf(summary, sequence)))
      await store.delete(...some.map((sequence) => commitKey(id, sequence)))
      count += some.length
      await onStep()
    }
  }
  return count
}

/** The maker of the pack may have stopped before its names were durable, and a disk may have lost some of it since. */
async function demandWhole(store: ObjectStore, pack: Pack): Promise<void> {
  const { id, level, number, record } = pack
  const found = await fileHash(store, packFileKey(id, record.hash))
  // One of a higher level has taken its place since it was listed, or the dataset is removed.
  if (found === undefined) throw new PackGone(pack)
  if (found.hash !== record.hash) {
    throw new HaltError('ChainBroken', `pack ${level}/${number} of ${id} is damaged; its loose copies stay`)
  }
  await store.makeDurable(packFilesPrefix(id))
  await store.makeDurable(packLevelPrefix(id, level))
}

/** What a pack holds of the commit whose first block is number `sequence`; nothing where none of it begins there. */
function objectsOf({ dataset, starts, commit, block, sequence: first }: PackSummary, sequence: number): string[] {
  const number = starts.indexOf(sequence)
  const keys: string[] = []
  for (let i = sequence - first; i < sequence - first + (commit.blocks[number] ?? 0); i++) {
    if ((block.rows[i] ?? 0) > 0 && (block.sliceBytes[i] ?? 0) <= packedSliceBytesMost) {
      keys.push(dataKey(dataset, hashIn(block.slice, i)))
    }
    if ((block.checkpointBytes[i] ?? 0) > 0) keys.push(checkpointKey(dataset, hashIn(block.checkpoint, i)))
    keys.push(blockKey(dataset, hashIn(block.hash, i)))
  }
  return keys
}
