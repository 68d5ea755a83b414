// A column in Parquet's physical form: values as they stand in a page, and the levels of lists.
// Source: Apache Parquet, Encodings; levels as in the Dremel paper.

import { concatColumns, fixedWidth, isPresent, sliceColumn } from '../arrow/columns.ts'
import { numbersOf } from '../arrow/numbers.ts'
import { must } from '../../base/assert.ts'
import { grown } from '../../base/bytes.ts'
import type { Column, DataType } from '../../model/schema.ts'
import type { ParquetLeaf } from './file-schema.ts'
import { physicalTypes } from './page-header.ts'

/** How bounds of a leaf compare. */
export type LeafOrder = 'signed' | 'unsigned' | 'float' | 'bits' | 'bytes' | 'bigEndian'

/**
 * One leaf of a row group. `width`: bytes per value (4, 8, or those of `fixed`), 0 for bits and bytes. `values` has a
 * place for nulls too. `definition` and `repetition`: one level per entry, for lists only.
 */
export interface LeafValues {
  readonly order: LeafOrder
  readonly width: number
  readonly rows: number
  readonly nullCount: number
  readonly validity: Uint8Array | undefined
  readonly values: Uint8Array
  readonly offsets: Int32Array | undefined
  readonly levels: ListLevels | undefined
}

/** Levels of a list column, a byte each. */
export interface ListLevels {
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
}

/** The leaf of `column` in physical form. Shares memory with the column where the forms are equal. */
export function leafValues(leaf: ParquetLeaf, column: Column): LeafValues {
  const isList = column.type.kind === 'List'
  const whole = isList ? withoutHiddenItems(column) : column
  let items = whole
  while (items.child !== undefined) items = items.child
  const { rows, nullCount, validity, offsets } = items
  const width = physicalWidth(leaf)
  return {
    order: leafOrder(leaf.type),
    width,
    rows,
    nullCount,
    validity,
    values: physicalValues(leaf, items, width),
    offsets,
    levels: isList ? listLevels(whole) : undefined,
  }
}

function physicalWidth(leaf: ParquetLeaf): number {
  switch (leaf.form.physical) {
    case physicalTypes.int32:
    case physicalTypes.float:
      return 4
    case physicalTypes.int64:
    case physicalTypes.double:
      return 8
    default:
      return leaf.fixedBytes
  }
}

function leafOrder(type: DataType): LeafOrder {
  switch (type.kind) {
    case 'Bool':
      return 'bits'
    case 'String':
    case 'Binary':
      return 'bytes'
    case 'Float32':
    case 'Float64':
      return 'float'
    case 'Decimal':
      return type.precision > 18 ? 'bigEndian' : 'signed'
    default:
      return type.kind.startsWith('U') ? 'unsigned' : 'signed'
  }
}

function physicalValues(leaf: ParquetLeaf, column: Column, width: number): Uint8Array {
  const { rows, values } = column
  const own = fixedWidth(column.type)
  if (own === undefined || (own === width && own < 16)) return values
  if (own === 16) return lowBytes(values.subarray(0, 16 * rows), width, leaf.form.physical === physicalTypes.fixed)
  return new Uint8Array(new Int32Array(must(numbersOf(column), 'short integers').subarray(0, rows)).buffer)
}

/** The low `width` bytes of each 16-byte value, in Parquet's order where they are `fixed`: the highest first. */
function lowBytes(values: Uint8Array, width: number, isBigEndian: boolean): Uint8Array {
  const rows = values.length / 16
  const out = new Uint8Array(rows * width)
  for (let i = 0; i < rows; i++) {
    for (let b = 0; b < width; b++) out[i * width + b] = values[16 * i + (isBigEndian ? width - 1 - b : b)] ?? 0
  }
  return out
}

/** The list column without items under null rows: Arrow allows them, Parquet has no place for them. */
function withoutHiddenItems(column: Column): Column {
  const { child, offsets, rows } = column
  if (child === undefined || offsets === undefined) return column
  const items = withoutHiddenItems(child)
  if (!hidesItems(column, offsets)) return items === child ? column : { ...column, child: items }
  const kept: Column[] = [sliceColumn(items, 0, 0)]
  const newOffsets = new Int32Array(rows + 1)
  let total = 0
  for (let row = 0; row < rows; row++) {
    if (isPresent(column, row)) {
      kept.push(sliceColumn(items, offsets[row] ?? 0, offsets[row + 1] ?? 0))
      total += (offsets[row + 1] ?? 0) - (offsets[row] ?? 0)
    }
    newOffsets[row + 1] = total
  }
  return { ...column, offsets: newOffsets, child: concatColumns(kept) }
}

function hidesItems(column: Column, offsets: Int32Array): boolean {
  if (column.nullCount === 0) return false
  for (let row = 0; row < column.rows; row++) {
    if (offsets[row] !== offsets[row + 1] && !isPresent(column, row)) return true
  }
  return false
}

function listLevels(column: Column): ListLevels {
  const sink = new LevelSink()
  for (let row = 0; row < column.rows; row++) sink.row(column, row, { definition: 0, repetition: 0, depth: 0 })
  return sink.levels()
}

interface Place {
  readonly definition: number
  readonly repetition: number
  /** Lists above this value. */
  readonly depth: number
}

class LevelSink {
  private definition = new Uint8Array(256)
  private repetition = new Uint8Array(256)
  private used = 0

  row(column: Column, row: number, { definition, repetition, depth }: Place): void {
    if (!isPresent(column, row)) return this.entry(definition, repetition)
    const own = definition + (column.nullable ? 1 : 0)
    if (column.type.kind !== 'List') return this.entry(own, repetition)
    const offsets = must(column.offsets, 'offsets of a list')
    const child = must(column.child, 'items of a list')
    const first = offsets[row] ?? 0
    const last = offsets[row + 1] ?? 0
    if (first === last) return this.entry(own, repetition)
    for (let item = first; item < last; item++) {
      const at = item === first ? repetition : depth + 1
      this.row(child, item, { definition: own + 1, repetition: at, depth: depth + 1 })
    }
  }

  levels(): ListLevels {
    return { definition: this.definition.subarray(0, this.used), repetition: this.repetition.subarray(0, this.used) }
  }

  private entry(definition: number, repetition: number): void {
    if (this.used === this.definition.length) {
      this.definition = grown(this.definition, 2 * this.used)
      this.repetition = grown(this.repetition, 2 * this.used)
    }
    this.definition[this.used] = definition
    this.repetition[this.used] = repetition
    this.used++
  }
}
