// The functions of PostgreSQL that ask the catalogue, as macros of the engine. They are made beside the relations
// while a statement that calls them runs; `@name` in a body is a relation, which is filled then. Data, and the text
// that makes a macro.

import { listingSchema } from '../../sql/statement.ts'

/**
 * The value of a column in the row of a relation whose key is `key`. Its columns have names that no argument has: an
 * argument may be a bare column of the statement around it.
 */
function find(relation: string, keyColumn: string, key: string, value: string): string {
  return `(SELECT "$v" FROM (SELECT ${keyColumn} AS "$k", ${value} AS "$v" FROM @${relation}) WHERE "$k" = ${key})`
}

/** The number of a thing of a kind that is given by number or by name. Fails for a name that there is not. */
function numberOf(kind: string, what: string): string {
  const bare = `regexp_replace(CAST(p1 AS VARCHAR), '\\(.*\\)$', '')`
  const spelling = `regexp_replace(lower(${bare}), '"([a-z_][a-z0-9_$]*)"', '\\1', 'g')`
  return (
    `CASE WHEN regexp_full_match(CAST(p1 AS VARCHAR), '[0-9]+') THEN CAST(CAST(p1 AS VARCHAR) AS BIGINT) ` +
    `WHEN p1 IS NULL THEN NULL ELSE coalesce(${found(kind, spelling)}, ` +
    `error('${what} "' || CAST(p1 AS VARCHAR) || '" does not exist')) END`
  )
}

function found(kind: string, spelling: string): string {
  return (
    `(SELECT min("$v") FROM (SELECT spelling AS "$k", of_oid AS "$v" FROM @own_names WHERE kind = '${kind}') ` +
    `WHERE "$k" = ${spelling})`
  )
}

/** How a thing of a kind is shown that is given by number; the number where there is none, and a dash for 0. */
function nameOf(kind: string): string {
  return (
    `CASE WHEN p1 = 0 THEN '-' ELSE coalesce((SELECT "$v" FROM (SELECT of_oid AS "$k", shown AS "$v" FROM @own_names ` +
    `WHERE kind = '${kind}' AND shown IS NOT NULL) WHERE "$k" = p1), CAST(p1 AS VARCHAR)) END`
  )
}

const connected = (column: string): string => `(SELECT ${column} FROM @own_connection)`
const noText = 'CAST(NULL AS VARCHAR)'
const noNumber = 'CAST(NULL AS BIGINT)'
/** Of a list of rights, whether one is among those that readers have. */
const has = (rights: string, given: string): string => `regexp_matches(lower(${rights}), '${given}')`
const rights = (given: string): string[] => [`(p1, p2) AS ${has('p2', given)}`, `(p1, p2, p3) AS ${has('p3', given)}`]
const columnRights = [`(p1, p2, p3) AS ${has('p3', 'select')}`, `(p1, p2, p3, p4) AS ${has('p4', 'select')}`]
const isThere = ['(p1) AS p1 IS NOT NULL']
const nothing = ['() AS NULL']
/** A node has no views, indexes, constraints, rules, triggers or comments. */
const noTextOf = (...arities: readonly number[]): string[] =>
  arities.map((count) => `(${parameters(count)}) AS ${noText}`)
const unknownSize = [`(p1) AS ${noNumber}`, `(p1, p2) AS ${noNumber}`]

const visible = `SELECT oid FROM @pg_namespace WHERE nspname = 'pg_catalog' OR list_contains(${connected('schemas')}, nspname)`
const setting = find('pg_settings', 'lower(name)', 'lower(p1)', 'setting')
const shownType =
  `coalesce((SELECT "$v" FROM (SELECT of_oid AS "$k", shown AS "$v" FROM @own_names WHERE kind = 'type' AND shown ` +
  `IS NOT NULL) WHERE "$k" = p1), '???')`
/** `numeric(10,2)[]`: the measures stand before the brackets. */
const measures =
  `CASE WHEN CAST(p2 AS INTEGER) IS NULL OR p2 < 4 THEN '' WHEN p1 IN (1700, 1231) THEN ` +
  `'(' || ((CAST(p2 AS INTEGER) - 4) >> 16) || ',' || ((CAST(p2 AS INTEGER) - 4) & 65535) || ')' ` +
  `WHEN p1 IN (1042, 1043, 1014, 1015) THEN '(' || (CAST(p2 AS INTEGER) - 4) || ')' ELSE '' END`

