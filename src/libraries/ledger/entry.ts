// Entries of a ledger: a block, as tags and roots that say nothing without salts, or a statement of the node by its hash. Kinds
// that are not known here are of a newer ledger.

import { assert } from '../base/assert.ts'
import { concatBytes, copyBytes, u64At, u64Bytes, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { multihashBytes } from '../base/ids/identifiers.ts'
import { hmacSha256 } from '../base/ids/native-crypto.ts'
import { hashBytes } from './tree.ts'

const kinds = { block: 1, statement: 2 } as const
/** Of a block. */
export const blockEntryBytes = 137
const statementEntryBytes = 33

/** The bytes of a block's entry that a receipt can promise before the roots are known: kind, dataset tag, sequence, block tag. */
export const promisedBytes = 73

/** A root that is not there. */
export const noRoot: Uint8Array = new Uint8Array(hashBytes)

export interface BlockEntry {
  readonly kind: 'block'
  readonly datasetTag: Uint8Array
  readonly sequence: number
  readonly blockTag: Uint8Array
  /** `noRoot` where there is none. */
  readonly batchRoot: Uint8Array
  /** `noRoot` where there is none. */
  readonly rowRoot: Uint8Array
}

export interface StatementEntry {
  readonly kind: 'statement'
  /** SHA-256 of the statement. */
  readonly hash: Uint8Array
}

export type Entry = BlockEntry | StatementEntry

/** The tag of a dataset, which shows nothing of its DID without the salt. */
export function datasetTag(salt: Uint8Array, did: string): Uint8Array {
  return hmacSha256(salt, utf8(did))
}

/** The tag of a block, by its hash in any accepted spelling. */
export function blockTag(salt: Uint8Array, hash: string): Uint8Array {
  return hmacSha256(salt, multihashBytes(hash))
}

/** How the entry of a block begins: what a receipt promises. Throws DecodeError where the hash is none. */
export function promisedEntry(of: {
  readonly dataset: { readonly id: string; readonly salt: Uint8Array }
  readonly block: { readonly hash: string; readonly sequence: number; readonly salt: Uint8Array }
}): Uint8Array {
  const { dataset, block } = of
  const tags = { datasetTag: datasetTag(dataset.salt, dataset.id), blockTag: blockTag(block.salt, block.hash) }
  const entry = { kind: 'block', ...tags, sequence: block.sequence, batchRoot: noRoot, rowRoot: noRoot } as const
  return entryBytes(entry).subarray(0, promisedBytes)
}

export function entryBytes(entry: Entry): Uint8Array {
  if (entry.kind === 'statement') return concatBytes([Uint8Array.of(kinds.statement), entry.hash])
  const { datasetTag, sequence, blockTag, batchRoot, rowRoot } = entry
  const bytes = concatBytes([Uint8Array.of(kinds.block), datasetTag, u64Bytes(sequence), blockTag, batchRoot, rowRoot])
  assert(bytes.length === blockEntryBytes, 'tags and roots have 32 bytes')
  return bytes
}

/** What an entry says; `newer` where its kind is not known here. Throws DecodeError where it is not of its kind's form. */
export function parseEntry(bytes: Uint8Array): Entry | { readonly kind: 'newer' } {
  const [kind] = bytes
  if (kind !== kinds.block && kind !== kinds.statement) {
    if (kind === undefined) throw new DecodeError('ledger entry', 'is empty')
    return { kind: 'newer' }
  }
  const length = kind === kinds.block ? blockEntryBytes : statementEntryBytes
  if (bytes.length !== length) throw new DecodeError('ledger entry', `has ${bytes.length} bytes, not ${length}`)
  if (kind === kinds.statement) return { kind: 'statement', hash: copyBytes(bytes, 1) }
  const sequence = u64At(bytes, 1 + hashBytes)
  if (sequence === undefined) throw new DecodeError('ledger entry', 'has a sequence beyond 2^53-1')
  const field = (at: number): Uint8Array => copyBytes(bytes, at, at + hashBytes)
  return {
    kind: 'block',
    datasetTag: field(1),
    sequence,
    blockTag: field(41),
    batchRoot: field(73),
    rowRoot: field(105),
  }
}
