// A task of a thread: it hashes a body, reads its rows, and makes messages for the log of them.

import { type BroughtRows, broughtRows, cellsOf, fieldsAt } from '../../../libraries/columnar/arrow/brought-rows.ts'
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
  readonly ended?: EndedBody
}

/** What is to say of all rows of a body. */
export type EndedBody = Omit<ParsedBody, 'batches'> & SentFacts

/** Loads a format and nothing else. */
export async function loadFormat({ name, module }: BodySettings['format']): Promise<StreamFormat> {
  const exported: object = await import(module)
  const isWanted = (one: object): one is StreamFormat => 'name' in one && one.name === name && 'createReader' in one
  return must(Object.values(exported).find(isWanted), 'the module exports the format')
}

/** The rows of a body, each with an event time, and its hash. */
export class BodyRows {
  readonly #reader: RecordReader
  readonly #sent: SentRows
  readonly #hash: IncrementalHash | undefined

  constructor(format: StreamFormat, { options, sent, isHashed }: Omit<BodySettings, 'format'>) {
    this.#reader = format.createReader(options)
    this.#sent = new SentRows(sent)
    this.#hash = isHashed ? createSha2('sha256') : undefined
  }

  get fits(): boolean {
    return this.#reader.fits
  }

  /** The rows that become complete with these bytes. Throws as the reader: it is used up then, but for the hash. */
  push(pieces: readonly Uint8Array[]): BroughtRows[] {
    for (const piece of pieces) this.#hash?.update(piece)
    for (const piece of pieces) this.#reader.push(piece)
    return this.#filled(this.#reader.take())
  }

  /** The hash of all bytes, whatever became of the rows. To be called once. */
  hash(): Hash {
    return sha2HashText(must(this.#hash, 'a body that is hashed').digest())
  }

  /** The last rows, and what is to say of all. Throws as `push`. */
  finish(): { readonly rows: BroughtRows[]; readonly ended: EndedBody } {
    const { batches, ...ended } = this.#reader.finish()
    const rows = this.#filled(batches)
    return { rows, ended: { ...ended, ...this.#sent.finish() } }
  }

  #filled(batches: readonly RecordBatch[]): BroughtRows[] {
    return batches.map((batch) => broughtRows(this.#sent.take(batch)))
  }
}

/** What a thread holds of a body. */
export class BodyTask {
  readonly #rows: BodyRows
  readonly #fields: readonly Field[]

  constructor(format: StreamFormat, settings: BodySettings) {
    this.#rows = new BodyRows(format, settings)
    this.#fields = settings.fields
  }

  /** Throws as the reader: it is used up then. */
  take(message: ToBodyRows, over: Handover): FromBodyRows {
    if (message.kind === 'hash') return { rows: [], fits: this.#rows.fits, hash: this.#rows.hash() }
    if (message.kind === 'bytes') {
      const rows = this.#rows.push(message.pieces)
      for (const piece of message.pieces) freeBytes(piece)
      return { rows: this.#messagesOf(rows, over), fits: this.#rows.fits }
    }
    const { rows, ended } = this.#rows.finish()
    return { rows: this.#messagesOf(rows, over), fits: this.#rows.fits, ended }
  }

  #messagesOf(brought: readonly BroughtRows[], over: Handover): RowMessages[] {
    return brought.map((one) => {
      const { rows, places } = one
      const messages = arrowBatchMessages(fieldsAt(this.#fields, places), one).map((message) => over.take(message))
      const counted = { bytes: batchBytes(one), cells: cellsOf(one) }
      freeBuilt(one.columns)
      return { rows, places, ...counted, messages, sums: messages.map((message) => crc32c(message)) }
    })
  }
}