/** Functions with the same bodies. */
const alike: readonly (readonly [names: string, bodies: readonly string[]])[] = [
  ['col_description pg_get_serial_sequence shobj_description', noTextOf(2)],
  ['has_any_column_privilege has_table_privilege', rights('select')],
  ['inet_client_addr inet_client_port inet_server_addr inet_server_port pg_advisory_unlock_all', nothing],
  ['obj_description pg_get_constraintdef pg_get_ruledef pg_get_triggerdef pg_get_viewdef', noTextOf(1, 2)],
  [
    `pg_collation_is_visible pg_conversion_is_visible pg_function_is_visible pg_opclass_is_visible
    pg_operator_is_visible pg_ts_config_is_visible pg_type_is_visible`,
    isThere,
  ],
  [
    `pg_database_size pg_indexes_size pg_stat_get_numscans pg_relation_size pg_table_size pg_total_relation_size`,
    unknownSize,
  ],
  ['pg_get_expr', noTextOf(2, 3)],
  [
    `pg_get_function_arguments pg_get_function_identity_arguments pg_get_function_result pg_get_partkeydef
    pg_get_statisticsobjdef_columns`,
    noTextOf(1),
  ],
  ['pg_get_indexdef', noTextOf(1, 3)],
  ['pg_is_in_recovery pg_is_wal_replay_paused', ['() AS false']],
]

