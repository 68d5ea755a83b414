// What one file shows and another contradicts: roots of one size that a ledger has signed both, and blocks of one number of a dataset.
// No file shows two histories by itself, and a reader of both must hear of it.

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

/** What a file shows of which there is one: what it is, in the words of the remark, and which. */
export type Shows = ReadonlyMap<string, string>

export function showsOf(heads: readonly Head[], blocks: readonly (readonly [of: string, hash: string])[] = []): Shows {
  const signed = 'and the ledger has signed both. It has shown two histories'
  const ofHead = ({ origin, size }: Head): string => `root of the same ${size} entries of ${origin}, ${signed}`
  return new Map([...heads.map((head) => [ofHead(head), base64Text(head.root)] as const), ...blocks])
}

/** Of a block in `showsOf`. */
export const blockOf = (id: string, number: number): string => `block ${number} of ${id}. There are two histories of it`

/** What is shown more than once, and not the same. */
export function contradicted(each: readonly Shows[]): ReadonlySet<string> {
  const known = new Map<string, string>()
  const found = new Set<string>()
  for (const [what, which] of each.flatMap((one) => [...one])) {
    if ((known.get(what) ?? which) !== which) found.add(what)
    known.set(what, which)
  }
  return found
}

interface Told {
  readonly report?: Report
  readonly head?: Head | undefined
  /** Of a file of many. */
  readonly shows?: Shows
}

/** The same, with a remark on each file that contradicts another, or one beside them. */
export function withHistories<T extends Told>(all: readonly T[], beside: readonly Omit<Told, 'report'>[] = []): T[] {
  const each = [...all, ...beside].map(({ head, shows }) => shows ?? showsOf(head === undefined ? [] : [head]))
  const found = contradicted(each)
  return all.map((one, at) => {
    const what = [...(each[at]?.keys() ?? [])].find((name) => found.has(name))
    const { report } = one
    if (report === undefined || what === undefined) return one
    const remark = `Another of these files has another ${what}: keep both files.`
    return { ...one, report: { ...report, remarks: [...new Set([...report.remarks, remark])] } }
  })
}
