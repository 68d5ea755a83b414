// Whether threads may split a statement's rows among them: its answer is the same with any number of threads, and so is
// whether it fails, since what one thread looks at, several look at too. Told from the tree and the columns' types; what is
// not known here has one thread. Rules: docs/decisions/answers.md#threads. Pure.

import type { JsonObject } from '../base/json/value.ts'
import { spatialFunctions } from './functions.ts'
import { keepsOffsetOrder } from './rewriter.ts'
import { hasLimit, hasModifier, isMade } from './selects.ts'
import { isOrderFree, type NamedSchema } from './stability.ts'
import { child, functionName, holds, isClass, text } from './tree.ts'

/** The statement with this top node, in its total order. */
export function maySplit(node: JsonObject, tables: readonly NamedSchema[]): boolean {
  if (tables.length === 0 || !(keepsOffsetOrder(node) || isMade(node))) return false
  const stops = (one: JsonObject): boolean => mayStop(one) && !(one === node && keepsOffsetOrder(node))
  return !holds(node, (one) => stops(one) || isOurs(one)) && isOrderFree(node, tables)
}

/** True where some rows may never be looked at: which ones, and what they fail on, would be chance. */
function mayStop(node: JsonObject): boolean {
  if (isClass(node, 'SUBQUERY') && text(node, 'subquery_type') !== 'ANY') {
    const inner = child(child(node, 'subquery'), 'node')
    return text(node, 'subquery_type') !== 'SCALAR' || inner === undefined || !isMade(inner)
  }
  const isCut = hasLimit(node) || hasModifier(node, (one) => text(one, 'type') === 'ORDER_MODIFIER')
  return isCut && !isMade(node)
}

/** Our own functions run in one thread, even where several threads call them. */
function isOurs(node: JsonObject): boolean {
  const name = isClass(node, 'FUNCTION') ? functionName(node) : ''
  return spatialFunctions.has(name) || name === 'st_astext'
}
