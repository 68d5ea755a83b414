// Columns and batches as values: layout of each type, cutting, joining, and the columns that the builder adds
// (offsets, operation, times). Everything else that touches columns (Arrow IPC, logical hash, slices) builds on this.
// Source of the layout: Apache Arrow columnar format. Buffers are little-endian, as is every machine Node runs on here.

import { assert, must } from '../../base/assert.ts'
import { freeBytes } from '../../base/bytes.ts'
import { type Column, type DataType, type Field, innerType, isOptional, type RecordBatch } from '../../model/schema.ts'
import { bitAt, copyBits, countBits, cutBits, setBits } from './buffers.ts'

/** Name of the items of a list, in slices and in Arrow schemas. */
export const itemName = 'item'

/** The integer type of 8, 16, 32 or 64 bits. */
export function integerType(bits: number, isSigned: boolean): DataType | undefined {
  switch (bits) {
    case 8:
      return { kind: isSigned ? 'Int8' : 'UInt8' }
    case 16:
      return { kind: isSigned ? 'Int16' : 'UInt16' }
    case 32:
      return { kind: isSigned ? 'Int32' : 'UInt32' }
    case 64:
      return { kind: isSigned ? 'Int64' : 'UInt64' }
    default:
      return undefined
  }
}

/** How a type lies in memory: `fixed` width, one bit per row, bytes cut by offsets, or items cut by offsets. */
export type ColumnLayout = 'fixed' | 'bits' | 'bytes' | 'list'

/** Bytes per value of a fixed-width type; undefined for every other type and for types that no column can hold. */
export function fixedWidth(type: DataType): 1 | 2 | 4 | 8 | 16 | undefined {
  switch (type.kind) {
    case 'Int8':
    case 'UInt8':
      return 1
    case 'Int16':
    case 'UInt16':
      return 2
    case 'Int32':
    case 'UInt32':
    case 'Float32':
    case 'Date':
      return 4
    case 'Int64':
    case 'UInt64':
    case 'Float64':
    case 'Timestamp':
      return 8
    case 'Time':
      return type.unit === 'Microsecond' || type.unit === 'Nanosecond' ? 8 : 4
    case 'Decimal':
      return 16
    default:
      return undefined
  }
}

/** Layout of `type` (without Option), or undefined when no column can hold it. */
export function columnLayout(type: DataType): ColumnLayout | undefined {
  switch (type.kind) {
    case 'Bool':
      return 'bits'
    case 'String':
      return 'bytes'
    case 'Binary':
      return type.fixedLength === undefined ? 'bytes' : undefined
    case 'List':
      return type.fixedLength === undefined && columnLayout(innerType(type.itemType)) !== undefined ? 'list' : undefined
    default:
      return fixedWidth(type) === undefined ? undefined : 'fixed'
  }
}

/** True when row `row` of `column` holds a value. */
export function isPresent(column: Column, row: number): boolean {
  return column.validity === undefined || bitAt(column.validity, row)
}

/** Rows [start, end) of a column. Values are shared, not copied, where the layout allows. */
export function sliceColumn(column: Column, start: number, end: number): Column {
  assert(start >= 0 && start <= end && end <= column.rows, 'slice outside of the column')
  if (start === 0 && end === column.rows) return column
  const rows = end - start
  const { name, type, nullable } = column
  let { values, offsets, child } = column
  const width = fixedWidth(type)
  if (width !== undefined) values = values.subarray(start * width, end * width)
  else if (type.kind === 'Bool') values = cutBits(values, start, rows)
  else if (type.kind !== 'Null') {
    const old = must(offsets, 'offsets of a variable column')
    const first = old[start] ?? 0
    const last = old[end] ?? 0
    offsets = new Int32Array(rows + 1)
    for (let i = 0; i <= rows; i++) offsets[i] = (old[start + i] ?? 0) - first
    if (child === undefined) values = values.subarray(first, last)
    else child = sliceColumn(child, first, last)
  }
  let validity = column.validity === undefined ? undefined : cutBits(column.validity, start, rows)
  const nullCount = validity === undefined ? 0 : rows - countBits(validity, rows)
  if (nullCount === 0) validity = undefined
  return makeColumn({ name, type, nullable, rows, nullCount, validity, values, offsets, child })
}

