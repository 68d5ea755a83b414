// A flat column of fixed width, or of booleans, cut into rows: values are copied or converted, nulls spread between them.

import { setBit, setBits } from '../arrow/buffers.ts'
import { fixedWidth, makeColumn } from '../arrow/columns.ts'
import { must } from '../../base/assert.ts'
import { type Column, type Field, innerType, isOptional, typeText } from '../../model/schema.ts'
import { damaged, UnfitValue } from './refusals.ts'
import { type LeafCursor, pieceEntries } from './leaf-cursor.ts'

/** Room for one piece of physical values; nothing is awaited while it is in use. */
let scratch = new Uint8Array(16 * pieceEntries)

/** Reads `rows` entries as the column `field`. Throws ParquetFault. */
export async function readFixedColumn(cursor: LeafCursor, field: Field, rows: number): Promise<Column> {
  const type = innerType(field.type)
  const { reading } = cursor.leaf.leafType
  if (reading === 'none') return readNulls(cursor, field, rows)
  const isBool = type.kind === 'Bool'
  const width = isBool ? 0 : must(fixedWidth(type), 'a type of fixed width')
  const values = new Uint8Array(isBool ? (rows + 7) >> 3 : width * rows)
  const out: Out = { values, width, validity: undefined, nullCount: 0 }
  for (let row = 0; row < rows;) {
    if (!(await cursor.more())) damaged(fewerValues)
    const count = Math.min(rows - row, cursor.tail - cursor.head)
    const bad = readPiece(cursor, out, row, count, rows)
    const beyond = cursor.leaf.leafType.beyond ?? `holds ${typeText(type)}; this value is beyond`
    if (bad >= 0) throw new UnfitValue('OutOfRange', bad, beyond)
    row += count
  }
  const { validity, nullCount } = out
  const nullable = isOptional(field.type)
  return makeColumn({ name: field.name, type, nullable, rows, nullCount, validity, values })
}

export const fewerValues = 'has fewer values in its pages than in its footer'
export const valuesOfNull = 'has values, though it says that it is of nulls alone'

interface Out {
  readonly values: Uint8Array
  /** Bytes of a value, 0 for booleans. */
  readonly width: number
  validity: Uint8Array | undefined
  nullCount: number
}

/** Reads `count` entries at hand as rows from `row` on. The row of the first value that does not fit, or -1. */
function readPiece(cursor: LeafCursor, out: Out, row: number, count: number, rows: number): number {
  const { head, isFull, definition } = cursor
  cursor.head += count
  const top = cursor.leaf.maxDefinition
  let present = count
  if (!isFull) {
    present = 0
    for (let i = head; i < head + count; i++) if (definition[i] === top) present++
  }
  const bad = readValues(cursor, out, row, present)
  if (present === count) {
    if (out.validity !== undefined) setBits(out.validity, row, count)
    if (out.width === 0) packBits(out.values, row, count)
    return bad < 0 ? bad : row + bad
  }
  if (out.validity === undefined) {
    out.validity = new Uint8Array((rows + 7) >> 3)
    setBits(out.validity, 0, row)
  }
  out.nullCount += count - present
  const levels = definition.subarray(head, head + count)
  if (bad >= 0) return row + rowOfValue(levels, top, bad)
  spread(out, row, levels, present, top)
  return -1
}

/** Reads `count` values to where row `row` lies (booleans: to the scratch, a byte each). The first bad one, or -1. */
function readValues(cursor: LeafCursor, out: Out, row: number, count: number): number {
  if (count === 0) return -1
  const { convert, width } = cursor.leaf.leafType
  if (convert === undefined && out.width > 0) {
    cursor.readFixed(out.values, row * out.width, count)
    return -1
  }
  const physicalWidth = width === 0 ? 16 : width
  if (scratch.length < count * physicalWidth) scratch = new Uint8Array(count * physicalWidth)
  cursor.readFixed(scratch, 0, count)
  return convert === undefined ? -1 : convert(scratch, count, out.values, row * out.width)
}

function rowOfValue(levels: Uint8Array, top: number, value: number): number {
  let left = value
  for (let i = 0; i < levels.length; i++) if (levels[i] === top && left-- === 0) return i
  return 0
}

/** Moves `present` packed values to the rows that have one, from the last to the first. */
function spread(out: Out, row: number, levels: Uint8Array, present: number, top: number): void {
  const validity = must(out.validity, 'a bitmap')
  for (let i = 0; i < levels.length; i++) if (levels[i] === top) setBit(validity, row + i)
  const { values, width } = out
  if (width === 0) {
    for (let i = 0, from = 0; i < levels.length; i++)
      if (levels[i] === top && scratch[from++] === 1) setBit(values, row + i)
    return
  }
  if (width < 4) spreadBytes(values.subarray(row * width), width, levels, present, top)
  else
    spreadWords(
      new Int32Array(values.buffer, row * width, (levels.length * width) >> 2),
      width >> 2,
      levels,
      present,
      top,
    )
}

function spreadWords(words: Int32Array, each: number, levels: Uint8Array, present: number, top: number): void {
  let from = present
  for (let i = levels.length - 1; i >= 0; i--) {
    const isPresent = levels[i] === top
    if (isPresent) from--
    if (isPresent && from === i) return
    for (let w = 0; w < each; w++) words[i * each + w] = isPresent ? (words[from * each + w] ?? 0) : 0
  }
}

function spreadBytes(bytes: Uint8Array, each: number, levels: Uint8Array, present: number, top: number): void {
  let from = present
  for (let i = levels.length - 1; i >= 0; i--) {
    const isPresent = levels[i] === top
    if (isPresent) from--
    if (isPresent && from === i) return
    for (let b = 0; b < each; b++) bytes[i * each + b] = isPresent ? (bytes[from * each + b] ?? 0) : 0
  }
}

function packBits(bits: Uint8Array, row: number, count: number): void {
  for (let i = 0; i < count; i++) if (scratch[i] === 1) setBit(bits, row + i)
}

/** Rows of a column whose type is null: no entry may have a value. */
async function readNulls(cursor: LeafCursor, field: Field, rows: number): Promise<Column> {
  for (let row = 0; row < rows;) {
    if (!(await cursor.more())) damaged(fewerValues)
    const count = Math.min(rows - row, cursor.tail - cursor.head)
    const { head, isFull, definition } = cursor
    if (isFull || definition.subarray(head, head + count).includes(cursor.leaf.maxDefinition)) {
      damaged(valuesOfNull)
    }
    cursor.head += count
    row += count
  }
  const type = innerType(field.type)
  const validity = new Uint8Array((rows + 7) >> 3)
  return { name: field.name, type, nullable: true, rows, nullCount: rows, validity, values: new Uint8Array(0) }
}
