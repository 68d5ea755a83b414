// Parts of a SELECT in the syntax tree: what orders, cuts, groups its rows or makes them distinct. Pure.

import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import { aggregateFunctions, pinnedMacros } from './functions.ts'
import { child, functionName, holdsHere, isClass, list, objects, present, text, treeText } from './tree.ts'

/** True for one whose rows are made of many: groups, or distinct rows. */
export function isMade(node: JsonObject): boolean {
  return text(node, 'type') === 'SELECT_NODE' && (isGrouped(node) || hasDistinct(node))
}

export function hasModifier(node: JsonObject, passes: (modifier: JsonObject) => boolean): boolean {
  return objects(node, 'modifiers').some(passes)
}

export function hasLimit(node: JsonObject): boolean {
  return hasModifier(node, (modifier) => text(modifier, 'type').startsWith('LIMIT'))
}

/** The rows of an answer: all behind `skip` without a `limit`. */
export interface RowWindow {
  readonly skip: number
  readonly limit: number | undefined
}

/** How many of the first rows the engine has to keep where it sorts the statement: those of its own LIMIT, or of the window. */
export function sortedRows(node: JsonObject, { skip, limit }: RowWindow): number {
  if (!hasLimit(node)) return skip + (limit ?? Infinity) + 1
  const own = objects(node, 'modifiers').filter((modifier) => text(modifier, 'type').startsWith('LIMIT'))
  if (own.some((modifier) => text(modifier, 'type') !== 'LIMIT_MODIFIER')) return Infinity
  const counts = own.flatMap((modifier) =>
    ['limit', 'offset'].filter((name) => present(modifier, name)).map((name) => child(child(modifier, name), 'value')),
  )
  return counts.reduce((sum, count) => {
    const value = count?.get('value')
    return sum + (value instanceof JsonNumber ? Number(value.token) : Infinity)
  }, 0)
}

/** True for a SELECT over one table, of which a window of rows cuts nothing off: its own LIMIT is a number within it. */
export function isWithin(
  node: JsonObject,
  { skip, limit = 0 }: { readonly skip: number; readonly limit: number | undefined },
): boolean {
  if (skip > 0 || text(child(node, 'from_table'), 'type') !== 'BASE_TABLE') return false
  return hasModifier(node, (modifier) => {
    const own = text(modifier, 'type') === 'LIMIT_MODIFIER' ? child(child(modifier, 'limit'), 'value') : undefined
    const [value, type] = [own?.get('value'), text(child(own, 'type'), 'id')]
    return value instanceof JsonNumber && /^(?:INTEGER|BIGINT)$/.test(type) && Number(value.token) <= limit
  })
}

export function hasDistinct(node: JsonObject): boolean {
  return hasModifier(node, (modifier) => text(modifier, 'type') === 'DISTINCT_MODIFIER')
}

export function hasDistinctOn(node: JsonObject): boolean {
  return hasModifier(node, (modifier) => list(modifier, 'distinct_on_targets').length > 0)
}

export function orderEntries(node: JsonObject): JsonValue[] {
  return objects(node, 'modifiers').flatMap((modifier) => list(modifier, 'orders'))
}

export function isGrouped(node: JsonObject): boolean {
  if (['group_expressions', 'group_sets'].some((name) => list(node, name).length > 0)) return true
  if (text(node, 'aggregate_handling') === 'FORCE_AGGREGATES') return true
  return present(node, 'having') || list(node, 'select_list').some(holdsAggregate)
}

export function holdsAggregate(value: JsonValue): boolean {
  return holdsFunction(value, (name) => aggregateFunctions.has(name) || pinnedMacros.has(name))
}

/** True when a function of the expression itself, not of a subquery, passes. */
export function holdsFunction(value: JsonValue, passes: (name: string) => boolean): boolean {
  return holdsHere(value, (node) => isClass(node, 'FUNCTION') && passes(functionName(node)))
}

/** True where rows that are alike may be put in order by values of which each has its own. */
export function ordersByHidden(node: JsonObject): boolean {
  const items = list(node, 'select_list')
  return orderEntries(node).some((order) => {
    const key = order instanceof Map ? order.get('expression') : undefined
    return !isClass(key, 'CONSTANT') && !isClass(key, 'STAR') && !isShown(key ?? null, items)
  })
}

/** Expressions that a SELECT groups by: written out, places in the list of outputs, or all outputs without aggregates. */
export function groupKeys(node: JsonObject): JsonValue[] {
  const items = list(node, 'select_list')
  if (text(node, 'aggregate_handling') === 'FORCE_AGGREGATES') return items.filter((item) => !holdsAggregate(item))
  return list(node, 'group_expressions').map((key) => itemAt(key, items) ?? key)
}

/** `GROUP BY 2`. */
export function itemAt(key: JsonValue, items: readonly JsonValue[]): JsonValue | undefined {
  const value = isClass(key, 'CONSTANT') ? child(key, 'value')?.get('value') : undefined
  return value instanceof JsonNumber ? items[Number(value.token) - 1] : undefined
}

/** True for an expression that the SELECT puts out, as it is written there or by its other name. */
export function isShown(key: JsonValue, items: readonly JsonValue[]): boolean {
  const path = isClass(key, 'COLUMN_REF') ? list(key, 'column_names') : []
  const isAlias = (item: JsonValue): boolean =>
    path.length === 1 && item instanceof Map && text(item, 'alias') === path[0] && !holdsAggregate(item)
  return items.some((item) => keyOf(item) === keyOf(key) || isAlias(item))
}

/** Equal for expressions that are written alike, wherever they stand and whatever they are called. */
export function keyOf(value: JsonValue | undefined): string {
  return treeText(value ?? null, ['query_location', 'alias'])
}
