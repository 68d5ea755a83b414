// Rows out of the portable engine, as the values of a signed output: each type is asked for in a form that says all of it, and
// printed as nodes print it.

import { must } from '../../base/assert.ts'
import { isPresent } from '../../columnar/arrow/columns.ts'
import { longsOf, numbersOf } from '../../columnar/arrow/numbers.ts'
import { decodeUtf8 } from '../../base/bytes.ts'
import { JsonNumber, type JsonValue } from '../../base/json/value.ts'
import { type Column, type DataType, noZone, type RecordBatch, type TimeUnit } from '../../model/schema.ts'
import {
  dateText,
  float32Token,
  float64Token,
  intervalText,
  timeNanosText,
  timestampMicrosText,
  timestampNanosText,
} from '../../columnar/outputs/value-text.ts'
import type { PortableEngine } from './engine.ts'

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
  const described = await engine.query(`SELECT column_name, column_type FROM (DESCRIBE ${text}\n)`)
  return described.flatMap((batch) => {
    const [name, type] = batch.columns.map((column) => (row: number) => textAt(column, row))
    return Array.from({ length: batch.rows }, (_, row) => ({ name: name?.(row) ?? '', type: type?.(row) ?? '' }))
  })
}

/** What values of a type are called, how they are asked for, and the value that comes in a row of a column. */
interface Printer {
  readonly type: DataType
  readonly sql: (column: string) => string
  readonly value: (column: Column, row: number) => JsonValue
}

const asText = (column: string): string => `${column}::VARCHAR`
const number = (type: DataType): Printer => ({
  type,
  sql: asText,
  value: (column, row) => new JsonNumber(textAt(column, row)),
})
const words: Printer = { type: { kind: 'String' }, sql: asText, value: textAt }
const float = (type: DataType, token: (value: number) => string): Printer => ({
  type,
  sql: (column) => column,
  value: (column, row) => {
    const value = numbersOf(column)?.[row] ?? Number.NaN
    return Number.isFinite(value) ? new JsonNumber(token(value)) : null
  },
})
/** Of what is counted from 1970 on; there is no JSON for what has no end. */
const counted = (type: DataType, count: string, print: (count: bigint) => string): Printer => ({
  type,
  sql: (column) => `CASE WHEN isfinite(${column}) THEN ${count.replace('?', column)} END::VARCHAR`,
  value: (column, row) => print(BigInt(textAt(column, row))),
})
const stamp = (unit: TimeUnit, timezone: string, suffix: string): Printer =>
  counted({ kind: 'Timestamp', unit, timezone }, 'epoch_us(?)', (micros) => `${timestampMicrosText(micros)}${suffix}`)
/** Months, days and microseconds: a month is no number of days. */
const interval: Printer = {
  type: { kind: 'String' },
  sql: (column) => {
    const part = (name: string): string => `date_part('${name}', ${column})`
    const micros = `${part('hour')} * 3600000000 + ${part('minute')} * 60000000 + ${part('microsecond')}`
    return `concat_ws(',', ${part('year')} * 12 + ${part('month')}, ${part('day')}, ${micros}) || left(${column}::VARCHAR, 0)`
  },
  value: (column, row) => {
    const [months, days, micros = '0'] = textAt(column, row).split(',')
    return intervalText(Number(months), Number(days), BigInt(micros))
  },
}
const huge: DataType = { kind: 'Decimal', precision: 38, scale: 0 }

const printers: ReadonlyMap<string, Printer> = new Map([
  ['BOOLEAN', { type: { kind: 'Bool' }, sql: asText, value: (column, row) => textAt(column, row) === 'true' }],
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
  ['VARCHAR', words],
  ['UUID', words],
  ['BIT', words],
  ['BLOB', { type: { kind: 'Binary' }, sql: (column) => `lower(hex(${column}))`, value: textAt }],
  ['TIMESTAMP', stamp('Microsecond', noZone, '')],
  ['TIMESTAMP_S', stamp('Second', noZone, '')],
  ['TIMESTAMP_MS', stamp('Millisecond', noZone, '')],
  ['TIMESTAMP WITH TIME ZONE', stamp('Microsecond', 'UTC', 'Z')],
  [
    'TIMESTAMP_NS',
    counted({ kind: 'Timestamp', unit: 'Nanosecond', timezone: noZone }, 'epoch_ns(?)', timestampNanosText),
  ],
  [
    'TIME',
    {
      type: { kind: 'Time', unit: 'Microsecond' },
      sql: (column) => `epoch_us(${column})::VARCHAR`,
      value: (column, row) => timeNanosText(1000n * BigInt(textAt(column, row))),
    },
  ],
  ['INTERVAL', interval],
  ['DATE', counted({ kind: 'Date' }, "date_diff('day', DATE '1970-01-01', ?)", (days) => dateText(Number(days)))],
])

function printerOf(type: string): Printer | undefined {
  const [, items, length] = /^(.+)\[(\d*)\]$/.exec(type) ?? []
  if (items !== undefined) return listPrinter(items, length === '' ? undefined : Number(length))
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
  if (precision === undefined) return printers.get(type)
  return { ...words, type: { kind: 'Decimal', precision: Number(precision), scale: Number(scale) } }
}

function listPrinter(items: string, fixedLength: number | undefined): Printer | undefined {
  const item = printerOf(items)
  if (item === undefined) return undefined
  const itemType = { kind: 'Option', inner: item.type } as const
  return {
    type: { kind: 'List', itemType, ...(fixedLength !== undefined && { fixedLength }) },
    sql: (column) => `list_transform(${column}::${items}[], lambda x: ${item.sql('x')})`,
    value: ({ offsets, child }, row) => {
      const [from, to] = [offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0]
      const values = must(child, 'a list has items')
      return Array.from({ length: to - from }, (_, at) =>
        isPresent(values, from + at) ? item.value(values, from + at) : null,
      )
    },
  }
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
  return printerOf(type)?.value(column, row) ?? null
}

function textAt(column: Column, row: number): string {
  const { offsets, values } = column
  return offsets === undefined
    ? String(longsOf(column)[row])
    : decodeUtf8(values.subarray(offsets[row], offsets[row + 1]))
}
