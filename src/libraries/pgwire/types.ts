// The types of PostgreSQL that stand for the columns of an answer, by their numbers in its catalogue. What PostgreSQL cannot hold
// whole is text: nanoseconds, and types of the engine that it has no like of.
// Source: PostgreSQL's pg_type.dat; the modifier of numeric: numeric.c

import { AssertionFailed, must } from '../base/assert.ts'
import { noZone } from '../model/schema.ts'
import type { FileColumn } from '../columnar/outputs/file-format.ts'
import { type PgType, pgTypes, typeCalled } from './catalogue/types.ts'
import { PostgresFault } from './report.ts'

/** The type of a column as RowDescription tells it. */
export interface ColumnType {
  readonly name: PgTypeName
  readonly type: PgType
  /** Digits of a numeric; -1 of all others, and of a numeric that stands for integers. */
  readonly modifier: number
}

export type PgTypeName = ReturnType<typeof nameOf>

const byName = new Map(pgTypes.map((type) => [type.name, type]))

/** The number of a type by its name in SQL. Throws PostgresFault 42704. */
export function oidOfType(written: string): number {
  const name = written.trim().toLowerCase().replace('pg_catalog.', '')
  const found = typeCalled(name)
  if (found === undefined) throw new PostgresFault('42704', `type "${name.slice(0, 63)}" does not exist`)
  return found.oid
}

/** Types of the engine that come as text and are more to PostgreSQL. */
const typesOfText = new Map<string | undefined, 'uuid' | 'interval' | 'timetz' | 'jsonb'>([
  ['UUID', 'uuid'],
  ['INTERVAL', 'interval'],
  ['TIME_TZ', 'timetz'],
  ['JSON', 'jsonb'],
])

/** The type that holds every value of a column, or text. */
export function pgTypeOf(column: FileColumn): ColumnType {
  const name = nameOf(column)
  return {
    name,
    type: must(byName.get(name), 'the catalogue has each type of an answer'),
    modifier: modifierOf(column),
  }
}

/** The type that a client was told of a column; without one that of the column. */
export function typeAs(column: FileColumn, told: number | undefined): Pick<ColumnType, 'type' | 'modifier'> {
  const own = pgTypeOf(column)
  const type = told === undefined || told === own.type.oid ? undefined : pgTypes.find(({ oid }) => oid === told)
  return type === undefined ? own : { type, modifier: -1 }
}

function modifierOf({ type, means }: FileColumn): number {
  return type.kind === 'Decimal' && means !== 'integer' ? ((type.precision << 16) | type.scale) + 4 : -1
}

function nameOf({ type, means, engineType }: FileColumn) {
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
