// Comparisons: deep equality of plain values, and names close to one that was not found. Pure.

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

/** At most five names within two edits (one for short names), closest first. */
export function similarNames(wanted: string, names: readonly string[]): string[] {
  const most = wanted.length < 5 ? 1 : 2
  return names
    .filter((name) => Math.abs(name.length - wanted.length) <= most)
    .map((name) => ({ name, edits: editDistance(wanted, name) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, 5)
    .map(({ name }) => name)
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
