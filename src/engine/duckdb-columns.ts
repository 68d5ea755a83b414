// From chunks of a result to typed columns (model/schema.ts), for the file formats of outputs/. Fixed-width values and
// validity are copied as they lie in the engine's vectors, text by ranges of its memory; what has no column type of its own
// becomes text: INTERVAL, UUID, ENUM … as themselves, values that hold others as JSON.

import * as duckdb from '@duckdb/node-api'
import { countBits, setBit } from '../arrow/buffers.ts'
import { concatColumns, itemName, makeColumn, sliceColumn } from '../arrow/columns.ts'
import { assert } from '../lib/assert.ts'
import { utf8 } from '../lib/bytes.ts'
import { type Column, type DataType, optional } from '../model/schema.ts'
import type { FileColumn } from '../outputs/file-format.ts'
import { plainTextOf, scalarTypeOf, tooLong, valueToken } from './duckdb-results.ts'
import { type TextVector, textBytes } from './duckdb-text.ts'

const Id = duckdb.DuckDBTypeId

/** A column of a result, and how its vectors are read. */
export interface ResultColumn {
  readonly facts: FileColumn
  /** The first `rows` values, copied out of the engine's memory. Throws NodeError `SqlValue`. */
  readonly read: (vector: duckdb.DuckDBVector, rows: number) => Column
}

/** The parts of the binding's vectors that hold their values; its types keep them private. */
interface RawVector {
  readonly items?: ArrayBufferView
  readonly dataView?: DataView
  readonly childData?: duckdb.DuckDBVector
  readonly entryData?: BigUint64Array
  readonly validity: { readonly data: BigUint64Array | null; readonly offset: number }
}

/** Validity of the first rows. */
interface Presence {
  readonly validity: Uint8Array | undefined
  readonly nullCount: number
}

type ValuesReader = (raw: RawVector, rows: number, presence: Presence) => Uint8Array

/** Throws NodeError `QueryNotAllowed` for a type that no answer can hold. */
export function resultColumn(
  name: string,
  type: duckdb.DuckDBType,
  { hasLists }: { readonly hasLists: boolean },
): ResultColumn {
  if (hasLists && (type.typeId === Id.LIST || type.typeId === Id.ARRAY)) {
    const list = listColumn(name, type)
    if (list !== undefined) return list
  }
  const fixed = fixedColumn(type, name)
  if (fixed !== undefined) {
    const [columnType, values, means] = fixed
    return { facts: { name, type: columnType, means }, read: fixedReader(name, columnType, values) }
  }
  if (type.typeId === Id.VARCHAR || type.typeId === Id.BLOB) {
    const columnType: DataType = { kind: type.typeId === Id.BLOB ? 'Binary' : 'String' }
    return { facts: { name, type: columnType, means: 'value' }, read: bytesReader(name, columnType) }
  }
  const text = plainTextOf(type)
  const facts: FileColumn = { name, type: { kind: 'String' }, means: text === undefined ? 'json' : 'value' }
  return { facts, read: printedReader(name, text ?? valueToken(type, name)) }
}

type Fixed = readonly [type: DataType, values: ValuesReader, means: FileColumn['means']]

/** Types whose values lie side by side; undefined for others. */
function fixedColumn(type: duckdb.DuckDBType, column: string): Fixed | undefined {
  switch (type.typeId) {
    case Id.BOOLEAN:
      return [{ kind: 'Bool' }, bits, 'value']
    case Id.DECIMAL:
      return [{ kind: 'Decimal', precision: type.width, scale: type.scale }, wide, 'value']
    case Id.HUGEINT:
    case Id.UHUGEINT:
      return [scalarTypeOf(type, column), hugeIntegers(type.typeId === Id.UHUGEINT), 'integer']
    case Id.SQLNULL:
      return [{ kind: 'Int32' }, (_, rows) => new Uint8Array(4 * rows), 'value']
    case Id.TINYINT:
    case Id.UTINYINT:
      return [scalarTypeOf(type, column), copied(1), 'value']
    case Id.SMALLINT:
    case Id.USMALLINT:
      return [scalarTypeOf(type, column), copied(2), 'value']
    case Id.INTEGER:
    case Id.UINTEGER:
    case Id.FLOAT:
    case Id.DATE:
      return [scalarTypeOf(type, column), copied(4), 'value']
    case Id.BIGINT:
    case Id.UBIGINT:
    case Id.DOUBLE:
    case Id.TIME:
    case Id.TIME_NS:
    case Id.TIMESTAMP:
    case Id.TIMESTAMP_TZ:
    case Id.TIMESTAMP_S:
    case Id.TIMESTAMP_MS:
    case Id.TIMESTAMP_NS:
      return [scalarTypeOf(type, column), copied(8), 'value']
    default:
      return undefined
  }
}

