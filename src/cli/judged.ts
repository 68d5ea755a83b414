// What `verify` says of a file of evidence, and the steps that its kinds share: which key has signed, and whether the head is good by the policy.

import type { JsonObject } from '../index.ts'
import { base64Text } from '../libraries/base/base64.ts'
import type { FileVerdict, HeadFacts, ReceiptFacts } from '../libraries/ledger/judge-file.ts'
import type { ProofFacts } from '../libraries/ledger/judge-proof.ts'
import { type OpenedHead, openHead, type Witnessed, witnessedText } from '../libraries/ledger/open-head.ts'
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
}

/** What the files are judged with. */
export interface Judging {
  readonly context: CommandContext
  readonly options: { readonly offline?: boolean; readonly signer?: string }
  /** Throws CommandFailure where there is none. */
  readonly policy: () => Promise<KnownPolicy>
  readonly nowMs: number
}

const codes: Readonly<Record<LedgerVerdict['verdict'], ExitCode>> = {
  included: exitCodes.done,
  signed: exitCodes.done,
  'promised, not yet due': exitCodes.done,
  altered: exitCodes.verificationFailed,
  impossible: exitCodes.verificationImpossible,
  'promise broken': exitCodes.promiseBroken,
  'witness quorum not met': exitCodes.quorumNotMet,
}

type LedgerVerdict = Exclude<FileVerdict, { readonly kind: 'other' }>

/** A verdict as it is printed, with its code. */
export function told(verdict: LedgerVerdict, policy?: string): Judged {
  const reason = 'reason' in verdict ? verdict.reason : undefined
  return { verdict: verdict.verdict, code: codes[verdict.verdict], reason, facts: { ...factsOf(verdict), policy } }
}

function factsOf(verdict: LedgerVerdict): NonNullable<Judged['facts']> {
  if (verdict.verdict === 'altered' || verdict.verdict === 'impossible') {
    return 'facts' in verdict && verdict.facts !== undefined ? receiptMembers(verdict.facts) : {}
  }
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
      return { ...verdict.facts }
    default:
      return receiptMembers(verdict.facts)
  }
}

function proofMembers({ kind, dataset, sequence, block, record, ledger, witnessed }: ProofFacts): Judged['facts'] {
  const { origin, size, root, index } = ledger
  return {
    kind,
    dataset,
    sequence,
    block,
    record: record && objectOf({ value: record.value, index: record.index, count: record.count }),
    ledger: objectOf({ origin, size, root: base64Text(root), index }),
    witnessed: witnessedMembers(witnessed),
  }
}

function headMembers({ ledger: { origin, size, root }, quorum, witnessed }: HeadFacts): NonNullable<Judged['facts']> {
  const ledger = objectOf({ origin, size, root: base64Text(root) })
  return { ledger, quorum, witnessed: witnessedMembers(witnessed) }
}

function receiptMembers(facts: ReceiptFacts): NonNullable<Judged['facts']> {
  const { signer, receiptId, status, dataset, block, promise, head, index } = facts
  const by = promise && new Date(promise.byMs).toISOString()
  const ledger = promise && objectOf({ origin: promise.ledger, size: head?.ledger.size, index })
  const witnessed = head && witnessedMembers(head.witnessed)
  return {
    signer,
    receiptId,
    status,
    dataset,
    block: block && objectOf(block),
    by,
    ledger,
    quorum: head?.quorum,
    witnessed,
  }
}

export function witnessedMembers(witnessed: readonly Witnessed[]): JsonObject[] {
  return witnessed.map((one) => objectOf({ name: one.name, at: witnessedText(one) }))
}

/** A head that is opened. Throws CommandFailure otherwise. */
export function openedHead(bytes: Uint8Array, { policy, name }: KnownPolicy): OpenedHead & { readonly ok: true } {
  const opened = openHead(bytes, policy)
  if (opened.ok) return opened
  const code = opened.fault === 'unknown' ? exitCodes.verificationImpossible : exitCodes.verificationFailed
  throw new CommandFailure(code, `The head is not good by the policy ${name}: ${opened.reason}.`)
}
