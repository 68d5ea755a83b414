// The roots in an entry, recomputed from the block that the caller may read: from its checkpoint what became of each batch, from its
// slice the rows. What is read is bound to the block by hashes.

import { DecodeError } from '../libraries/base/errors.ts'
import { type Hash, sha3Hash } from '../libraries/base/ids/identifiers.ts'
import { noRoot } from '../libraries/ledger/entry.ts'
import {
  batchRecords,
  batchSalt,
  type EntryRoots,
  hasRoots,
  judgeRoots,
  recordLeaf,
  recordsRoot,
  type RootsVerdict,
} from '../libraries/ledger/roots.ts'
import type { DataSlice } from '../libraries/model/events.ts'
import { decodeBlock } from '../libraries/odf/block.ts'
import { decodeCheckpoint } from '../libraries/odf/chain/checkpoint.ts'
import type { NodeClient } from './client.ts'

/** A block of a dataset that the caller may read. */
export interface BlockToAudit {
  /** `/account/dataset` */
  readonly path: string
  readonly hash: string
  readonly secret: Uint8Array
}

/** Holds the roots that an entry has against the block. */
export async function auditRoots(client: NodeClient, block: BlockToAudit, roots: EntryRoots): Promise<RootsVerdict> {
  const { path, hash, secret } = block
  if (!hasRoots(roots)) return 'none'
  try {
    const bytes = await bytesOf(client, `${path}/blocks/${hash}`, hash)
    if (bytes === undefined) return 'unread'
    const { event } = decodeBlock(bytes).block
    const data = event.kind === 'AddData' ? event : undefined
    return await judgeRoots(roots, {
      batches: async () =>
        data === undefined ? noRoot : await batchRoot(client, path, { hash: data.newCheckpoint?.physicalHash, secret }),
      rows: async () => (data?.newData === undefined ? noRoot : await rowsRoot(client, path, secret, data.newData)),
    })
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { about: `the block cannot be read: ${error.message}` }
  }
}

async function rowsRoot(
  client: NodeClient,
  path: string,
  secret: Uint8Array,
  { physicalHash, offsetInterval }: DataSlice,
): Promise<Uint8Array | undefined> {
  const rows = await bytesOf(client, `${path}/data/${physicalHash}`, physicalHash)
  const { rowRoot } = await import('../app/row-root.ts')
  return rows && (await rowRoot(rows, { secret, start: Number(offsetInterval.start) }))
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
