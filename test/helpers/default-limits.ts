// The limits of a node whose options name none.

import { type Limits, limitsOf } from '../../src/lib/limits.ts'

export function defaultLimits(): Limits {
  return limitsOf()
}
