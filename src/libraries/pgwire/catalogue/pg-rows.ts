// The rows of `pg_catalog`: of accounts as schemas and datasets as tables. What a node does not have has no rows. Pure.

import type { Catalogue, NumberedTable } from './numbered.ts'
import { catalogSchema, informationSchema, ownerRole, relationOid } from './numbered.ts'
import { relations, type Relation, type Row } from './relations.ts'
import { type PgType, pgTypes } from './types.ts'

type Rows = (of: Catalogue) => Iterable<Row>

const heap = 2
const internalLanguage = 12
const defaultTablespace = 1663

/** Relations with rows. */
export const pgRows: Readonly<Record<string, Rows>> = {
  pg_am: () => [{ oid: heap, amname: 'heap', amhandler: 3, amtype: 't' }],
  pg_attribute: attributes,
  pg_class: classes,
  pg_collation: () => [
    { ...ofCollation, oid: 100, collname: 'default', collprovider: 'd' },
    { ...ofCollation, oid: 950, collname: 'C', collprovider: 'c', collcollate: 'C', collctype: 'C' },
  ],
  pg_database: ({ database: { oid, name } }) => [{ ...ofDatabase, oid, datname: name }],
  pg_get_keywords: keywords,
  pg_language: () => [
    { ...ofLanguage, oid: internalLanguage, lanname: 'internal', lanpltrusted: false },
    { ...ofLanguage, oid: 14, lanname: 'sql', lanpltrusted: true },
  ],
  pg_namespace: namespaces,
  pg_proc: readers,
  pg_roles: ({ roles, user }) =>
    roles.map(({ oid, name }) => ({ ...ofRole, oid, rolname: name, rolcanlogin: name === user.name })),
  pg_settings: ({ connection }) =>
    Object.entries({ ...fixedSettings, ...connection.settings }).map(([name, setting]) => {
      return { ...ofSetting, name, setting, boot_val: setting, reset_val: setting }
    }),
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
    tables.map(({ account, name }) => ({ ...ofTable, schemaname: account, tablename: name, tableowner: account })),
  pg_tablespace: () => [{ oid: defaultTablespace, spcname: 'pg_default', spcowner: ownerRole.oid }],
  pg_type: () => pgTypes.map(typeRow),
  pg_user: ({ user }) => [{ ...ofUser, usename: user.name, usesysid: user.oid }],
}

/** Cells that are the same in all rows: names and values by turns. */
function same(written: string): Row {
  const words = written.trim().split(/\s+/)
  return Object.fromEntries(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? '']] : [])))
}

const ofClass = same(`
  reltype 0 reloftype 0 relam ${heap} relfilenode 0 reltablespace 0 relpages 0 reltuples -1 relallvisible 0
  reltoastrelid 0 relhasindex f relisshared f relpersistence p relkind r relchecks 0 relhasrules f relhastriggers f
  relhassubclass f relrowsecurity f relforcerowsecurity f relispopulated t relreplident d relispartition f
  relrewrite 0 relfrozenxid 0 relminmxid 0`)
const ofAttribute: Row = {
  ...same('attstattarget -1 attcacheoff -1 atthasdef f atthasmissing f attisdropped f attislocal t attinhcount 0'),
  attcompression: '',
  attidentity: '',
  attgenerated: '',
}
const ofType = same(`
  typnamespace ${catalogSchema.oid} typowner ${ownerRole.oid} typisdefined t typdelim , typrelid 0 typsubscript 0
  typoutput 0 typsend 0 typmodin 0 typmodout 0 typanalyze 0 typnotnull f typbasetype 0 typtypmod -1 typndims 0`)
const ofFunction = same(`
  pronamespace ${catalogSchema.oid} proowner ${ownerRole.oid} prolang ${internalLanguage} procost 1 prorows 0
  provariadic 0 prokind f prosecdef f proleakproof f proisstrict t proretset f provolatile i proparallel s pronargs
  1 pronargdefaults 0`)
const ofCollation = same(
  `collnamespace ${catalogSchema.oid} collowner ${ownerRole.oid} collencoding -1 collisdeterministic t`,
)
/** Encoding 6 is UTF8. */
const ofDatabase = same(`
  datdba ${ownerRole.oid} encoding 6 datlocprovider c datistemplate f datallowconn t datconnlimit -1 datfrozenxid 0
  datminmxid 0 dattablespace ${defaultTablespace} datcollate C datctype C`)
const ofLanguage = same(`lanowner ${ownerRole.oid} lanispl f`)
const ofRole = same(`
  rolsuper f rolinherit t rolcreaterole f rolcreatedb f rolreplication f rolconnlimit -1 rolpassword ********
  rolbypassrls f`)
