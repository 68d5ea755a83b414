// Formats whose files hold typed columns instead of text: what such a file is once it is open. Its reader needs the whole
// body, at any place: a footer or a directory comes last.

import type { Field, RecordBatch } from '../model/schema.ts'

/** Bytes of a complete body, read at any place. */
export interface BodyFile {
  readonly bytes: number
  at(start: number, end: number): Promise<Uint8Array>
}

/** A file of typed columns that is open. */
export interface ColumnarFile {
  /**
   * Its columns in order as our fields. Nested columns (struct, list, map) are `String`: their values' JSON text.
   * Optional unless the file says required.
   */
  readonly fields: readonly Field[]
  readonly rows: number
  /** The column that holds geometries, as GeoJSON text. */
  readonly geometry?: { readonly column: number }
  /** Batches of at most 16,384 rows, in order, with the columns at these places of `fields`. Throws NodeError. */
  batches(columns: readonly number[]): AsyncGenerator<RecordBatch>
}
