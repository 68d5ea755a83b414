// Types on both sides of the engine: what a view's column must be for an ODF type, and which type a column of a result
// is said to have.

import {
  DuckDBArrayValue,
  DuckDBBlobValue,
  type DuckDBDataChunk,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBIntervalValue,
  DuckDBListValue,
  DuckDBMapValue,
  type DuckDBResult,
  type DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimeNSValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  type DuckDBType,
  DuckDBTypeId,
  DuckDBUnionValue,
  type DuckDBValue,
} from '@duckdb/node-api'
import { compareCodePoints } from '../json/canonical.ts'
import { assert, must } from '../lib/assert.ts'
import { toHex, utf8 } from '../lib/bytes.ts'
import { NodeError } from '../model/errors.ts'
import type { OutputField, OutputSchema, OutputType } from '../model/output-schema.ts'
import { type DataType, innerType } from '../model/schema.ts'
import type { PlainJob } from './engine-job.ts'
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
} from './value-text.ts'

const simpleSqlTypes: Readonly<Partial<Record<DataType['kind'], string>>> = {
  Bool: 'BOOLEAN',
  Date: 'DATE',
  Float16: 'FLOAT',
  Float32: 'FLOAT',
  Float64: 'DOUBLE',
  Int8: 'TINYINT',
  Int16: 'SMALLINT',
  Int32: 'INTEGER',
  Int64: 'BIGINT',
  UInt8: 'UTINYINT',
  UInt16: 'USMALLINT',
  UInt32: 'UINTEGER',
  UInt64: 'UBIGINT',
  String: 'VARCHAR',
  Binary: 'BLOB',
  Timestamp: 'TIMESTAMP WITH TIME ZONE',
}

/**
 * The engine's type of a view column as DESCRIBE prints it. Undefined where the slice's own type decides (times,
 * durations, nested values, decimals beyond 38 digits, nanoseconds: no reader of ours makes them).
 */
export function sqlTypeOf(type: DataType): string | undefined {
  const inner = innerType(type)
  if (inner.kind === 'Decimal') {
    return inner.precision <= 38 ? `DECIMAL(${inner.precision},${inner.scale})` : undefined
  }
  if (inner.kind === 'Timestamp' && inner.unit === 'Nanosecond') return undefined
  return simpleSqlTypes[inner.kind]
}

const text: OutputType = { kind: 'String' }
const int128: OutputType = { kind: 'Decimal', precision: 38, scale: 0 }

