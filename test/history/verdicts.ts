// What can be wrong with a history.

export const verdictKinds = [
  'lost',
  'duplicate',
  'torn',
  'phantom',
  'reorder',
  'fork',
  'head-rollback',
  'stale-after-committed',
  'proof-flip',
  'foreign',
  'stuck',
  'leak',
  'split-view',
  'early-head',
  'wrong-tile',
  'told-secret',
] as const

export interface Verdict {
  readonly kind: (typeof verdictKinds)[number]
  readonly message: string
}
