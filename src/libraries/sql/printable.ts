// Between the rewritten tree and its text: constants that the engine's printer would turn into others are written as
// casts of their text, parameters as such constants, and the tree of the printed text is compared with the tree that was printed. JSON that nests very
// deep overflows the engine's stack in a few functions, and the process dies with all that it does for others: their
// arguments are wrapped in a check of the nesting. Pure.

import { must } from '../base/assert.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import { foldAscii } from '../model/names.ts'
import type { Parameter } from '../model/parameters.ts'
import { names } from './functions.ts'
import { listingSchema } from './statement.ts'
import { child, functionName, holdsHere, isClass, list, nodeOf, nowhere, text, treeText } from './tree.ts'
import { missingKeys } from './windows.ts'

/** A column of a SELECT whose text, and so its name, the casts have changed. */
export interface Renamed {
  readonly original: JsonObject
  readonly written: JsonObject
}

/** What rewriting a tree finds out. */
interface Findings {
  /** Columns that the rewriting would rename. */
  readonly renamed: Renamed[]
  /** A column over `*` or COLUMNS() that it would rename, and that no alias can name. */
  unnamed: JsonObject | undefined
  /** Parameters stand in it: the caller's own text has no types before they have values. */
  hasParameters: boolean
  /** It asks the catalog, whose tables and functions have other names for the engine and are not there before it runs. */
  readsListings: boolean
  /** Some argument is checked: nothing but this form of the statement may be planned. */
  checksJson: boolean
}

export type Printable = Readonly<Findings> & { readonly node: JsonObject }
type Writing = Findings & {
  readonly jsonCheck: JsonObject
  readonly parameters: ReadonlyMap<string, Parameter>
  readonly missing: ReadonlyMap<JsonObject, number>
}

/**
 * The tree with constants that survive printing, constants in the place of parameters, and with its JSON checked
 * (`jsonCheck`: see `jsonCheckStatement`).
 */
export function printable(node: JsonObject, jsonCheck: JsonObject, parameters: readonly Parameter[] = []): Printable {
  const byName = new Map(parameters.map((parameter) => [foldAscii(parameter.name), parameter]))
  const findings = { renamed: [], unnamed: undefined, hasParameters: false, readsListings: false, checksJson: false }
  const writing: Writing = { jsonCheck, parameters: byName, missing: missingKeys(node), ...findings }
  const changed = writtenMembers(node, writing)
  return { ...writing, node: changed }
}

function written(value: JsonValue, writing: Writing): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map((item) => written(item, writing))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (!(value instanceof Map)) return value
  if (text(value, 'class') === 'CONSTANT') return writtenConstant(value)
  if (text(value, 'class') === 'PARAMETER') {
    writing.hasParameters = true
    const parameter = writing.parameters.get(foldAscii(text(value, 'identifier')))
    return constantOf(value, must(parameter, 'each parameter of a statement has a value'))
  }
  if (isListing(value)) {
    writing.readsListings = true
    return new Map(value).set('schema_name', listingSchema)
  }
  if (isAsking(value)) {
    writing.readsListings = true
    return new Map(writtenMembers(value, writing))
  }
  const changed = withConstantKeys(withoutCommas(writtenMembers(value, writing)), writing.missing.get(value) ?? 0)
  if (!isRecursiveJson(changed)) return changed
  writing.checksJson = true
  return withCheckedJson(changed, writing.jsonCheck)
}

/** True for a table of the catalog; the gate has let through those that there are. */
function isListing(node: JsonObject): boolean {
  const schema = text(node, 'type') === 'BASE_TABLE' ? foldAscii(text(node, 'schema_name')) : ''
  return schema === 'information_schema' || schema === listingSchema
}

/** True for a call of what is there with the tables of the catalog. */
function isAsking(node: JsonObject): boolean {
  return isClass(node, 'FUNCTION') && text(node, 'schema') === listingSchema
}

