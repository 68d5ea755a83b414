// The limits of a node whose options name none.

import { type Limits, limitsOf } from '../../src/libraries/base/limits.ts'

export function defaultLimits(): Limits {
  return limitsOf()
}
