// The plain values of the engine's vectors as typed columns (libraries/model/schema.ts). Fixed-width values stay in the vectors, text
// is copied by ranges of their memory; what has no column type of its own becomes text.

import type * as duckdb from '@duckdb/node-api'
import { clearBits, countBits, isText, setBit } from '../../../libraries/columnar/arrow/buffers.ts'
import { fixedWidth, makeColumn } from '../../../libraries/columnar/arrow/columns.ts'
import { typedView } from '../../../libraries/columnar/arrow/numbers.ts'
import { assert, must } from '../../../libraries/base/assert.ts'
import { ByteBuffer } from '../../../libraries/base/byte-buffer.ts'
import { utf8 } from '../../../libraries/base/bytes.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import type { Column, DataType } from '../../../libraries/model/schema.ts'
import type { FileColumn } from '../../../libraries/columnar/outputs/file-format.ts'
import { intervalText } from '../../../libraries/columnar/outputs/value-text.ts'
import { binding } from './binding.ts'
import { textBytes, textsTooLong } from './text.ts'
import { scalarTypeOf } from './types.ts'

const Id = binding.DuckDBTypeId

/** A column of a result, and how its vectors are read. */
export interface ResultColumn {
  readonly facts: FileColumn
  /**
   * The first `rows` values; rows outside of the bitmap `within` are null. They may lie in the memory of the vector, with
   * anything where there is no value. Throws NodeError `SqlValue`.
   */
  readonly read: (vector: duckdb.DuckDBVector, rows: number, within?: Uint8Array) => Column
}

/** The parts of the binding's vectors that hold their values; its types keep them private. */
interface RawVector extends Pick<duckdb.DuckDBVector, 'getItem'> {
  readonly items?: ArrayBufferView
  readonly dataView?: DataView
  /** Of lists and arrays: the items of all rows. */
  readonly childData?: duckdb.DuckDBVector
  /** Of lists: where the items of a row begin, and how many they are. */
  readonly entryData?: BigUint64Array
  /** Of structs: their members. */
  readonly entryVectors?: readonly duckdb.DuckDBVector[]
  /** Of maps: lists of structs of a key and a value. */
  readonly listVector?: duckdb.DuckDBVector
  /** Of unions: structs of the number of a member, and the members. */
  readonly structVector?: duckdb.DuckDBVector
  readonly validity: { readonly data: BigUint64Array | null; readonly offset: number }
}

/** Validity of the first rows. */
export interface Presence {
  readonly validity: Uint8Array | undefined
  readonly nullCount: number
}

type ValuesReader = (
  raw: RawVector,
  rows: number,
  presence: Presence,
) => Pick<Column, 'values' | 'offsets'> & Partial<Presence>

/** A column of values that hold no others; `isSigned` as in `EngineJob`. Throws NodeError `QueryNotAllowed` for a type that no answer can hold. */
export function scalarColumn(name: string, type: duckdb.DuckDBType, isSigned = false): ResultColumn {
  const columnType = scalarTypeOf(type, name)
  const values = valuesReader(type, columnType, isSigned)
  const isHuge = type.typeId === Id.HUGEINT || type.typeId === Id.UHUGEINT
  const engineType = type.alias === 'JSON' ? 'JSON' : Id[type.typeId]
  return {
    facts: { name, type: columnType, means: isHuge ? 'integer' : 'value', engineType },
    read: (vector, rows, within) => {
      const raw = rawOf(vector)
      const presence = presenceOf(raw, rows, within)
      return makeColumn({ name, type: columnType, nullable: true, rows, ...presence, ...values(raw, rows, presence) })
    },
  }
}

