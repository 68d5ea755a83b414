// Statements that PostgreSQL programs send about the catalogue, in words of the engine: names of relations and
// functions, casts to types that name things, regular expressions, collations, names of columns. One pass over the
// serialised tree; a statement that says nothing of the catalogue is left alone. Pure.

import { JsonNumber, type JsonObject, type JsonValue } from '../../base/json/value.ts'
import { foldAscii } from '../../model/names.ts'
import { elementsOf, listText } from '../arrays.ts'
import { type ListingNames, listingSchema } from '../../sql/statement.ts'
import {
  child,
  functionName,
  holds,
  isClass,
  list,
  nodeOf,
  nowhere,
  objects,
  tableParts,
  text,
} from '../../sql/tree.ts'
import { columnName, typeWord } from './column-names.ts'
import { expression, ownCall, plainCall, listOf, refused, selectedRows, textOf, castTo } from './expressions.ts'
import { functionReads } from './functions.ts'
import { relationOid } from './numbered.ts'
import { functionColumns, relations } from './relations.ts'

/** What a statement that was rewritten may ask. */
export const postgresListings: ListingNames = { schema: listingSchema, relations, functions: functionReads }

/** Functions that other statements may use too: alone they make none about the catalogue. */
const plainFunctions = new Set(['array_lower', 'array_upper', 'quote_ident'])
/** Bare words that are calls. `user` may be a column. */
const callWords = new Set(['current_catalog', 'current_role', 'current_schema', 'current_user', 'session_user', 'user'])
/** Types whose values name things, and the kind of those (functions.ts). */
const namingTypes: ReadonlyMap<string, string> = new Map([
  ['regclass', 'class'],
  ['regtype', 'type'],
  ['regproc', 'proc'],
  ['regprocedure', 'proc'],
  ['regnamespace', 'schema'],
  ['regrole', 'role'],
])
/** Functions that the engine has under another name. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['btrim', 'trim'],
  ['json_agg', 'json_group_array'],
  ['json_build_object', 'json_object'],
  ['jsonb_agg', 'json_group_array'],
  ['jsonb_build_object', 'json_object'],
])
/** LIKE: a backslash takes the meaning of what follows. */
const patterns: ReadonlyMap<string, string> = new Map([
  ['~~', 'like_escape'],
  ['!~~', 'not_like_escape'],
  ['~~*', 'ilike_escape'],
  ['!~~*', 'not_ilike_escape'],
])
const textTypes = new Set(['name', 'cstring', 'character_data', 'sql_identifier', 'yes_or_no', 'aclitem', 'inet'])
const plainNumber = nodeOf({ id: 'BIGINT', type_info: null })
const plainText = nodeOf({ id: 'VARCHAR', type_info: null })
const numberTypes = new Set(['oid', 'xid', 'cid', 'cardinal_number'])

/**
 * The statement in words of the engine; undefined where it says nothing of the catalogue. Throws NodeError
 * `QueryNotAllowed`.
 */
export function rewritten(top: JsonObject): JsonObject | undefined {
  const ctes = cteNames(top)
  const isAbout = holds(top, (node) => relationOf(node, ctes) !== undefined || asksCatalogue(node))
  const readsOthers = holds(top, (node) => isOther(node, ctes))
  const hasWords = !readsOthers && holds(top, (node) => wordOf(node) !== undefined)
  if (!isAbout && !hasWords) return undefined
  return rewriteNode(top, { ctes, readsOthers, shown: new Set(answering(top)), tables: tablesOf(top, ctes) })
}

interface Context {
  /** Names of common table expressions anywhere in the statement, ASCII lower case. */
  readonly ctes: ReadonlySet<string>
  /** It reads more than the catalogue: bare words may be columns. */
  readonly readsOthers: boolean
  /** The SELECTs whose rows are the answer: their columns show names of things. */
  readonly shown: ReadonlySet<JsonObject>
  readonly tables: ReadonlyMap<string, string>
}

/** The relations of the catalogue by how columns name them; empty where a name is that of several. */
function tablesOf(top: JsonObject, ctes: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>()
  holds(top, (node) => {
    const relation = relationOf(node, ctes)
    const name = relation === undefined ? '' : foldAscii(text(node, 'alias') || relation)
    if (relation !== undefined) found.set(name, [relation, undefined].includes(found.get(name)) ? relation : '')
    return false
  })
  return found
}

function answering(query: JsonObject): JsonObject[] {
  const sides = ['left', 'right'].flatMap((side) => child(query, side) ?? [])
  return text(query, 'type') === 'SET_OPERATION_NODE' ? sides.flatMap(answering) : [query]
}

function cteNames(top: JsonObject): Set<string> {
  const found = new Set<string>()
  holds(top, (node) => {
    if (node.has('cte_map')) {
      for (const entry of objects(child(node, 'cte_map'), 'map')) found.add(foldAscii(text(entry, 'key')))
    }
    return false
  })
  return found
}

