// The verdict on a file about a ledger, whatever its kind, by what it holds and the policy of the reader. Nobody is asked: of a promise
// it says what the receipt shows by itself, and that the ledger has the rest.

import { DecodeError } from '../base/errors.ts'
import { kindOfFile, type LedgerFile } from './file-kind.ts'
import type { Head } from './head.ts'
import { judgeProof, needsPolicy, type ProofVerdict } from './judge-proof.ts'
import {
  answersPromise,
  type BrokenPromise,
  judgePromise,
  type LedgerPromise,
  type Looked,
  lookedIn,
  openReceipt,
  openRefusal,
  parseBrokenPromise,
  type PromiseVerdict,
  type SignedReceipt,
  type SignedRefusal,
} from './judge-receipt.ts'
import { openHead, type Witnessed } from './open-head.ts'
import type { Policy, Quorum } from './policy.ts'
import { parseStatement, type Statement } from './statement.ts'

/** What the reader trusts. Nothing of it comes from the file. */
export interface Trust {
  readonly policy?: Policy | undefined
  /** did:key that must have signed a receipt, a refusal or a statement. */
  readonly signer?: string | undefined
  readonly nowMs: number
}

/** A signed head, and who has witnessed it. */
export interface HeadFacts {
  readonly ledger: Head
  readonly quorum: Quorum
  readonly witnessed: readonly Witnessed[]
}

export interface ReceiptFacts extends SignedReceipt {
  /** The head under which the promised entry was looked for. */
  readonly head?: HeadFacts
  /** The place of the entry, where it is there. */
  readonly index?: number
}

export type ReceiptKind = 'receipt' | 'broken promise'

/** `other`: a saved answer, a bundle, or nothing that is known. */
export type FileVerdict =
  | { readonly kind: 'other' }
  | (ProofVerdict & { readonly kind: 'proof' })
  | {
      readonly kind: 'head'
      readonly verdict: 'signed' | 'witness quorum not met'
      readonly facts: HeadFacts
      readonly reason?: string
    }
  | { readonly kind: 'statement'; readonly verdict: 'signed'; readonly facts: Statement & { readonly signer: string } }
  | { readonly kind: 'refusal'; readonly verdict: 'signed'; readonly facts: SignedRefusal }
  | {
      readonly kind: ReceiptKind
      /** `signed`: it promises nothing. */
      readonly verdict: 'signed' | Exclude<PromiseVerdict['verdict'], 'impossible'>
      readonly facts: ReceiptFacts
      readonly reason?: string
    }
  | FileFault

type KnownKind = Exclude<LedgerFile['kind'], 'other'>

export type FileFault =
  | { readonly kind: KnownKind; readonly verdict: 'altered'; readonly reason: string }
  | (Cannot & { readonly kind: KnownKind; readonly facts?: ReceiptFacts })

interface Cannot {
  readonly verdict: 'impossible'
  readonly reason: string
  /** What it takes. Of a receipt that is signed, the ledger says the rest. */
  readonly missing?: 'policy' | 'ledger'
}

/** As ingest answers: nobody has changed it. */
const unsigned = 'it is not signed: GET /receipts/{id}?include=signature gives it signed'

/** Judges a file, whose kind may have been told before. Does not throw, whatever the bytes are. */
export function judgeFile(bytes: Uint8Array, trust: Trust, file: LedgerFile = kindOfFile(bytes)): FileVerdict {
  const { kind } = file
  if (kind === 'other') return { kind }
  try {
    switch (kind) {
      case 'proof':
        return { kind, ...judgeProof(file.document ?? bytes, trust.policy) }
      case 'head':
        return trust.policy === undefined ? { kind, ...needsPolicy } : judgeHead(bytes, trust.policy)
      case 'statement': {
        const { node: signer, ...statement } = parseStatement(bytes)
        return { kind, verdict: 'signed', facts: demandSigner({ signer, ...statement }, trust) }
      }
      case 'refusal':
        return { kind, verdict: 'signed', facts: demandSigner(openRefusal(file.document), trust) }
      case 'receipt':
        if (!file.document.has('proof')) return { kind, verdict: 'impossible', reason: unsigned }
        return judgeReceipt(demandSigner(openReceipt(file.document), trust), trust)
      case 'broken promise':
        return judgeBroken(parseBrokenPromise(file.document), trust)
    }
  } catch (error) {
    if (error instanceof DecodeError) return { kind, verdict: 'altered', reason: error.message }
    throw error
  }
}

