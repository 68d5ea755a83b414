// The verdict on a file about a ledger, whatever its kind, by what it holds, what the reader trusts, and what is beside it. Nobody is
// asked: of a promise it says what these show, and what else it takes.

import { DecodeError } from '../base/errors.ts'
import type { JsonObject } from '../base/json/value.ts'
import { textForm } from '../base/text-form.ts'
import { kindOfFile, type LedgerFile } from './file-kind.ts'
import { judgeProof, type NeedsPolicy, policyFor, type ProofVerdict } from './judge-proof.ts'
import {
  answersPromise,
  type Beside,
  besideOf,
  headFacts,
  joined,
  judgePromise,
  judgeSigned,
  nothing,
  type Placed,
  type PromiseVerdict,
  type ReceiptFacts,
  type SignerFacts,
  type Trust,
} from './judge-receipt.ts'
import { type HeadFacts, openHead, unsignedHead } from './open-head.ts'
import type { Policy } from './policy.ts'
import { parseReceiptFile } from './receipt-file.ts'
import {
  type BrokenPromise,
  openReceipt,
  openRefusal,
  parseBrokenPromise,
  type SignedReceipt,
  type SignedRefusal,
} from './signed-receipt.ts'
import { parseStatement, type Statement } from './statement.ts'
import { checkInclusion, leafHash } from './tree.ts'

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
  | (NeedsPolicy & { readonly kind: 'head'; readonly said: HeadFacts })
  | { readonly kind: 'statement'; readonly verdict: 'signed'; readonly facts: Statement & { readonly signer: string } }
  | (SignedVerdict<SignedRefusal & SignerFacts> & { readonly kind: 'refusal' })
  /** It promises nothing. */
  | (SignedVerdict<ReceiptFacts> & { readonly kind: 'receipt' })
  | (PromiseVerdict & { readonly kind: ReceiptKind })
  | FileFault

type SignedVerdict<F> =
  | { readonly verdict: 'signed'; readonly facts: F }
  | { readonly verdict: 'not judged'; readonly missing: 'signer'; readonly reason: string; readonly facts: F }

export type FileFault = { readonly kind: Exclude<LedgerFile['kind'], 'other'>; readonly reason: string } & (
  | { readonly verdict: 'altered' }
  | { readonly verdict: 'impossible' }
)

/** As ingest answers: nobody has changed it. */
const unsigned = 'it is not signed: GET /receipts/{id}?include=signature gives it signed'

/** What there is beside the bytes of a file. */
export interface Given {
  /** What told the kind of the file before. */
  readonly file?: LedgerFile
  /** What other files and the ledger show, by the same policy. */
  readonly beside?: Beside
}

/** Judges a file. Does not throw, whatever the bytes are. */
export function judgeFile(
  bytes: Uint8Array,
  trust: Trust,
  { file = kindOfFile(bytes), beside = nothing }: Given = {},
): FileVerdict {
  const { kind } = file
  if (kind === 'other') return { kind }
  try {
    switch (kind) {
      case 'proof':
        return { kind, ...ofSigner(judgeProof(file.document ?? bytes, trust.policy), trust) }
      case 'head':
        return judgeHead(textForm(bytes).bytes, trust.policy)
      case 'statement': {
        const { node: signer, ...statement } = parseStatement(withoutEnd(textForm(bytes).bytes))
        return { kind, verdict: 'signed', facts: demandSigner({ signer, ...statement }, trust) }
      }
      case 'refusal':
        return { kind, ...judgeSigned(demandSigner(openRefusal(file.document), trust), beside, trust) }
      case 'receipt':
        if (!file.document.has('proof')) return { kind, verdict: 'impossible', reason: unsigned }
        return judgeReceipt(file, trust, beside)
      case 'broken promise':
        return judgeBroken(parseBrokenPromise(file.document), trust, beside)
      case 'too large':
        return { kind, verdict: 'impossible', reason: file.reason }
    }
  } catch (error) {
    if (error instanceof DecodeError) return { kind, verdict: 'altered', reason: error.message }
    throw error
  }
}

/** Without white space at the end: a line end says nothing in JSON. */
function withoutEnd(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, 1 + bytes.findLastIndex((byte) => byte > 0x20))
}