/** Timestamps without zone have none here; schema formats that need one say UTC. */
const simpleOutputTypes: ReadonlyMap<DuckDBTypeId, OutputType> = new Map<DuckDBTypeId, OutputType>([
  [DuckDBTypeId.BOOLEAN, { kind: 'Bool' }],
  [DuckDBTypeId.TINYINT, { kind: 'Int8' }],
  [DuckDBTypeId.SMALLINT, { kind: 'Int16' }],
  [DuckDBTypeId.INTEGER, { kind: 'Int32' }],
  [DuckDBTypeId.BIGINT, { kind: 'Int64' }],
  [DuckDBTypeId.UTINYINT, { kind: 'UInt8' }],
  [DuckDBTypeId.USMALLINT, { kind: 'UInt16' }],
  [DuckDBTypeId.UINTEGER, { kind: 'UInt32' }],
  [DuckDBTypeId.UBIGINT, { kind: 'UInt64' }],
  [DuckDBTypeId.HUGEINT, int128],
  [DuckDBTypeId.UHUGEINT, int128],
  [DuckDBTypeId.FLOAT, { kind: 'Float32' }],
  [DuckDBTypeId.DOUBLE, { kind: 'Float64' }],
  [DuckDBTypeId.VARCHAR, text],
  [DuckDBTypeId.ENUM, text],
  [DuckDBTypeId.BIT, text],
  [DuckDBTypeId.UUID, text],
  [DuckDBTypeId.BIGNUM, text],
  [DuckDBTypeId.TIME_TZ, text],
  [DuckDBTypeId.INTERVAL, text],
  [DuckDBTypeId.BLOB, { kind: 'Binary' }],
  [DuckDBTypeId.DATE, { kind: 'Date' }],
  [DuckDBTypeId.TIME, { kind: 'Time', unit: 'Microsecond' }],
  [DuckDBTypeId.TIME_NS, { kind: 'Time', unit: 'Nanosecond' }],
  [DuckDBTypeId.TIMESTAMP_TZ, { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' }],
  [DuckDBTypeId.TIMESTAMP, { kind: 'Timestamp', unit: 'Microsecond' }],
  [DuckDBTypeId.TIMESTAMP_S, { kind: 'Timestamp', unit: 'Second' }],
  [DuckDBTypeId.TIMESTAMP_MS, { kind: 'Timestamp', unit: 'Millisecond' }],
  [DuckDBTypeId.TIMESTAMP_NS, { kind: 'Timestamp', unit: 'Nanosecond' }],
  [DuckDBTypeId.SQLNULL, { kind: 'Int32' }],
])

/**
 * The columns of a result. The engine knows no required columns: all are optional, keys of maps excepted. Throws
 * NodeError `QueryNotAllowed` for a type that has no JSON form.
 */
export function outputSchemaOf(names: readonly string[], types: readonly DuckDBType[]): OutputSchema {
  return { fields: types.map((type, index) => outputField(names[index] ?? '', type, names[index] ?? '')) }
}

function outputField(name: string, type: DuckDBType, column: string): OutputField {
  return { name, type: optional(outputType(type, column)) }
}

function optional(inner: OutputType): OutputType {
  return { kind: 'Option', inner }
}

function outputType(type: DuckDBType, column: string): OutputType {
  switch (type.typeId) {
    case DuckDBTypeId.DECIMAL:
      return { kind: 'Decimal', precision: type.width, scale: type.scale }
    case DuckDBTypeId.LIST:
      return { kind: 'List', itemType: optional(outputType(type.valueType, column)) }
    case DuckDBTypeId.ARRAY:
      return { kind: 'List', itemType: optional(outputType(type.valueType, column)), fixedLength: type.length }
    case DuckDBTypeId.STRUCT:
      return { kind: 'Struct', fields: members(type.entryNames, type.entryTypes, column) }
    case DuckDBTypeId.MAP:
      return {
        kind: 'Map',
        keyType: outputType(type.keyType, column),
        valueType: optional(outputType(type.valueType, column)),
      }
    case DuckDBTypeId.UNION:
      return { kind: 'Union', members: members(type.memberTags, type.memberTypes, column) }
    default: {
      const simple = simpleOutputTypes.get(type.typeId)
      if (simple === undefined) throw unrenderable(type, column)
      return simple
    }
  }
}

function members(names: readonly string[], types: readonly DuckDBType[], column: string): OutputField[] {
  return types.map((type, index) => outputField(names[index] ?? '', type, column))
}

/** The refusal of a result that has no JSON form. */
export function unrenderable(type: DuckDBType, column: string): NodeError {
  return new NodeError(
    'QueryNotAllowed',
    `The column '${column}' is of type ${String(type)}, which has no JSON form.`,
    {
      hint: `Cast it, for instance to VARCHAR.`,
    },
  )
}

/** JSON token of one value; null is `null`. */
export type CellWriter = (value: DuckDBValue) => string

export interface CellForm {
  /** Structs as arrays of their values (rows are arrays too), else as objects. */
  readonly structsAsArrays: boolean
  readonly ascii: boolean
}

/** The writer of a column. Throws NodeError `QueryNotAllowed` for a type that has no JSON form. */
export function cellWriter(type: DuckDBType, form: CellForm, column: string): CellWriter {
  const write = valueWriter(type, form, column)
  return (value) => (value === null ? 'null' : write(value))
}

function valueWriter(type: DuckDBType, form: CellForm, column: string): CellWriter {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
      return listWriter(cellWriter(type.valueType, form, column))
    case DuckDBTypeId.STRUCT:
      return structWriter(type, form, column)
    case DuckDBTypeId.MAP:
      return mapWriter(cellWriter(type.keyType, form, column), cellWriter(type.valueType, form, column))
    case DuckDBTypeId.UNION: {
      const writers = new Map<string, CellWriter>()
      for (const [index, tag] of type.memberTags.entries()) {
        writers.set(tag, cellWriter(type.memberTypes[index] ?? type, form, column))
      }
      return unionWriter(writers, form)
    }
    case DuckDBTypeId.VARCHAR:
    case DuckDBTypeId.ENUM:
    case DuckDBTypeId.BIGNUM:
    case DuckDBTypeId.BIT:
    case DuckDBTypeId.UUID:
    case DuckDBTypeId.TIME_TZ:
      return (value) => stringToken(String(value), form.ascii)
    default: {
      const write = scalarWriters.get(type.typeId)
      if (write === undefined) throw unrenderable(type, column)
      return write
    }
  }
}

const integerToken: CellWriter = (value) => String(value)

/** Integers of 128 bits print bare as long as they fit the 38 digits of their Arrow type. */
const hugeToken: CellWriter = (value) => {
  const token = String(value)
  if (token.length > 38 && token.replace('-', '').length > 38) {
    throw new NodeError('SqlValue', 'An integer has more than 38 digits.', { hint: 'Cast it to VARCHAR or DOUBLE.' })
  }
  return token
}

const int64Max = 9_223_372_036_854_775_807n

/** Writer of a timestamp: infinite ones are null, `text` prints the others. */
function timeToken(count: (value: DuckDBValue) => bigint, text: (count: bigint) => string, zone: string): CellWriter {
  return (value) => {
    const at = count(value)
    return at >= int64Max || at <= -int64Max ? 'null' : `"${text(at)}${zone}"`
  }
}

const scalarWriters: ReadonlyMap<DuckDBTypeId, CellWriter> = new Map<DuckDBTypeId, CellWriter>([
  [DuckDBTypeId.BOOLEAN, (value) => (value === true ? 'true' : 'false')],
  [DuckDBTypeId.TINYINT, integerToken],
  [DuckDBTypeId.SMALLINT, integerToken],
  [DuckDBTypeId.INTEGER, integerToken],
  [DuckDBTypeId.BIGINT, integerToken],
  [DuckDBTypeId.UTINYINT, integerToken],
  [DuckDBTypeId.USMALLINT, integerToken],
  [DuckDBTypeId.UINTEGER, integerToken],
  [DuckDBTypeId.UBIGINT, integerToken],
  [DuckDBTypeId.HUGEINT, hugeToken],
  [DuckDBTypeId.UHUGEINT, hugeToken],
  [DuckDBTypeId.FLOAT, (value) => float32Token(Number(value))],
  [DuckDBTypeId.DOUBLE, (value) => float64Token(Number(value))],
  [DuckDBTypeId.SQLNULL, () => 'null'],
  [
    DuckDBTypeId.DECIMAL,
    (value) => (value instanceof DuckDBDecimalValue ? `"${decimalText(value.value, value.scale)}"` : wrong(value)),
  ],
  [DuckDBTypeId.BLOB, (value) => (value instanceof DuckDBBlobValue ? `"${toHex(value.bytes)}"` : wrong(value))],
  [DuckDBTypeId.DATE, dateToken],
  [
    DuckDBTypeId.TIME,
    (value) => (value instanceof DuckDBTimeValue ? `"${timeNanosText(value.micros * 1000n)}"` : wrong(value)),
  ],
  [
    DuckDBTypeId.TIME_NS,
    (value) => (value instanceof DuckDBTimeNSValue ? `"${timeNanosText(value.nanos)}"` : wrong(value)),
  ],
  [
    DuckDBTypeId.INTERVAL,
    (value) =>
      value instanceof DuckDBIntervalValue ? `"${intervalText(value.months, value.days, value.micros)}"` : wrong(value),
  ],
  [
    DuckDBTypeId.TIMESTAMP_TZ,
    timeToken(
      (value) => (value instanceof DuckDBTimestampTZValue ? value.micros : wrong(value)),
      timestampMicrosText,
      'Z',
    ),
  ],
  [
    DuckDBTypeId.TIMESTAMP,
    timeToken(
      (value) => (value instanceof DuckDBTimestampValue ? value.micros : wrong(value)),
      timestampMicrosText,
      '',
    ),
  ],
  [
    DuckDBTypeId.TIMESTAMP_S,
    timeToken(
      (value) => (value instanceof DuckDBTimestampSecondsValue ? value.seconds : wrong(value)),
      (at) => timestampNanosText(at * 1_000_000_000n),
      '',
    ),
  ],
  [
    DuckDBTypeId.TIMESTAMP_MS,
    timeToken(
      (value) => (value instanceof DuckDBTimestampMillisecondsValue ? value.millis : wrong(value)),
      (at) => timestampNanosText(at * 1_000_000n),
      '',
    ),
  ],
  [
    DuckDBTypeId.TIMESTAMP_NS,
    timeToken(
      (value) => (value instanceof DuckDBTimestampNanosecondsValue ? value.nanos : wrong(value)),
      timestampNanosText,
      '',
    ),
  ],
])

function dateToken(value: DuckDBValue): string {
  if (!(value instanceof DuckDBDateValue)) return wrong(value)
  return Math.abs(value.days) >= 2_147_483_647 ? 'null' : `"${dateText(value.days)}"`
}

function listWriter(item: CellWriter): CellWriter {
  return (value) => {
    assert(value instanceof DuckDBListValue || value instanceof DuckDBArrayValue, 'a list has list values')
    return `[${value.items.map(item).join(',')}]`
  }
}

function structWriter(type: DuckDBStructType, form: CellForm, column: string): CellWriter {
  const names = [...type.entryNames]
  // The binding hands structs over as objects: two members of one name, or one named __proto__, would be lost.
  if (new Set(names).size < names.length || names.includes('__proto__')) throw unrenderable(type, column)
  const members = names.map((name, index) => ({
    name,
    prefix: form.structsAsArrays ? '' : `${stringToken(name, form.ascii)}:`,
    write: cellWriter(type.entryTypes[index] ?? type, form, column),
  }))
  if (!form.structsAsArrays) members.sort((a, b) => compareCodePoints(a.name, b.name))
  const [open, close] = form.structsAsArrays ? ['[', ']'] : ['{', '}']
  return (value) => {
    assert(value instanceof DuckDBStructValue, 'a struct has struct values')
    const { entries } = value
    return `${open}${members.map(({ name, prefix, write }) => prefix + write(entries[name] ?? null)).join(',')}${close}`
  }
}

function mapWriter(key: CellWriter, item: CellWriter): CellWriter {
  return (value) => {
    assert(value instanceof DuckDBMapValue, 'a map has map values')
    return `[${value.entries.map((entry) => `{"key":${key(entry.key)},"value":${item(entry.value)}}`).join(',')}]`
  }
}

function unionWriter(writers: ReadonlyMap<string, CellWriter>, form: CellForm): CellWriter {
  return (value) => {
    assert(value instanceof DuckDBUnionValue, 'a union has union values')
    const write = writers.get(value.tag)
    assert(write !== undefined, 'the tag of a union is one of its members')
    return `{"tag":${stringToken(value.tag, form.ascii)},"value":${write(value.value)}}`
  }
}

function wrong(value: DuckDBValue): never {
  assert(false, `the engine handed over ${typeof value} for another type`)
}

export interface Rendered {
  /** JSON text in order. */
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
  readonly rows: number
  readonly truncated: boolean
}

export interface RenderOptions {
  /** Output names of the caller's own statement. */
  readonly names: readonly string[]
  readonly dataFormat: PlainJob['dataFormat']
  readonly keyOrder: PlainJob['keyOrder']
  readonly ascii: boolean
  /** Rows to write; one more row in the result means that it is truncated. */
  readonly limit: number
  readonly resultBytes: number
}

interface OutputColumn {
  readonly index: number
  /** `"name":` */
  readonly key: string
  readonly name: string
  readonly write: CellWriter
}

/** Throws NodeError `ResultTooLarge`, `QueryNotAllowed` (a type without JSON form), `SqlValue`. */
export async function renderResult(result: DuckDBResult, options: RenderOptions): Promise<Rendered> {
  const columns = outputColumns(result, options)
  const sink = new ByteCounter(options.resultBytes)
  const write = options.dataFormat === 'JsonSoa' ? writeColumns : writeRows
  const rows = await write({ result, columns, options, sink })
  return {
    pieces: sink.pieces,
    bytes: sink.bytes,
    rows: Math.min(rows, options.limit),
    truncated: rows > options.limit,
  }
}

interface Work {
  readonly result: DuckDBResult
  readonly columns: readonly OutputColumn[]
  readonly options: RenderOptions
  readonly sink: ByteCounter
}

function outputColumns(result: DuckDBResult, options: RenderOptions): OutputColumn[] {
  const form = { structsAsArrays: options.dataFormat === 'JsonAoa', ascii: options.ascii }
  const columns = result.columnTypes().map((type, index) => {
    const name = options.names[index] ?? ''
    return { index, name, key: `${stringToken(name, options.ascii)}:`, write: cellWriter(type, form, name) }
  })
  const keyed = options.dataFormat !== 'JsonAoa'
  return keyed && options.keyOrder === 'canonical' ? columns.sort((a, b) => compareCodePoints(a.name, b.name)) : columns
}

/** Rows as objects or arrays. Returns the number of rows in the result. */
async function writeRows({ result, columns, options, sink }: Work): Promise<number> {
  const keys = options.dataFormat === 'JsonAos' ? columns.map((column) => column.key) : columns.map(() => '')
  const [open, close] = options.dataFormat === 'JsonAos' ? ['{', '}'] : ['[', ']']
  let rows = 0
  sink.write('[')
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) break
    const wanted = Math.min(chunk.rowCount, options.limit - rows)
    const cells = columns.map((column) => cellsOf(chunk, column, wanted))
    let out = ''
    for (let row = 0; row < wanted; row++) {
      out += rows + row === 0 ? open : `,${open}`
      for (let column = 0; column < cells.length; column++) {
        out += (column === 0 ? '' : ',') + (keys[column] ?? '') + (cells[column]?.[row] ?? '')
      }
      out += close
    }
    sink.write(out)
    rows += chunk.rowCount
  }
  sink.write(']')
  return rows
}