/** Parameters and bodies by name, one for each number of arguments. */
const bodies: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(alike.flatMap(([names, texts]) => names.split(/\s+/).map((name) => [name, texts]))),
  aclexplode: [
    '(p1) AS unnest(CAST([] AS ' +
      'STRUCT(grantor INTEGER, grantee INTEGER, privilege_type VARCHAR, is_grantable BOOLEAN)[]))',
  ],
  array_lower: ['(p1, p2) AS CASE WHEN p2 = 1 AND len(p1) > 0 THEN 1 END'],
  array_upper: ['(p1, p2) AS CASE WHEN p2 = 1 AND len(p1) > 0 THEN len(p1) END'],
  current_catalog: [`() AS ${connected('database')}`],
  current_database: [`() AS ${connected('database')}`],
  current_role: [`() AS ${connected('user_name')}`],
  current_schema: [`() AS ${connected('CASE WHEN has_path THEN schemas[1] END')}`],
  current_schemas: [
    `(p1) AS CASE WHEN p1 THEN list_concat(['pg_catalog'], ${connected('schemas')}) ELSE ${connected('schemas')} END`,
  ],
  current_setting: [
    `(p1) AS coalesce(${setting}, error('unrecognized configuration parameter "' || p1 || '"'))`,
    `(p1, p2) AS CASE WHEN p2 THEN ${setting} ` +
      `ELSE coalesce(${setting}, error('unrecognized configuration parameter "' || p1 || '"')) END`,
  ],
  current_user: [`() AS ${connected('user_name')}`],
  format_type: [
    `(p1, p2) AS CASE WHEN p1 IS NULL THEN NULL WHEN ${shownType} LIKE '%[]' ` +
      `THEN left(${shownType}, -2) || ${measures} || '[]' ELSE ${shownType} || ${measures} END`,
  ],
  getdatabaseencoding: [`() AS 'UTF8'`],
  has_column_privilege: columnRights,
  has_database_privilege: rights('connect'),
  has_function_privilege: rights('execute'),
  has_schema_privilege: rights('usage'),
  has_sequence_privilege: rights('select|usage'),
  list_text: [`(p1) AS CASE WHEN p1[1] = '{' THEN '[' || p1[2:-2] || ']' ELSE p1 END`],
  name_of_class: [`(p1) AS ${nameOf('class')}`],
  name_of_proc: [`(p1) AS ${nameOf('proc')}`],
  name_of_role: [`(p1) AS ${nameOf('role')}`],
  name_of_schema: [`(p1) AS ${nameOf('schema')}`],
  name_of_type: [`(p1) AS ${nameOf('type')}`],
  number_of_class: [`(p1) AS ${numberOf('class', 'relation')}`],
  number_of_proc: [`(p1) AS ${numberOf('proc', 'function')}`],
  number_of_role: [`(p1) AS ${numberOf('role', 'role')}`],
  number_of_schema: [`(p1) AS ${numberOf('schema', 'schema')}`],
  number_of_type: [`(p1) AS ${numberOf('type', 'type')}`],
  parse_ident: [
    `(p1) AS list_transform(regexp_extract_all(p1, '"(?:[^"]|"")*"|[^."]+'), ` +
      `lambda x: CASE WHEN x[1] = '"' THEN replace(x[2:-2], '""', '"') ELSE lower(x) END)`,
  ],
  pg_has_role: rights('member|usage'),
  pg_index_column_has_property: ['(p1, p2, p3) AS CAST(NULL AS BOOLEAN)'],
  pg_backend_pid: [`() AS ${connected('process_id')}`],
  pg_char_to_encoding: [`(p1) AS CASE WHEN upper(p1) = 'UTF8' THEN 6 WHEN upper(p1) = 'SQL_ASCII' THEN 0 ELSE -1 END`],
  pg_encoding_to_char: [`(p1) AS CASE p1 WHEN 6 THEN 'UTF8' WHEN 0 THEN 'SQL_ASCII' ELSE '' END`],
  pg_get_userbyid: [
    `(p1) AS coalesce(${find('pg_roles', 'oid', 'p1', 'rolname')}, 'unknown (OID=' || CAST(p1 AS VARCHAR) || ')')`,
  ],
  pg_my_temp_schema: ['() AS CAST(0 AS BIGINT)'],
  pg_is_other_temp_schema: ['(p1) AS false'],
  pg_postmaster_start_time: ['() AS CAST(NULL AS TIMESTAMP WITH TIME ZONE)'],
  pg_relation_is_publishable: ['(p1) AS false'],
  pg_size_pretty: [`(p1) AS CASE WHEN p1 IS NOT NULL THEN CAST(p1 AS VARCHAR) || ' bytes' END`],
  pg_table_is_visible: [`(p1) AS ${find('pg_class', 'oid', 'p1', `relnamespace IN (${visible})`)}`],
  pg_tablespace_location: [`(p1) AS ''`],
  quote_ident: [
    `(p1) AS CASE WHEN regexp_full_match(p1, '[a-z_][a-z0-9_]*') AND ` +
      `p1 NOT IN (SELECT word FROM @pg_get_keywords) THEN p1 ELSE '"' || replace(p1, '"', '""') || '"' END`,
  ],
  session_user: [`() AS ${connected('user_name')}`],
  to_regclass: [`(p1) AS ${found('class', `regexp_replace(lower(p1), '"([a-z_][a-z0-9_$]*)"', '\\1', 'g')`)}`],
  to_regtype: [`(p1) AS ${found('type', `regexp_replace(lower(p1), '"([a-z_][a-z0-9_$]*)"', '\\1', 'g')`)}`],
  txid_current: ['() AS CAST(1 AS BIGINT)'],
  user: [`() AS ${connected('user_name')}`],
  version: [`() AS ${connected('version')}`],
  _pg_expandarray: ['(p1) AS unnest(list_transform(p1, lambda x, i: {x: x, n: i}))'],
}

function parameters(count: number): string {
  return Array.from({ length: count }, (_, index) => `p${index + 1}`).join(', ')
}

/** Relations that each function reads. */
export const functionReads: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(bodies).map(([name, texts]) => [
    name,
    [...new Set(texts.flatMap((one) => [...one.matchAll(/@(\w+)/g)].map(([, relation = '']) => relation)))],
  ]),
)

/** The statement that makes a function of `functionReads` in the schema of listings. */
export function functionSql(name: string): string {
  const texts = (bodies[name] ?? []).join(', ').replaceAll(/@(\w+)/g, `${listingSchema}.$1`)
  return `CREATE MACRO ${listingSchema}."${name}"${texts}`
}
