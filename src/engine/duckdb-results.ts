// From a result of the engine to an answer: the columns' types as its schema says them, and its rows as text in an output
// format (outputs/formats.ts), chunk by chunk, counted while they are written. Only materialised results come here: the
// binding ends a streaming one silently when the query fails.

import * as duckdb from '@duckdb/node-api'
import { compareCodePoints } from '../json/canonical.ts'
import { assert, must } from '../lib/assert.ts'
import { toHex, utf8 } from '../lib/bytes.ts'
import { NodeError } from '../model/errors.ts'
import {
  type DataType,
  type OutputField,
  type OutputSchema,
  type OutputType,
  type TimeUnit,
  unitNanos,
  noZone,
} from '../model/schema.ts'
import { jsonLayoutOf, type OutputSink } from '../outputs/layouts.ts'
import {
  dateText,
  decimalText,
  float32Token,
  float64Token,
  intervalText,
  stringToken,
  timeNanosText,
  timestampMicrosText,
  timestampNanosText,
} from '../outputs/value-text.ts'
import type { PlainJob } from './messages.ts'

const Id = duckdb.DuckDBTypeId

/** JSON token of one value. */
type CellWriter = (value: duckdb.DuckDBValue) => string

/** How values are written. */
interface CellForm {
  /** Structs as arrays of their values, else as objects. */
  readonly structsAsArrays: boolean
  readonly ascii: boolean
}

/** A type that holds no other: its name in schemas, and the writer of its values, which are not null. */
type Scalar = readonly [type: OutputType, write: (value: duckdb.DuckDBValue, ascii: boolean) => string]

const text: OutputType = { kind: 'String' }
const integerToken = (value: duckdb.DuckDBValue): string => String(value)
const textToken = (value: duckdb.DuckDBValue, ascii: boolean): string => stringToken(String(value), ascii)

/** Integers of 128 bits print bare as long as they fit the 38 digits of their Arrow type. */
const hugeInteger: Scalar = [
  { kind: 'Decimal', precision: 38, scale: 0 },
  (value) => {
    const token = String(value)
    if (token.length > 38 && token.replace('-', '').length > 38) throw tooLong()
    return token
  },
]

/** The refusal of an integer that no answer can hold. */
export function tooLong(): NodeError {
  return new NodeError('SqlValue', 'An integer has more than 38 digits.', { hint: 'Cast it to VARCHAR or DOUBLE.' })
}

type ValueClass<T> = new (...args: never[]) => T

/** Writer of values of one class of the binding. */
function of<T>(kind: ValueClass<T>, write: (value: T) => string): CellWriter {
  return (value) => {
    assert(value instanceof kind, 'the engine hands over values of the type that it names')
    return write(value)
  }
}

const int64Max = 9_223_372_036_854_775_807n

/** Timestamps in a unit; infinite ones are null. */
function stamp<T>(unit: TimeUnit, kind: ValueClass<T>, count: (value: T) => bigint, zone: 'Z' | '' = ''): Scalar {
  const nanos = unitNanos(unit)
  const print = unit === 'Microsecond' ? timestampMicrosText : (at: bigint) => timestampNanosText(at * nanos)
  const write = of(kind, (value) => {
    const at = count(value)
    return at >= int64Max || at <= -int64Max ? 'null' : `"${print(at)}${zone}"`
  })
  return [{ kind: 'Timestamp', unit, timezone: zone === 'Z' ? 'UTC' : noZone }, write]
}

