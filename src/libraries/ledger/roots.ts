// Roots of a block's batches and rows: SHA-256 over how many leaves there are and the hash of their tree (RFC 6962). A leaf is a
// salt and the canonical JSON of one batch or row, so that what a proof does not show cannot be guessed.

import { concatBytes, equalBytes, u64Bytes, utf8 } from '../base/bytes.ts'
import { hmacSha256, sha256 } from '../base/ids/native-crypto.ts'
import { canonicalBytes } from '../base/json/canonical.ts'
import { fromPlain } from '../base/json/json.ts'
import type { JsonValue } from '../base/json/value.ts'
import { noRoot } from './entry.ts'
import { leafHash, rootFromInclusion, treeRoot } from './tree.ts'

/** What a leaf says of a batch. */
export type BatchRecord = { readonly id: string; readonly bodyHash: string } & (
  | { readonly status: 'committed'; readonly offsets: { readonly start: number; readonly end: number } }
  | { readonly status: 'rejected'; readonly error: string }
)

/** The JSON of a batch's leaf: these members and no others. */
export function batchRecord(batch: BatchRecord): JsonValue {
  const { id, bodyHash, status } = batch
  if (status === 'rejected') return fromPlain({ id, bodyHash, status, error: batch.error })
  const { start, end } = batch.offsets
  return fromPlain({ id, bodyHash, status, offsets: { start, end } })
}

/** What a checkpoint says of the batches and changes of its block, and the hash of each body; null for a change. */
export interface BatchOutcomes {
  readonly outcomes: readonly {
    readonly id: string
    readonly status:
      | { readonly kind: 'committed'; readonly start: number; readonly end: number }
      | { readonly kind: 'rejected'; readonly error: string }
      | { readonly kind: 'changed' }
  }[]
  readonly bodies?: readonly (string | null)[]
}

/** What the leaves of batches say; undefined where the checkpoint has no hashes of bodies. A change is no batch. */
export function batchRecords({ outcomes, bodies }: BatchOutcomes): JsonValue[] | undefined {
  if (bodies === undefined) return undefined
  return outcomes.flatMap(({ id, status }, at) => {
    const bodyHash = bodies[at] ?? undefined
    if (bodyHash === undefined || status.kind === 'changed') return []
    if (status.kind === 'rejected') return [batchRecord({ id, bodyHash, status: 'rejected', error: status.error })]
    const { start, end } = status
    return [batchRecord({ id, bodyHash, status: 'committed', offsets: { start, end } })]
  })
}

/** The salt of a batch, by its place among the outcomes of the block. */
export function batchSalt(secret: Uint8Array, index: number): Uint8Array {
  return hmacSha256(secret, concatBytes([utf8('batch'), u64Bytes(index)]))
}

/** The salt of a row, by its offset. */
export function rowSalt(secret: Uint8Array, offset: number): Uint8Array {
  return hmacSha256(secret, concatBytes([utf8('row'), u64Bytes(offset)]))
}

/** The hash of the leaf of a batch or row. */
export function recordLeaf(salt: Uint8Array, record: JsonValue): Uint8Array {
  return leafHash(concatBytes([salt, canonicalBytes(record)]))
}

/** The root over leaves by their hashes; `noRoot` where there are none. */
export function recordsRoot(leafHashes: readonly Uint8Array[]): Uint8Array {
  return leafHashes.length === 0 ? noRoot : countedRoot(leafHashes.length, treeRoot(leafHashes))
}

/** A leaf's place below a root, and the hashes beside its way, bottom up. */
export interface RecordPlace {
  readonly index: number
  readonly count: number
  readonly path: readonly Uint8Array[]
}

/** True when a leaf of this hash is at its place below this root. */
export function isBelow(root: Uint8Array, leaf: Uint8Array, { index, count, path }: RecordPlace): boolean {
  const tree = rootFromInclusion(leaf, { index, size: count, path })
  return tree !== undefined && equalBytes(countedRoot(count, tree), root)
}

/** The root over so many leaves, of which there is one or more, by the hash of their tree. */
export function countedRoot(count: number, tree: Uint8Array): Uint8Array {
  return sha256(concatBytes([u64Bytes(count), tree]))
}
