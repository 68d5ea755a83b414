// From chunks of a result to typed columns (libraries/model/schema.ts), for the file formats of outputs/: plain values and lists of
// them as columns, other values that hold others as JSON text.

import type * as duckdb from '@duckdb/node-api'
import {
  concatColumns,
  fixedWidth,
  isPresent,
  itemName,
  makeColumn,
  sliceColumn,
} from '../../../libraries/columnar/arrow/columns.ts'
import { ByteBuffer } from '../../../libraries/base/byte-buffer.ts'
import { copyBytes } from '../../../libraries/base/bytes.ts'
import { type Column, type DataType, optional } from '../../../libraries/model/schema.ts'
import { itemsOf, nestedCellsOf } from './cells.ts'
import { type ResultColumn, scalarColumn, writtenTexts } from './vectors.ts'

const jsonForm = { structsAsArrays: false, ascii: false } as const
const startBytes = 1024

/** A column whose values outlive their vectors. Throws NodeError `QueryNotAllowed` for a type that no answer can hold. */
export function resultColumn(
  name: string,
  type: duckdb.DuckDBType,
  { hasLists }: { readonly hasLists: boolean },
): ResultColumn {
  const nested = nestedCellsOf(type, jsonForm, name)
  if (nested === undefined) {
    const { facts, read } = scalarColumn(name, type)
    return { facts, read: (...of) => owned(read(...of)) }
  }
  const list = hasLists ? listColumn(name, type) : undefined
  if (list !== undefined) return list
  return {
    facts: { name, type: { kind: 'String' }, means: 'json' },
    read: (vector, rows, within) => {
      const out = new ByteBuffer(startBytes)
      const { presence, write } = nested(vector, rows, out, within)
      const texts = writtenTexts(out, rows, presence, write)
      return makeColumn({ name, type: { kind: 'String' }, nullable: true, rows, ...presence, ...texts })
    },
  }
}

/** The column with values of its own, zeros where there is none, so that equal rows have equal bytes. */
function owned(column: Column): Column {
  const width = fixedWidth(column.type)
  if (width === undefined) return column
  const values = copyBytes(column.values)
  if (column.nullCount > 0) {
    for (let row = 0; row < column.rows; row++) {
      if (!isPresent(column, row)) values.fill(0, row * width, (row + 1) * width)
    }
  }
  return { ...column, values }
}

/** A list of plain values or of such lists; undefined for lists of anything else. */
function listColumn(name: string, type: duckdb.DuckDBType): ResultColumn | undefined {
  if (!('valueType' in type) || 'keyType' in type) return undefined
  const item = resultColumn(itemName, type.valueType, { hasLists: true })
  if (item.facts.means === 'json') return undefined
  const columnType: DataType = { kind: 'List', itemType: optional(item.facts.type) }
  const read: ResultColumn['read'] = (vector, rows, within) => {
    const items = itemsOf(type, vector, rows, within)
    const all = item.read(items.vector, items.end, items.used)
    const offsets = new Int32Array(rows + 1)
    for (let row = 0; row < rows; row++) offsets[row + 1] = (offsets[row] ?? 0) + (items.lengths[row] ?? 0)
    const child = items.used === undefined ? all : gathered(all, items.starts, items.lengths)
    const values = new Uint8Array(0)
    return makeColumn({ name, type: columnType, nullable: true, rows, ...items.presence, values, offsets, child })
  }
  return { facts: { name, type: columnType, means: 'value' }, read }
}

/** The items of the rows one after the other. */
function gathered(all: Column, starts: Int32Array, lengths: Int32Array): Column {
  const parts = [sliceColumn(all, 0, 0)]
  for (const [row, start] of starts.entries()) {
    const length = lengths[row] ?? 0
    if (length > 0) parts.push(sliceColumn(all, start, start + length))
  }
  return concatColumns(parts)
}