const scalars: ReadonlyMap<duckdb.DuckDBTypeId, Scalar> = new Map<duckdb.DuckDBTypeId, Scalar>([
  [Id.BOOLEAN, [{ kind: 'Bool' }, (value) => (value === true ? 'true' : 'false')]],
  [Id.TINYINT, [{ kind: 'Int8' }, integerToken]],
  [Id.SMALLINT, [{ kind: 'Int16' }, integerToken]],
  [Id.INTEGER, [{ kind: 'Int32' }, integerToken]],
  [Id.BIGINT, [{ kind: 'Int64' }, integerToken]],
  [Id.UTINYINT, [{ kind: 'UInt8' }, integerToken]],
  [Id.USMALLINT, [{ kind: 'UInt16' }, integerToken]],
  [Id.UINTEGER, [{ kind: 'UInt32' }, integerToken]],
  [Id.UBIGINT, [{ kind: 'UInt64' }, integerToken]],
  [Id.HUGEINT, hugeInteger],
  [Id.UHUGEINT, hugeInteger],
  [Id.FLOAT, [{ kind: 'Float32' }, (value) => float32Token(Number(value))]],
  [Id.DOUBLE, [{ kind: 'Float64' }, (value) => float64Token(Number(value))]],
  [Id.VARCHAR, [text, textToken]],
  [Id.ENUM, [text, textToken]],
  [Id.BIT, [text, textToken]],
  [Id.UUID, [text, textToken]],
  [Id.BIGNUM, [text, textToken]],
  [Id.TIME_TZ, [text, textToken]],
  [
    Id.INTERVAL,
    [text, of(duckdb.DuckDBIntervalValue, ({ months, days, micros }) => `"${intervalText(months, days, micros)}"`)],
  ],
  [Id.BLOB, [{ kind: 'Binary' }, of(duckdb.DuckDBBlobValue, ({ bytes }) => `"${toHex(bytes)}"`)]],
  [
    Id.DATE,
    [
      { kind: 'Date' },
      of(duckdb.DuckDBDateValue, ({ days }) => (Math.abs(days) >= 2_147_483_647 ? 'null' : `"${dateText(days)}"`)),
    ],
  ],
  [
    Id.TIME,
    [
      { kind: 'Time', unit: 'Microsecond' },
      of(duckdb.DuckDBTimeValue, ({ micros }) => `"${timeNanosText(micros * 1000n)}"`),
    ],
  ],
  [
    Id.TIME_NS,
    [{ kind: 'Time', unit: 'Nanosecond' }, of(duckdb.DuckDBTimeNSValue, ({ nanos }) => `"${timeNanosText(nanos)}"`)],
  ],
  [Id.TIMESTAMP_TZ, stamp('Microsecond', duckdb.DuckDBTimestampTZValue, ({ micros }) => micros, 'Z')],
  [Id.TIMESTAMP, stamp('Microsecond', duckdb.DuckDBTimestampValue, ({ micros }) => micros)],
  [Id.TIMESTAMP_S, stamp('Second', duckdb.DuckDBTimestampSecondsValue, ({ seconds }) => seconds)],
  [Id.TIMESTAMP_MS, stamp('Millisecond', duckdb.DuckDBTimestampMillisecondsValue, ({ millis }) => millis)],
  [Id.TIMESTAMP_NS, stamp('Nanosecond', duckdb.DuckDBTimestampNanosecondsValue, ({ nanos }) => nanos)],
  [Id.SQLNULL, [{ kind: 'Int32' }, () => 'null']],
])

function scalarOf(type: duckdb.DuckDBType, column: string): Scalar {
  const scalar = scalars.get(type.typeId)
  if (scalar === undefined) throw unrenderable(type, column)
  return scalar
}

/** The type of a value that holds no others. Throws NodeError `QueryNotAllowed` for one that no answer can hold. */
export function scalarTypeOf(type: duckdb.DuckDBType, column: string): DataType {
  const [scalar] = scalarOf(type, column)
  assert(isDataType(scalar), 'a plain type of an answer is one of ODF')
  return scalar
}

function isDataType(type: OutputType): type is Extract<OutputType, DataType> {
  return type.kind !== 'Union'
}

/** The printer of values that are text in every answer, without quotes; undefined for other types. */
export function plainTextOf(type: duckdb.DuckDBType): ((value: duckdb.DuckDBValue) => string) | undefined {
  if (type.typeId === Id.INTERVAL) {
    return of(duckdb.DuckDBIntervalValue, ({ months, days, micros }) => intervalText(months, days, micros))
  }
  const [, write] = scalars.get(type.typeId) ?? []
  return write === textToken ? String : undefined
}

/** The writer of JSON tokens of a type that holds others. Throws NodeError `QueryNotAllowed`. */
export function valueToken(type: duckdb.DuckDBType, column: string): (value: duckdb.DuckDBValue) => string {
  return cellWriter(type, { structsAsArrays: false, ascii: false }, column)
}

