// Rows of a column in another order: what sorted copies are made by, and turned back by to be checked.

import { must } from '../lib/assert.ts'
import type { Column } from '../model/schema.ts'
import { bitAt, setBit } from './buffers.ts'
import { fixedWidth, makeColumn } from './columns.ts'
import { typedView } from './numbers.ts'

/** The column whose row `i` is row `rows[i]` of `column`; all of `rows` are below its number of rows. */
export function takeRows(column: Column, rows: Uint32Array): Column {
  const { name, type, nullable, values } = column
  const { validity, nullCount } = takenPresence(column, rows)
  const parts = { name, type, nullable, rows: rows.length, nullCount, validity }
  const width = fixedWidth(type)
  if (width !== undefined) return makeColumn({ ...parts, values: takenFixed(values, width, rows) })
  if (type.kind === 'Bool') return makeColumn({ ...parts, values: takenBits(values, rows) })
  const from = must(column.offsets, 'offsets of a variable column')
  const offsets = new Int32Array(rows.length + 1)
  for (const [at, row] of rows.entries()) {
    offsets[at + 1] = (offsets[at] ?? 0) + (from[row + 1] ?? 0) - (from[row] ?? 0)
  }
  const total = offsets[rows.length] ?? 0
  if (column.child !== undefined) {
    const items = new Uint32Array(total)
    for (const [at, row] of rows.entries()) {
      const shift = (from[row] ?? 0) - (offsets[at] ?? 0)
      for (let item = offsets[at] ?? 0; item < (offsets[at + 1] ?? 0); item++) items[item] = item + shift
    }
    return makeColumn({ ...parts, values, offsets, child: takeRows(column.child, items) })
  }
  const bytes = new Uint8Array(total)
  for (const [at, row] of rows.entries()) bytes.set(values.subarray(from[row], from[row + 1]), offsets[at])
  return makeColumn({ ...parts, values: bytes, offsets })
}

function takenPresence({ validity, nullCount }: Column, rows: Uint32Array): Pick<Column, 'validity' | 'nullCount'> {
  if (validity === undefined || nullCount === 0) return { nullCount: 0 }
  const taken = new Uint8Array((rows.length + 7) >> 3)
  let nulls = 0
  for (const [at, row] of rows.entries()) {
    if (bitAt(validity, row)) setBit(taken, at)
    else nulls++
  }
  return nulls === 0 ? { nullCount: 0 } : { validity: taken, nullCount: nulls }
}

function takenBits(values: Uint8Array, rows: Uint32Array): Uint8Array {
  const taken = new Uint8Array((rows.length + 7) >> 3)
  for (const [at, row] of rows.entries()) if (bitAt(values, row)) setBit(taken, at)
  return taken
}

function takenFixed(values: Uint8Array, width: number, rows: Uint32Array): Uint8Array {
  // Words of integers: a float that is copied as one might come out with other bits.
  const size = width >= 4 ? 4 : width
  const ArrayType = size === 4 ? Int32Array : size === 2 ? Int16Array : Int8Array
  const source = typedView<Int32Array | Int16Array | Int8Array>(ArrayType, values)
  const words = width / size
  const taken = new ArrayType(rows.length * words)
  for (let at = 0; at < rows.length; at++) {
    const from = (rows[at] ?? 0) * words
    for (let word = 0; word < words; word++) taken[at * words + word] = source[from + word] ?? 0
  }
  return new Uint8Array(taken.buffer)
}
