// The types of PostgreSQL that stand for the columns of an answer, by their numbers in its catalogue. What PostgreSQL cannot hold
// whole is text: nanoseconds, and types of the engine that it has no like of.
// Source: PostgreSQL's pg_type.dat; the modifier of numeric: numeric.c

import { AssertionFailed } from '../base/assert.ts'
import { noZone } from '../model/schema.ts'
import type { FileColumn } from '../columnar/outputs/file-format.ts'

/** Number and size of each type; a size of -1 is that of values of any length. */
export const pgTypes = {
  bool: { oid: 16, size: 1 },
  bytea: { oid: 17, size: -1 },
  int8: { oid: 20, size: 8 },
  int2: { oid: 21, size: 2 },
  int4: { oid: 23, size: 4 },
  text: { oid: 25, size: -1 },
  float4: { oid: 700, size: 4 },
  float8: { oid: 701, size: 8 },
  date: { oid: 1082, size: 4 },
  time: { oid: 1083, size: 8 },
  timestamp: { oid: 1114, size: 8 },
  timestamptz: { oid: 1184, size: 8 },
  interval: { oid: 1186, size: 16 },
  timetz: { oid: 1266, size: 12 },
  numeric: { oid: 1700, size: -1 },
  uuid: { oid: 2950, size: 16 },
  jsonb: { oid: 3802, size: -1 },
} as const

export type PgTypeName = keyof typeof pgTypes

/** The type of a column as RowDescription tells it. */
export interface PgType {
  readonly name: PgTypeName
  readonly oid: number
  readonly size: number
  /** Digits of a numeric; -1 of all others, and of a numeric that stands for integers. */
  readonly modifier: number
}

/** Types of the engine that come as text and are more to PostgreSQL. */
const typesOfText: ReadonlyMap<string | undefined, PgTypeName> = new Map<string, PgTypeName>([
  ['UUID', 'uuid'],
  ['INTERVAL', 'interval'],
  ['TIME_TZ', 'timetz'],
  ['JSON', 'jsonb'],
])

/** The type that holds every value of a column, or text. */
export function pgTypeOf(column: FileColumn): PgType {
  const name = nameOf(column)
  return { name, ...pgTypes[name], modifier: modifierOf(column) }
}

function modifierOf({ type, means }: FileColumn): number {
  return type.kind === 'Decimal' && means !== 'integer' ? ((type.precision << 16) | type.scale) + 4 : -1
}

function nameOf({ type, means, engineType }: FileColumn): PgTypeName {
  if (means === 'json') return 'jsonb'
  switch (type.kind) {
    case 'Bool':
      return 'bool'
    case 'Int8':
    case 'UInt8':
    case 'Int16':
      return 'int2'
    case 'UInt16':
    case 'Int32':
      return 'int4'
    case 'UInt32':
    case 'Int64':
      return 'int8'
    case 'UInt64':
    case 'Decimal':
      return 'numeric'
    case 'Float32':
      return 'float4'
    case 'Float64':
      return 'float8'
    case 'Binary':
      return 'bytea'
    case 'Date':
      return 'date'
    case 'Time':
      return type.unit === 'Nanosecond' ? 'text' : 'time'
    case 'Timestamp':
      if (type.unit === 'Nanosecond') return 'text'
      return (type.timezone ?? noZone) === noZone ? 'timestamp' : 'timestamptz'
    case 'String':
      return typesOfText.get(engineType) ?? 'text'
    default:
      throw new AssertionFailed(`a column of an answer without lists is not of the type ${type.kind}`)
  }
}