/** The refusal of a result that has no JSON form. */
function unrenderable(type: duckdb.DuckDBType, column: string): NodeError {
  return new NodeError(
    'QueryNotAllowed',
    `The column '${column}' is of type ${String(type)}, which has no JSON form.`,
    { hint: `Cast it, for instance to VARCHAR.` },
  )
}

/**
 * The columns of a result. The engine knows no required columns: all are optional, keys of maps excepted. Throws
 * NodeError `QueryNotAllowed` for a type that has no JSON form.
 */
export function outputSchemaOf(names: readonly string[], types: readonly duckdb.DuckDBType[]): OutputSchema {
  return { fields: types.map((type, index) => outputField(names[index] ?? '', type, names[index] ?? '')) }
}

function outputField(name: string, type: duckdb.DuckDBType, column: string): OutputField {
  return { name, type: optional(type, column) }
}

function optional(type: duckdb.DuckDBType, column: string): OutputType {
  return { kind: 'Option', inner: outputType(type, column) }
}

function outputType(type: duckdb.DuckDBType, column: string): OutputType {
  switch (type.typeId) {
    case Id.DECIMAL:
      return { kind: 'Decimal', precision: type.width, scale: type.scale }
    case Id.LIST:
      return { kind: 'List', itemType: optional(type.valueType, column) }
    case Id.ARRAY:
      return { kind: 'List', itemType: optional(type.valueType, column), fixedLength: type.length }
    case Id.STRUCT:
      return { kind: 'Struct', fields: members(type.entryNames, type.entryTypes, column) }
    case Id.MAP:
      return { kind: 'Map', keyType: outputType(type.keyType, column), valueType: optional(type.valueType, column) }
    case Id.UNION:
      return { kind: 'Union', members: members(type.memberTags, type.memberTypes, column) }
    default:
      return scalarOf(type, column)[0]
  }
}

function members(names: readonly string[], types: readonly duckdb.DuckDBType[], column: string): OutputField[] {
  return types.map((type, index) => outputField(names[index] ?? '', type, column))
}

/** The writer of a column or of what it holds. Throws NodeError `QueryNotAllowed` for a type that has no JSON form. */
function cellWriter(type: duckdb.DuckDBType, form: CellForm, column: string): CellWriter {
  const write = nestedWriter(type, form, column) ?? scalarOf(type, column)[1]
  const { ascii } = form
  return (value) => (value === null ? 'null' : write(value, ascii))
}

/** The writer of a type with parameters or parts, or undefined. */
function nestedWriter(type: duckdb.DuckDBType, form: CellForm, column: string): CellWriter | undefined {
  switch (type.typeId) {
    case Id.DECIMAL:
      return of(duckdb.DuckDBDecimalValue, ({ value, scale }) => `"${decimalText(value, scale)}"`)
    case Id.LIST:
    case Id.ARRAY: {
      const item = cellWriter(type.valueType, form, column)
      return (value) => {
        assert(
          value instanceof duckdb.DuckDBListValue || value instanceof duckdb.DuckDBArrayValue,
          'a list has list values',
        )
        return `[${value.items.map(item).join(',')}]`
      }
    }
    case Id.STRUCT:
      return structWriter(type, form, column)
    case Id.MAP: {
      const [key, item] = [cellWriter(type.keyType, form, column), cellWriter(type.valueType, form, column)]
      return of(duckdb.DuckDBMapValue, ({ entries }) => {
        return `[${entries.map((entry) => `{"key":${key(entry.key)},"value":${item(entry.value)}}`).join(',')}]`
      })
    }
    case Id.UNION: {
      const writers = new Map(
        type.memberTags.map((tag, index) => [tag, cellWriter(type.memberTypes[index] ?? type, form, column)]),
      )
      return of(duckdb.DuckDBUnionValue, ({ tag, value }) => {
        const write = must(writers.get(tag), 'the tag of a union is one of its members')
        return `{"tag":${stringToken(tag, form.ascii)},"value":${write(value)}}`
      })
    }
    default:
      return undefined
  }
}

