// A second printer of answers, value by value through the objects of the engine's binding: the oracle of the one in src,
// which prints vectors. It prints what nodes have signed, and changes only together with the version of the dialect.

import * as duckdb from '@duckdb/node-api'
import type { RenderOptions } from '../../src/node/engine/duckdb/results.ts'
import { compareCodePoints } from '../../src/libraries/base/json/canonical.ts'
import { assert, must } from '../../src/libraries/base/assert.ts'
import { toHex } from '../../src/libraries/base/bytes.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'
import { type TimeUnit, unitNanos } from '../../src/libraries/model/schema.ts'
import * as print from '../../src/libraries/columnar/outputs/value-text.ts'

const Id = duckdb.DuckDBTypeId

type CellWriter = (value: duckdb.DuckDBValue) => string
type Scalar = (value: duckdb.DuckDBValue, ascii: boolean) => string

type CellForm = Readonly<Record<'structsAsArrays' | 'ascii', boolean>>

const integerToken = (value: duckdb.DuckDBValue): string => String(value)
const textToken = (value: duckdb.DuckDBValue, ascii: boolean): string => print.stringToken(String(value), ascii)

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
  const text = unit === 'Microsecond' ? print.timestampMicrosText : (at: bigint) => print.timestampNanosText(at * nanos)
  return of(kind, (value) => {
    const at = count(value)
    return at >= int64Max || at <= -int64Max ? 'null' : `"${text(at)}${zone}"`
  })
}

const integers = [Id.TINYINT, Id.SMALLINT, Id.INTEGER, Id.BIGINT, Id.UTINYINT, Id.USMALLINT, Id.UINTEGER, Id.UBIGINT]
const texts = [Id.VARCHAR, Id.ENUM, Id.BIT, Id.UUID, Id.BIGNUM, Id.TIME_TZ]
const scalars = new Map<duckdb.DuckDBTypeId, Scalar>([
  ...integers.map((id): [duckdb.DuckDBTypeId, Scalar] => [id, integerToken]),
  ...texts.map((id): [duckdb.DuckDBTypeId, Scalar] => [id, textToken]),
  [Id.BOOLEAN, (value) => (value === true ? 'true' : 'false')],
  [Id.HUGEINT, hugeInteger],
  [Id.UHUGEINT, hugeInteger],
  [Id.FLOAT, (value) => print.float32Token(Number(value))],
  [Id.DOUBLE, (value) => print.float64Token(Number(value))],
  [
    Id.INTERVAL,
    of(duckdb.DuckDBIntervalValue, ({ months, days, micros }) => `"${print.intervalText(months, days, micros)}"`),
  ],
  [Id.BLOB, of(duckdb.DuckDBBlobValue, ({ bytes }) => `"${toHex(bytes)}"`)],
  [
    Id.DATE,
    of(duckdb.DuckDBDateValue, ({ days }) => (Math.abs(days) >= 2_147_483_647 ? 'null' : `"${print.dateText(days)}"`)),
  ],
  [Id.TIME, of(duckdb.DuckDBTimeValue, ({ micros }) => `"${print.timeNanosText(micros * 1000n)}"`)],
  [Id.TIME_NS, of(duckdb.DuckDBTimeNSValue, ({ nanos }) => `"${print.timeNanosText(nanos)}"`)],
  [Id.TIMESTAMP_TZ, stamp('Microsecond', duckdb.DuckDBTimestampTZValue, ({ micros }) => micros, 'Z')],
  [Id.TIMESTAMP, stamp('Microsecond', duckdb.DuckDBTimestampValue, ({ micros }) => micros)],
  [Id.TIMESTAMP_S, stamp('Second', duckdb.DuckDBTimestampSecondsValue, ({ seconds }) => seconds)],
  [Id.TIMESTAMP_MS, stamp('Millisecond', duckdb.DuckDBTimestampMillisecondsValue, ({ millis }) => millis)],
  [Id.TIMESTAMP_NS, stamp('Nanosecond', duckdb.DuckDBTimestampNanosecondsValue, ({ nanos }) => nanos)],
  [Id.SQLNULL, () => 'null'],
])