function rawOf(vector: duckdb.DuckDBVector): RawVector {
  // The members exist in every vector of the pinned binding that is read here; the test of every type reads each.
  return vector as unknown as RawVector
}

function fixedReader(name: string, type: DataType, values: ValuesReader): ResultColumn['read'] {
  return (vector, rows) => {
    const raw = rawOf(vector)
    const stored = presenceOf(raw, rows)
    const bytes = values(raw, rows, stored)
    const presence = withoutInfinite(type, bytes, stored, rows)
    return makeColumn({ name, type, nullable: true, rows, ...presence, values: bytes })
  }
}

function presenceOf({ validity: { data, offset } }: RawVector, rows: number): Presence {
  if (data === null) return { validity: undefined, nullCount: 0 }
  assert(offset === 0, 'a vector of a chunk begins with its first row')
  const bytes = new Uint8Array((rows + 7) >> 3)
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, bytes.length))
  if ((rows & 7) !== 0) bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) & ((1 << (rows & 7)) - 1)
  const nullCount = rows - countBits(bytes, rows)
  return nullCount === 0 ? { validity: undefined, nullCount } : { validity: bytes, nullCount }
}

function isSet({ validity }: Presence, row: number): boolean {
  return validity === undefined || (((validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 1
}

/** The vector's own memory, at least `bytes` long. */
function memory({ items, dataView }: RawVector, bytes: number): Uint8Array {
  const view = items ?? dataView
  assert(view !== undefined && view.byteLength >= bytes, 'a vector holds the values of its rows')
  return new Uint8Array(view.buffer, view.byteOffset, bytes)
}

/** Values of `width` bytes as they lie; zeros where there is none, so that equal rows have equal bytes. */
function copied(width: 1 | 2 | 4 | 8): ValuesReader {
  return (raw, rows, presence) => {
    const out = new Uint8Array(rows * width)
    out.set(memory(raw, out.length))
    if (presence.nullCount === 0) return out
    for (let row = 0; row < rows; row++) if (!isSet(presence, row)) out.fill(0, row * width, (row + 1) * width)
    return out
  }
}

const bits: ValuesReader = (raw, rows, presence) => {
  const out = new Uint8Array((rows + 7) >> 3)
  const bytes = memory(raw, rows)
  for (let row = 0; row < rows; row++) if (bytes[row] !== 0 && isSet(presence, row)) setBit(out, row)
  return out
}

/** Integers of 2 to 16 bytes, widened to 16. */
const wide: ValuesReader = (raw, rows, presence) => {
  const { items, dataView } = raw
  const bytes = (items ?? dataView)?.byteLength ?? 0
  const width = rows === 0 ? 16 : bytes / rows
  assert([2, 4, 8, 16].includes(width), 'decimals have 2, 4, 8 or 16 bytes')
  const source = memory(raw, rows * width)
  const out = new Uint8Array(rows * 16)
  for (let row = 0; row < rows; row++) {
    if (!isSet(presence, row)) continue
    for (let i = 0; i < width; i++) out[16 * row + i] = source[width * row + i] ?? 0
    if ((source[width * (row + 1) - 1] ?? 0) >= 0x80) out.fill(0xff, 16 * row + width, 16 * row + 16)
  }
  return out
}

/** The least number of 39 digits. Its upper half is above 2^62. */
const tooManyDigits = 10n ** 38n
const suspect = 1n << 62n

/** Integers of 128 bits, of which an answer has those of up to 38 digits. Throws NodeError `SqlValue` at others. */
function hugeIntegers(isUnsigned: boolean): ValuesReader {
  return (raw, rows, presence) => {
    const out = wide(raw, rows, presence)
    const halves = new BigInt64Array(out.buffer, out.byteOffset, 2 * rows)
    for (let row = 0; row < rows; row++) {
      const high = halves[2 * row + 1] ?? 0n
      if (high < suspect && high > (isUnsigned ? -1n : -suspect)) continue
      const value = (high << 64n) + BigInt.asUintN(64, halves[2 * row] ?? 0n)
      if (value < tooManyDigits && value > (isUnsigned ? -1n : -tooManyDigits)) continue
      throw tooLong()
    }
    return out
  }
}

/** Infinite dates and timestamps are null. */
function withoutInfinite(type: DataType, values: Uint8Array, presence: Presence, rows: number): Presence {
  if (type.kind !== 'Date' && type.kind !== 'Timestamp') return presence
  const step = type.kind === 'Date' ? 1 : 2
  const words = new Int32Array(values.buffer, values.byteOffset, rows * step)
  let validity = presence.validity
  for (let row = 0; row < rows; row++) {
    const high = words[step * row + step - 1] ?? 0
    if (high < 0x7fffffff && high > -0x7fffffff) continue
    const low = step === 1 ? 0 : (words[2 * row] ?? 0)
    const isInfinite = step === 1 || (high > 0 ? low === -1 : high === -0x80000000 && (low === 0 || low === 1))
    if (!isInfinite || !isSet(presence, row)) continue
    validity ??= new Uint8Array((rows + 7) >> 3).fill(0xff)
    if (validity === presence.validity) validity = validity.slice()
    validity[row >> 3] = (validity[row >> 3] ?? 0) & ~(1 << (row & 7))
    words.fill(0, step * row, step * row + step)
  }
  if (validity === presence.validity || validity === undefined) return presence
  return { validity, nullCount: rows - countBits(validity, rows) }
}

function bytesReader(name: string, type: DataType): ResultColumn['read'] {
  return (vector, rows) => {
    const raw = rawOf(vector)
    const presence = presenceOf(raw, rows)
    const { dataView } = raw
    assert(dataView !== undefined, 'text vectors have a view')
    const text: TextVector = { view: dataView, rows, isPresent: (row) => isSet(presence, row) }
    return makeColumn({ name, type, nullable: true, rows, ...presence, ...textBytes(text) })
  }
}

/** Values that are printed one by one. */
function printedReader(name: string, print: (value: duckdb.DuckDBValue) => string): ResultColumn['read'] {
  return (vector, rows) => {
    const offsets = new Int32Array(rows + 1)
    const texts: Uint8Array[] = []
    const validity = new Uint8Array((rows + 7) >> 3)
    let bytes = 0
    for (let row = 0; row < rows; row++) {
      const value = vector.getItem(row)
      if (value !== null) {
        const text = utf8(print(value))
        texts.push(text)
        bytes += text.length
        setBit(validity, row)
      }
      offsets[row + 1] = bytes
    }
    const values = new Uint8Array(bytes)
    let at = 0
    for (const text of texts) {
      values.set(text, at)
      at += text.length
    }
    const nullCount = rows - texts.length
    const type: DataType = { kind: 'String' }
    const presence = { validity: nullCount === 0 ? undefined : validity, nullCount }
    return makeColumn({ name, type, nullable: true, rows, ...presence, values, offsets })
  }
}

/** A list of plain values or of such lists; undefined for lists of anything else. */
function listColumn(name: string, type: duckdb.DuckDBListType | duckdb.DuckDBArrayType): ResultColumn | undefined {
  const item = resultColumn(itemName, type.valueType, { hasLists: true })
  if (item.facts.means === 'json') return undefined
  const columnType: DataType = { kind: 'List', itemType: optional(item.facts.type) }
  const read: ResultColumn['read'] = (vector, rows) => {
    const raw = rawOf(vector)
    const presence = presenceOf(raw, rows)
    const { childData } = raw
    assert(childData !== undefined, 'vectors of lists have a vector of items')
    const all = item.read(childData, childData.itemCount)
    const place = (row: number): readonly [number, number] => {
      if (!isSet(presence, row)) return [0, 0]
      if (type.typeId === Id.ARRAY) return [row * type.length, type.length]
      return [Number(raw.entryData?.[2 * row] ?? 0n), Number(raw.entryData?.[2 * row + 1] ?? 0n)]
    }
    const offsets = new Int32Array(rows + 1)
    let isInOrder = true
    for (let row = 0; row < rows; row++) {
      const [start, length] = place(row)
      const total = offsets[row] ?? 0
      offsets[row + 1] = total + length
      if (length > 0 && start !== total) isInOrder = false
    }
    const total = offsets[rows] ?? 0
    const child = isInOrder ? sliceColumn(all, 0, total) : gathered(all, rows, place)
    const values = new Uint8Array(0)
    return makeColumn({ name, type: columnType, nullable: true, rows, ...presence, values, offsets, child })
  }
  return { facts: { name, type: columnType, means: 'value' }, read }
}

function gathered(all: Column, rows: number, place: (row: number) => readonly [number, number]): Column {
  const parts = [sliceColumn(all, 0, 0)]
  for (let row = 0; row < rows; row++) {
    const [start, length] = place(row)
    if (length > 0) parts.push(sliceColumn(all, start, start + length))
  }
  return concatColumns(parts)
}