/** Cross joins in another join as inner ones: the printer writes them as commas, which bind weaker than JOIN. */
function withoutCommas(node: JsonObject): JsonObject {
  if (text(node, 'type') !== 'JOIN') return node
  const sides = isCross(node) ? ['right'] : ['left', 'right']
  const inner = sides.flatMap((side) => {
    const join = child(node, side)
    return join !== undefined && isCross(join) ? [[side, innerJoin(join)] as const] : []
  })
  return inner.length === 0 ? node : new Map([...node, ...inner])
}

function isCross(node: JsonObject): boolean {
  return text(node, 'type') === 'JOIN' && text(node, 'ref_type') === 'CROSS'
}

function innerJoin(cross: JsonObject): JsonObject {
  const condition = constantOf(new Map(), { type: 'BOOLEAN', text: 'true' })
  return withoutCommas(new Map([...cross, ...nodeOf({ condition, ref_type: 'REGULAR', join_type: 'INNER' })]))
}

/** The window, parted by so many constants as well. */
function withConstantKeys(window: JsonObject, count: number): JsonObject {
  // mutant: windows share partitions that are too large
  if (count === 0) return window
  const keys = Array.from({ length: count }, () => constantOf(new Map(), { type: 'VARCHAR', text: '' }))
  return new Map(window).set('partitions', [...list(window, 'partitions'), ...keys])
}

/** The same object where nothing changes. */
function writtenMembers(node: JsonObject, writing: Writing): JsonObject {
  const members = [...node].map(([name, member]) => [name, written(member, writing)] as const)
  if (members.every(([name, member]) => member === node.get(name))) return node
  const changed = new Map(members)
  if (text(node, 'type') === 'SELECT_NODE') noteRenamed(node, changed, writing)
  return changed
}

function noteRenamed(node: JsonObject, changed: JsonObject, writing: Writing): void {
  const columns = list(changed, 'select_list')
  for (const [index, original] of list(node, 'select_list').entries()) {
    const column = columns[index]
    if (!(original instanceof Map && column instanceof Map) || original === column) continue
    // A star by itself has the names of its columns.
    if (text(original, 'alias') !== '' || isClass(original, 'STAR')) continue
    // One in an expression stands for many columns, which one alias cannot name.
    if (holdsHere(original, (node) => text(node, 'class') === 'STAR')) writing.unnamed ??= original
    else writing.renamed.push({ original, written: column })
  }
}

/**
 * The printer writes the DOUBLE 1e3 as 1000.0, which is a DECIMAL, the DECIMAL(1,0) 1. as the INTEGER 1, 00.5 as a
 * DECIMAL of another width, and a BOOLEAN as a word that is read as a cast.
 */
function writtenConstant(constant: JsonObject): JsonObject {
  const value = child(constant, 'value') ?? new Map()
  const type = child(value, 'type') ?? new Map()
  const plain = value.get('value') ?? null
  const id = text(type, 'id')
  // mutant: doubles are printed as decimals
  if (id === 'DOUBLE' && plain instanceof JsonNumber) return castOf(constant, plain.token, type)
  if (id === 'BOOLEAN' && typeof plain === 'boolean') return castOf(constant, plain ? 't' : 'f', type)
  const decimal = id === 'DECIMAL' ? decimalOf(plain, child(type, 'type_info')) : undefined
  return decimal === undefined || decimal.survives ? constant : castOf(constant, decimal.text, type)
}

/** The constant that a parameter stands for: a text or NULL as a literal is, all else a cast of its token. */
function constantOf(place: JsonObject, { type, text: value }: Omit<Parameter, 'name'>): JsonObject {
  const constant = nodeOf({
    class: 'CONSTANT',
    type: 'VALUE_CONSTANT',
    alias: text(place, 'alias'),
    query_location: new JsonNumber(nowhere),
    value: typedValue(type, value),
  })
  if (type === 'VARCHAR' || type === 'NULL') return constant
  return castOf(constant, type === 'BOOLEAN' ? value.slice(0, 1) : value, typeNode(type))
}

function typedValue(type: Parameter['type'], value: string): JsonObject {
  if (type === 'NULL') return nodeOf({ type: typeNode('NULL'), is_null: true })
  return nodeOf({ type: typeNode('VARCHAR'), is_null: false, value })
}

function typeNode(id: string): JsonObject {
  return nodeOf({ id, type_info: null })
}