function demandSigner<T extends { readonly signer: string }>(signed: T, { signer }: Trust): T {
  if (signer === undefined || signer === signed.signer) return signed
  throw new DecodeError('signature', `it is of ${signed.signer}, not of ${signer}`)
}

/** A proof in which another than the expected signer speaks is altered. */
function ofSigner(judged: ProofVerdict, trust: Trust): ProofVerdict {
  const facts = 'facts' in judged ? judged.facts : 'said' in judged ? judged.said : undefined
  if (facts !== undefined && facts.kind !== 'statement' && facts.signed !== undefined) demandSigner(facts.signed, trust)
  return judged
}

function judgeHead(bytes: Uint8Array, policy: Policy | undefined): FileVerdict {
  const kind = 'head'
  const read = unsignedHead(bytes)
  const known = read.ok ? policyFor(read.head.origin, policy) : undefined
  if (known !== undefined && 'verdict' in known && read.ok) return { kind, ...known, said: headFacts(read) }
  const opened = known === undefined || 'verdict' in known ? read : openHead(bytes, known)
  if (!opened.ok) return { kind, verdict: 'altered', reason: opened.reason }
  const facts = headFacts(opened)
  if (facts.quorum !== 'not met') return { kind, verdict: 'signed', facts }
  return { kind, verdict: 'witness quorum not met', facts, reason: opened.few }
}

/** What the proofs in a file show, before what is beside it. Throws DecodeError. */
function withOwn(what: string, proofs: readonly JsonObject[], trust: Trust, beside: Beside): Beside {
  for (const proof of proofs) {
    const judged = judgeProof(proof, trust.policy)
    if (judged.verdict === 'altered') throw new DecodeError(what, `has a proof that is altered: ${judged.reason}`)
  }
  return joined(besideOf(proofs, trust.policy), beside)
}

function judgeReceipt(file: LedgerFile & { readonly kind: 'receipt' }, trust: Trust, beside: Beside): FileVerdict {
  const own = file.withProofs === undefined ? [] : parseReceiptFile(file.withProofs).proofs
  const all = withOwn('receipt with proofs', own, trust, beside)
  const facts = demandSigner(openReceipt(file.document), trust)
  const { promise } = facts
  if (promise !== undefined) return { kind: 'receipt', ...judgePromise({ ...facts, promise }, all, trust) }
  return { kind: 'receipt', ...judgeSigned(facts, all, trust) }
}

/** The receipt in it is judged, by what is in it, too. */
function judgeBroken(broken: BrokenPromise, trust: Trust, beside: Beside): FileVerdict {
  const kind = 'broken promise'
  const receipt = demandSigner(openReceipt(broken.receipt), trust)
  const { promise } = receipt
  if (promise === undefined) throw new DecodeError(kind, 'has a receipt without a promise')
  const places = placesIn(broken, { ...receipt, promise }, trust.policy)
  const all = joined({ ...nothing, places }, withOwn(kind, broken.proofs, trust, beside))
  return { kind, ...judgePromise({ ...receipt, promise }, all, trust) }
}

/** The entry that the file has in the promised place. Throws DecodeError where it is not there. */
function placesIn(
  { head, found }: BrokenPromise,
  { promise }: SignedReceipt & { readonly promise: NonNullable<SignedReceipt['promise']> },
  policy: Policy | undefined,
): Placed[] {
  if (head === undefined) return found === undefined ? [] : refuse('has an entry without a head')
  const read = unsignedHead(head)
  if (!read.ok) return refuse(`has a head that is none: ${read.reason}`)
  const { origin, size, root } = read.head
  if (origin !== promise.ledger) refuse(`has a head of ${origin}, not of ${promise.ledger}`)
  if (found !== undefined) {
    const { entry, index, hashes: path } = found
    if (!checkInclusion(leafHash(entry), { index, size, path }, root)) refuse('has an entry that is not at its place')
    if (!answersPromise(promise, entry)) refuse('has an entry of another dataset or sequence')
  }
  const known = policyFor(origin, policy)
  if ('verdict' in known) return []
  const opened = openHead(head, known)
  if (!opened.ok) return refuse(`has a head that is not good: ${opened.reason}`)
  return found === undefined ? [] : [{ head: headFacts(opened), index: found.index, entry: found.entry }]
}

function refuse(reason: string): never {
  throw new DecodeError('broken promise', reason)
}
