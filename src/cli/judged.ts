// What `verify` says of a file of evidence, and the steps that its kinds share: which key has signed, and whether the head is good by the policy.

import type { JsonObject } from '../index.ts'
import { base64Text } from '../libraries/base/base64.ts'
import { type Known, ledgerReport, type LedgerVerdict } from '../libraries/evidence/ledger-report.ts'
import { type Report, verdictCodes } from '../libraries/evidence/report.ts'
import type { ProofFacts } from '../libraries/ledger/judge-proof.ts'
import type { ReceiptFacts, SignerFacts } from '../libraries/ledger/judge-receipt.ts'
import {
  type HeadFacts,
  type OpenedHead,
  openHead,
  type Witnessed,
  witnessedText,
} from '../libraries/ledger/open-head.ts'
import type { CommandContext } from './context.ts'
import { CommandFailure, type ExitCode, exitCodes } from './failure.ts'
import { objectOf } from './json-values.ts'
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
}

/** What the files are judged with. */
export interface Judging {
  readonly context: CommandContext
  readonly options: { readonly offline?: boolean; readonly signer?: string }
  /** Throws CommandFailure where there is none. */
  readonly policy: () => Promise<KnownPolicy>
  readonly nowMs: number
}

/** The verdict that goes with a code of 10 and more. */
export function wordOf(code: ExitCode): string {
  return (
    Object.entries(verdictCodes).find(([, one]) => one === code && one >= exitCodes.verificationFailed)?.[0] ?? 'failed'
  )
}

/** A verdict as it is printed, with its code. */
export function told(
  verdict: LedgerVerdict,
  { policy, ...known }: Known & { readonly policy?: string | undefined } = { isNamed: false },
): Judged {
  const reason = 'reason' in verdict ? verdict.reason : undefined
  const facts = { ...factsOf(verdict), policy }
  return {
    verdict: verdict.verdict,
    code: verdictCodes[verdict.verdict],
    reason,
    facts,
    report: ledgerReport(verdict, known),
  }
}

function factsOf(verdict: LedgerVerdict): NonNullable<Judged['facts']> {
  const missing = 'missing' in verdict ? verdict.missing : undefined
  if (!('facts' in verdict)) return { missing }
  switch (verdict.kind) {
    case 'proof': {
      const quorum = verdict.verdict === 'included' ? verdict.quorum : 'not met'
      return { ...proofMembers(verdict.facts), quorum }
    }
    case 'head':
      return headMembers(verdict.facts)
    case 'statement':
      return { signer: verdict.facts.signer }
    case 'refusal':
      return { missing, ...verdict.facts, ...signerMembers(verdict.facts) }
    default:
      return { missing, ...receiptMembers(verdict.facts) }
  }
}

function proofMembers(facts: ProofFacts): Judged['facts'] {
  const { origin, size, root, index } = facts.ledger
  const ledger = objectOf({ origin, size, root: base64Text(root), index })
  const of = { kind: facts.kind, ledger, witnessed: witnessedMembers(facts.witnessed) }
  if (facts.kind === 'statement') {
    const { node, time, retired } = facts.statement
    return { ...of, node, time, retired: retired.map(objectOf) }
  }
  const { dataset, sequence, block, record, signed } = facts
  const shown = record && objectOf({ value: record.value, index: record.index, count: record.count })
  return { ...of, dataset, sequence, block, record: shown, signed: signed && objectOf({ ...signed }) }
}

function headMembers({ ledger: { origin, size, root }, quorum, witnessed }: HeadFacts): NonNullable<Judged['facts']> {
  const ledger = objectOf({ origin, size, root: base64Text(root) })
  return { ledger, quorum, witnessed: witnessedMembers(witnessed) }
}

function receiptMembers(facts: ReceiptFacts): NonNullable<Judged['facts']> {
  const { signer, time, receiptId, status, dataset, bodyHash, block, offsets, promise, head, index, shown } = facts
  const by = promise && new Date(promise.byMs).toISOString()
  const ledger = promise && objectOf({ origin: promise.ledger, size: head?.ledger.size, index })
  const witnessed = head && witnessedMembers(head.witnessed)
  const claims = { block, bodyHash, status, offsets }
  return {
    signer,
    ...signerMembers(facts),
    time,
    receiptId,
    status,
    dataset,
    bodyHash,
    block: block && objectOf(block),
    offsets: offsets && objectOf(offsets),
    by,
    ledger,
    quorum: head?.quorum,
    witnessed,
    shown: shown && [...shown],
    // The others are the word of the signer alone.
    claimed: shown && Object.entries(claims).flatMap(([name, value]) => (value && !shown.includes(name) ? [name] : [])),
  }
}

function signerMembers({ boundBy, retired }: SignerFacts) {
  return {
    boundBy: typeof boundBy === 'object' ? objectOf(boundBy) : boundBy,
    retired: retired && objectOf(retired),
  }
}

export function witnessedMembers(witnessed: readonly Witnessed[]): JsonObject[] {
  return witnessed.map((one) => objectOf({ name: one.name, at: witnessedText(one) }))
}

/** A head that is opened. Throws CommandFailure otherwise. */
export function openedHead(bytes: Uint8Array, { policy, name }: KnownPolicy): OpenedHead & { readonly ok: true } {
  const opened = openHead(bytes, policy)
  if (opened.ok) return opened
  const code = opened.fault === 'unknown' ? exitCodes.notJudged : exitCodes.verificationFailed
  throw new CommandFailure(code, `The head is not good by the policy ${name}: ${opened.reason}.`)
}