function valuesReader(type: duckdb.DuckDBType, columnType: DataType, isSigned: boolean): ValuesReader {
  switch (columnType.kind) {
    case 'Bool':
      return bits
    case 'Decimal':
      if (type.typeId === Id.DECIMAL) return isSigned && type.width > 18 ? inPlace(16) : decimals(type.width)
      return wideNumbers({ digits: 38, isUnsigned: type.typeId === Id.UHUGEINT })
    case 'Binary':
      return heapBytes
    case 'String':
      if (type.typeId === Id.VARCHAR) return texts
      if (type.typeId === Id.ENUM) return membersOfEnum(type.values)
      return printed(type.typeId === Id.INTERVAL ? interval : String)
    case 'Date':
    case 'Timestamp':
      return finiteTimes(columnType.kind === 'Date' ? 1 : 2)
    default:
      return inPlace(must(fixedWidth(columnType), 'any other plain type has a width'))
  }
}

export function rawOf(vector: duckdb.DuckDBVector): RawVector {
  // The members exist in every vector of the pinned binding that is read here; the test of every type reads each.
  return vector as unknown as RawVector
}

/** Which of the first `rows` rows hold a value, of those in the bitmap `within`. */
export function presenceOf({ validity }: RawVector, rows: number, within?: Uint8Array): Presence {
  const { data, offset } = validity
  if (data === null && within === undefined) return { validity: undefined, nullCount: 0 }
  assert(offset === 0, 'a vector of a chunk begins with its first row')
  const bytes = new Uint8Array((rows + 7) >> 3)
  if (data === null) bytes.fill(0xff)
  else bytes.set(new Uint8Array(data.buffer, data.byteOffset, bytes.length))
  if (within !== undefined) for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] ?? 0) & (within[i] ?? 0)
  if ((rows & 7) !== 0) bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) & ((1 << (rows & 7)) - 1)
  const nullCount = rows - countBits(bytes, rows)
  return nullCount === 0 ? { validity: undefined, nullCount } : { validity: bytes, nullCount }
}

