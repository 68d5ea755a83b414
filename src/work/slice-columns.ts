// The columns of a slice, row group after row group: each is hashed and encoded by itself, so that threads can share
// them out. Which thread has a column, and how many there are, leaves no trace in the bytes.

import { ColumnHash } from '../arrow/logical-hash.ts'
import { must } from '../lib/assert.ts'
import type { Column, Field } from '../model/schema.ts'
import { parquetLeaf } from '../parquet/file-schema.ts'
import { type ColumnChunk, encodeColumn } from '../parquet/write-slice.ts'

/** Rows of a column by the place of its field, or the end of all rows. */
export type ToSliceColumns =
  | { readonly kind: 'rows'; readonly columns: ReadonlyMap<number, Column> }
  | { readonly kind: 'end' }

/** Chunks for rows, digests for the end, by place. */
export type FromSliceColumns =
  | { readonly kind: 'chunks'; readonly chunks: ReadonlyMap<number, ColumnChunk> }
  | { readonly kind: 'digests'; readonly digests: ReadonlyMap<number, Uint8Array> }

/** What a thread holds of a slice: the hashes of the columns that it is sent. */
export class SliceColumns {
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
