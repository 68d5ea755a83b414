// Keeps a fault of the engine away from answers. Windows of one SELECT share their partitions where they have equally many keys
// and each key of the one is among those of the other. Keys that are the same to the engine count twice there: written alike, or
// equal by a join or by what ties a subquery to the row around it. The other window then has more keys, and is computed over
// partitions that are too large. So windows of other keys get another number of them: constants, which part no rows. Pure.

import type { JsonObject } from '../base/json/value.ts'
import { keyOf } from './selects.ts'
import { holds, isClass, list, text } from './tree.ts'

/** How many keys each window of the statement with this top node lacks; those that lack none are left out. */
export function missingKeys(top: JsonObject): ReadonlyMap<JsonObject, number> {
  const missing = new Map<JsonObject, number>()
  holds(top, (node) => {
    // What nothing surrounds has no keys but its own: one key is the same, or another one.
    if (text(node, 'type') === 'SELECT_NODE') noteMissing(node, node === top ? 2 : 1, missing)
    return false
  })
  return missing
}

/** Looks at the windows of one SELECT that have `least` keys or more. */
function noteMissing(select: JsonObject, least: number, missing: Map<JsonObject, number>): void {
  const counts = new Map<string, number>()
  for (const [member, value] of select) {
    const look = (node: JsonObject): boolean => {
      const keys = isClass(node, 'WINDOW') ? list(node, 'partitions') : []
      if (keys.length < least) return false
      // A name means another column in ORDER BY where an output has it.
      const different = `${member === 'modifiers'} ${keys.length} ${[...new Set(keys.map(keyOf))].toSorted().join()}`
      const count = counts.get(different) ?? firstFree(keys.length, new Set(counts.values()))
      counts.set(different, count)
      if (count > keys.length) missing.set(node, count - keys.length)
      return false
    }
    holds(value, look, (node) => text(node, 'type') !== 'SELECT_NODE')
  }
}

function firstFree(count: number, taken: ReadonlySet<number>): number {
  let free = count
  while (taken.has(free)) free++
  return free
}
