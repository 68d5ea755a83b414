// A second printer of answers, value by value through the objects of the engine's binding: the oracle of the one in src,
// which prints vectors. It prints what nodes have signed, and changes only together with the version of the dialect.

import * as duckdb from '@duckdb/node-api'
import { compareCodePoints } from '../../src/json/canonical.ts'
import { assert, must } from '../../src/lib/assert.ts'
import { toHex } from '../../src/lib/bytes.ts'
import { NodeError } from '../../src/model/errors.ts'
import { type TimeUnit, unitNanos } from '../../src/model/schema.ts'
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
} from '../../src/outputs/value-text.ts'

const Id = duckdb.DuckDBTypeId

type CellWriter = (value: duckdb.DuckDBValue) => string
type Scalar = (value: duckdb.DuckDBValue, ascii: boolean) => string

interface CellForm {
  readonly structsAsArrays: boolean
  readonly ascii: boolean
}

const integerToken = (value: duckdb.DuckDBValue): string => String(value)
const textToken = (value: duckdb.DuckDBValue, ascii: boolean): string => stringToken(String(value), ascii)

const hugeInteger: Scalar = (value) => {
  const token = String(value)
  if (token.replace('-', '').length > 38) throw new NodeError('SqlValue', 'An integer has more than 38 digits.')
  return token
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
  return write
}

const scalars = new Map<duckdb.DuckDBTypeId, Scalar>([
  [Id.BOOLEAN, (value) => (value === true ? 'true' : 'false')],
  [Id.TINYINT, integerToken],
  [Id.SMALLINT, integerToken],
  [Id.INTEGER, integerToken],
  [Id.BIGINT, integerToken],
  [Id.UTINYINT, integerToken],
  [Id.USMALLINT, integerToken],
  [Id.UINTEGER, integerToken],
  [Id.UBIGINT, integerToken],
  [Id.HUGEINT, hugeInteger],
  [Id.UHUGEINT, hugeInteger],
  [Id.FLOAT, (value) => float32Token(Number(value))],
  [Id.DOUBLE, (value) => float64Token(Number(value))],
  [Id.VARCHAR, textToken],
  [Id.ENUM, textToken],
  [Id.BIT, textToken],
  [Id.UUID, textToken],
  [Id.BIGNUM, textToken],
  [Id.TIME_TZ, textToken],
  [
    Id.INTERVAL,
    of(duckdb.DuckDBIntervalValue, ({ months, days, micros }) => `"${intervalText(months, days, micros)}"`),
  ],
  [Id.BLOB, of(duckdb.DuckDBBlobValue, ({ bytes }) => `"${toHex(bytes)}"`)],
  [
    Id.DATE,
    of(duckdb.DuckDBDateValue, ({ days }) => (Math.abs(days) >= 2_147_483_647 ? 'null' : `"${dateText(days)}"`)),
  ],
  [Id.TIME, of(duckdb.DuckDBTimeValue, ({ micros }) => `"${timeNanosText(micros * 1000n)}"`)],
  [Id.TIME_NS, of(duckdb.DuckDBTimeNSValue, ({ nanos }) => `"${timeNanosText(nanos)}"`)],
  [Id.TIMESTAMP_TZ, stamp('Microsecond', duckdb.DuckDBTimestampTZValue, ({ micros }) => micros, 'Z')],
  [Id.TIMESTAMP, stamp('Microsecond', duckdb.DuckDBTimestampValue, ({ micros }) => micros)],
  [Id.TIMESTAMP_S, stamp('Second', duckdb.DuckDBTimestampSecondsValue, ({ seconds }) => seconds)],
  [Id.TIMESTAMP_MS, stamp('Millisecond', duckdb.DuckDBTimestampMillisecondsValue, ({ millis }) => millis)],
  [Id.TIMESTAMP_NS, stamp('Nanosecond', duckdb.DuckDBTimestampNanosecondsValue, ({ nanos }) => nanos)],
  [Id.SQLNULL, () => 'null'],
])

function unrenderable(type: duckdb.DuckDBType, column: string): NodeError {
  return new NodeError('QueryNotAllowed', `The column '${column}' is of type ${String(type)}, which has no JSON form.`)
}

/** The writer of a column or of what it holds. Throws NodeError `QueryNotAllowed` for a type that has no JSON form. */
function cellWriter(type: duckdb.DuckDBType, form: CellForm, column: string): CellWriter {
  const write = nestedWriter(type, form, column) ?? scalars.get(type.typeId)
  if (write === undefined) throw unrenderable(type, column)
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

interface Options {
  readonly dataFormat: 'JsonAoa' | 'JsonAos' | 'JsonSoa'
  readonly keyOrder: 'canonical' | 'column'
  readonly ascii: boolean
  readonly names: readonly string[]
  readonly limit: number
}

/** The rows of a result as text. Throws NodeError `QueryNotAllowed`, `SqlValue`. */
export async function answerByValues(result: duckdb.DuckDBResult, options: Options): Promise<string> {
  const { dataFormat, ascii, names } = options
  const form = { structsAsArrays: dataFormat === 'JsonAoa', ascii }
  const columns = result.columnTypes().map((type, index) => {
    const name = names[index] ?? ''
    return { index, name, key: `${stringToken(name, ascii)}:`, write: cellWriter(type, form, name) }
  })
  if (dataFormat !== 'JsonAoa' && options.keyOrder === 'canonical') {
    columns.sort((a, b) => compareCodePoints(a.name, b.name))
  }
  const rows: string[][] = []
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) break
    for (let row = 0; row < chunk.rowCount && rows.length < options.limit; row++) {
      rows.push(columns.map(({ index, write }) => write(chunk.getColumnVector(index).getItem(row))))
    }
  }
  if (dataFormat === 'JsonAoa') return `[${rows.map((row) => `[${row.join(',')}]`).join(',')}]`
  if (dataFormat === 'JsonAos') {
    return `[${rows.map((row) => `{${row.map((cell, at) => `${columns[at]?.key}${cell}`).join(',')}}`).join(',')}]`
  }
  if (rows.length === 0) return '{}'
  return `{${columns.map(({ key }, at) => `${key}[${rows.map((row) => row[at]).join(',')}]`).join(',')}}`
}
