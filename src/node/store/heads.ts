// Where a chain ends. `refs/head` is a hint that may lag; the truth is the last of `commits/`, found by probing
// forward from the hint. Builder, catalog and fsck all read heads through this file.

import type { CommitRecord } from '../../libraries/odf/chain/records.ts'
import { type DatasetId, type Hash, hashPattern } from '../../libraries/base/ids/identifiers.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { decoded } from '../../libraries/base/errors.ts'
import { decodeBlock } from '../../libraries/odf/block.ts'
import { blockKey, commitsPrefix, headKey } from './layout.ts'
import type { ObjectStore } from './object-store.ts'
import { PackReader, usePacks } from './packs.ts'
import { listNumbers, readCommit } from './records.ts'

/** One block of a chain by number and hash. */
export interface ChainPoint {
  readonly sequence: number
  readonly hash: Hash
}

/** A commit and the number of its first new block. */
export interface PlacedCommit {
  readonly sequence: number
  readonly record: CommitRecord
}

export interface Head extends ChainPoint {
  /** The commit that made this the head; absent for a chain without `commits/` (one that was copied in). */
  readonly commit?: PlacedCommit
}

/** A commit adds at most this many blocks (a creation: seed, info, license, attachments, vocab, schema, source). */
const maxCommitBlocks = 16

/** The last block of a commit. */
export function headOfCommit({ sequence, record }: PlacedCommit): Head {
  const hash = record.blocks.at(-1) ?? ''
  return { sequence: sequence + record.blocks.length - 1, hash, commit: { sequence, record } }
}

/** The head now, or undefined when the dataset has no block. Costs a few reads when the hint is fresh. Throws `DecodeError`. */
export async function readHead(store: ObjectStore, id: DatasetId): Promise<Head | undefined> {
  const hint = await readHint(store, id)
  const start = hint ?? (await lastListed(store, id))
  return start === undefined ? undefined : followHead(store, id, start)
}

/**
 * The head now, at or after `from`, a durable block of the chain; durable itself. One missing read when nothing is newer.
 * Throws `DecodeError`.
 */
export async function followHead(store: ObjectStore, id: DatasetId, from: Head): Promise<Head> {
  let head = from
  for (;;) {
    const record = await readCommit(store, id, head.sequence + 1)
    if (record === undefined) break
    head = headOfCommit({ sequence: head.sequence + 1, record })
  }
  if (head !== from) await store.makeDurable(commitsPrefix(id))
  if (head.commit !== undefined) return head
  const commit = await commitOf(store, id, head)
  return commit === undefined ? head : { ...head, commit }
}

/** The commit that holds block `point`, or undefined. Throws `DecodeError`. */
export async function commitOf(
  store: ObjectStore,
  id: DatasetId,
  point: ChainPoint,
): Promise<PlacedCommit | undefined> {
  for (let back = 0; back < maxCommitBlocks && back <= point.sequence; back++) {
    const sequence = point.sequence - back
    const record = await readCommit(store, id, sequence)
    if (record !== undefined) return record.blocks[back] === point.hash ? { sequence, record } : undefined
  }
  return undefined
}

/**
 * Points `refs/head` at `head`, then at whatever was committed meanwhile, so that of two writers the later commit
 * stays. `tell` is called for each of them once it is written. Durable when it resolves. Throws `DecodeError`, and what
 * `tell` throws.
 */
export async function writeHead(
  store: ObjectStore,
  id: DatasetId,
  head: Head,
  tell: (written: Head) => Promise<void> = async () => {},
): Promise<void> {
  for (let written: Head | undefined = head; written !== undefined;) {
    await store.replace(headKey(id), utf8(written.hash))
    await tell(written)
    const newest: Head = await followHead(store, id, written)
    written = newest.sequence === written.sequence ? undefined : newest
  }
}

/** The block that `refs/head` names, or undefined where there is no usable hint. */
export async function readHint(store: ObjectStore, id: DatasetId): Promise<ChainPoint | undefined> {
  const bytes = await store.get(headKey(id))
  const hash = bytes === undefined ? '' : String.fromCharCode(...bytes.subarray(0, 100))
  if (!hashPattern.test(hash)) return undefined
  const block = await store.get(blockKey(id, hash))
  const sequence = block === undefined ? undefined : sequenceOf(block)
  return sequence === undefined ? undefined : { sequence, hash }
}

function sequenceOf(bytes: Uint8Array): number | undefined {
  return decoded(() => Number(decodeBlock(bytes).block.sequenceNumber))
}

/** Without a hint: the end of the last listed or packed commit. */
async function lastListed(store: ObjectStore, id: DatasetId): Promise<Head | undefined> {
  const loose = (await listNumbers(store, commitsPrefix(id))).at(-1)
  const last = await usePacks(store, id, async (packs) => {
    const pack = packs.at(-1)
    const isPacked = pack !== undefined && (loose ?? 0) < pack.to
    return isPacked ? (await new PackReader(store).summary(pack)).starts.at(-1) : loose
  })
  const record = last === undefined ? undefined : await readCommit(store, id, last)
  await store.makeDurable(commitsPrefix(id))
  return last === undefined || record === undefined ? undefined : headOfCommit({ sequence: last, record })
}
