// A task of a thread: it hashes a body, reads its rows, and makes messages for the log of them.

import { broughtRows, cellsOf, fieldsAt } from '../../../libraries/columnar/arrow/brought-rows.ts'
import { freeBuilt } from '../../../libraries/columnar/arrow/column-builder.ts'
import { batchBytes } from '../../../libraries/columnar/arrow/columns.ts'
import { arrowBatchMessages } from '../../../libraries/columnar/arrow/ipc.ts'
import type { ParsedBody, ReaderOptions, RecordReader, StreamFormat } from '../../../libraries/formats/format.ts'
import { type SentFacts, SentRows, type SentRowsOptions } from '../../../libraries/formats/sent-rows.ts'
import { must } from '../../../libraries/base/assert.ts'
import { freeBytes } from '../../../libraries/base/bytes.ts'
import { crc32c } from '../../../libraries/base/crc32c.ts'
import { type Hash, sha2HashText } from '../../../libraries/base/ids/identifiers.ts'
import { createSha2, type IncrementalHash } from '../../../libraries/base/ids/native-crypto.ts'
import type { Field, RecordBatch } from '../../../libraries/model/schema.ts'
import type { Handover } from './handover.ts'

export interface BodySettings {
  readonly format: Pick<StreamFormat, 'name' | 'module'>
  readonly options: ReaderOptions
  readonly sent: SentRowsOptions
  /** Columns that rows may have: event time, then user columns. */
  readonly fields: readonly Field[]
  /** The hash of the body is asked for in the end. */
  readonly isHashed: boolean
}

/** Rows as record batch messages of an Arrow stream of the columns that they bring, each in memory of its own. */
export interface RowMessages {
  readonly rows: number
  /** What the rows take as columns. */
  readonly bytes: number
  readonly cells: number
  /** Places of the columns that they bring, among those of the settings. */
  readonly places: readonly number[]
  readonly messages: readonly Uint8Array[]
  /** CRC-32C of each message. */
  readonly sums: readonly number[]
}

/** The next bytes; after the last of them the hash of all; the end of the body. */
export type ToBodyRows =
  | { readonly kind: 'bytes'; readonly pieces: readonly Uint8Array[] }
  | { readonly kind: 'hash' }
  | { readonly kind: 'end' }

/** Rows that are complete. `ended` answers the end; its rows are the last. */
export interface FromBodyRows {
  readonly rows: readonly RowMessages[]
  readonly fits: boolean
  readonly hash?: Hash
  readonly ended?: Omit<ParsedBody, 'batches'> & SentFacts
}

/** Loads a format and nothing else. */
export async function loadFormat({ name, module }: BodySettings['format']): Promise<StreamFormat> {
  const exported: object = await import(module)
  const isWanted = (one: object): one is StreamFormat => 'name' in one && one.name === name && 'createReader' in one
  return must(Object.values(exported).find(isWanted), 'the module exports the format')
}

/** What a thread holds of a body: its reader. */
export class BodyTask {
  readonly #reader: RecordReader
  readonly #settings: BodySettings
  readonly #sent: SentRows
  readonly #hash: IncrementalHash | undefined

  constructor(format: StreamFormat, settings: BodySettings) {
    this.#hash = settings.isHashed ? createSha2('sha256') : undefined
    this.#reader = format.createReader(settings.options)
    this.#settings = settings
    this.#sent = new SentRows(settings.sent)
  }

  /** Throws as the reader: it is used up then. */
  take(message: ToBodyRows, over: Handover): FromBodyRows {
    const reader = this.#reader
    if (message.kind === 'hash') {
      const hash = sha2HashText(must(this.#hash, 'a body that is hashed').digest())
      return { rows: [], fits: reader.fits, hash }
    }
    if (message.kind === 'bytes') {
      // The hash is that of all bytes, whatever becomes of the rows.
      for (const piece of message.pieces) this.#hash?.update(piece)
      for (const piece of message.pieces) {
        reader.push(piece)
        freeBytes(piece)
      }
      return { rows: this.#messagesOf(reader.take(), over), fits: reader.fits }
    }
    const { batches, ...ended } = reader.finish()
    const rows = this.#messagesOf(batches, over)
    return { rows, fits: reader.fits, ended: { ...ended, ...this.#sent.finish() } }
  }

  #messagesOf(batches: readonly RecordBatch[], over: Handover): RowMessages[] {
    const { fields } = this.#settings
    return batches.map((batch) => {
      const brought = broughtRows(this.#sent.take(batch))
      const { rows, places } = brought
      const messages = arrowBatchMessages(fieldsAt(fields, places), brought).map((message) => over.take(message))
      const counted = { bytes: batchBytes(brought), cells: cellsOf(brought) }
      freeBuilt(brought.columns)
      return { rows, places, ...counted, messages, sums: messages.map((message) => crc32c(message)) }
    })
  }
}