/** The relation of the catalogue that a table is. */
function relationOf(node: JsonObject, ctes: ReadonlySet<string>): string | undefined {
  if (text(node, 'type') === 'TABLE_FUNCTION') return calledRelation(child(node, 'function'))
  if (text(node, 'type') !== 'BASE_TABLE') return undefined
  const [name = '', written] = tableParts(node).map(foldAscii).reverse()
  const schema = relations.get(name)?.schema
  if (schema === undefined || schema === 'own') return undefined
  if (written !== undefined) return written === schema ? name : undefined
  return schema === 'pg_catalog' && !ctes.has(name) ? name : undefined
}

/** A table that is neither of the catalogue nor of the statement itself. */
function isOther(node: JsonObject, ctes: ReadonlySet<string>): boolean {
  if (text(node, 'type') !== 'BASE_TABLE' || relationOf(node, ctes) !== undefined) return false
  const [first = '', ...more] = tableParts(node)
  return more.length > 0 || !ctes.has(foldAscii(first))
}

/** Relations that are called. */
const calls: ReadonlyMap<string, string> = new Map([
  ['pg_available_extensions', 'pg_available_extensions'],
  ['pg_get_keywords', 'pg_get_keywords'],
  ['pg_show_all_settings', 'pg_settings'],
])

function calledRelation(call: JsonObject | undefined): string | undefined {
  return list(call, 'children').length === 0 ? calls.get(functionName(call)) : undefined
}

function asksCatalogue(node: JsonObject): boolean {
  const name = isClass(node, 'FUNCTION') ? functionName(node) : ''
  if (name !== '') return namingTypes.has(name) || (functionReads.has(name) && !plainFunctions.has(name))
  return isClass(node, 'CAST') && namingTypes.has(typeWord(child(node, 'cast_type')))
}

/** The call that a bare word is. */
function wordOf(node: JsonObject): string | undefined {
  const [name, ...more] = isClass(node, 'COLUMN_REF') ? list(node, 'column_names') : []
  if (typeof name !== 'string' || more.length > 0) return undefined
  return callWords.has(foldAscii(name)) ? foldAscii(name) : undefined
}

function rewrite(value: JsonValue, context: Context): JsonValue {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, context))
  return value instanceof Map ? rewriteNode(value, context) : value
}

function rewriteNode(node: JsonObject, context: Context): JsonObject {
  const relation = relationOf(node, context.ctes)
  if (relation !== undefined) return tableOf(node, relation)
  const naming = isClass(node, 'CAST') ? namingTypes.get(typeWord(child(node, 'cast_type'))) : undefined
  const inner = new Map([...node].map(([name, member]) => [name, rewrite(member, context)] as const))
  if (text(node, 'type') === 'TABLE_FUNCTION') return selectedRows(inner)
  if (text(node, 'type') === 'SELECT_NODE') return namedSelect(node, inner, context)
  if (naming !== undefined) return numberOf(inner, naming)
  if (isClass(node, 'CAST')) return castOf(node, inner)
  if (isClass(node, 'FUNCTION') || isClass(node, 'WINDOW')) return callOf(inner)
  if (isClass(node, 'COLLATE') && isPlainCollation(text(node, 'collation'))) return operandOf(inner)
  if (isClass(node, 'SUBQUERY')) return anyOf(inner)
  if (isClass(node, 'COLUMN_REF')) return columnOf(inner, context)
  const isBare = text(node, 'type') === 'DESCENDING' && text(node, 'null_order') === 'ORDER_DEFAULT'
  return isBare ? inner.set('null_order', 'NULLS FIRST') : inner
}

function tableOf(node: JsonObject, relation: string): JsonObject {
  if (text(node, 'type') === 'BASE_TABLE')
    return new Map(node).set('catalog_name', '').set('schema_name', listingSchema).set('table_name', relation)
  return nodeOf({
    type: 'BASE_TABLE',
    alias: text(node, 'alias'),
    sample: null,
    query_location: node.get('query_location') ?? new JsonNumber(nowhere),
    schema_name: listingSchema,
    table_name: relation,
    column_name_alias: list(node, 'column_name_alias'),
    catalog_name: '',
    at_clause: null,
  })
}

/** `x::regclass` and `regclass(x)`: the number of what is named. */
function numberOf(named: JsonObject, kind: string): JsonObject {
  return ownCall(`number_of_${kind}`, [named.get('child') ?? list(named, 'children')[0] ?? null], named)
}

