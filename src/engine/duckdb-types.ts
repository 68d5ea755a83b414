// Types on both sides of the engine: what a view's column must be for an ODF type, and which type a column of a result
// is said to have.

import { DuckDBTypeId, type DuckDBType } from '@duckdb/node-api'
import { NodeError } from '../model/errors.ts'
import type { OutputField, OutputSchema, OutputType } from '../model/output-schema.ts'
import { type DataType, innerType } from '../model/schema.ts'

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