export function isSet({ validity }: Presence, row: number): boolean {
  return validity === undefined || (((validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 1
}

/** The vector's own memory, at least `bytes` long. */
export function memory({ items, dataView }: RawVector, bytes: number): Uint8Array {
  const view = items ?? dataView
  assert(view !== undefined && view.byteLength >= bytes, 'a vector holds the values of its rows')
  return new Uint8Array(view.buffer, view.byteOffset, bytes)
}

/** Values of `width` bytes, where they lie. */
function inPlace(width: number): ValuesReader {
  return (raw, rows) => ({ values: memory(raw, rows * width) })
}

const bits: ValuesReader = (raw, rows, presence) => {
  const out = new Uint8Array((rows + 7) >> 3)
  const bytes = memory(raw, rows)
  for (let row = 0; row < rows; row++) if (bytes[row] !== 0 && isSet(presence, row)) setBit(out, row)
  return { values: out }
}

/** Decimals of so many digits, which lie in as few bytes as hold them; widened to 16. Throws NodeError `SqlValue`. */
function decimals(digits: number): ValuesReader {
  if (digits > 18) return wideNumbers({ digits, isUnsigned: false })
  const width = digits <= 4 ? 2 : digits <= 9 ? 4 : 8
  return (raw, rows) => {
    const words = typedView<Int16Array | Int32Array>(width === 2 ? Int16Array : Int32Array, memory(raw, rows * width))
    const out = new Int32Array(rows * 4)
    for (let row = 0; row < rows; row++) {
      const high = words[width === 8 ? 2 * row + 1 : row] ?? 0
      out.fill(high >> 31, 4 * row + 1, 4 * row + 4)
      out[4 * row] = words[width === 8 ? 2 * row : row] ?? 0
      if (width === 8) out[4 * row + 1] = high
    }
    return { values: new Uint8Array(out.buffer) }
  }
}

/**
 * Numbers of 128 bits, of which an answer has those of so many digits: integers, and decimals, which the engine sums as integers
 * without a look at their type. Throws NodeError `SqlValue` at others.
 */
function wideNumbers({ digits, isUnsigned }: { readonly digits: number; readonly isUnsigned: boolean }): ValuesReader {
  const tooMany = 10n ** BigInt(digits)
  const suspect = tooMany >> 64n
  return (raw, rows, presence) => {
    const values = memory(raw, rows * 16)
    const halves = typedView(BigInt64Array, values)
    for (let row = 0; row < rows; row++) {
      if (!isSet(presence, row)) continue
      const high = halves[2 * row + 1] ?? 0n
      if (high < suspect && high > (isUnsigned ? -1n : -suspect)) continue
      const value = (high << 64n) + BigInt.asUintN(64, halves[2 * row] ?? 0n)
      if (value < tooMany && value > (isUnsigned ? -1n : -tooMany)) continue
      throw numberTooLong(digits)
    }
    return { values }
  }
}

function numberTooLong(digits: number): NodeError {
  return new NodeError('SqlValue', `A number has more than the ${digits} digits that its column holds.`, {
    hint: 'Cast it to VARCHAR, or what is added to DOUBLE.',
  })
}

/** Dates (of one word of 32 bits) or timestamps (of two); infinite ones are null. */
function finiteTimes(step: 1 | 2): ValuesReader {
  return (raw, rows, presence) => {
    const values = memory(raw, 4 * step * rows)
    const words = typedView(Int32Array, values)
    const infinite: number[] = []
    for (let row = 0; row < rows; row++) {
      const high = words[step * row + step - 1] ?? 0
      if (high < 0x7fffffff && high > -0x7fffffff) continue
      const low = words[2 * row] ?? 0
      if (step === 1 || (high > 0 ? low === -1 : high === -0x80000000 && (low === 0 || low === 1))) infinite.push(row)
    }
    if (infinite.length === 0) return { values }
    const validity = presence.validity ?? new Uint8Array((rows + 7) >> 3).fill(0xff)
    for (const row of infinite) clearBits(validity, row, row + 1)
    return { values, validity, nullCount: rows - countBits(validity, rows) }
  }
}

const heapBytes: ValuesReader = ({ dataView }, rows, presence) => {
  assert(dataView !== undefined, 'text vectors have a view')
  return textBytes({ view: dataView, rows, isPresent: (row) => isSet(presence, row) })
}

/** Some functions of the engine cut characters apart: what is no UTF-8 of a text is U+FFFD. */
const texts: ValuesReader = (raw, rows, presence) => {
  const read = heapBytes(raw, rows, presence)
  const { values, offsets } = read
  if (offsets === undefined || isText(values, offsets)) return read
  const out = new ByteBuffer(values.length)
  return writtenTexts(out, rows, presence, (row) => {
    out.raw(utf8(lenient.decode(values.subarray(offsets[row], offsets[row + 1]))))
  })
}

const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const startBytes = 1024

function membersOfEnum(names: readonly string[]): ValuesReader {
  const members = new Map<duckdb.DuckDBValue, Uint8Array>(names.map((name) => [name, utf8(name)]))
  return (raw, rows, presence) => {
    const out = new ByteBuffer(startBytes)
    return writtenTexts(out, rows, presence, (row) => {
      out.raw(must(members.get(raw.getItem(row)), 'a value of an enum is one of its members'))
    })
  }
}

/** Values that are printed one by one, in ASCII. */
function printed(print: (value: duckdb.DuckDBValue) => string): ValuesReader {
  return (raw, rows, presence) => {
    const out = new ByteBuffer(startBytes)
    return writtenTexts(out, rows, presence, (row) => out.ascii(print(raw.getItem(row))))
  }
}

function interval(value: duckdb.DuckDBValue): string {
  assert(value instanceof binding.DuckDBIntervalValue, 'the engine hands over values of the type that it names')
  return intervalText(value.months, value.days, value.micros)
}

const mostBytes = 2 ** 31 - 1

/** The texts that `write` writes into `out` for each row with a value. Throws NodeError `ResultTooLarge`. */
export function writtenTexts(
  out: ByteBuffer,
  rows: number,
  presence: Presence,
  write: (row: number) => void,
): { readonly values: Uint8Array; readonly offsets: Int32Array } {
  const offsets = new Int32Array(rows + 1)
  for (let row = 0; row < rows; row++) {
    if (isSet(presence, row)) write(row)
    if (out.at > mostBytes) throw textsTooLong()
    offsets[row + 1] = out.at
  }
  return { values: out.take(), offsets }
}