function castOf(node: JsonObject, inner: JsonObject): JsonObject {
  const type = child(node, 'cast_type')
  const kind = namedBy(child(node, 'child'))
  const word = typeWord(type)
  const isText = text(type, 'id') === 'VARCHAR' || textTypes.has(word)
  if (kind !== undefined && isText) return ownCall(`name_of_${kind}`, [inner.get('child') ?? null], inner)
  return withArrayText(new Map(inner).set('cast_type', plainType(type)))
}

/** The kind of things that a value names: as its type says, or a column of functions. */
function namedBy(node: JsonObject | undefined): string | undefined {
  if (isClass(node, 'CAST')) return namingTypes.get(typeWord(child(node, 'cast_type')))
  const column = isClass(node, 'COLUMN_REF') ? list(node, 'column_names').at(-1) : undefined
  return typeof column === 'string' && functionColumns.has(foldAscii(column)) ? 'proc' : undefined
}

/** The engine's type for one of PostgreSQL's, in lists too. */
function plainType(type: JsonObject | undefined): JsonObject | null {
  if (type === undefined) return null
  const info = child(type, 'type_info')
  if (text(type, 'id') === 'LIST' && info !== undefined) {
    return new Map(type).set('type_info', new Map(info).set('child_type', plainType(child(info, 'child_type'))))
  }
  const word = typeWord(type)
  if (textTypes.has(word)) return plainText
  if (numberTypes.has(word)) return plainNumber
  if (word === 'int2vector' || word === 'oidvector') return listOf('BIGINT')
  const isOfCatalog = info !== undefined && foldAscii(text(info, 'schema')) === 'pg_catalog'
  return isOfCatalog ? new Map(type).set('type_info', new Map(info).set('schema', '')) : type
}

/** `'{a,b}'::text[]`, as the engine writes lists. Throws for arrays of arrays. */
function withArrayText(cast: JsonObject): JsonObject {
  const operand = cast.get('child') ?? null
  if (isClass(operand, 'PARAMETER') && text(child(cast, 'cast_type'), 'id') === 'LIST') {
    return new Map(cast).set('child', ownCall('list_text', [operand], operand))
  }
  const value = isClass(operand, 'CONSTANT') ? child(operand, 'value') : undefined
  const written = text(value, 'value')
  const isList = text(child(cast, 'cast_type'), 'id') === 'LIST'
  if (!isList || value === undefined || !isClass(operand, 'CONSTANT') || !written.startsWith('{')) return cast
  const items = elementsOf(written)
  if (items === undefined) throw refused('an array as text with arrays in it')
  const constant = new Map(operand).set('value', new Map(value).set('value', listText(items)))
  return new Map(cast).set('child', constant)
}

function callOf(call: JsonObject): JsonObject {
  const name = functionName(call)
  const operands = list(call, 'children')
  // `~` is read as this; in PostgreSQL a part of the text is enough.
  if (name === 'regexp_full_match' || name === '~') return plainCall('regexp_matches', operands, call)
  if (name === '~*') return plainCall('regexp_matches', [...operands, textOf('i')], call)
  if (name === '!~*' || name === '!~') {
    const flags = name === '!~*' ? [textOf('i')] : []
    const match = plainCall('regexp_matches', [...operands, ...flags], call).set('alias', '')
    return nodeOf({ ...expression('OPERATOR', 'OPERATOR_NOT', call), children: [match] })
  }
  const pattern = patterns.get(name)
  if (pattern !== undefined) return plainCall(pattern, [...operands, textOf('\\')], call)
  const kind = operands.length === 1 ? namingTypes.get(name) : undefined
  if (kind !== undefined) return numberOf(call, kind)
  if (name === 'format') return formatOf(call, operands)
  if (name === 'substring' && operands.length === 2) return substringOf(call, operands)
  if (isClass(call, 'FUNCTION') && functionReads.has(name)) return ownCall(name, operands, call)
  const plain = foldAscii(text(call, 'schema')) === 'pg_catalog' ? new Map(call).set('schema', '') : call
  const other = otherNames.get(name)
  return other === undefined ? plain : new Map(plain).set('function_name', other)
}

function isPlainCollation(name: string): boolean {
  return /^(?:pg_catalog\.)?(?:default|c|posix|ucs_basic)$/i.test(name)
}

function operandOf(collate: JsonObject): JsonObject {
  const operand = child(collate, 'child') ?? new Map()
  return text(collate, 'alias') === '' ? operand : new Map(operand).set('alias', text(collate, 'alias'))
}