/** The text of a DECIMAL, and whether it is read as the same type again. */
function decimalOf(value: JsonValue, info: JsonObject | undefined): { text: string; survives: boolean } | undefined {
  const unscaled = integerText(value)
  const scale = Number(numberText(info?.get('scale')))
  if (unscaled === undefined || !Number.isSafeInteger(scale)) return undefined
  const digits = unscaled.replace('-', '').padStart(scale + 1, '0')
  const point = digits.length - scale
  const written = `${digits.slice(0, point)}.${digits.slice(point)}`
  const survives = scale > 0 && String(digits.length) === numberText(info?.get('width'))
  return { text: unscaled.startsWith('-') ? `-${written}` : written, survives }
}

function numberText(value: JsonValue | undefined): string {
  return value instanceof JsonNumber ? value.token : ''
}

/** Digits of an integer, in one piece or in 64-bit halves. */
function integerText(value: JsonValue): string | undefined {
  if (value instanceof JsonNumber) return value.token
  const [upper, lower] = value instanceof Map ? [value.get('upper'), value.get('lower')] : []
  if (!(upper instanceof JsonNumber && lower instanceof JsonNumber)) return undefined
  return String((BigInt(upper.token) << 64n) + BigInt(lower.token))
}

function castOf(constant: JsonObject, digits: string, type: JsonObject): JsonObject {
  const value = nodeOf({ type: nodeOf({ id: 'VARCHAR', type_info: null }), is_null: false, value: digits })
  return nodeOf({
    class: 'CAST',
    type: 'OPERATOR_CAST',
    alias: text(constant, 'alias'),
    query_location: constant.get('query_location') ?? new JsonNumber(nowhere),
    child: new Map(constant).set('alias', '').set('query_location', new JsonNumber(nowhere)).set('value', value),
    cast_type: type,
    try_cast: false,
  })
}

/**
 * Where two trees say different things: the innermost node of the first that has a name, or undefined. Places in the
 * text are left out. Two forms count as one: the engine prints VALUES in the place of a table as a subquery that
 * selects all of them, and GROUP BY with its expressions in the order in which its sets name them.
 */
export function firstDifference(one: JsonObject, other: JsonObject): JsonObject | undefined {
  return canonicalText(one) === canonicalText(other) ? undefined : innermostDifference(one, other, maxDescent)
}

/** Each level of the search for the place costs a look at all below it. */
const maxDescent = 50

function innermostDifference(one: JsonObject, other: JsonObject, levels: number): JsonObject {
  if (levels === 0) return one
  for (const [name, member] of one) {
    const against = other.get(name) ?? null
    if (name === 'query_location' || canonicalText(member) === canonicalText(against)) continue
    const pairs: (readonly [JsonValue, JsonValue])[] =
      Array.isArray(member) && Array.isArray(against)
        ? member.map((item, index) => [item, against[index] ?? null])
        : [[member, against]]
    for (const [left, right] of pairs) {
      if (canonicalText(left) === canonicalText(right)) continue
      if (left instanceof Map && right instanceof Map) {
        const inner = innermostDifference(left, right, levels - 1)
        return inner.has('class') || inner.has('type') ? inner : one
      }
    }
  }
  return one
}

/** A text that is the same for trees that say the same, wherever their parts stand. */
function canonicalText(value: JsonValue): string {
  return treeText(value, ['query_location'], (node) => {
    return wrappedValues(node) ?? (text(node, 'type') === 'SELECT_NODE' ? withGroupTexts(node) : node)
  })
}

/** The VALUES list inside `(SELECT * FROM (VALUES …) valueslist) valueslist`. */
function wrappedValues(node: JsonObject): JsonObject | undefined {
  if (text(node, 'type') !== 'SUBQUERY' || text(node, 'alias') !== 'valueslist' || node.has('class')) return undefined
  const select = child(child(node, 'subquery'), 'node')
  const values = child(select, 'from_table')
  if (select === undefined || text(values, 'type') !== 'EXPRESSION_LIST') return undefined
  const rest = new Map([...select].filter(([name]) => name !== 'from_table'))
  const isBare = list(node, 'column_name_alias').length === 0 && node.get('sample') === null
  return isBare && canonicalText(rest) === selectAll ? values : undefined
}