const noForm = (type: duckdb.DuckDBType): NodeError => new NodeError('QueryNotAllowed', `${String(type)} has no form.`)

function cellWriter(type: duckdb.DuckDBType, form: CellForm): CellWriter {
  const write = nestedWriter(type, form) ?? scalars.get(type.typeId)
  if (write === undefined) throw noForm(type)
  return (value) => (value === null ? 'null' : write(value, form.ascii))
}

function nestedWriter(type: duckdb.DuckDBType, form: CellForm): CellWriter | undefined {
  switch (type.typeId) {
    case Id.DECIMAL:
      return of(duckdb.DuckDBDecimalValue, ({ value, scale }) => `"${print.decimalText(value, scale)}"`)
    case Id.LIST:
    case Id.ARRAY: {
      const item = cellWriter(type.valueType, form)
      return (value) => {
        assert(value instanceof duckdb.DuckDBListValue || value instanceof duckdb.DuckDBArrayValue, 'a list')
        return `[${value.items.map(item).join(',')}]`
      }
    }
    case Id.STRUCT:
      return structWriter(type, form)
    case Id.MAP: {
      const [key, item] = [cellWriter(type.keyType, form), cellWriter(type.valueType, form)]
      return of(duckdb.DuckDBMapValue, ({ entries }) => {
        return `[${entries.map((entry) => `{"key":${key(entry.key)},"value":${item(entry.value)}}`).join(',')}]`
      })
    }
    case Id.UNION: {
      const writers = new Map(
        type.memberTags.map((tag, index) => [tag, cellWriter(type.memberTypes[index] ?? type, form)]),
      )
      return of(duckdb.DuckDBUnionValue, ({ tag, value }) => {
        const write = must(writers.get(tag), 'the tag of a union is one of its members')
        return `{"tag":${print.stringToken(tag, form.ascii)},"value":${write(value)}}`
      })
    }
    default:
      return undefined
  }
}

function structWriter(type: duckdb.DuckDBStructType, form: CellForm): CellWriter {
  const names = [...type.entryNames]
  // The binding hands structs over as objects: two members of one name, or one named __proto__, would be lost.
  if (new Set(names).size < names.length || names.includes('__proto__')) throw noForm(type)
  const fields = names.map((name, index) => ({
    name,
    prefix: form.structsAsArrays ? '' : `${print.stringToken(name, form.ascii)}:`,
    write: cellWriter(type.entryTypes[index] ?? type, form),
  }))
  if (!form.structsAsArrays) fields.sort((a, b) => compareCodePoints(a.name, b.name))
  const [open, close] = form.structsAsArrays ? ['[', ']'] : ['{', '}']
  return of(duckdb.DuckDBStructValue, ({ entries }) => {
    return `${open}${fields.map(({ name, prefix, write }) => prefix + write(entries[name] ?? null)).join(',')}${close}`
  })
}

/** The rows of a result as text. Throws NodeError `QueryNotAllowed`, `SqlValue`. */
export async function answerByValues(
  result: duckdb.DuckDBResult,
  options: Omit<RenderOptions, 'resultBytes'>,
): Promise<string> {
  const { dataFormat, ascii, names } = options
  const form = { structsAsArrays: dataFormat === 'JsonAoa', ascii }
  const columns = result.columnTypes().map((type, index) => {
    const name = names[index] ?? ''
    return { index, name, key: `${print.stringToken(name, ascii)}:`, write: cellWriter(type, form) }
  })
  const isSorted = dataFormat !== 'JsonAoa' && options.keyOrder === 'canonical'
  if (isSorted) columns.sort((a, b) => compareCodePoints(a.name, b.name))
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
