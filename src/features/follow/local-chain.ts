// The copy of one chain: read back when a process starts, and gone on with, commit by commit. Commits are of the log
// `origin`, which is none (docs/decisions/follow.md).

import { type CommitRecord, originLog } from '../../libraries/odf/chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../../libraries/odf/chain/rules.ts'
import type { Announcements } from '../../node/log/announcements.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import type { MetadataBlock } from '../../libraries/model/events.ts'
import { readHint, writeHead } from '../../node/store/heads.ts'
import { blockKey, commitKey, commitsPrefix, headKey } from '../../node/store/layout.ts'
import { openBlock } from '../../node/store/load-block.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers, putCommit, readCommit } from '../../node/store/records.ts'
import { removeChain } from '../../node/store/remove-chain.ts'

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

/** A copy as far as it is whole, up to the end of a commit. */
export interface Copy {
  readonly state: ChainState
  /** Why it ends there, where it went on. */
  readonly fault: HaltError | DecodeError | undefined
}

/** The copy as it is stored; blocks are told as they are read. What an interrupted removal has left is removed first. */
export async function readCopy(
  { store, id }: Place,
  signal: AbortSignal,
  onBlocks: (blocks: readonly CheckedBlock[]) => Promise<void> = async () => {},
): Promise<Copy> {
  const isBegun = (await store.size(headKey(id))) !== undefined || (await isThere({ store, id }, 0))
  if (!isBegun && (await store.list(commitsPrefix(id))).length > 0) await removeChain(store, id, signal)
  let state = emptyChain
  for (;;) {
    const { commits, fault } = await nextCommits({ store, id }, state.length)
    const stored = await Promise.all(commits.flat().map((hash) => readBlock({ store, id }, hash)))
    const checked: CheckedBlock[] = []
    let at = 0
    for (const hashes of commits) {
      let next = state
      try {
        for (const hash of hashes) {
          const bytes = stored[at++]
          const block = openBlock({ id }, hash, bytes)
          next = checkNext(next, block, hash)
          checked.push({ hash, bytes: bytes ?? new Uint8Array(), block, state: next })
        }
      } catch (error) {
        return { state, fault: faultOf(error) }
      }
      state = next
    }
    await onBlocks(checked)
    if (fault !== undefined) return { state, fault }
    if (commits.length === 0) break
  }
  if (state.length > 0) await store.makeDurable(commitsPrefix(id))
  const last = (await listNumbers(store, commitsPrefix(id))).at(-1) ?? 0
  const end = Math.max(last, (await readHint(store, id))?.sequence ?? 0)
  const isCut = end > 0 && end >= state.length
  return {
    state,
    fault: isCut ? new HaltError('ChainBroken', `commit ${state.length} of ${id} is missing`) : undefined,
  }
}

/** Hashes of the commits from `from` on, some of them, up to the first that is not there or cannot be read. */
async function nextCommits(
  place: Place,
  from: number,
): Promise<{ readonly commits: readonly (readonly Hash[])[]; readonly fault?: Copy['fault'] }> {
  const commits: (readonly Hash[])[] = []
  for (let blocks = 0; blocks < parallelReads;) {
    try {
      const commit = await commitAt(place, from + blocks)
      if (commit === undefined) break
      commits.push(commit.blocks)
      blocks += commit.blocks.length
    } catch (error) {
      return { commits, fault: faultOf(error) }
    }
  }
  return { commits }
}

/** The commit whose first block is number `at`; undefined where there is none. Throws HaltError, DecodeError. */
export async function commitAt({ store, id }: Place, at: number): Promise<CommitRecord | undefined> {
  const commit = await readCommit(store, id, at)
  if (commit === undefined) return undefined
  const { blocks, log, partition, next } = commit
  if (log === originLog && partition === 0 && next === at + blocks.length) return commit
  throw new HaltError('ChainBroken', `commit ${at} of ${id} is not a commit of a copy`)
}

async function isThere({ store, id }: Place, at: number): Promise<boolean> {
  return (await store.size(commitKey(id, at)).catch(() => undefined)) !== undefined
}

/** Bytes of a block, which may be anything; undefined where none are found, or only in a pack that is damaged. */
export async function readBlock({ store, id }: Place, hash: Hash): Promise<Uint8Array | undefined> {
  return await store.get(blockKey(id, hash)).catch((error: unknown) => {
    if (error instanceof HaltError) return undefined
    throw error
  })
}

/** Throws what is no fault of the copy. */
function faultOf(error: unknown): HaltError | DecodeError {
  if (error instanceof HaltError || error instanceof DecodeError) return error
  throw error
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