/** Canonical text of `SELECT *` without its table. */
const selectAll =
  '{"aggregate_handling":"STANDARD_HANDLING","cte_map":{"map":[]},"group_expressions":[],"group_sets":[],' +
  '"having":null,"modifiers":[],"qualify":null,"sample":null,"select_list":[{"alias":"","class":"STAR",' +
  '"columns":false,"exclude_list":[],"expr":null,"qualified_exclude_list":[],"relation_name":"","rename_list":[],' +
  '"replace_list":[],"type":"STAR"}],"type":"SELECT_NODE","where_clause":null}'

/** Sets of grouping expressions name them by number: here by text, each set and the whole in one order. */
function withGroupTexts(select: JsonObject): JsonObject {
  const expressions = list(select, 'group_expressions').map(canonicalText)
  const sets = list(select, 'group_sets').map((set) =>
    (Array.isArray(set) ? set : []).map((index) => expressions[Number(canonicalText(index))] ?? '').sort(),
  )
  return new Map(select).set('group_expressions', expressions.toSorted()).set('group_sets', sets)
}

/** Deeper than any record that a node takes (limits.jsonDepth), and far from the end of any stack. */
export const jsonDepth = 100

/** Functions that walk a JSON text with one call of themselves per level. */
export const recursiveJsonFunctions = names('json_contains json_group_structure json_merge_patch json_structure')

/** Functions that walk the description of a structure, their second argument, in the same way. */
export const structuredJsonFunctions = names('from_json from_json_strict json_transform json_transform_strict')

/** What the failing cast of the check holds; sql-errors.ts makes it the caller's error. */
export const tooDeepJson = `JSON that is malformed or nests deeper than ${jsonDepth} levels`

const placeholder = 'the json'
const string = String.raw`"(?:[^"\\]|\\[\s\S])*"`
const plain = `(?:[^][{}"]|${string}`

/**
 * The check as an expression: a regular expression of so many levels, which the engine matches without a stack. The
 * lambda evaluates the argument once; the functions see what was checked and nothing else, in its own type.
 */
const checkText =
  `list_transform(["${placeholder}"], lambda j: CASE WHEN CAST(CASE WHEN NOT regexp_full_match(CAST(j AS VARCHAR), ` +
  `repeat('${plain}|[[{]', ${jsonDepth}) || '${plain})*' || repeat('[]}])*', ${jsonDepth})) ` +
  `THEN '${tooDeepJson}' ELSE '1' END AS INTEGER) = 1 THEN j END)[1]`

/** A statement whose one column is the check, for the engine to parse. */
export const jsonCheckStatement = `SELECT ${checkText}`

/** The call with its arguments checked; `check` is the parsed column of `jsonCheckStatement`. */
function withCheckedJson(call: JsonObject, check: JsonObject): JsonObject {
  const children = list(call, 'children').map((argument) => filled(check, argument))
  return new Map(call).set('children', children)
}

function isRecursiveJson(node: JsonObject): boolean {
  return (isClass(node, 'FUNCTION') || isClass(node, 'WINDOW')) && recursiveJsonFunctions.has(functionName(node))
}

function filled(value: JsonValue, argument: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => filled(item, argument))
  if (!(value instanceof Map)) return value
  if (isClass(value, 'COLUMN_REF') && list(value, 'column_names')[0] === placeholder) return argument
  return new Map([...value].map(([name, member]) => [name, filled(member, argument)]))
}

/** True for a text constant, or a cast of one, whose brackets nest no deeper than a type may. */
export function isPlainStructure(argument: JsonValue | undefined): boolean {
  const constant = isClass(argument, 'CAST') ? child(argument, 'child') : argument
  const value = isClass(constant, 'CONSTANT') ? child(constant, 'value')?.get('value') : undefined
  if (typeof value !== 'string') return false
  let depth = 0
  let deepest = 0
  for (const character of value) {
    if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth)
    else if (character === ']' || character === '}') depth--
  }
  return deepest <= jsonDepth
}