/** `x = ANY (list)`: the engine has no such subquery where tables are joined. */
function anyOf(subquery: JsonObject): JsonObject {
  const select = child(child(subquery, 'subquery'), 'node')
  const [only, ...more] = list(select, 'select_list')
  const isList = text(child(select, 'from_table'), 'type') === 'EMPTY' && more.length === 0 && isClass(only, 'FUNCTION')
  const isEqual = text(subquery, 'subquery_type') === 'ANY' && text(subquery, 'comparison_type') === 'COMPARE_EQUAL'
  if (!isEqual || !isList || functionName(only) !== 'unnest') return subquery
  const [items = null] = list(only, 'children')
  const value = subquery.get('child') ?? null
  // `ANY ('{a,b}')` takes a list as text.
  const isText = isClass(items, 'CONSTANT') || isClass(items, 'PARAMETER')
  const operands = isText ? [withArrayText(castTo(listOf('VARCHAR'), items)), castTo(plainText, value)] : [items, value]
  return plainCall('list_contains', operands, subquery)
}

/** `substring(x FROM 'pattern')`: what matches, or what its first bracket does. */
function substringOf(call: JsonObject, operands: readonly JsonValue[]): JsonObject {
  const pattern = isClass(operands[1], 'CONSTANT') ? child(operands[1], 'value') : undefined
  if (text(child(pattern, 'type'), 'id') !== 'VARCHAR') return call
  const group = /(?<!\\)\((?!\?)/.test(text(pattern, 'value')) ? '1' : '0'
  const found = plainCall(
    'regexp_extract_all',
    [...operands, castTo(nodeOf({ id: 'INTEGER', type_info: null }), textOf(group))],
    new Map(),
  )
  return plainCall('list_extract', [found, castTo(plainNumber, textOf('1'))], call)
}

/** `format('%I.%s', a, b)` with a constant of those alone. Throws for all others. */
function formatOf(call: JsonObject, [pattern, ...values]: readonly JsonValue[]): JsonObject {
  const written = isClass(pattern, 'CONSTANT') ? text(child(pattern, 'value'), 'value') : '%?'
  const parts = written.split(/(%.)/s).filter((part) => part !== '')
  const places = parts.filter((part) => /^%[sI]$/.test(part))
  if (parts.some((part) => /^%[^sI%]?$/.test(part) && part !== '%%') || places.length !== values.length) {
    throw refused('format() with anything but %s and %I in a constant')
  }
  const rest = [...values]
  const pieces = parts.map((part) => {
    if (part === '%I') return ownCall('quote_ident', [rest.shift() ?? null], new Map())
    return part === '%s' ? (rest.shift() ?? null) : textOf(part === '%%' ? '%' : part)
  })
  return plainCall('concat', pieces, call)
}

function columnOf(column: JsonObject, { readsOthers, tables }: Context): JsonObject {
  const [table, last] = list(column, 'column_names').slice(-2)
  if (typeof table === 'string' && last === 'tableoid') {
    const relation = tables.get(foldAscii(table)) ?? ''
    if (relation !== '') return castTo(plainNumber, textOf(String(relationOid(relation))))
  }
  const word = readsOthers ? undefined : wordOf(column)
  if (word !== undefined) return ownCall(word, [], column)
  const [schema, ...names] = list(column, 'column_names')
  const isPath = names.length === 2 && typeof schema === 'string'
  return isPath && /^(pg_catalog|information_schema)$/i.test(schema)
    ? new Map(column).set('column_names', names)
    : column
}

/** GROUP BY names a column of the answer, where the engine would take a table of that name for it. */
function withGroups(before: JsonObject, select: JsonObject): JsonObject {
  const tables = new Set<string>()
  holds(before.get('from_table') ?? null, (node) => tables.add(text(node, 'alias')).size < 0)
  const columns = list(select, 'select_list')
  const named = new Map(objects(before, 'select_list').map((column, at) => [text(column, 'alias'), columns[at]]))
  const groups = list(select, 'group_expressions').map((group) => {
    const [name, ...more] = isClass(group, 'COLUMN_REF') ? list(group, 'column_names') : []
    const column = typeof name === 'string' && more.length === 0 && tables.has(name) ? named.get(name) : undefined
    return column instanceof Map ? new Map(column).set('alias', '') : group
  })
  return new Map(select).set('group_expressions', groups)
}

/** Columns get the names that PostgreSQL gives them, and those that name things show the name. */
function namedSelect(before: JsonObject, select: JsonObject, { shown: answers }: Context): JsonObject {
  const originals = list(before, 'select_list')
  const columns = list(select, 'select_list').map((rewritten, index) => {
    const original = originals[index]
    let column = rewritten
    if (!(column instanceof Map && original instanceof Map) || isClass(original, 'STAR')) return column
    if (functionName(original) === 'generate_series') column = plainCall('unnest', [column], column)
    const kind = answers.has(before) ? namedBy(original) : undefined
    const shown = kind === undefined ? column : ownCall(`name_of_${kind}`, [new Map(column).set('alias', '')], column)
    return new Map(shown).set('alias', text(original, 'alias') || columnName(original) || '?column?')
  })
  return withGroups(before, new Map(select).set('select_list', columns))
}
