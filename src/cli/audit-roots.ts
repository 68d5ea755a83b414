// A block that the caller may read, as an auditor takes it: from its checkpoint what became of each batch, from its slice the rows.
// What is read is bound to the block by hashes.

import { DecodeError } from '../libraries/base/errors.ts'
import { sha3Hash } from '../libraries/base/ids/identifiers.ts'
import type { AuditedBlock } from '../libraries/ledger/audit.ts'
import { noRoot } from '../libraries/ledger/entry.ts'
import { batchRecords, batchSalt, recordLeaf, recordsRoot } from '../libraries/ledger/roots.ts'
import type { AddData } from '../libraries/model/events.ts'
import { decodeBlock } from '../libraries/odf/block.ts'
import { decodeCheckpoint } from '../libraries/odf/chain/checkpoint.ts'
import type { NodeClient } from './client.ts'

export class ReadableBlock implements AuditedBlock {
  readonly #client: NodeClient
  /** `/account/dataset` */
  readonly #path: string
  readonly hash: string
  readonly secret: Uint8Array
  /** Of the block. */
  #bytes: Promise<Uint8Array | undefined> | undefined

  constructor(client: NodeClient, path: string, of: Pick<AuditedBlock, 'hash' | 'secret'>) {
    this.#client = client
    this.#path = path
    this.hash = of.hash
    this.secret = of.secret
  }

  /** Throws DecodeError where an object cannot be read, and CommandFailure; so does `rows`. */
  async batches(): Promise<Uint8Array | undefined> {
    const read = await this.#read()
    if (read === undefined || read.data === undefined) return read && noRoot
    const hash = read.data.newCheckpoint?.physicalHash
    const bytes = hash === undefined ? undefined : await this.#object('checkpoints', hash)
    const records = bytes && (batchRecords(decodeCheckpoint(bytes)) ?? [])
    return records && recordsRoot(records.map((record, index) => recordLeaf(batchSalt(this.secret, index), record)))
  }

  async rows(): Promise<Uint8Array | undefined> {
    const read = await this.#read()
    const slice = read?.data?.newData
    if (slice === undefined) return read && noRoot
    const rows = await this.#object('data', slice.physicalHash)
    const { rowRoot } = await import('../app/row-root.ts')
    return rows && (await rowRoot(rows, { secret: this.secret, start: Number(slice.offsetInterval.start) }))
  }

  /** What the block adds; undefined where the node has it no more. */
  async #read(): Promise<{ readonly data: AddData | undefined } | undefined> {
    this.#bytes ??= this.#object('blocks', this.hash)
    const bytes = await this.#bytes
    const event = bytes && decodeBlock(bytes).block.event
    return event && { data: event.kind === 'AddData' ? event : undefined }
  }

  /** The object with this hash; undefined where the node has it no more. Throws DecodeError for other bytes. */
  async #object(folder: 'blocks' | 'checkpoints' | 'data', hash: string): Promise<Uint8Array | undefined> {
    const path = `${this.#path}/${folder}/${hash}`
    const headers = { accept: 'application/octet-stream' }
    const { status, bytes } = await this.#client.call({ path, headers, accepts: [404, 410] })
    if (status !== 200) return undefined
    if (sha3Hash(bytes) !== hash) throw new DecodeError(path, 'has another hash')
    return bytes
  }
}
