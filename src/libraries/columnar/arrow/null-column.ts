// Columns of nulls: what a batch does not bring. They lie in memory that all of them share, so that a wide dataset costs
// narrow rows little.

import { assert, must } from '../../base/assert.ts'
import { type Column, type Field, innerType, isOptional } from '../../model/schema.ts'
import { columnLayout, concatColumns, fixedWidth, itemName, makeColumn } from './columns.ts'

const sharedBytesMost = 1024 * 1024
/** Longer than any array over it: memory that is not all an array's own is neither freed nor moved to a thread. */
let zeros = new ArrayBuffer(64 * 1024)

/** A column of nulls for an optional field, not to be written to. */
export function nullColumn(field: Field, rows: number): Column {
  const type = innerType(field.type)
  assert(rows === 0 || isOptional(field.type), 'a column of nulls is optional')
  const layout = must(columnLayout(type), 'a type that a column can hold')
  const width = fixedWidth(type) ?? 0
  return makeColumn({
    name: field.name,
    type,
    nullable: isOptional(field.type),
    rows,
    nullCount: rows,
    validity: rows === 0 ? undefined : zeroBytes((rows + 7) >> 3),
    values: zeroBytes(layout === 'bits' ? (rows + 7) >> 3 : width * rows),
    offsets:
      layout === 'bytes' || layout === 'list' ? new Int32Array(bufferOf(4 * (rows + 1)), 0, rows + 1) : undefined,
    child: type.kind === 'List' ? nullColumn({ name: itemName, type: type.itemType }, 0) : undefined,
  })
}

/** One column of pieces; nulls alone are no copies of them. */
export function joinedPieces(pieces: readonly Column[]): Column {
  const [first] = pieces
  let rows = 0
  for (const piece of pieces) {
    if (piece.nullCount < piece.rows) return concatColumns(pieces)
    rows += piece.rows
  }
  if (first === undefined || pieces.length === 1 || rows === 0) return concatColumns(pieces)
  return nullColumn({ name: first.name, type: { kind: 'Option', inner: first.type } }, rows)
}

function zeroBytes(length: number): Uint8Array {
  return new Uint8Array(bufferOf(length), 0, length)
}

function bufferOf(length: number): ArrayBuffer {
  if (length > sharedBytesMost) return new ArrayBuffer(length)
  if (length >= zeros.byteLength) zeros = new ArrayBuffer(2 * length)
  return zeros
}
