// A batch of records as typed columns in Arrow buffer layout: what the readers make, the log carries, slices hold.
// Buffers are little-endian. No object per row exists anywhere between the parser and the slice.
// Source of the layout: Apache Arrow columnar format.

import type { DataType } from './schema.ts'

/**
 * One column. `type` never is Option: `nullable` says it.
 * `values` by type: fixed width little-endian (Int8…UInt64, Float32/64, Date = int32 days, Timestamp = int64 in its
 * unit, Time = int32 (s, ms) or int64 (us, ns), Decimal = int128); Bool = bitmap, LSB first; String, Binary = bytes
 * that `offsets` cuts; List = empty (see `child`).
 */
export interface Column {
  readonly name: string
  readonly type: DataType
  readonly nullable: boolean
  readonly rows: number
  readonly nullCount: number
  /** Bitmap, LSB first, 1 = present. Absent when nullCount is 0. At least ceil(rows/8) bytes. */
  readonly validity?: Uint8Array
  readonly values: Uint8Array
  /** rows + 1 entries starting at 0, for String, Binary, List. */
  readonly offsets?: Int32Array
  /** Items of a List column. */
  readonly child?: Column
}

/** Columns of equal length. */
export interface RecordBatch {
  readonly rows: number
  readonly columns: readonly Column[]
}
