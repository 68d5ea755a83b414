// From a value of the engine to its JSON token, one function per type, made once per column and answer.

import {
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBIntervalValue,
  DuckDBListValue,
  DuckDBMapValue,
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
import { assert } from '../lib/assert.ts'
import { toHex } from '../lib/bytes.ts'
import { NodeError } from '../model/errors.ts'
import { unrenderable } from './duckdb-types.ts'
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
