// The relations of the catalogue that PostgreSQL programs read: names, columns, and the engine's types for those of
// PostgreSQL. Object identifiers are integers of 32 bits, as programs expect that take those of 64 bits for texts. Pure.

import { must } from '../../base/assert.ts'
import { informationColumns } from './information-columns.ts'
import { pgColumns } from './pg-columns.ts'

/** One column: its name and the engine's type. */
export interface Column {
  readonly name: string
  readonly type: string
}

export interface Relation {
  readonly name: string
  /** The schema that programs write; `own`: of the functions alone (functions.ts). */
  readonly schema: 'pg_catalog' | 'information_schema' | 'own'
  readonly columns: readonly Column[]
}

/** What a row says, by column; what it leaves out is null. */
export type Row = Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>

const engineTypes: Readonly<Record<string, string>> = {
  bool: 'BOOLEAN',
  bytea: 'BLOB',
  float4: 'FLOAT',
  float8: 'DOUBLE',
  int2: 'SMALLINT',
  int2vector: 'SMALLINT[]',
  int4: 'INTEGER',
  int8: 'BIGINT',
  oid: 'INTEGER',
  oidvector: 'INTEGER[]',
  regproc: 'INTEGER',
  text: 'VARCHAR',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
  xid: 'INTEGER',
}

/** Relations that only the functions of the catalogue read. */
const ownColumns: Readonly<Record<string, string>> = {
  own_connection: 'database user_name version process_id:int4 schemas:_text has_path:bool',
  own_names: 'kind spelling of_oid:oid shown',
}

/** All relations by name; those of the two schemas share no name. */
export const relations: ReadonlyMap<string, Relation> = new Map(
  [
    ...relationsOf('pg_catalog', pgColumns),
    ...relationsOf('information_schema', informationColumns),
    ...relationsOf('own', ownColumns),
  ].map((relation) => [relation.name, relation]),
)

/** Columns that PostgreSQL shows as names of functions. */
export const functionColumns: ReadonlySet<string> = new Set(
  [
    ...Object.values(pgColumns)
      .join(' ')
      .matchAll(/(\w+):regproc/g),
  ].map(([, name = '']) => name),
)

function relationsOf(schema: Relation['schema'], written: Readonly<Record<string, string>>): Relation[] {
  return Object.entries(written).map(([name, columns]) => ({ name, schema, columns: columnsOf(columns) }))
}

function columnsOf(written: string): Column[] {
  const columns = written.trim().split(/\s+/)
  return columns.map((one) => {
    const [name = '', type = 'text'] = one.split(':')
    return { name, type: engineType(type) }
  })
}

function engineType(type: string): string {
  return type.startsWith('_') ? `${engineType(type.slice(1))}[]` : must(engineTypes[type], 'each type has one here')
}
