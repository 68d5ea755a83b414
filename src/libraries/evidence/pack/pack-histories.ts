// Two histories within one pack: heads of a ledger with one size and different roots, or bundles of one dataset with different blocks at
// one place. Each file may be as it was signed; together they show that somebody has signed two histories.

import type { Head } from '../../ledger/head.ts'
import { contradicted, showsOf } from '../two-histories.ts'
import type { HeldBundle } from './read-pack.ts'

const ofHeads = 'A ledger has shown two histories: heads of one size in this pack have different roots.'

/** A sentence for each kind of conflict. `heads`: those that a ledger of the policy has signed. */
export function historiesIn(heads: readonly Head[], bundles: readonly HeldBundle[]): string[] {
  const isTwice = contradicted(heads.map((head) => showsOf([head]))).size > 0
  return [...(isTwice ? [ofHeads] : []), ...conflictsOf(bundles.filter(({ found }) => found.kind === 'whole'))]
}

/** Of the first two bundles that contradict each other. */
function conflictsOf(bundles: readonly HeldBundle[]): string[] {
  for (const [at, one] of bundles.entries()) {
    for (const other of bundles.slice(at + 1)) {
      const number = firstConflict(one, other)
      if (number === undefined) continue
      return [
        `${one.path} and ${other.path} have different blocks ${number} of one dataset: there are two histories of it.`,
      ]
    }
  }
  return []
}

function firstConflict({ blocks }: HeldBundle, other: HeldBundle): number | undefined {
  if (blocks.get(0)?.id !== other.blocks.get(0)?.id) return undefined
  for (const [number, { hash }] of blocks) {
    const found = other.blocks.get(number)
    if (found !== undefined && found.hash !== hash) return number
  }
  return undefined
}