const ofUser = same('usecreatedb f usesuper f userepl f usebypassrls f passwd ********')
const ofTable = same('hasindexes f hasrules f hastriggers f rowsecurity f')
const ofSetting: Row = {
  ...same('context user vartype string source session pending_restart f'),
  category: 'Client Connection Defaults',
  short_desc: '',
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

function namespaces({ schemas, roles }: Catalogue): Row[] {
  const owners = new Map(roles.map(({ name, oid }) => [name, oid]))
  const all = [catalogSchema, informationSchema, ...schemas]
  return all.map(({ oid, name }) => ({ oid, nspname: name, nspowner: owners.get(name) ?? ownerRole.oid }))
}

function* classes({ tables, roles }: Catalogue): Generator<Row> {
  for (const relation of relations.values()) if (relation.schema !== 'own') yield systemClass(relation)
  const owners = new Map(roles.map(({ name, oid }) => [name, oid]))
  for (const { oid, name, schema, columns, account } of tables) {
    const relowner = owners.get(account) ?? ownerRole.oid
    yield { ...ofClass, oid, relname: name, relnamespace: schema.oid, relowner, relnatts: columns.length }
  }
}

/** PostgreSQL has views of these names; all others of `pg_catalog` are tables. */
const views =
  /^pg_(available_|group|indexes|locks|matviews|policies|replication_slots|roles|rules|seclabels|sequences|settings|stat_|statio_|stats|tables|user$|user_mappings|views)/

function systemClass({ name, schema, columns }: Relation): Row {
  const isView = schema === 'information_schema' || views.test(name)
  return {
    ...ofClass,
    oid: relationOid(name),
    relname: name,
    relnamespace: schema === 'information_schema' ? informationSchema.oid : catalogSchema.oid,
    relowner: ownerRole.oid,
    relnatts: columns.length,
    ...(isView && { relkind: 'v', relam: 0 }),
  }
}

function* attributes({ tables }: Catalogue): Generator<Row> {
  for (const table of tables) yield* attributesOf(table)
}

function attributesOf({ oid, columns }: NumberedTable): Row[] {
  return columns.map(({ name, type, modifier, nullable }, index) => ({
    ...ofAttribute,
    attrelid: oid,
    attname: name,
    atttypid: type.oid,
    attlen: type.length,
    attnum: index + 1,
    attndims: type.isArray ? 1 : 0,
    atttypmod: modifier,
    attbyval: type.byValue,
    attalign: type.align,
    attstorage: type.storage,
    attnotnull: !nullable,
    attcollation: type.collation,
  }))
}

function typeRow(type: PgType): Row {
  return {
    ...ofType,
    oid: type.oid,
    typname: type.name,
    typlen: type.length,
    typbyval: type.byValue,
    typtype: type.kind,
    typcategory: type.category,
    typispreferred: type.preferred,
    typelem: type.element,
    typarray: type.array,
    typinput: type.input.oid,
    typreceive: type.receive.oid,
    typalign: type.align,
    typstorage: type.storage,
    typcollation: type.collation,
  }
}

/** The functions that read values, each once: programs tell arrays by them. They take cstring and internal. */
function readers(): Row[] {
  const all = pgTypes.flatMap(({ input, receive, oid }) => [
    { ...input, prorettype: oid, proargtypes: [2275] },
    { ...receive, prorettype: oid, proargtypes: [2281] },
  ])
  const each = new Map(all.map((one) => [one.oid, one]))
  return [...each.values()].map(({ name, ...one }) => ({ ...ofFunction, ...one, proname: name, prosrc: name }))
}

/** Words that are no names without quotes, by the codes of `pg_get_keywords`. */
const reservedWords = {
  C: `
    between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int
    integer interval least national nchar none normalize nullif numeric out overlay position precision real row
    setof smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists
    xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`,
  R: `
    all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
    current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc
    distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral
    leading limit localtime localtimestamp not null offset on only or order placing primary references returning
    select session_user some symmetric table then to trailing true union unique user using variadic when where
    window with`,
  T: `
    authorization binary collation concurrently cross current_schema freeze full ilike inner is isnull join left
    like natural notnull outer overlaps right similar tablesample verbose`,
}

function keywords(): Row[] {
  return Object.entries(reservedWords).flatMap(([catcode, words]) =>
    words
      .trim()
      .split(/\s+/)
      .map((word) => ({ word, catcode, catdesc: 'reserved' })),
  )
}
