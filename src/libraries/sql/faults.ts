// What the engine answers wrongly and we cannot write another way: refused by name, with what to write. Each has a test that
// says when a newer engine makes it needless (test/node/engine/faults.test.ts). Pure.

import type { JsonObject } from '../base/json/value.ts'
import { holds, holdsHere, isClass, list, text } from './tree.ts'

interface Fault {
  readonly construct: string
  readonly hint: string
}

/** The fault that a node of the tree, as it stands, would run into. */
export function faultOf(node: JsonObject): Fault | undefined {
  // One window with COLUMNS() is many, which cannot be given keys of different numbers (windows.ts).
  if (isClass(node, 'WINDOW') && holdsHere(list(node, 'partitions'), (key) => isClass(key, 'STAR'))) {
    return { construct: 'COLUMNS() in PARTITION BY', hint: 'Write the columns out.' }
  }
  // An ASOF JOIN finds no partner by NULL, where NULL is to be the same as NULL.
  // mutant: an ASOF JOIN finds no partner by NULL
  if (isAsof(node) && holdsHere(node.get('condition') ?? null, isDistinct)) {
    const hint = 'Write (l.a = r.a OR (l.a IS NULL AND r.a IS NULL)).'
    return { construct: 'IS [NOT] DISTINCT FROM in an ASOF JOIN', hint }
  }
  // What looks at the row around it is joined to it in that way.
  const inner = text(node, 'class') === 'SUBQUERY' ? node.get('subquery') : node.has('join_type') && node.get('right')
  if (!holds(inner ?? null, isAsof)) return undefined
  const hint = 'Put it into WITH, before the first SELECT, and name it here.'
  return { construct: 'an ASOF JOIN in a subquery or on the right of a join', hint }
}

export function isAsof(node: JsonObject): boolean {
  return text(node, 'ref_type') === 'ASOF'
}

function isDistinct(node: JsonObject): boolean {
  return text(node, 'type').endsWith('DISTINCT_FROM')
}
