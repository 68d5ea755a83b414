// Saved files as the JavaScript client judges them, without a node: answers by their proof, files about a ledger by a policy. What
// was altered is an error; every other verdict is the caller's to weigh.

import { utf8 } from '../base/bytes.ts'
import { systemClock } from '../base/clock.ts'
import { DecodeError } from '../base/errors.ts'
import { toPlain } from '../base/json/json.ts'
import { type FileVerdict as JudgedFile, judgeFile } from '../ledger/judge-file.ts'
import type { BlockFacts, StatementFacts } from '../ledger/judge-proof.ts'
import { besideOf } from '../ledger/judge-receipt.ts'
import { parsePolicy, type Policy } from '../ledger/policy.ts'
import { type OfflineSuccess, verifyOffline } from '../proof/verify.ts'
import { ProofstreamError } from './exchange.ts'
import type { Row } from './listen.ts'

/** What the reader trusts. Nothing of it comes from the file. */
export interface VerifyOptions {
  /** Text of a policy in the form of C2SP's tlog-policy: which ledgers and which witnesses count. */
  readonly policy?: string | Uint8Array
  /** did:key that must have signed an answer, a receipt, a refusal or a statement. */
  readonly signer?: string
  /** Other files that were given with it: proofs of a ledger, which show whose promise a receipt is and what became of it. */
  readonly beside?: readonly (string | Uint8Array)[]
  /** When a promise is judged; now by default. */
  readonly now?: Date
}

/** A saved answer whose proof holds. */
export type AnswerVerdict = OfflineSuccess & { readonly kind: 'answer'; readonly verdict: 'verified' }

/** What a proof shows: a batch or a row as a plain object, in which whole numbers beyond ±(2^53-1) are bigints. */
export interface ShownFacts extends Omit<BlockFacts, 'record'> {
  readonly record?: { readonly value: Row; readonly index: number; readonly count: number }
}

type Shown<V> = V extends { readonly facts: BlockFacts | StatementFacts }
  ? Omit<V, 'facts'> & { readonly facts: ShownFacts | StatementFacts }
  : V

/** On a file about a ledger that is intact. */
export type LedgerVerdict = Shown<Exclude<JudgedFile, { readonly kind: 'other' } | { readonly verdict: 'altered' }>>

export type FileVerdict = AnswerVerdict | LedgerVerdict

/** Throws ProofstreamError with the kind of the check that failed. */
export function verifiedAnswer(answer: string | Uint8Array, signer: string | undefined): OfflineSuccess {
  const verdict = verifyOffline(answer, signer === undefined ? {} : { signer })
  if (verdict.ok) return verdict
  const { kind, message } = verdict
  throw new ProofstreamError(0, { error: { kind }, message, verdict })
}

/** Throws ProofstreamError: `Altered`, for an answer as `verifiedAnswer`, `InvalidParameter` for options that cannot be read. */
export function judgedFile(
  file: string | Uint8Array,
  { policy, signer, beside = [], now }: VerifyOptions,
): FileVerdict {
  const nowMs = now?.getTime() ?? systemClock.nowMs()
  if (Number.isNaN(nowMs)) throw invalid('The date is none.')
  const trust = { policy: policy === undefined ? undefined : policyOf(policy), signer, nowMs }
  const verdict = judgeFile(bytesOf(file), trust, { beside: besideOf(beside.map(bytesOf), trust.policy) })
  if (verdict.kind === 'other') return { ...verifiedAnswer(file, signer), kind: 'answer', verdict: 'verified' }
  if (verdict.verdict !== 'altered') {
    return verdict.kind === 'proof' && 'facts' in verdict ? { ...verdict, facts: shown(verdict.facts) } : verdict
  }
  const message = `The file (${verdict.kind}) is not what was signed: ${verdict.reason}.`
  throw new ProofstreamError(0, { error: { kind: 'Altered' }, message, verdict })
}

function shown(all: BlockFacts | StatementFacts): ShownFacts | StatementFacts {
  if (all.kind === 'statement') return all
  const { record, ...facts } = all
  if (record === undefined) return facts
  const value = toPlain(record.value, { largeIntegers: 'bigint' }) as Row // of an object
  return { ...facts, record: { ...record, value } }
}

function policyOf(policy: string | Uint8Array): Policy {
  try {
    return parsePolicy(bytesOf(policy))
  } catch (error) {
    if (error instanceof DecodeError) throw invalid(`The policy cannot be read: ${error.message}.`)
    throw error
  }
}

function bytesOf(given: string | Uint8Array): Uint8Array {
  return typeof given === 'string' ? utf8(given) : given
}

function invalid(message: string): ProofstreamError {
  return new ProofstreamError(0, { error: { kind: 'InvalidParameter' }, message })
}
