// The roots in an entry, recomputed from the block that the caller may read: from its checkpoint what became of each batch, from its
// slice the rows. What is read is bound to the block by hashes.

import { equalBytes } from '../libraries/base/bytes.ts'
import { DecodeError } from '../libraries/base/errors.ts'
import { type Hash, sha3Hash } from '../libraries/base/ids/identifiers.ts'
import { noRoot } from '../libraries/ledger/entry.ts'
import { batchRecords, batchSalt, recordLeaf, recordsRoot } from '../libraries/ledger/roots.ts'
import { decodeBlock } from '../libraries/odf/block.ts'
import { decodeCheckpoint } from '../libraries/odf/chain/checkpoint.ts'
import type { NodeClient } from './client.ts'

/** The roots of an entry: the first bytes of each. */
export interface Roots {
  readonly batches: Uint8Array
  readonly rows: Uint8Array
}

/** A block of a dataset that the caller may read. */
export interface BlockToAudit {
  /** `/account/dataset` */
  readonly path: string
  readonly hash: string
  readonly secret: Uint8Array
}

/** What is wrong: a sentence. `none`: the entry has no roots. `unread`: something that it takes is not there any more. */
export type RootsVerdict = 'good' | 'none' | 'unread' | { readonly about: string }

/** Holds the roots that an entry has against the block. Roots that it has not are no promise. */
export async function auditRoots(client: NodeClient, block: BlockToAudit, roots: Roots): Promise<RootsVerdict> {
  const { path, hash, secret } = block
  const [isBatches, isRows] = [isThere(roots.batches), isThere(roots.rows)]
  if (!isBatches && !isRows) return 'none'
  const bytes = await bytesOf(client, `${path}/blocks/${hash}`, hash)
  if (bytes === undefined) return 'unread'
  try {
    const { event } = decodeBlock(bytes).block
    if (event.kind !== 'AddData') return { about: 'the entry has roots, and the block neither batches nor rows' }
    if (isBatches) {
      const found = await batchRoot(client, path, { hash: event.newCheckpoint?.physicalHash, secret })
      if (found === undefined) return 'unread'
      if (!isOf(found, roots.batches)) return { about: 'the root of batches is not that of the batches of the block' }
    }
    const slice = event.newData
    if (!isRows) return 'good'
    const rows = slice && (await bytesOf(client, `${path}/data/${slice.physicalHash}`, slice.physicalHash))
    if (rows === undefined) return 'unread'
    const { rowRoot } = await import('../node/row-root.ts')
    const found = await rowRoot(rows, { secret, start: Number(slice?.offsetInterval.start) })
    return isOf(found, roots.rows) ? 'good' : { about: 'the root of rows is not that of the rows of the block' }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { about: `the block cannot be read: ${error.message}` }
  }
}

async function batchRoot(
  client: NodeClient,
  path: string,
  { hash, secret }: { readonly hash: Hash | undefined; readonly secret: Uint8Array },
): Promise<Uint8Array | undefined> {
  const bytes = hash === undefined ? undefined : await bytesOf(client, `${path}/checkpoints/${hash}`, hash)
  if (bytes === undefined) return undefined
  const records = batchRecords(decodeCheckpoint(bytes)) ?? []
  return recordsRoot(records.map((record, index) => recordLeaf(batchSalt(secret, index), record)))
}

/** The object with this hash; undefined where the node has it no more. Throws DecodeError for other bytes. */
async function bytesOf(client: NodeClient, path: string, hash: string): Promise<Uint8Array | undefined> {
  const headers = { accept: 'application/octet-stream' }
  const { status, bytes } = await client.call({ path, headers, accepts: [404, 410] })
  if (status !== 200) return undefined
  if (sha3Hash(bytes) !== hash) throw new DecodeError(path, 'has another hash')
  return bytes
}

function isThere(root: Uint8Array): boolean {
  return !equalBytes(root, noRoot.subarray(0, root.length))
}

function isOf(root: Uint8Array, kept: Uint8Array): boolean {
  return equalBytes(root.subarray(0, kept.length), kept)
}
