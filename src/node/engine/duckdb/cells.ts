// The cells of a vector as JSON text. Plain values are printed from their columns (libraries/columnar/outputs/cells.ts); lists, structs, maps
// and unions from the vectors of what they hold.

import type * as duckdb from '@duckdb/node-api'
import { setBit, setBits } from '../../../libraries/columnar/arrow/buffers.ts'
import { compareCodePoints } from '../../../libraries/base/json/canonical.ts'
import { must } from '../../../libraries/base/assert.ts'
import type { ByteBuffer } from '../../../libraries/base/byte-buffer.ts'
import { utf8 } from '../../../libraries/base/bytes.ts'
import { asciiStyle, cellWriter, type CellWriter, jsonStyle } from '../../../libraries/columnar/outputs/cells.ts'
import { stringToken } from '../../../libraries/columnar/outputs/value-text.ts'
import { binding } from './binding.ts'
import { unrenderable } from './types.ts'
import { isSet, memory, type Presence, presenceOf, rawOf, scalarColumn } from './vectors.ts'

const Id = binding.DuckDBTypeId

/** How values are written. */
export interface CellForm {
  /** Structs as arrays of their values, else as objects. */
  readonly structsAsArrays: boolean
  /** All beyond U+007E is escaped. */
  readonly ascii: boolean
  /** As in `EngineJob`. */
  readonly isSigned?: boolean
}

/**
 * The writer of the first `rows` cells of a vector into `out`, nulls included. What the bitmap `within` leaves out is not
 * read. Throws NodeError `SqlValue`.
 */
export type CellsOf = (vector: duckdb.DuckDBVector, rows: number, out: ByteBuffer, within?: Uint8Array) => CellWriter

/** Values that hold others: which there are, and the writer of one that is there. */
interface NestedCells {
  readonly presence: Presence
  readonly write: CellWriter
}

type NestedCellsOf = (...of: Parameters<CellsOf>) => NestedCells

/** The cells of a column or of what it holds. Throws NodeError `QueryNotAllowed` for a type that has no JSON form. */
export function cellsOf(type: duckdb.DuckDBType, form: CellForm, column: string): CellsOf {
  const nested = nestedCellsOf(type, form, column)
  if (nested === undefined) {
    const { facts, read } = scalarColumn(column, type, form.isSigned)
    const style = form.ascii ? asciiStyle : jsonStyle
    return (vector, rows, out, within) => cellWriter(read(vector, rows, within), facts, out, style)
  }
  return (vector, rows, out, within) => {
    const { presence, write } = nested(vector, rows, out, within)
    if (presence.nullCount === 0) return write
    return (row) => {
      if (isSet(presence, row)) write(row)
      else out.ascii('null')
    }
  }
}

/** As `cellsOf`; undefined for a type that holds no others. */
export function nestedCellsOf(type: duckdb.DuckDBType, form: CellForm, column: string): NestedCellsOf | undefined {
  switch (type.typeId) {
    case Id.LIST:
    case Id.ARRAY:
      return listCells(type, cellsOf(type.valueType, form, column))
    case Id.STRUCT:
      return structCells(structMembers(type, form, column), form.structsAsArrays ? '[]' : '{}')
    case Id.MAP: {
      const parts = [type.keyType, type.valueType].map((part) => cellsOf(part, form, column))
      const entry = structCells(
        parts.map((cells, at) => ({ at, key: at === 0 ? '"key":' : '"value":', cells })),
        '{}',
      )
      const list = listCells(type, (...of) => entry(...of).write)
      return (vector, ...of) => list(must(rawOf(vector).listVector, 'maps have lists of entries'), ...of)
    }
    case Id.UNION:
      return unionCells(type, form, column)
    default:
      return undefined
  }
}

/** Where the items of the rows of a vector of lists lie among all of its items. */
interface Items {
  readonly presence: Presence
  readonly vector: duckdb.DuckDBVector
  /** The first item of each row, and how many it has: none of a null. */
  readonly starts: Int32Array
  readonly lengths: Int32Array
  /** One behind the last item of a row. */
  readonly end: number
  /** The items that some row has; undefined where they follow one another from the first on, row by row. */
  readonly used: Uint8Array | undefined
}

type ListType = duckdb.DuckDBListType | duckdb.DuckDBArrayType | duckdb.DuckDBMapType

