// Keeps a fault of the engine away from answers. Of ORDER BY … NULLS FIRST LIMIT it tells its scans which rows come too late to
// be among the first, also below an outer join. What is left out there is missed by its partners on the other side, which then
// come first, with NULLs that nobody stored. It does so for what is ordered by values of a scan: behind another key it does not.

import type { JsonObject, JsonValue } from '../../libraries/base/json/value.ts'
import { notAllowed } from './gate.ts'
import { holds, isClass, list, nodeOf, objects, text } from './tree.ts'

/** One value for all rows, which the engine does not know to be one. */
export const keyOfNothing = 'SELECT random() < 0'

/** True where a statement has both. */
export function ordersOuterJoin(node: JsonObject): boolean {
  const isOuter = (one: JsonObject): boolean => /^(?:LEFT|RIGHT|FULL|OUTER)$/.test(text(one, 'join_type'))
  return holds(node, isOuter) && holds(node, isNullsFirst)
}

function isNullsFirst(order: JsonObject): boolean {
  return text(order, 'null_order') === 'NULLS FIRST'
}

/**
 * The statement with `key` before each ORDER BY that begins with NULLS FIRST. Throws NodeError `QueryNotAllowed` where there
 * is no place for one.
 */
export function withKeyBefore(node: JsonObject, key: JsonObject): JsonObject {
  const copy: JsonObject = new Map([...node].map(([name, value]) => [name, copied(value, key)]))
  const modifiers = objects(copy, 'modifiers')
  if (!modifiers.some(beginsWithNulls)) return copy
  if (text(node, 'type') === 'SET_OPERATION_NODE') {
    throw notAllowed({ construct: 'NULLS FIRST behind a UNION of outer joins' }, 'Write SELECT * FROM (…) ORDER BY ….')
  }
  const first = nodeOf({ type: 'ORDER_DEFAULT', null_order: 'ORDER_DEFAULT', expression: key })
  const ordered = modifiers.map((modifier) =>
    beginsWithNulls(modifier) ? new Map(modifier).set('orders', [first, ...list(modifier, 'orders')]) : modifier,
  )
  return copy.set('modifiers', ordered)
}

function beginsWithNulls(modifier: JsonObject): boolean {
  const [first] = list(modifier, 'orders')
  if (!(first instanceof Map) || !isNullsFirst(first)) return false
  if (!isClass(first.get('expression'), 'STAR')) return true
  throw notAllowed({ construct: 'ORDER BY ALL NULLS FIRST over an outer join' }, 'Name the columns.')
}

function copied(value: JsonValue, key: JsonObject): JsonValue {
  if (Array.isArray(value)) return value.map((item) => copied(item, key))
  return value instanceof Map ? withKeyBefore(value, key) : value
}