/** Rows [start, end) of a batch. */
export function sliceBatch(batch: RecordBatch, start: number, end: number): RecordBatch {
  if (start === 0 && end === batch.rows) return batch
  return { rows: end - start, columns: batch.columns.map((column) => sliceColumn(column, start, end)) }
}

/** One column with the rows of all `columns` (at least one, same type) in order; name and nullability of the first. */
export function concatColumns(columns: readonly Column[]): Column {
  const first = must(columns[0], 'a column to join')
  if (columns.length === 1) return first
  let rows = 0
  let nullCount = 0
  for (const column of columns) {
    assert(column.type.kind === first.type.kind, 'columns to join have one type')
    rows += column.rows
    nullCount += column.nullCount
  }
  const validity = nullCount === 0 ? undefined : joinValidity(columns, rows)
  const offsets = first.offsets === undefined ? undefined : joinOffsets(columns, rows)
  const child =
    first.child === undefined
      ? undefined
      : concatColumns(columns.map((column) => must(column.child, 'items of a list')))
  const { name, type, nullable } = first
  const values = type.kind === 'Bool' ? joinBits(columns, rows) : joinValues(columns)
  return makeColumn({ name, type, nullable, rows, nullCount, validity, values, offsets, child })
}

/** Gives the memory of a column back at once that nobody else has a part of. */
export function freeColumn({ values, offsets, validity, child }: Column): void {
  for (const buffer of [values, offsets, validity]) if (buffer !== undefined) freeBytes(buffer)
  if (child !== undefined) freeColumn(child)
}

/** One batch with the rows of all `batches` (at least one, same columns) in order. */
export function concatBatches(batches: readonly RecordBatch[]): RecordBatch {
  const first = must(batches[0], 'a batch to join')
  if (batches.length === 1) return first
  let rows = 0
  for (const batch of batches) {
    assert(batch.columns.length === first.columns.length, 'batches to join have the same columns')
    rows += batch.rows
  }
  const columns = first.columns.map((_, i) =>
    concatColumns(batches.map((batch) => must(batch.columns[i], 'a column in every batch'))),
  )
  return { rows, columns }
}

function joinValidity(columns: readonly Column[], rows: number): Uint8Array {
  const out = new Uint8Array((rows + 7) >> 3)
  let at = 0
  for (const { validity, rows: count } of columns) {
    if (validity !== undefined) copyBits(out, at, validity, 0, count)
    else setBits(out, at, count)
    at += count
  }
  return out
}

function joinBits(columns: readonly Column[], rows: number): Uint8Array {
  const out = new Uint8Array((rows + 7) >> 3)
  let at = 0
  for (const column of columns) {
    copyBits(out, at, column.values, 0, column.rows)
    at += column.rows
  }
  return out
}

function joinOffsets(columns: readonly Column[], rows: number): Int32Array {
  const out = new Int32Array(rows + 1)
  let at = 0
  let base = 0
  for (const column of columns) {
    const offsets = must(column.offsets, 'offsets of a variable column')
    for (let i = 0; i < column.rows; i++) out[at + i] = base + (offsets[i] ?? 0)
    at += column.rows
    base += offsets[column.rows] ?? 0
    assert(base <= maxInt32, 'a joined column holds at most 2 GiB')
  }
  out[rows] = base
  return out
}

const maxInt32 = 2 ** 31 - 1

function joinValues(columns: readonly Column[]): Uint8Array {
  let length = 0
  for (const column of columns) length += usedBytes(column)
  const out = new Uint8Array(length)
  let at = 0
  for (const column of columns) {
    const used = usedBytes(column)
    out.set(column.values.subarray(0, used), at)
    at += used
  }
  return out
}

/** Bytes of `values` that rows use. */
export function usedBytes(column: Column): number {
  const width = fixedWidth(column.type)
  if (width !== undefined) return width * column.rows
  if (column.type.kind === 'Bool') return (column.rows + 7) >> 3
  if (column.type.kind === 'List') return 0
  return column.offsets?.[column.rows] ?? 0
}

