// The rows of `pg_catalog`: of accounts as schemas and datasets as tables; what there is none of here has no rows. Pure.

import type { Catalogue, NumberedTable } from './numbered.ts'
import { catalogSchema, informationSchema, ownerRole, relationOid } from './numbered.ts'
import { relations, type Relation, type Row } from './relations.ts'
import { type PgType, pgTypes } from './types.ts'

type Rows = (of: Catalogue) => Iterable<Row>

const heap = 2
const utf8Encoding = 6
const internalLanguage = 12

/** Relations with rows. */
export const pgRows: Readonly<Record<string, Rows>> = {
  pg_am: () => [{ oid: heap, amname: 'heap', amhandler: 3, amtype: 't' }],
  pg_attribute: attributes,
  pg_class: classes,
  pg_collation: () => [collation(100, 'default', 'd', -1), collation(950, 'C', 'c', -1)],
  pg_database: ({ database }) => [
    {
      oid: database.oid,
      datname: database.name,
      datdba: ownerRole.oid,
      encoding: utf8Encoding,
      datlocprovider: 'c',
      datistemplate: false,
      datallowconn: true,
      datconnlimit: -1,
      datfrozenxid: 0,
      datminmxid: 0,
      dattablespace: 1663,
      datcollate: 'C',
      datctype: 'C',
    },
  ],
  pg_get_keywords: () => keywords(),
  pg_language: () => [
    { oid: internalLanguage, lanname: 'internal', lanowner: 10, lanispl: false, lanpltrusted: false },
    { oid: 14, lanname: 'sql', lanowner: 10, lanispl: false, lanpltrusted: true },
  ],
  pg_namespace: ({ schemas, roles }) => [
    { oid: catalogSchema.oid, nspname: catalogSchema.name, nspowner: ownerRole.oid },
    { oid: informationSchema.oid, nspname: informationSchema.name, nspowner: ownerRole.oid },
    ...schemas.map(({ oid, name }) => ({ oid, nspname: name, nspowner: roleOf(roles, name) })),
  ],
  pg_proc: () => readers(),
  pg_roles: ({ roles, user }) =>
    roles.map(({ oid, name }) => ({
      rolname: name,
      rolsuper: false,
      rolinherit: true,
      rolcreaterole: false,
      rolcreatedb: false,
      rolcanlogin: name === user.name,
      rolreplication: false,
      rolconnlimit: -1,
      rolpassword: '********',
      rolbypassrls: false,
      oid,
    })),
  pg_settings: ({ connection }) =>
    Object.entries({ ...fixedSettings, ...connection.settings }).map(([name, setting]) => ({
      name,
      setting,
      category: 'Client Connection Defaults',
      short_desc: '',
      context: 'user',
      vartype: 'string',
      source: 'session',
      boot_val: setting,
      reset_val: setting,
      pending_restart: false,
    })),
  pg_stat_activity: ({ connection, database, user }) => [
    {
      datid: database.oid,
      datname: database.name,
      pid: connection.processId,
      usesysid: user.oid,
      usename: user.name,
      state: 'active',
      backend_type: 'client backend',
    },
  ],
  pg_tables: ({ tables }) =>
    tables.map(({ account, name }) => ({
      schemaname: account,
      tablename: name,
      tableowner: account,
      hasindexes: false,
      hasrules: false,
      hastriggers: false,
      rowsecurity: false,
    })),
  pg_tablespace: () => [{ oid: 1663, spcname: 'pg_default', spcowner: ownerRole.oid }],
  pg_type: () => pgTypes.map(typeRow),
  pg_user: ({ user }) => [
    {
      usename: user.name,
      usesysid: user.oid,
      usecreatedb: false,
      usesuper: false,
      userepl: false,
      usebypassrls: false,
      passwd: '********',
    },
  ],
}

/** What the catalogue itself is like. */
const fixedSettings = {
  block_size: '8192',
  default_table_access_method: 'heap',
  default_tablespace: '',
  jit: 'off',
  max_identifier_length: '255',
  max_index_keys: '32',
}

function roleOf(roles: Catalogue['roles'], name: string): number {
  return roles.find((role) => role.name === name)?.oid ?? ownerRole.oid
}

function* classes({ tables, roles }: Catalogue): Generator<Row> {
  for (const relation of relations.values()) {
    if (relation.schema !== 'own') yield classRow(systemClass(relation))
  }
  const owners = new Map(roles.map(({ name, oid }) => [name, oid]))
  for (const { oid, name, schema, columns, account } of tables) {
    yield classRow({
      oid,
      relname: name,
      relnamespace: schema.oid,
      relowner: owners.get(account) ?? 0,
      relnatts: columns.length,
    })
  }
}

/** PostgreSQL has views of these names; all others of `pg_catalog` are tables. */
const views =
  /^pg_(group|indexes|locks|matviews|roles|rules|sequences|settings|stat_.*|statio_.*|stats|tables|user|views)$/

