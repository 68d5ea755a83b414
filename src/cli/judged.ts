// What `verify` says of a file of evidence, and the steps that its kinds share: which key has signed, and whether the head is good by the policy.

import { fromPlain } from '../index.ts'
import { factsOf } from '../libraries/evidence/facts.ts'
import type { Known, LedgerVerdict } from '../libraries/evidence/ledger-lines.ts'
import { ledgerReport } from '../libraries/evidence/ledger-report.ts'
import { type Report, verdictCodes } from '../libraries/evidence/report.ts'
import { defined } from '../libraries/base/collections.ts'
import { type Shows, signedHeadOf } from '../libraries/evidence/two-histories.ts'
import type { Head } from '../libraries/ledger/head.ts'
import { type OpenedHead, openHead } from '../libraries/ledger/open-head.ts'
import type { CommandContext } from './context.ts'
import { CommandFailure, type ExitCode, exitCodes } from './failure.ts'
import type { objectOf } from '../libraries/base/json/members.ts'
import type { KnownPolicy } from './ledger-policy.ts'

/** What is said of a file. */
export interface Judged {
  readonly verdict: string
  readonly code: ExitCode
  /** Why, where the code is not 0, or what is still open. */
  readonly reason?: string | undefined
  /** What the file shows. */
  readonly facts?: Parameters<typeof objectOf>[0]
  /** The same for a person. */
  readonly report?: Report
  /** What a ledger of the policy has signed. */
  readonly head?: Head
  /** Of a pack: on its files. */
  readonly parts?: readonly { readonly path: string; readonly report: Report }[]
  readonly shows?: Shows
}

/** What the files are judged with. */
export interface Judging {
  readonly context: CommandContext
  readonly options: { readonly offline?: boolean; readonly signer?: string }
  /** Throws CommandFailure where there is none. */
  readonly policy: () => Promise<KnownPolicy>
  readonly nowMs: number
}

/** A verdict as it is printed, with its code. */
export function told(
  verdict: LedgerVerdict,
  { policy, ...known }: Known & { readonly policy?: string | undefined } = { isNamed: false },
): Judged {
  const reason = 'reason' in verdict ? verdict.reason : undefined
  const facts = { ...membersOf(factsOf(verdict)), policy }
  return {
    verdict: verdict.verdict,
    code: verdictCodes[verdict.verdict],
    reason,
    facts,
    report: ledgerReport(verdict, known),
    ...defined({ head: signedHeadOf(verdict) }),
  }
}

function membersOf(facts: Readonly<Record<string, unknown>>): NonNullable<Judged['facts']> {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known.map(([name, value]) => [name, fromPlain(value)]))
}

/** A head that is opened. Throws CommandFailure otherwise. */
export function openedHead(bytes: Uint8Array, { policy, name }: KnownPolicy): OpenedHead & { readonly ok: true } {
  const opened = openHead(bytes, policy)
  if (opened.ok) return opened
  const code = opened.fault === 'unknown' ? exitCodes.notJudged : exitCodes.verificationFailed
  throw new CommandFailure(code, `The head is not good by the policy ${name}: ${opened.reason}.`)
}
