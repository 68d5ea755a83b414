// The limits of a node whose options name none.

import { type Limits, limitTable } from '../../src/lib/limits.ts'

export function defaultLimits(): Limits {
  // Object.entries widens keys to string; the table itself is the proof of the shape.
  return Object.fromEntries(Object.entries(limitTable).map(([name, row]) => [name, row.value])) as unknown as Limits
}
