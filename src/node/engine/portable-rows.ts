// Rows out of the portable engine, as the values of a signed output: each type is asked for in a form that says all of it, and
// printed as nodes print it.

import { isPresent } from '../../libraries/columnar/arrow/columns.ts'
import { longsOf, numbersOf } from '../../libraries/columnar/arrow/numbers.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { JsonNumber, type JsonValue } from '../../libraries/base/json/value.ts'
import { type Column, type DataType, noZone, type RecordBatch } from '../../libraries/model/schema.ts'
import {
  dateText,
  float32Token,
  float64Token,
  timestampMicrosText,
} from '../../libraries/columnar/outputs/value-text.ts'
import type { PortableEngine } from './portable-engine.ts'

export type Rows = readonly (readonly JsonValue[])[]

export interface ResultColumn {
  readonly name: string
  readonly type: string
}

export async function runningVersion(engine: PortableEngine): Promise<string> {
  const [batch] = await engine.query('SELECT version()')
  const [column] = batch?.columns ?? []
  return column === undefined ? '' : textAt(column, 0)
}

export async function columnsOf(engine: PortableEngine, text: string): Promise<ResultColumn[]> {
  const described = await engine.query(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM (${text}\n))`)
  return described.flatMap((batch) => {
    const [name, type] = batch.columns.map((column) => (row: number) => textAt(column, row))
    return Array.from({ length: batch.rows }, (_, row) => ({ name: name?.(row) ?? '', type: type?.(row) ?? '' }))
  })
}

/** What values of a type are called, how they are asked for, and the value of what comes. */
interface Printer {
  readonly type: DataType
  readonly sql: (column: string) => string
  readonly value: (text: string) => JsonValue
}

const text = (column: string): string => `${column}::VARCHAR`
const number = (type: DataType): Printer => ({ type, sql: text, value: (token) => new JsonNumber(token) })
const stamp = (zone: string, suffix: string): Printer => ({
  type: { kind: 'Timestamp', unit: 'Microsecond', timezone: zone },
  sql: (column) => `CASE WHEN isfinite(${column}) THEN epoch_us(${column}) END::VARCHAR`,
  value: (micros) => `${timestampMicrosText(BigInt(micros))}${suffix}`,
})
const float = (type: DataType, token: (value: number) => string): Printer => ({
  type,
  sql: (column) => column,
  value: (digits) => (Number.isFinite(Number(digits)) ? new JsonNumber(token(Number(digits))) : null),
})
const huge: DataType = { kind: 'Decimal', precision: 38, scale: 0 }

const printers: ReadonlyMap<string, Printer> = new Map([
  ['BOOLEAN', { type: { kind: 'Bool' }, sql: text, value: (word) => word === 'true' }],
  ['TINYINT', number({ kind: 'Int8' })],
  ['SMALLINT', number({ kind: 'Int16' })],
  ['INTEGER', number({ kind: 'Int32' })],
  ['BIGINT', number({ kind: 'Int64' })],
  ['UTINYINT', number({ kind: 'UInt8' })],
  ['USMALLINT', number({ kind: 'UInt16' })],
  ['UINTEGER', number({ kind: 'UInt32' })],
  ['UBIGINT', number({ kind: 'UInt64' })],
  ['HUGEINT', number(huge)],
  ['UHUGEINT', number(huge)],
  ['DOUBLE', float({ kind: 'Float64' }, float64Token)],
  ['FLOAT', float({ kind: 'Float32' }, float32Token)],
  ['VARCHAR', { type: { kind: 'String' }, sql: text, value: (value) => value }],
  ['TIMESTAMP', stamp(noZone, '')],
  ['TIMESTAMP WITH TIME ZONE', stamp('UTC', 'Z')],
  [
    'DATE',
    {
      type: { kind: 'Date' },
      sql: (column) => `CASE WHEN isfinite(${column}) THEN date_diff('day', DATE '1970-01-01', ${column}) END::VARCHAR`,
      value: (days) => dateText(Number(days)),
    },
  ],
])

function printerOf(type: string): Printer | undefined {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
  if (precision === undefined) return printers.get(type)
  const decimal: DataType = { kind: 'Decimal', precision: Number(precision), scale: Number(scale) }
  return { type: decimal, sql: text, value: (digits) => digits }
}

/** What schemas call a type of the engine; undefined for one that is not printed here. */
export function outputTypeOf(type: string): DataType | undefined {
  return printerOf(type)?.type
}

/** The rows of a statement. Throws EngineFailure. */
export async function cellsOf(
  engine: PortableEngine,
  { text, columns, rows }: { readonly text: string; readonly columns: readonly ResultColumn[]; readonly rows: number },
): Promise<JsonValue[][]> {
  const printed = columns.map(({ type }, at) => printerOf(type)?.sql(`r.c${at}`) ?? 'NULL')
  const aliases = columns.map((_, at) => `c${at}`)
  const batches = await engine.query(
    `SELECT ${printed.join(', ')} FROM (${text}\n) AS r(${aliases.join(', ')}) LIMIT ${rows}`,
  )
  return batches.flatMap((batch) =>
    Array.from({ length: batch.rows }, (_, row) => columns.map(({ type }, at) => cellAt(batch, { at, row, type }))),
  )
}

function cellAt(
  { columns }: RecordBatch,
  { at, row, type }: { readonly at: number; readonly row: number; readonly type: string },
): JsonValue {
  const column = columns[at]
  if (column === undefined || !isPresent(column, row)) return null
  const isFloat = type === 'DOUBLE' || type === 'FLOAT'
  return printerOf(type)?.value(isFloat ? String(numbersOf(column)?.[row]) : textAt(column, row)) ?? null
}

function textAt(column: Column, row: number): string {
  const { offsets, values } = column
  return offsets === undefined
    ? String(longsOf(column)[row])
    : decodeUtf8(values.subarray(offsets[row], offsets[row + 1]))
}