function systemClass({ name, schema, columns }: Relation): Row {
  const isView = schema === 'information_schema' || views.test(name)
  const relnamespace = schema === 'information_schema' ? informationSchema.oid : catalogSchema.oid
  return {
    oid: relationOid(name),
    relname: name,
    relnamespace,
    relowner: ownerRole.oid,
    relnatts: columns.length,
    ...(isView && { relkind: 'v', relam: 0 }),
  }
}

function classRow(own: Row): Row {
  return {
    reltype: 0,
    reloftype: 0,
    relam: heap,
    relfilenode: 0,
    reltablespace: 0,
    relpages: 0,
    reltuples: -1,
    relallvisible: 0,
    reltoastrelid: 0,
    relhasindex: false,
    relisshared: false,
    relpersistence: 'p',
    relkind: 'r',
    relchecks: 0,
    relhasrules: false,
    relhastriggers: false,
    relhassubclass: false,
    relrowsecurity: false,
    relforcerowsecurity: false,
    relispopulated: true,
    relreplident: 'd',
    relispartition: false,
    relrewrite: 0,
    relfrozenxid: 0,
    relminmxid: 0,
    ...own,
  }
}

function* attributes({ tables }: Catalogue): Generator<Row> {
  for (const table of tables) yield* attributesOf(table)
}

function attributesOf({ oid, columns }: NumberedTable): Row[] {
  return columns.map(({ name, type, modifier, nullable }, index) => ({
    attrelid: oid,
    attname: name,
    atttypid: type.oid,
    attstattarget: -1,
    attlen: type.length,
    attnum: index + 1,
    attndims: type.element !== 0 && type.category === 'A' ? 1 : 0,
    attcacheoff: -1,
    atttypmod: modifier,
    attbyval: type.byValue,
    attalign: type.align,
    attstorage: type.storage,
    attcompression: '',
    attnotnull: !nullable,
    atthasdef: false,
    atthasmissing: false,
    attidentity: '',
    attgenerated: '',
    attisdropped: false,
    attislocal: true,
    attinhcount: 0,
    attcollation: type.collation,
  }))
}

function typeRow(type: PgType): Row {
  return {
    oid: type.oid,
    typname: type.name,
    typnamespace: catalogSchema.oid,
    typowner: ownerRole.oid,
    typlen: type.length,
    typbyval: type.byValue,
    typtype: type.kind,
    typcategory: type.category,
    typispreferred: type.preferred,
    typisdefined: true,
    typdelim: ',',
    typrelid: 0,
    typsubscript: 0,
    typelem: type.element,
    typarray: type.array,
    typinput: type.input.oid,
    typoutput: 0,
    typreceive: type.receive.oid,
    typsend: 0,
    typmodin: 0,
    typmodout: 0,
    typanalyze: 0,
    typalign: type.align,
    typstorage: type.storage,
    typnotnull: false,
    typbasetype: 0,
    typtypmod: -1,
    typndims: 0,
    typcollation: type.collation,
  }
}

/** The functions that read values, each once: programs tell arrays by them. */
function readers(): Row[] {
  const all = pgTypes.flatMap(({ input, receive, oid }) => [
    { ...input, result: oid, takes: 2275 },
    { ...receive, result: oid, takes: 2281 },
  ])
  const each = new Map(all.map((one) => [one.oid, one]))
  return [...each.values()].map(({ oid, name, result, takes }) => ({
    oid,
    proname: name,
    pronamespace: catalogSchema.oid,
    proowner: ownerRole.oid,
    prolang: internalLanguage,
    procost: 1,
    prorows: 0,
    provariadic: 0,
    prokind: 'f',
    prosecdef: false,
    proleakproof: false,
    proisstrict: true,
    proretset: false,
    provolatile: 'i',
    proparallel: 's',
    pronargs: 1,
    pronargdefaults: 0,
    prorettype: result,
    proargtypes: [takes],
    prosrc: name,
  }))
}

function collation(oid: number, name: string, provider: string, encoding: number): Row {
  const locale = provider === 'c' ? { collcollate: name, collctype: name } : {}
  const of = { collnamespace: catalogSchema.oid, collowner: ownerRole.oid, collencoding: encoding }
  return { oid, collname: name, collprovider: provider, collisdeterministic: true, ...of, ...locale }
}

/** Words that are no names without quotes, by the codes of `pg_get_keywords`. */
const reservedWords = {
  C: `between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int integer
    interval least national nchar none normalize nullif numeric out overlay position precision real row setof smallint
    substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest
    xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`,
  R: `all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
    current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc distinct
    do else end except false fetch for foreign from grant group having in initially intersect into lateral leading limit
    localtime localtimestamp not null offset on only or order placing primary references returning select session_user
    some symmetric table then to trailing true union unique user using variadic when where window with`,
  T: `authorization binary collation concurrently cross current_schema freeze full ilike inner is isnull join left like
    natural notnull outer overlaps right similar tablesample verbose`,
}

function keywords(): Row[] {
  return Object.entries(reservedWords).flatMap(([catcode, words]) =>
    words.split(/\s+/).map((word) => ({ word, catcode, catdesc: 'reserved' })),
  )
}
