// Deep equality of plain values.

/**
 * True when `a` and `b` are the same primitive, or arrays or objects of the same members in any order. Members that are
 * undefined count as absent. Maps, Sets, Dates and cycles are not for this function.
 */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false
  const left = members(a)
  const right = new Map(members(b))
  return left.length === right.size && left.every(([key, value]) => right.has(key) && sameValue(value, right.get(key)))
}

function members(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined)
}
