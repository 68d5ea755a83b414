// Which blocks a dataset's commits cover, in chain order: the commits must follow one another without a gap, each
// beginning where the one before it ended, and change their log only where that log was given up for another. Without
// commits the chain is what the head leads back to.

import type { CommitRecord, LeftLog } from '../../libraries/odf/chain/records.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import { decodeBlock } from '../../libraries/odf/block.ts'
import { type ChainPoint, readHint } from '../store/heads.ts'
import { blockKey, commitsPrefix, numberOfName } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { PackReader, usePacks } from '../store/packs.ts'
import { readCommit } from '../store/records.ts'
import { type AddProblem, sound } from './report.ts'

export interface CoveredBlock extends ChainPoint {
  /** The commit whose last block this is. */
  readonly endsCommit?: CommitRecord
}

/** By log that was given up: the logs that took over, in order. */
export type Successors = ReadonlyMap<string, readonly string[]>

/** Where the commits of a chain are. */
export interface CommitNames {
  /** Names of loose ones; those below `to` do not count. */
  readonly names: readonly string[]
  /** Those that packs hold, and the first sequence that no pack covers. */
  readonly packed: { readonly sequences: readonly number[]; readonly to: number }
}

export async function commitNames(store: ObjectStore, id: DatasetId): Promise<CommitNames> {
  const names = await store.list(commitsPrefix(id))
  const reader = new PackReader(store)
  return usePacks(store, id, async (packs) => {
    const sequences: number[] = []
    for (const pack of packs) for (const sequence of (await reader.summary(pack)).starts) sequences.push(sequence)
    return { names, packed: { sequences, to: packs.at(-1)?.to ?? 0 } }
  })
}

/** The blocks that the commits cover, as far as they are sound. */
export async function committedBlocks(
  store: ObjectStore,
  { id, names, packed, successors }: CommitNames & { readonly id: DatasetId; readonly successors: Successors },
  add: AddProblem,
): Promise<readonly CoveredBlock[]> {
  const blocks: CoveredBlock[] = []
  const sequences: number[] = [...packed.sequences]
  for (const name of names) {
    const sequence = numberOfName(name)
    if (sequence === undefined) add('UnknownObject', `commits/${name} is not a commit`)
    else if (sequence >= packed.to) sequences.push(sequence)
  }
  let before: CommitRecord | undefined
  for (const sequence of sequences.sort((a, b) => a - b)) {
    const words = `commits/${sequence}`
    if (sequence !== blocks.length) {
      add('CommitsDisagree', `${words} does not follow: the next block is ${blocks.length}`)
      break
    }
    const record = await sound(words, readCommit(store, id, sequence), add)
    if (record === undefined) break
    if (before?.log === record.log && record.next <= before.next) {
      add('CommitsDisagree', `${words} is of an earlier log position than the one before it`)
    }
    if (before !== undefined && before.log !== record.log && !successors.get(before.log)?.includes(record.log)) {
      add('CommitsDisagree', `${words}: it goes from log ${before.log} to log ${record.log}, which has not taken over`)
    }
    before = record
    for (const [i, hash] of record.blocks.entries()) {
      const isLast = i === record.blocks.length - 1
      blocks.push({ sequence: sequence + i, hash, ...(isLast ? { endsCommit: record } : {}) })
    }
  }
  return blocks
}

/** The blocks that the links from the head lead back to. Their hashes are checked later, on the way forward. */
export async function linkedBlocks(
  store: ObjectStore,
  id: DatasetId,
  add: AddProblem,
): Promise<readonly CoveredBlock[]> {
  const head = await readHint(store, id)
  const hashes: Hash[] = []
  for (let hash = head?.hash; hash !== undefined;) {
    hashes.push(hash)
    if (head !== undefined && hashes.length > head.sequence + 1) {
      add('ChainBroken', 'its links lead back further than the head is high')
      return []
    }
    const bytes = await store.get(blockKey(id, hash))
    if (bytes === undefined) {
      add('ObjectMissing', `a block links to ${hash}, which is not stored`)
      return []
    }
    const decoded = await sound(hash, () => decodeBlock(bytes), add)
    if (decoded === undefined) return []
    hash = decoded.block.prevBlockHash
  }
  return hashes.reverse().map((hash, sequence) => ({ sequence, hash }))
}

/** Why a block of log `to` may not say that its chain has left the logs `adopted`, having been in `from` before. */
export function leftFault(
  successors: Successors,
  change: { readonly from: string; readonly to: string; readonly adopted: readonly LeftLog[] },
): string | undefined {
  const { from, to, adopted } = change
  const later = successors.get(from) ?? []
  const left = from === to ? [] : [from, ...later.slice(0, later.indexOf(to))]
  const said = adopted.map(({ log }) => log)
  if (said.length === left.length && said.every((log, i) => log === left[i])) return undefined
  return `it says that its chain has left ${said.join(', ') || 'no log'}, not ${left.join(', ') || 'none'}`
}
