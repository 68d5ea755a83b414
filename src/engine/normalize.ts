// Gives a statement one order of its rows, so that its answer can be signed and made again (design.md, decision 12).
// Edits the serialised tree; never builds SQL text. Pure.

import { JsonNumber, type JsonObject, type JsonValue } from '../model/json.ts'
import { foldAscii } from '../model/names.ts'
import { aggregateFunctions, scalarFunctions } from './allowed-functions.ts'
import { allowedMacros, rowSetMacros } from './function-policy.ts'
import { child, list, nowhere, present, text } from './tree.ts'

/**
 * The node with a total order over its `columns` output columns. A scan that only filters and projects one dataset
 * keeps the order of offsets; a node without ORDER BY gets ORDER BY ALL; one with ORDER BY gets all output columns as
 * tie-breakers. Returns a new node; the given one stays as it is.
 */
export function withTotalOrder(node: JsonObject, columns: number): JsonObject {
  if (keepsOffsetOrder(node)) return node
  const modifiers = list(node, 'modifiers')
  const at = modifiers.findIndex((modifier) => modifier instanceof Map && text(modifier, 'type') === 'ORDER_MODIFIER')
  const order = modifiers[at]
  if (!(order instanceof Map)) {
    return withModifiers(node, insertBeforeLimit(modifiers, orderModifier([orderEntry(everyColumn())])))
  }
  const entries = list(order, 'orders')
  if (entries.some(isOrderByAll)) return node
  const ties = Array.from({ length: columns }, (_, index) => orderEntry(outputColumn(index + 1)))
  return withModifiers(node, modifiers.with(at, orderModifier([...entries, ...ties])))
}

/** One SELECT over one dataset whose rows come out as they lie in the slices: scalar expressions, WHERE, LIMIT. */
export function keepsOffsetOrder(node: JsonObject): boolean {
  const from = child(node, 'from_table')
  if (text(node, 'type') !== 'SELECT_NODE' || from === undefined || text(from, 'type') !== 'BASE_TABLE') return false
  if (list(child(node, 'cte_map') ?? new Map(), 'map').length > 0) return false
  const grouped = list(node, 'group_expressions').length > 0 || list(node, 'group_sets').length > 0
  if (grouped || text(node, 'aggregate_handling') !== 'STANDARD_HANDLING') return false
  if (['having', 'qualify', 'sample'].some((name) => present(node, name))) return false
  const limits = list(node, 'modifiers').every((item) => item instanceof Map && text(item, 'type') === 'LIMIT_MODIFIER')
  return limits && [...node.values()].every(isRowWise)
}

/** True when no part of the expression looks at more than its own row. */
function isRowWise(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object' || value instanceof JsonNumber) return true
  if (Array.isArray(value)) return value.every(isRowWise)
  const kind = text(value, 'class')
  if (kind === 'WINDOW' || kind === 'SUBQUERY') return false
  if (kind === 'FUNCTION') {
    const name = foldAscii(text(value, 'function_name'))
    const scalar = scalarFunctions.has(name) || (allowedMacros.has(name) && !rowSetMacros.has(name))
    if (!scalar || aggregateFunctions.has(name)) return false
  }
  for (const member of value.values()) if (!isRowWise(member)) return false
  return true
}

function isOrderByAll(entry: JsonValue): boolean {
  const expression = entry instanceof Map ? child(entry, 'expression') : undefined
  if (expression === undefined || text(expression, 'class') !== 'STAR') return false
  const narrowed = ['exclude_list', 'replace_list', 'rename_list', 'qualified_exclude_list']
  const whole =
    narrowed.every((name) => list(expression, name).length === 0) && text(expression, 'relation_name') === ''
  return whole && expression.get('columns') === true && !present(expression, 'expr')
}

/** ORDER BY works on all rows, so it stands before LIMIT. */
function insertBeforeLimit(modifiers: readonly JsonValue[], order: JsonObject): JsonValue[] {
  const at = modifiers.findIndex((item) => item instanceof Map && text(item, 'type').startsWith('LIMIT'))
  return at < 0 ? [...modifiers, order] : modifiers.toSpliced(at, 0, order)
}

function withModifiers(node: JsonObject, modifiers: JsonValue[]): JsonObject {
  return new Map(node).set('modifiers', modifiers)
}

function orderModifier(orders: JsonValue[]): JsonObject {
  return objectOf({ type: 'ORDER_MODIFIER', orders })
}

function orderEntry(expression: JsonObject): JsonObject {
  return objectOf({ type: 'ORDER_DEFAULT', null_order: 'ORDER_DEFAULT', expression })
}

function everyColumn(): JsonObject {
  return objectOf({
    class: 'STAR',
    type: 'STAR',
    alias: '',
    query_location: new JsonNumber(nowhere),
    relation_name: '',
    exclude_list: [],
    replace_list: [],
    columns: true,
    expr: null,
    qualified_exclude_list: [],
    rename_list: [],
  })
}

function outputColumn(position: number): JsonObject {
  return objectOf({
    class: 'POSITIONAL_REFERENCE',
    type: 'POSITIONAL_REFERENCE',
    alias: '',
    query_location: new JsonNumber(nowhere),
    index: new JsonNumber(String(position)),
  })
}

function objectOf(members: Record<string, JsonValue>): JsonObject {
  return new Map(Object.entries(members))
}
