// The rows of `information_schema`, and of the relations that only functions of the catalogue read. What is said is
// what PostgreSQL says of such tables (its information_schema.sql). Pure.

import { foldAscii } from '../../model/names.ts'
import type { Catalogue, CatalogueColumn, Connection } from './numbered.ts'
import { catalogSchema, informationSchema, ownerRole, relationOid } from './numbered.ts'
import { relations, type Row } from './relations.ts'
import { otherWords, type PgType, pgTypes } from './types.ts'

type Rows = (of: Catalogue) => Iterable<Row>

/** Relations with rows. */
export const informationRows: Readonly<Record<string, Rows>> = {
  character_sets: ({ database }) => [
    {
      character_set_name: 'UTF8',
      character_repertoire: 'UCS',
      form_of_use: 'UTF8',
      default_collate_catalog: database.name,
    },
  ],
  column_privileges: function* ({ database, tables, user }) {
    for (const { account, name, columns } of tables) {
      const of = { table_catalog: database.name, table_schema: account, table_name: name }
      for (const column of columns) yield { ...of, column_name: column.name, ...privilege(account, user.name) }
    }
  },
  columns: function* ({ database, tables }) {
    for (const { account, name, columns } of tables) {
      const of = { table_catalog: database.name, table_schema: account, table_name: name }
      for (const [index, column] of columns.entries()) yield { ...of, ...columnRow(column, index + 1, database.name) }
    }
  },
  enabled_roles: ({ user }) => [{ role_name: user.name }],
  information_schema_catalog_name: ({ database }) => [{ catalog_name: database.name }],
  role_table_grants: grants,
  schemata: ({ database, schemas }) => [
    ...[catalogSchema, informationSchema].map(({ name }) => schemaRow(database.name, name, ownerRole.name)),
    ...schemas.map(({ name }) => schemaRow(database.name, name, name)),
  ],
  table_privileges: grants,
  tables: ({ database, tables }) =>
    tables.map(({ account, name }) => ({
      table_catalog: database.name,
      table_schema: account,
      table_name: name,
      table_type: 'BASE TABLE',
      is_insertable_into: 'NO',
      is_typed: 'NO',
    })),
  own_connection: ({ connection, schemas }) => [
    {
      database: connection.database,
      user_name: connection.user,
      version: connection.version,
      process_id: connection.processId,
      schemas: schemas.filter(({ name }) => isBare(connection, name)).map(({ name }) => name),
      has_path: connection.path !== undefined,
    },
  ],
  own_names: ownNames,
}

/** Whether tables of a schema have bare names, as far as the catalogue says. */
function isBare({ path }: Connection, schema: string): boolean {
  return path === undefined || path.some((name) => foldAscii(name) === foldAscii(schema))
}

function schemaRow(catalog: string, name: string, owner: string): Row {
  return { catalog_name: catalog, schema_name: name, schema_owner: owner }
}

function privilege(grantor: string, grantee: string): Row {
  return { grantor, grantee, privilege_type: 'SELECT', is_grantable: 'NO' }
}

function grants({ database, tables, user }: Catalogue): Row[] {
  return tables.map(({ account, name }) => ({
    ...privilege(account, user.name),
    table_catalog: database.name,
    table_schema: account,
    table_name: name,
    with_hierarchy: 'YES',
  }))
}

function columnRow({ name, type, modifier, nullable }: CatalogueColumn, place: number, database: string): Row {
  return {
    column_name: name,
    ordinal_position: place,
    is_nullable: nullable ? 'YES' : 'NO',
    data_type: type.isArray ? 'ARRAY' : type.shown,
    ...measures(type, modifier),
    udt_catalog: database,
    udt_schema: catalogSchema.name,
    udt_name: type.name,
    dtd_identifier: String(place),
    is_self_referencing: 'NO',
    is_identity: 'NO',
    identity_cycle: 'NO',
    is_generated: 'NEVER',
    is_updatable: 'NO',
  }
}

const binaryDigits: Readonly<Record<string, number>> = { int2: 16, int4: 32, int8: 64, float4: 24, float8: 53 }
const longestText = 1_073_741_824

function measures({ name }: PgType, modifier: number): Row {
  const bits = binaryDigits[name]
  if (bits !== undefined) {
    const scale = name.startsWith('int') ? { numeric_scale: 0 } : {}
    return { numeric_precision: bits, numeric_precision_radix: 2, ...scale }
  }
  if (name === 'numeric') return { numeric_precision_radix: 10, ...digitsOf(modifier) }
  if (/^(text|varchar|bpchar)$/.test(name)) {
    const most = modifier < 4 ? {} : { character_maximum_length: modifier - 4 }
    return { ...most, character_octet_length: modifier < 4 ? longestText : 4 * (modifier - 4) }
  }
  if (name === 'date') return { datetime_precision: 0 }
  return /^(time|interval)/.test(name) ? { datetime_precision: 6 } : {}
}

function digitsOf(modifier: number): Row {
  if (modifier < 4) return {}
  return { numeric_precision: (modifier - 4) >> 16, numeric_scale: (modifier - 4) & 0xffff }
}

/** What names in text mean: all spellings of a thing, its name as it is shown at the first. */
function* ownNames({ connection, schemas, tables, roles }: Catalogue): Generator<Row> {
  for (const { name, oid } of roles) yield spelled('role', oid, quoted(name))
  for (const { name, oid } of [catalogSchema, informationSchema, ...schemas]) yield spelled('schema', oid, quoted(name))
  for (const { name, schema } of relations.values()) {
    if (schema === 'own') continue
    const isPath = schema === 'pg_catalog'
    yield spelled('class', relationOid(name), isPath ? name : `${schema}.${name}`)
    if (isPath) yield { ...spelled('class', relationOid(name), `pg_catalog.${name}`), shown: null }
  }
  const bare = new Set<string>()
  for (const { name, oid, account } of tables) {
    const table = quoted(name)
    yield spelled('class', oid, `${quoted(account)}.${table}`)
    if (bare.has(table.toLowerCase()) || !isBare(connection, account)) continue
    yield { ...spelled('class', oid, table), shown: null }
    bare.add(table.toLowerCase())
  }
  for (const type of pgTypes) yield* typeNames(type)
  const readers = new Map(pgTypes.flatMap(({ input, receive }) => [input, receive]).map(({ oid, name }) => [oid, name]))
  for (const [oid, name] of readers) {
    yield spelled('proc', oid, name)
    yield { ...spelled('proc', oid, `pg_catalog.${name}`), shown: null }
  }
}

function typeNames({ oid, name, shown, isArray }: PgType): Row[] {
  const others = [name, `pg_catalog.${name}`, ...(isArray ? [`${name.slice(1)}[]`] : [])]
  const words = [...otherWords].flatMap(([word, of]) => (of === name ? [word] : []))
  const spellings = new Set([shown, ...others, ...words])
  return [...spellings].map((one) => ({ ...spelled('type', oid, one), shown: one === shown ? shown : null }))
}

/** Names are compared without case, and without quotes that are not needed. */
function spelled(kind: string, oid: number, shown: string): Row {
  return { kind, spelling: shown.toLowerCase().replaceAll(/"([a-z_][a-z0-9_$]*)"/g, '$1'), of_oid: oid, shown }
}

/** A name as PostgreSQL writes it, but for reserved words. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