function structWriter(type: duckdb.DuckDBStructType, form: CellForm, column: string): CellWriter {
  const names = [...type.entryNames]
  // The binding hands structs over as objects: two members of one name, or one named __proto__, would be lost.
  if (new Set(names).size < names.length || names.includes('__proto__')) throw unrenderable(type, column)
  const fields = names.map((name, index) => ({
    name,
    prefix: form.structsAsArrays ? '' : `${stringToken(name, form.ascii)}:`,
    write: cellWriter(type.entryTypes[index] ?? type, form, column),
  }))
  if (!form.structsAsArrays) fields.sort((a, b) => compareCodePoints(a.name, b.name))
  const [open, close] = form.structsAsArrays ? ['[', ']'] : ['{', '}']
  return of(duckdb.DuckDBStructValue, ({ entries }) => {
    return `${open}${fields.map(({ name, prefix, write }) => prefix + write(entries[name] ?? null)).join(',')}${close}`
  })
}

export interface Rendered {
  /** JSON text in order. */
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
  readonly rows: number
  readonly truncated: boolean
}

export interface RenderOptions extends Pick<PlainJob, 'dataFormat' | 'keyOrder' | 'ascii'> {
  /** Output names of the caller's own statement. */
  readonly names: readonly string[]
  /** Rows to write; one more row in the result means that it is truncated. */
  readonly limit: number
  readonly resultBytes: number
}

interface OutputColumn {
  readonly index: number
  readonly write: CellWriter
}

/** Throws NodeError `ResultTooLarge`, `QueryNotAllowed` (a type without JSON form), `SqlValue`. */
export async function renderResult(result: duckdb.DuckDBResult, options: RenderOptions): Promise<Rendered> {
  const { limit, ascii } = options
  const format = must(jsonLayoutOf(options.dataFormat), 'a job names a layout')
  const columns = result.columnTypes().map((type, index) => {
    const name = options.names[index] ?? ''
    const form = { structsAsArrays: format.structsAsArrays, ascii }
    return { index, name, key: `${stringToken(name, ascii)}:`, write: cellWriter(type, form, name) }
  })
  if (format.isKeyed && options.keyOrder === 'canonical') columns.sort((a, b) => compareCodePoints(a.name, b.name))
  const sink = new BoundedText(options.resultBytes)
  const keys = columns.map(({ key }) => key)
  const writer = format.begin(sink, keys)
  let rows = 0
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) break
    const count = Math.min(chunk.rowCount, limit - rows)
    const cells = (column: number): string[] => cellsOf(chunk, must(columns[column], 'one key for each column'), count)
    writer.rows({ count, cells })
    rows += chunk.rowCount
  }
  writer.end()
  return { pieces: sink.pieces, bytes: sink.bytes, rows: Math.min(rows, limit), truncated: rows > limit }
}

/** Tokens of the first `count` cells of a column. */
function cellsOf(chunk: duckdb.DuckDBDataChunk, { index, write }: OutputColumn, count: number): string[] {
  const vector = chunk.getColumnVector(index)
  const cells: string[] = []
  for (let row = 0; row < count; row++) cells.push(write(vector.getItem(row)))
  return cells
}

/** Collects text as UTF-8 up to a bound. */
class BoundedText implements OutputSink {
  readonly pieces: Uint8Array[] = []
  bytes = 0
  readonly #most: number
  #reserved = 0

  constructor(most: number) {
    this.#most = most
  }

  reserve(characters: number): void {
    this.#reserved += characters
    this.#check(this.#reserved)
  }

  write(text: string): void {
    this.#check(this.bytes + text.length)
    const piece = utf8(text)
    this.bytes += piece.length
    this.#check(this.bytes)
    this.pieces.push(piece)
  }

  #check(bytes: number): void {
    if (bytes <= this.#most) return
    throw new NodeError('ResultTooLarge', `The answer is larger than ${this.#most} bytes.`, {
      hint: 'Ask for fewer rows with "limit", or for fewer columns.',
      limit: { name: 'resultBytes', value: this.#most, unit: 'bytes' },
    })
  }
}
