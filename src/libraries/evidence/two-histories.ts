// Two files that one ledger has signed, over trees of one size with different roots: it has shown two histories. No file shows that by
// itself, and a reader of both must hear of it.

import { base64Text } from '../base/base64.ts'
import type { Head } from '../ledger/head.ts'
import type { LedgerVerdict } from './ledger-lines.ts'
import type { Report } from './report.ts'

/** The head that a file shows, where the ledger of the reader's policy has signed it. */
export function signedHeadOf(verdict: LedgerVerdict): Head | undefined {
  if (!('facts' in verdict)) return undefined
  if (verdict.kind === 'proof' || verdict.kind === 'head') return verdict.facts.ledger
  return 'head' in verdict.facts ? verdict.facts.head?.ledger : undefined
}

interface Told {
  readonly report?: Report
  readonly head?: Head | undefined
}

/** The same, with a remark on each file whose head contradicts that of another, or of one beside them. */
export function withHistories<T extends Told>(all: readonly T[], beside: readonly Pick<Told, 'head'>[] = []): T[] {
  const roots = new Map<string, Set<string>>()
  const keyOf = ({ origin, size }: Head): string => `${size} ${origin}`
  for (const { head } of [...all, ...beside]) {
    if (head === undefined) continue
    const known = roots.get(keyOf(head)) ?? new Set()
    roots.set(keyOf(head), known.add(base64Text(head.root)))
  }
  return all.map((one) => {
    const { report, head } = one
    if (report === undefined || head === undefined || (roots.get(keyOf(head))?.size ?? 0) < 2) return one
    const remark = `Another of these files has another root of the same ${head.size} entries of ${head.origin}, and the ledger has signed both. It has shown two histories: keep both files.`
    return { ...one, report: { ...report, remarks: [...new Set([...report.remarks, remark])] } }
  })
}
