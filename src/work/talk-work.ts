// What threads do in conversations, and what is said: pure work of values. Hashing and encoding the columns of a slice,
// each by itself; reading the rows of a body, block of bytes after block of bytes.

import { ColumnHash } from '../arrow/logical-hash.ts'
import type { ParsedBody, ReaderOptions, RecordReader } from '../formats/format.ts'
import { formatNamed } from '../formats/registry.ts'
import { must } from '../lib/assert.ts'
import type { Column, Field, RecordBatch } from '../model/schema.ts'
import { parquetLeaf } from '../parquet/file-schema.ts'
import { type ColumnChunk, encodeColumn } from '../parquet/write-slice.ts'

/** What conversations are about: how one begins, what is said, and what is answered. */
export interface Talks {
  readonly columns: {
    readonly settings: readonly Field[]
    readonly to: ToSliceColumns
    readonly from: FromSliceColumns
  }
  readonly body: { readonly settings: BodySettings; readonly to: ToBodyRows; readonly from: FromBodyRows }
}

export type TalkKind = keyof Talks

/** The beginning of a conversation. */
export type Beginning = { [K in TalkKind]: { readonly talk: K; readonly settings: Talks[K]['settings'] } }[TalkKind]

/** What a conversation is with. */
export interface TalkWork {
  take(message: Talks[TalkKind]['to']): Talks[TalkKind]['from']
}

/** `compress`: Zstandard. */
export function beginWork(beginning: Beginning, compress: (bytes: Uint8Array) => Uint8Array): TalkWork {
  // Whoever has begun says what belongs to it: the types of `Talk` see to that.
  if (beginning.talk === 'body') return new BodyRows(beginning.settings) as TalkWork
  return new SliceColumns(beginning.settings, compress) as TalkWork
}

/** Rows of a column by the place of its field, or the end of all rows. */
export type ToSliceColumns =
  | { readonly kind: 'rows'; readonly columns: ReadonlyMap<number, Column> }
  | { readonly kind: 'end' }

/** Chunks for rows, digests for the end, by place. */
export type FromSliceColumns =
  | { readonly kind: 'chunks'; readonly chunks: ReadonlyMap<number, ColumnChunk> }
  | { readonly kind: 'digests'; readonly digests: ReadonlyMap<number, Uint8Array> }

/**
 * What a thread holds of a slice: the hashes of the columns that it is sent, row group after row group. Which thread has
 * a column, and how many there are, leaves no trace in the bytes.
 */
class SliceColumns {
  readonly #fields: readonly Field[]
  readonly #compress: (bytes: Uint8Array) => Uint8Array
  readonly #hashes = new Map<number, ColumnHash>()

  /** `compress`: Zstandard. */
  constructor(fields: readonly Field[], compress: (bytes: Uint8Array) => Uint8Array) {
    this.#fields = fields
    this.#compress = compress
  }

  /** Throws AssertionFailed for columns that are not of the fields. */
  take(message: ToSliceColumns): FromSliceColumns {
    if (message.kind === 'end') {
      const digests = new Map(Array.from(this.#hashes, ([place, hash]) => [place, hash.digest()]))
      return { kind: 'digests', digests }
    }
    const chunks = new Map<number, ColumnChunk>()
    for (const [place, column] of message.columns) {
      const field = must(this.#fields[place], 'a field for each column')
      const hash = this.#hashes.get(place) ?? new ColumnHash(field)
      this.#hashes.set(place, hash)
      hash.update(column)
      const steps = encodeColumn(parquetLeaf(field), column, this.#compress)
      let step = steps.next()
      while (step.done !== true) step = steps.next()
      chunks.set(place, step.value)
    }
    return { kind: 'chunks', chunks }
  }
}

export interface BodySettings {
  /** Name of a format that is a stream. */
  readonly format: string
  readonly options: ReaderOptions
}

/** The next bytes, or the end of the body. */
export type ToBodyRows = { readonly kind: 'bytes'; readonly bytes: Uint8Array } | { readonly kind: 'end' }

/** Rows that are complete. `ended` answers the end; its batches are the last. */
export interface FromBodyRows {
  readonly batches: readonly RecordBatch[]
  readonly fits: boolean
  readonly ended?: Omit<ParsedBody, 'batches'>
}

/** What a thread holds of a body: its reader. */
class BodyRows {
  readonly #reader: RecordReader

  constructor({ format: name, options }: BodySettings) {
    const format = formatNamed(name)
    this.#reader = must(format.kind === 'stream' ? format : undefined, 'a format that is a stream').createReader(
      options,
    )
  }

  /** Throws as the reader: it is used up then. */
  take(message: ToBodyRows): FromBodyRows {
    const reader = this.#reader
    if (message.kind === 'bytes') {
      reader.push(message.bytes)
      return { batches: reader.take(), fits: reader.fits }
    }
    const { batches, ...ended } = reader.finish()
    return { batches, fits: reader.fits, ended }
  }
}
