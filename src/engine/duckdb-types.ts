// Types on both sides of the engine: what a view's column must be for an ODF type, and how a result's type is named in
// an Arrow schema (JSON of arrow-rs, as deployed nodes print it).

import { DuckDBTypeId, type DuckDBType } from '@duckdb/node-api'
import { fromPlain } from '../codec/json.ts'
import { canonicalBytes } from '../codec/canonical-json.ts'
import { NodeError } from '../model/errors.ts'
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

/** A type of a result in the JSON of an Arrow schema. */
type ArrowType = string | { readonly [name: string]: unknown }

const simpleArrowTypes: ReadonlyMap<DuckDBTypeId, ArrowType> = new Map<DuckDBTypeId, ArrowType>([
  [DuckDBTypeId.BOOLEAN, 'Boolean'],
  [DuckDBTypeId.TINYINT, 'Int8'],
  [DuckDBTypeId.SMALLINT, 'Int16'],
  [DuckDBTypeId.INTEGER, 'Int32'],
  [DuckDBTypeId.BIGINT, 'Int64'],
  [DuckDBTypeId.UTINYINT, 'UInt8'],
  [DuckDBTypeId.USMALLINT, 'UInt16'],
  [DuckDBTypeId.UINTEGER, 'UInt32'],
  [DuckDBTypeId.UBIGINT, 'UInt64'],
  [DuckDBTypeId.HUGEINT, { Decimal128: [38, 0] }],
  [DuckDBTypeId.UHUGEINT, { Decimal128: [38, 0] }],
  [DuckDBTypeId.FLOAT, 'Float32'],
  [DuckDBTypeId.DOUBLE, 'Float64'],
  [DuckDBTypeId.VARCHAR, 'Utf8'],
  [DuckDBTypeId.ENUM, 'Utf8'],
  [DuckDBTypeId.BIT, 'Utf8'],
  [DuckDBTypeId.UUID, 'Utf8'],
  [DuckDBTypeId.BIGNUM, 'Utf8'],
  [DuckDBTypeId.TIME_TZ, 'Utf8'],
  [DuckDBTypeId.INTERVAL, 'Utf8'],
  [DuckDBTypeId.BLOB, 'Binary'],
  [DuckDBTypeId.DATE, 'Date32'],
  [DuckDBTypeId.TIME, { Time64: 'Microsecond' }],
  [DuckDBTypeId.TIME_NS, { Time64: 'Nanosecond' }],
  [DuckDBTypeId.TIMESTAMP, { Timestamp: ['Microsecond', 'UTC'] }],
  [DuckDBTypeId.TIMESTAMP_TZ, { Timestamp: ['Microsecond', 'UTC'] }],
  [DuckDBTypeId.TIMESTAMP_S, { Timestamp: ['Second', 'UTC'] }],
  [DuckDBTypeId.TIMESTAMP_MS, { Timestamp: ['Millisecond', 'UTC'] }],
  [DuckDBTypeId.TIMESTAMP_NS, { Timestamp: ['Nanosecond', 'UTC'] }],
  [DuckDBTypeId.SQLNULL, 'Int32'],
])

/** Throws NodeError `QueryNotAllowed` for a type that has no JSON form. */
export function arrowTypeOf(type: DuckDBType, column: string): ArrowType {
  switch (type.typeId) {
    case DuckDBTypeId.DECIMAL:
      return { Decimal128: [type.width, type.scale] }
    case DuckDBTypeId.LIST:
      return { List: arrowField('item', type.valueType, column) }
    case DuckDBTypeId.ARRAY:
      return { FixedSizeList: [arrowField('item', type.valueType, column), type.length] }
    case DuckDBTypeId.STRUCT:
      return { Struct: type.entryTypes.map((entry, index) => arrowField(type.entryNames[index] ?? '', entry, column)) }
    case DuckDBTypeId.MAP: {
      const entries = [arrowField('key', type.keyType, column), arrowField('value', type.valueType, column)]
      return { Map: [{ ...arrowShell('entries'), data_type: { Struct: entries } }, false] }
    }
    case DuckDBTypeId.UNION: {
      const members = type.memberTypes.map((member, index) => [
        index,
        arrowField(type.memberTags[index] ?? '', member, column),
      ])
      return { Union: [members, 'Sparse'] }
    }
    default: {
      const simple = simpleArrowTypes.get(type.typeId)
      if (simple === undefined) throw unrenderable(type, column)
      return simple
    }
  }
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

function arrowShell(name: string): {
  name: string
  nullable: boolean
  dict_id: number
  dict_is_ordered: boolean
  metadata: object
} {
  return { name, nullable: true, dict_id: 0, dict_is_ordered: false, metadata: {} }
}

function arrowField(name: string, type: DuckDBType, column: string): object {
  return { ...arrowShell(name), data_type: arrowTypeOf(type, column) }
}

/** Canonical JSON of the Arrow schema of a result. The engine knows no required columns: all are nullable. */
export function arrowSchemaJson(names: readonly string[], types: readonly DuckDBType[]): Uint8Array {
  const fields = types.map((type, index) => arrowField(names[index] ?? '', type, names[index] ?? ''))
  return canonicalBytes(fromPlain({ fields, metadata: {} }))
}