function demandSigner<T extends { readonly signer: string }>(signed: T, { signer }: Trust): T {
  if (signer === undefined || signer === signed.signer) return signed
  throw new DecodeError('signature', `it is of ${signed.signer}, not of ${signer}`)
}

function judgeHead(bytes: Uint8Array, policy: Policy): FileVerdict {
  const kind = 'head'
  const opened = openHead(bytes, policy)
  if (!opened.ok) return { kind, verdict: opened.fault === 'unknown' ? 'impossible' : 'altered', reason: opened.reason }
  const facts = headFacts(opened)
  if (facts.quorum !== 'not met') return { kind, verdict: 'signed', facts }
  const reason = 'fewer witnesses have signed the head than the policy asks for'
  return { kind, verdict: 'witness quorum not met', facts, reason }
}

function headFacts({ head: ledger, quorum, witnessed }: Looked['opened']): HeadFacts {
  return { ledger, quorum, witnessed }
}

function judgeReceipt(facts: SignedReceipt, trust: Trust): FileVerdict {
  const { promise } = facts
  if (promise === undefined) return { kind: 'receipt', verdict: 'signed', facts }
  const policy = policyFor(promise, trust)
  if ('verdict' in policy) return { kind: 'receipt', facts, ...policy }
  return { kind: 'receipt', ...judgePromised({ ...facts, promise }, undefined, { ...trust, policy }) }
}

/** The policy, if it knows the ledger of the promise. */
function policyFor({ ledger }: LedgerPromise, { policy }: Trust): Policy | Cannot {
  if (policy === undefined) return needsPolicy
  if (policy.logs.some(({ key }) => key.name === ledger)) return policy
  return { verdict: 'impossible', reason: `the policy has no log ${ledger}, which the receipt is about` }
}

/** What has become of the promise of a receipt; `looked` is what was read of its ledger. */
export function judgePromised(
  receipt: SignedReceipt & { readonly promise: LedgerPromise },
  looked: Looked | undefined,
  by: { readonly policy: Policy; readonly nowMs: number },
): (Cannot | Exclude<PromiseVerdict, { readonly verdict: 'impossible' }>) & { readonly facts: ReceiptFacts } {
  const judged = judgePromise(receipt.promise, looked, by)
  const head = looked === undefined ? {} : { head: headFacts(looked.opened) }
  const facts = { ...receipt, ...head, ...('index' in judged && { index: judged.index }) }
  return judged.verdict === 'impossible' ? { ...judged, facts, missing: 'ledger' } : { ...judged, facts }
}

/** What the file shows by itself. That an entry is not there takes all entries; whose key has promised takes the reader, or a statement. */
function judgeBroken(broken: BrokenPromise, trust: Trust): FileVerdict {
  const kind = 'broken promise'
  const receipt = demandSigner(openReceipt(broken.receipt), trust)
  const { signer, promise } = receipt
  if (promise === undefined) throw new DecodeError(kind, 'has a receipt without a promise')
  const policy = policyFor(promise, trust)
  if ('verdict' in policy) return { kind, facts: receipt, ...policy }
  const opened = openHead(broken.head, policy)
  if (!opened.ok) throw new DecodeError('ledger head', opened.reason)
  if (opened.head.origin !== promise.ledger) {
    throw new DecodeError('ledger head', `is of ${opened.head.origin}, not of ${promise.ledger}`)
  }
  const missing = { kind, verdict: 'impossible', missing: 'ledger', facts: receipt } as const
  const looked = lookedIn(broken, opened)
  if (looked?.found === undefined) {
    return { ...missing, reason: 'that the promised entry is not there is seen in all entries of the ledger' }
  }
  if (!answersPromise(promise, looked.found.entry)) {
    throw new DecodeError(kind, 'has an entry of another dataset or sequence')
  }
  const judged = judgePromised({ ...receipt, promise }, looked, { ...trust, policy })
  if (judged.verdict !== 'promise broken' || trust.signer !== undefined) return { kind, ...judged }
  return {
    ...missing,
    reason: `the promise is not kept; whether ${signer} is the node of the ledger is not in the file`,
  }
}