/** One array per column; `{}` without rows. Returns the number of rows in the result. */
async function writeColumns({ result, columns, options, sink }: Work): Promise<number> {
  const parts: string[][] = columns.map(() => [])
  let rows = 0
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) break
    const wanted = Math.min(chunk.rowCount, options.limit - rows)
    for (const [at, column] of columns.entries()) {
      const text = cellsOf(chunk, column, wanted).join(',')
      sink.reserve(text.length)
      if (wanted > 0) must(parts[at], 'one list per column').push(text)
    }
    rows += chunk.rowCount
  }
  const body =
    Math.min(rows, options.limit) === 0 ? [] : columns.map(({ key }, at) => `${key}[${parts[at]?.join(',') ?? ''}]`)
  sink.write('{')
  for (const [at, text] of body.entries()) sink.write(at === 0 ? text : `,${text}`)
  sink.write('}')
  return rows
}

/** Tokens of the first `rows` cells of a column. */
function cellsOf(chunk: DuckDBDataChunk, column: OutputColumn, rows: number): string[] {
  const vector = chunk.getColumnVector(column.index)
  const { write } = column
  const cells: string[] = []
  for (let row = 0; row < rows; row++) cells.push(write(vector.getItem(row)))
  return cells
}

/** Collects text as UTF-8 up to a bound. */
class ByteCounter {
  readonly pieces: Uint8Array[] = []
  bytes = 0
  readonly #most: number
  #reserved = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Counts text that is not written yet, so that the bound holds before memory is full. */
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
