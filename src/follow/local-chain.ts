// The copy of one chain: read back when a process starts, and gone on with, commit by commit. Commits are of the log
// `origin`, which is none (docs/decisions/replicas.md).

import { originLog } from '../chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../chain/rules.ts'
import type { Announcements } from '../log/announcements.ts'
import { HaltError } from '../model/errors.ts'
import type { DatasetId, Hash, MetadataBlock } from '../model/events.ts'
import { writeHead } from '../store/heads.ts'
import { blockKey, commitKey, commitsPrefix } from '../store/layout.ts'
import { openBlock } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { putCommit, readCommit } from '../store/records.ts'
import { removeChain } from '../store/remove-chain.ts'

const parallelReads = 64

/** A block that may come next: its bytes hash to its name. */
export interface FetchedBlock {
  readonly hash: Hash
  readonly bytes: Uint8Array
  readonly block: MetadataBlock
}

/** A block that comes next, and the chain after it. */
export interface CheckedBlock extends FetchedBlock {
  readonly state: ChainState
}

interface Place {
  readonly store: ObjectStore
  readonly id: DatasetId
}

/**
 * The state of the copy after its last commit. What an interrupted removal has left is removed first. Throws HaltError
 * `ChainBroken` where it is damaged.
 */
export async function readCopy({ store, id }: Place, signal: AbortSignal): Promise<ChainState> {
  const isBegun = (await store.size(commitKey(id, 0))) !== undefined
  if (!isBegun && (await store.list(commitsPrefix(id))).length > 0) await removeChain(store, id, signal)
  let state = emptyChain
  for (let hashes: readonly Hash[] = []; ; hashes = []) {
    for (let at = state.length; hashes.length < parallelReads; at = state.length + hashes.length) {
      const commit = await readCommit(store, id, at)
      if (commit === undefined) break
      hashes = [...hashes, ...commit.blocks]
    }
    if (hashes.length === 0) break
    const stored = await Promise.all(hashes.map((hash) => store.get(blockKey(id, hash))))
    for (const [i, hash] of hashes.entries()) state = checkNext(state, openBlock({ id }, hash, stored[i]), hash)
  }
  if (state.length > 0) await store.makeDurable(commitsPrefix(id))
  return state
}

/** The hash of block `sequence` of the copy. Throws HaltError `ChainBroken` where no commit has it. */
export async function hashAt({ store, id }: Place, sequence: number): Promise<Hash> {
  for (let at = sequence; at >= 0; at--) {
    const hash = (await readCommit(store, id, at))?.blocks[sequence - at]
    if (hash !== undefined) return hash
  }
  throw new HaltError('ChainBroken', `no commit of ${id} holds block ${sequence}`)
}

/**
 * Commits blocks that follow the chain so far; all that they name is stored. Durable when it resolves; then it is announced.
 * Throws HaltError `ChainBroken` where the copy goes on in another way.
 */
export async function commitBlocks(
  { store, id }: Place,
  alias: string,
  blocks: readonly CheckedBlock[],
  announcements: Announcements,
): Promise<void> {
  const last = blocks.at(-1)
  if (last === undefined) return
  const next = last.state.length
  const sequence = next - blocks.length
  const record = { blocks: blocks.map(({ hash }) => hash), log: originLog, partition: 0, next }
  const put = await putCommit(store, { id, sequence }, record)
  if (put.outcome === 'lost')
    throw new HaltError('ChainBroken', `the copy of ${alias} goes on otherwise at ${sequence}`)
  const place = { version: 1, dataset: id, alias, sequence, head: last.hash, headSequence: next - 1 } as const
  await announcements.announce(
    { ...place, ...record, earliestNextCutInMs: 0 },
    blocks.map(({ bytes }) => bytes),
  )
  await writeHead(store, id, { sequence: next - 1, hash: last.hash, commit: { sequence, record } })
}
