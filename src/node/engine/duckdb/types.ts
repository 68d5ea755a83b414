// The types of a result as schemas name them (libraries/model/schema.ts). What the engine has and ODF has no word for is a String,
// which its values are printed as; a type that is not here has no form in any answer.

import type * as duckdb from '@duckdb/node-api'
import { binding } from './binding.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import {
  type DataType,
  noZone,
  type OutputField,
  type OutputSchema,
  type OutputType,
} from '../../../libraries/model/schema.ts'

const Id = binding.DuckDBTypeId

/** Integers of 128 bits are decimals of 38 digits, or refused. */
const hugeInteger: DataType = { kind: 'Decimal', precision: 38, scale: 0 }

/** Types that hold no others and have no parameters. */
const scalarTypes: ReadonlyMap<duckdb.DuckDBTypeId, DataType> = new Map<duckdb.DuckDBTypeId, DataType>([
  [Id.BOOLEAN, { kind: 'Bool' }],
  [Id.TINYINT, { kind: 'Int8' }],
  [Id.SMALLINT, { kind: 'Int16' }],
  [Id.INTEGER, { kind: 'Int32' }],
  [Id.BIGINT, { kind: 'Int64' }],
  [Id.UTINYINT, { kind: 'UInt8' }],
  [Id.USMALLINT, { kind: 'UInt16' }],
  [Id.UINTEGER, { kind: 'UInt32' }],
  [Id.UBIGINT, { kind: 'UInt64' }],
  [Id.HUGEINT, hugeInteger],
  [Id.UHUGEINT, hugeInteger],
  [Id.FLOAT, { kind: 'Float32' }],
  [Id.DOUBLE, { kind: 'Float64' }],
  [Id.BLOB, { kind: 'Binary' }],
  [Id.DATE, { kind: 'Date' }],
  [Id.TIME, { kind: 'Time', unit: 'Microsecond' }],
  [Id.TIME_NS, { kind: 'Time', unit: 'Nanosecond' }],
  [Id.TIMESTAMP_TZ, { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' }],
  [Id.TIMESTAMP, { kind: 'Timestamp', unit: 'Microsecond', timezone: noZone }],
  [Id.TIMESTAMP_S, { kind: 'Timestamp', unit: 'Second', timezone: noZone }],
  [Id.TIMESTAMP_MS, { kind: 'Timestamp', unit: 'Millisecond', timezone: noZone }],
  [Id.TIMESTAMP_NS, { kind: 'Timestamp', unit: 'Nanosecond', timezone: noZone }],
  [Id.SQLNULL, { kind: 'Int32' }],
  ...[Id.VARCHAR, Id.ENUM, Id.BIT, Id.UUID, Id.BIGNUM, Id.TIME_TZ, Id.INTERVAL].map(
    (id): [duckdb.DuckDBTypeId, DataType] => [id, { kind: 'String' }],
  ),
])

/** The type of a value that holds no others. Throws NodeError `QueryNotAllowed` for one that no answer can hold. */
export function scalarTypeOf(type: duckdb.DuckDBType, column: string): DataType {
  if (type.typeId === Id.DECIMAL) return { kind: 'Decimal', precision: type.width, scale: type.scale }
  const known = scalarTypes.get(type.typeId)
  if (known === undefined) throw unrenderable(type, column)
  return known
}

/** The refusal of a result that has no JSON form. */
export function unrenderable(type: duckdb.DuckDBType, column: string): NodeError {
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
  return { fields: types.map((type, at) => ({ name: names[at] ?? '', type: optional(type, names[at] ?? '') })) }
}

function optional(type: duckdb.DuckDBType, column: string): OutputType {
  return { kind: 'Option', inner: outputType(type, column) }
}

function outputType(type: duckdb.DuckDBType, column: string): OutputType {
  const members = (names: readonly string[], types: readonly duckdb.DuckDBType[]): OutputField[] =>
    types.map((member, at) => ({ name: names[at] ?? '', type: optional(member, column) }))
  switch (type.typeId) {
    case Id.LIST:
      return { kind: 'List', itemType: optional(type.valueType, column) }
    case Id.ARRAY:
      return { kind: 'List', itemType: optional(type.valueType, column), fixedLength: type.length }
    case Id.STRUCT:
      return { kind: 'Struct', fields: members(type.entryNames, type.entryTypes) }
    case Id.MAP:
      return { kind: 'Map', keyType: outputType(type.keyType, column), valueType: optional(type.valueType, column) }
    case Id.UNION:
      return { kind: 'Union', members: members(type.memberTags, type.memberTypes) }
    default:
      return scalarTypeOf(type, column)
  }
}
