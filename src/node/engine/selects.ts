// Parts of a SELECT in the syntax tree: what orders, cuts, groups its rows or makes them distinct. Pure.

import { JsonNumber, type JsonObject, type JsonValue } from '../../libraries/base/json/value.ts'
import { aggregateFunctions, pinnedMacros } from './functions.ts'
import { child, functionName, holdsHere, isClass, list, objects, present, text } from './tree.ts'

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
  if (list(node, 'group_expressions').length > 0 || text(node, 'aggregate_handling') === 'FORCE_AGGREGATES') return true
  return present(node, 'having') || list(node, 'select_list').some(holdsAggregate)
}

export function holdsAggregate(value: JsonValue): boolean {
  return holdsFunction(value, (name) => aggregateFunctions.has(name) || pinnedMacros.has(name))
}

/** True when a function of the expression itself, not of a subquery, passes. */
export function holdsFunction(value: JsonValue, passes: (name: string) => boolean): boolean {
  return holdsHere(value, (node) => isClass(node, 'FUNCTION') && passes(functionName(node)))
}