/** Rows [start, end) of a column in pieces. */
export function slicePieces(pieces: readonly Column[], start: number, end: number): Column[] {
  const parts: Column[] = []
  let first = 0
  for (const piece of pieces) {
    const from = Math.max(start - first, 0)
    const to = Math.min(end - first, piece.rows)
    if (from < to) parts.push(sliceColumn(piece, from, to))
    first += piece.rows
  }
  return parts
}

/** Memory that pieces of a column take when they are joined, in bytes. */
export function joinedBytes(pieces: readonly Column[]): number {
  const [first] = pieces
  if (first === undefined) return 0
  if (pieces.length === 1) return columnBytes(first)
  let [rows, used, nullCount] = [0, 0, 0]
  for (const piece of pieces) {
    rows += piece.rows
    nullCount += piece.nullCount
    if (first.type.kind !== 'Bool') used += usedBytes(piece)
  }
  const bits = (rows + 7) >> 3
  const own = (first.type.kind === 'Bool' ? bits : used) + (nullCount > 0 ? bits : 0)
  const items = pieces.flatMap(({ child }) => child ?? [])
  return own + (first.offsets === undefined ? 0 : 4 * (rows + 1)) + joinedBytes(items)
}

/** Memory that a batch takes, in bytes: values, offsets, validity. */
export function batchBytes(batch: RecordBatch): number {
  let total = 0
  for (const column of batch.columns) total += columnBytes(column)
  return total
}

function columnBytes(column: Column): number {
  const own = usedBytes(column) + (column.validity?.length ?? 0) + 4 * (column.offsets?.length ?? 0)
  return column.child === undefined ? own : own + columnBytes(column.child)
}

/** Parts of a column, some possibly undefined. */
interface ColumnParts extends Omit<Column, 'validity' | 'offsets' | 'child'> {
  readonly validity?: Uint8Array | undefined
  readonly offsets?: Int32Array | undefined
  readonly child?: Column | undefined
}

/** A column of its parts; members that are undefined are left out. */
export function makeColumn(parts: ColumnParts): Column {
  const { name, type, nullable, rows, nullCount, values, validity, offsets, child } = parts
  // Spreads would be half the cost of a column of one row.
  const column: { -readonly [K in keyof Column]: Column[K] } = { name, type, nullable, rows, nullCount, values }
  if (validity !== undefined) column.validity = validity
  if (offsets !== undefined) column.offsets = offsets
  if (child !== undefined) column.child = child
  return column
}

/** A required Int64 column: first, first + 1, … Throws AssertionFailed outside of 0 … 2^53 - 1. */
export function int64RangeColumn(name: string, first: number, rows: number): Column {
  assert(first >= 0 && Number.isSafeInteger(first + rows), 'offsets are safe integers')
  const words = new Int32Array(rows * 2)
  for (let i = 0; i < rows; i++) {
    words[2 * i] = first + i
    words[2 * i + 1] = Math.floor((first + i) / 2 ** 32)
  }
  return { name, type: { kind: 'Int64' }, nullable: false, rows, nullCount: 0, values: new Uint8Array(words.buffer) }
}

/** A required column with the same safe integer in each row; `type` is of 4 or 8 bytes (Int32, Timestamp, Date, …). */
export function constantColumn(field: Field, value: number, rows: number): Column {
  assert(Number.isSafeInteger(value), 'a constant is a safe integer')
  const type = innerType(field.type)
  const width = fixedWidth(type)
  assert(width === 4 || width === 8, 'a constant column has 4 or 8 bytes a value')
  const words = new Int32Array((rows * width) / 4)
  if (width === 4) words.fill(value)
  else {
    const high = Math.floor(value / 2 ** 32)
    for (let i = 0; i < words.length; i += 2) {
      words[i] = value
      words[i + 1] = high
    }
  }
  const values = new Uint8Array(words.buffer)
  return { name: field.name, type, nullable: isOptional(field.type), rows, nullCount: 0, values }
}