export function itemsOf(type: ListType, vector: duckdb.DuckDBVector, rows: number, within?: Uint8Array): Items {
  const raw = rawOf(vector)
  const presence = presenceOf(raw, rows, within)
  const [starts, lengths] = [new Int32Array(rows), new Int32Array(rows)]
  let [total, end, isInOrder] = [0, 0, true]
  for (let row = 0; row < rows; row++) {
    if (!isSet(presence, row)) continue
    const isArray = type.typeId === Id.ARRAY
    const start = isArray ? row * type.length : Number(raw.entryData?.[2 * row] ?? 0n)
    const length = isArray ? type.length : Number(raw.entryData?.[2 * row + 1] ?? 0n)
    if (length === 0) continue
    isInOrder &&= start === total
    starts[row] = start
    lengths[row] = length
    total += length
    end = Math.max(end, start + length)
  }
  const used = isInOrder ? undefined : new Uint8Array((end + 7) >> 3)
  if (used !== undefined) for (let row = 0; row < rows; row++) setBits(used, starts[row] ?? 0, lengths[row] ?? 0)
  return { presence, vector: must(raw.childData, 'lists have a vector of items'), starts, lengths, end, used }
}

function listCells(type: ListType, item: CellsOf): NestedCellsOf {
  return (vector, rows, out, within) => {
    const items = itemsOf(type, vector, rows, within)
    const { starts, lengths } = items
    const write = item(items.vector, items.end, out, items.used)
    return {
      presence: items.presence,
      write: (row) => {
        const start = starts[row] ?? 0
        const end = start + (lengths[row] ?? 0)
        out.ascii('[')
        for (let at = start; at < end; at++) {
          if (at > start) out.ascii(',')
          write(at)
        }
        out.ascii(']')
      },
    }
  }
}

/** A member of a struct: its place among its vectors, what stands before its value, and its cells. */
interface Member {
  readonly at: number
  readonly key: string
  readonly cells: CellsOf
}

function structMembers(type: duckdb.DuckDBStructType, form: CellForm, column: string): Member[] {
  const names = [...type.entryNames]
  // Two members of one name have no place in an object; one named __proto__ has none in that of many readers.
  if (new Set(names).size < names.length || names.includes('__proto__')) throw unrenderable(type, column)
  const members = names.map((name, at) => {
    const key = form.structsAsArrays ? '' : `${stringToken(name, form.ascii)}:`
    return { name, at, key, cells: cellsOf(type.entryTypes[at] ?? type, form, column) }
  })
  return form.structsAsArrays ? members : members.sort((a, b) => compareCodePoints(a.name, b.name))
}

function structCells(members: readonly Member[], brackets: '[]' | '{}'): NestedCellsOf {
  const keys = members.map(({ key }, at) => utf8(`${at === 0 ? brackets.charAt(0) : ','}${key}`))
  const end = brackets.charAt(1)
  return (vector, rows, out, within) => {
    const raw = rawOf(vector)
    const presence = presenceOf(raw, rows, within)
    const writers = members.map(({ at, cells }) => cells(memberOf(raw.entryVectors, at), rows, out, presence.validity))
    return {
      presence,
      write: (row) => {
        for (const [at, write] of writers.entries()) {
          out.raw(must(keys[at], 'a key for each member'))
          write(row)
        }
        out.ascii(end)
      },
    }
  }
}

export function memberOf(vectors: readonly duckdb.DuckDBVector[] | undefined, at: number): duckdb.DuckDBVector {
  return must(vectors?.[at], 'a struct has a vector for each member')
}

function unionCells(type: duckdb.DuckDBUnionType, form: CellForm, column: string): NestedCellsOf {
  const members = type.memberTags.map((tag, at) => ({
    key: utf8(`{"tag":${stringToken(tag, form.ascii)},"value":`),
    cells: cellsOf(type.memberTypes[at] ?? type, form, column),
  }))
  return (vector, rows, out, within) => {
    const { presence, vectors, tagOf, used } = unionParts(type, vector, rows, within)
    const writers = members.map(({ cells }, at) => cells(memberOf(vectors, at + 1), rows, out, used[at]))
    return {
      presence,
      write: (row) => {
        const at = tagOf[row] ?? 0
        out.raw(must(members[at], 'a member').key)
        writers[at]?.(row)
        out.ascii('}')
      },
    }
  }
}

/** The parts of a vector of unions: which rows have a value, of which member, and the vectors of the members, behind one other. */
export function unionParts(
  { memberTags }: duckdb.DuckDBUnionType,
  vector: duckdb.DuckDBVector,
  rows: number,
  within?: Uint8Array,
): {
  readonly presence: Presence
  readonly vectors: readonly duckdb.DuckDBVector[] | undefined
  readonly tagOf: Uint8Array
  /** By member, the rows that have it. */
  readonly used: readonly Uint8Array[]
} {
  const struct = rawOf(must(rawOf(vector).structVector, 'unions have structs'))
  const tags = rawOf(memberOf(struct.entryVectors, 0))
  const presence = presenceOf(tags, rows, presenceOf(struct, rows, within).validity)
  const tagOf = memory(tags, rows)
  const used = memberTags.map(() => new Uint8Array((rows + 7) >> 3))
  for (let row = 0; row < rows; row++) {
    if (isSet(presence, row)) setBit(must(used[tagOf[row] ?? 0], 'the tag of a union is one of its members'), row)
  }
  return { presence, vectors: struct.entryVectors, tagOf, used }
}
