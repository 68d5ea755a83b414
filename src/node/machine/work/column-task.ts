// A task of a thread: it hashes and encodes the columns of a slice that it is sent.

import { freeColumn } from '../../../libraries/columnar/arrow/columns.ts'
import { ColumnHash } from '../../../libraries/columnar/arrow/logical-hash.ts'
import { must } from '../../../libraries/base/assert.ts'
import type { Column, Field } from '../../../libraries/model/schema.ts'
import { parquetLeaf } from '../../../libraries/columnar/parquet/file-schema.ts'
import { codecs, type ColumnChunk, encodeColumn } from '../../../libraries/columnar/parquet/write-slice.ts'
import type { Handover } from './handover.ts'

/** Zstandard. */
export type Compress = (bytes: Uint8Array) => Uint8Array

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
export class ColumnTask {
  readonly #fields: readonly Field[]
  readonly #compress: Compress
  readonly #hashes = new Map<number, ColumnHash>()

  /** `compress`: Zstandard. */
  constructor(fields: readonly Field[], compress: Compress) {
    this.#fields = fields
    this.#compress = compress
  }

  /** Throws AssertionFailed for columns that are not of the fields. */
  take(message: ToSliceColumns, over: Handover): FromSliceColumns {
    if (message.kind === 'end') {
      const digests = new Map(Array.from(this.#hashes, ([place, hash]) => [place, over.take(hash.digest())]))
      return { kind: 'digests', digests }
    }
    const chunks = new Map<number, ColumnChunk>()
    for (const [place, column] of message.columns) {
      const field = must(this.#fields[place], 'a field for each column')
      const hash = this.#hashes.get(place) ?? new ColumnHash(field, this.#fields.length)
      this.#hashes.set(place, hash)
      hash.update(column)
      const steps = encodeColumn(parquetLeaf(field), column, this.#compress)
      let step = steps.next()
      while (step.done !== true) step = steps.next()
      chunks.set(place, { ...step.value, parts: step.value.parts.map((part) => over.take(part)) })
      // Pages that are not compressed may be views of the column.
      if (step.value.codec !== codecs.uncompressed) freeColumn(column)
    }
    return { kind: 'chunks', chunks }
  }
}
