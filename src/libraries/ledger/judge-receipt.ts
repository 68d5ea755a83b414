// The verdict on what a signed receipt promises: that its block is an entry of a ledger by a time. Whose promise it is and what became
// of it follow from the receipt, from what the reader trusts, and from what the ledger has signed, so that a stranger can say it.

import { base64Text } from '../base/base64.ts'
import { equalBytes } from '../base/bytes.ts'
import { decoded } from '../base/errors.ts'
import { canonicalText } from '../base/json/canonical.ts'
import { fromPlain } from '../base/json/json.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import { blockEntryBytes, promisedBytes } from './entry.ts'
import { judgeProof, policyFor, type ProofFile, readProof } from './judge-proof.ts'
import type { HeadFacts, OpenedHead } from './open-head.ts'
import { type Policy, type Quorum, quorumOf } from './policy.ts'
import type { LedgerPromise, SignedReceipt } from './signed-receipt.ts'
import type { SignedStatement, Statement } from './statement.ts'
import { hashBytes, type TreeHead } from './tree.ts'

/** Clocks of a node and of witnesses may differ by so much. */
const graceMs = 60_000
const dayMs = 86_400_000

/** What the reader trusts. Nothing of it comes from the file. */
export interface Trust {
  readonly policy?: Policy | undefined
  /** did:key that must have signed a receipt, a refusal or a statement. */
  readonly signer?: string | undefined
  readonly nowMs: number
}

/** An entry below a head that its ledger has signed, and the proof of it, where it came as one. */
interface Shown {
  readonly head: HeadFacts
  readonly index: number
  readonly proof?: ProofFile
}

/** A statement of a node about itself that is an entry of its ledger. */
export interface Stated extends Shown {
  readonly statement: SignedStatement
}

/** The entry of a block; `batch` is the record of a batch that is shown to be in it. */
export interface Placed extends Shown {
  readonly entry: Uint8Array
  readonly batch?: JsonObject
}

/** All entries below a head were read, and the promised one is not among them. */
export interface Absent {
  readonly head: HeadFacts
  /** A smaller tree to which they lead on the way. */
  readonly end?: TreeHead
}

/** What there is beside a receipt, all of it by a policy that knows its ledger. */
export interface Beside {
  readonly statements: readonly Stated[]
  readonly places: readonly Placed[]
  readonly absent: readonly Absent[]
}

export const nothing: Beside = { statements: [], places: [], absent: [] }

/** What both have, that of the first before. */
export function joined(one: Beside, other: Beside): Beside {
  return {
    statements: [...one.statements, ...other.statements],
    places: [...one.places, ...other.places],
    absent: [...one.absent, ...other.absent],
  }
}

type Promising = SignedReceipt & { readonly promise: LedgerPromise }

/** What is known of a key. */
export interface SignerFacts {
  /** What says that the signer is the node of the ledger. */
  readonly boundBy?: 'reader' | { readonly ledger: string; readonly index: number; readonly size: number }
  /** Since when the signer signs nothing. */
  readonly retired?: Pick<Statement['retired'][number], 'at' | 'why'>
}

export interface ReceiptFacts extends SignedReceipt, SignerFacts {
  /** The head under which the promised entry is, or is not. */
  readonly head?: HeadFacts
  /** The place of the entry, where it is there. */
  readonly index?: number
  /** A head above the entry that witnesses have signed by the deadline. */
  readonly inTime?: HeadFacts
  /** Facts that the entry and the proofs beside show; the others are the word of the signer alone. */
  readonly shown?: readonly string[]
}

type Outcome =
  | { readonly verdict: 'included' }
  | { readonly verdict: 'witness quorum not met' | 'promised, not yet due'; readonly reason: string }
  /** `by`: entries that show it, and statements that it rests on. */
  | { readonly verdict: 'promise broken'; readonly reason: string; readonly by: readonly (Placed | Stated)[] }
  | { readonly verdict: 'not judged'; readonly missing: 'policy' | 'signer' | 'ledger'; readonly reason: string }

export type PromiseVerdict = Outcome & { readonly facts: ReceiptFacts }
type Became = Outcome & { readonly facts: Partial<ReceiptFacts> }

/** What the proofs among these files show by the policy. What they are worth by themselves is judged elsewhere. */
export function besideOf(files: readonly (Uint8Array | JsonObject)[], policy: Policy | undefined): Beside {
  const statements: Stated[] = []
  const places: Placed[] = []
  for (const file of files) {
    const proof = decoded(() => readProof(file))
    const judged = proof && judgeProof(proof, policy)
    if (judged === undefined || !('facts' in judged) || proof?.document === undefined) continue
    const { index, ...ledger } = judged.facts.ledger
    const quorum: Quorum = judged.verdict === 'included' ? judged.quorum : 'not met'
    const shown = { head: { ledger, quorum, witnessed: judged.facts.witnessed }, index, proof }
    if (judged.facts.kind === 'statement') statements.push({ ...shown, statement: judged.facts.statement })
    else if (proof.document.kind !== 'newer') {
      const { kind, record } = judged.facts
      places.push({ ...shown, entry: proof.document.entry, ...(kind === 'batch' && record && { batch: record.value }) })
    }
  }
  return { statements, places, absent: [] }
}

export function headFacts({ head: ledger, quorum, witnessed }: OpenedHead & { readonly ok: true }): HeadFacts {
  return { ledger, quorum, witnessed }
}

/** True where the entry has the dataset and the sequence that are promised: it is the promised one, or breaks the promise. */
export function answersPromise(promise: LedgerPromise, entry: Uint8Array): boolean {
  return keepsPromise(promise, entry, promisedBytes - hashBytes)
}

/** True where it begins as promised. */
export function keepsPromise({ entry: promised }: LedgerPromise, entry: Uint8Array, bytes = promisedBytes): boolean {
  return entry.length === blockEntryBytes && equalBytes(entry.subarray(0, bytes), promised.subarray(0, bytes))
}

/**
 * What a good signature says by itself. Nothing dates it but the word of the signer, so it says nothing where a statement has that
 * the key leaked, nor where the key was changed before.
 */
export function judgeSigned<F extends Pick<SignedReceipt, 'signer' | 'time'>>(signed: F, beside: Beside, trust: Trust) {
  const { statements } = beside
  const origins = [...new Set(statements.map(({ head }) => head.ledger.origin))].sort()
  const each = origins.flatMap((origin) => namedIn(ownOf(origin, statements), signed.signer) ?? [])
  // Of two ledgers none is the later one: what counts is the first time since when one says that the key signs nothing.
  const named = lastOf(each.sort((a, b) => goneMs(b) - goneMs(a)))
  const facts = { ...signed, ...standing(named, trust) }
  const { retired } = facts
  if (retired === undefined || (retired.why === 'rotated' && !isLater(signed, retired)))
    return { verdict: 'signed', facts } as const
  const reason = `${goneText(retired)}: nothing shows that this was signed before.`
  return { verdict: 'not judged', missing: 'signer', reason, facts } as const
}

function standing(named: Named | undefined, trust: Trust): SignerFacts {
  const boundBy = trust.signer === undefined ? named?.boundBy : 'reader'
  return { ...(boundBy && { boundBy }), ...(named?.retired && { retired: named.retired }) }
}

type Retired = NonNullable<SignerFacts['retired']>

const isLater = ({ time }: Pick<SignedReceipt, 'time'>, { at }: Retired): boolean => Date.parse(time) > Date.parse(at)

const goneText = ({ why, at }: Retired): string =>
  `The key of the signer ${why === 'leaked' ? 'leaked' : 'was changed'} at ${at}`

/** Whose promise it is, and what became of it. The signature is good, and the signer is the one whom the reader names. */
export function judgePromise(receipt: Promising, beside: Beside, trust: Trust): PromiseVerdict {
  const { promise, signer } = receipt
  const policy = policyFor(promise.ledger, trust.policy)
  if ('verdict' in policy) return { ...policy, facts: receipt }
  const line = lineOf(promise.ledger, beside.statements, trust.signer)
  const named = namedIn(line, signer)
  const facts: ReceiptFacts = { ...receipt, ...standing(named, trust) }
  const { boundBy, retired } = facts
  const became = becameOf(receipt, { beside, line, policy, nowMs: trust.nowMs })
  const judged = { ...became, facts: { ...facts, ...became.facts } }
  const notOf = (reason: string) => ({ verdict: 'not judged', missing: 'signer', reason, facts }) as const
  if (boundBy === undefined) {
    // The ledger shows all that the receipt says, so the signer does not matter. A statement that names other keys raises a doubt.
    if (line.length === 0 && everyFact.every((name) => became.facts.shown?.includes(name))) return judged
    const who = `Nothing says that ${signer} is the node of ${promise.ledger}.`
    return notOf(`${who} Name it, or give the proof of a statement of that ledger.`)
  }
  if (retired && isLater(receipt, retired)) return notOf(`${goneText(retired)}, and signed after that.`)
  // Broken, or not yet due.
  if (retired?.why === 'leaked' && became.verdict.startsWith('promise'))
    return notOf(`${goneText(retired)}: that its promise is not kept may be the work of a thief.`)
  return judged.verdict === 'promise broken' ? { ...judged, by: [...judged.by, ...(named ? [named.by] : [])] } : judged
}

/**
 * The statements of a ledger, and of those that took its place one after another, oldest first. Anybody can claim a place: it counts
 * where the key that signs the claim is one of the earlier ledger. In which order files are given makes no difference.
 */
function lineOf(origin: string, statements: readonly Stated[], signer: string | undefined): readonly Stated[] {
  const line: Stated[] = []
  const keys = new Set(signer === undefined ? [] : [signer])
  const origins = new Set([origin])
  for (const current of origins) {
    const own = ownOf(current, statements)
    line.push(...own)
    for (const key of own.flatMap(keysOf)) keys.add(key)
    const next = statements.filter(
      ({ statement: { previous, node } }) => previous?.origin === current && keys.has(node),
    )
    for (const claimed of next.map(({ head }) => head.ledger.origin).sort()) origins.add(claimed)
  }
  return line
}

/** The statements of a ledger, oldest first. */
function ownOf(origin: string, statements: readonly Stated[]): Stated[] {
  return statements.filter(({ head }) => head.ledger.origin === origin).sort((a, b) => a.index - b.index)
}

function keysOf({ statement }: Stated): string[] {
  return [statement, ...statement.retired].map(({ node }) => node)
}

interface Named extends SignerFacts {
  readonly by: Stated
}

const goneMs = ({ retired }: Named): number => (retired === undefined ? Number.MAX_VALUE : Date.parse(retired.at))

/** What counts of what statements say of a key, as their node and as each of their former keys. */
function namedIn(line: readonly Stated[], signer: string): Named | undefined {
  const all = line.flatMap((by): Named[] => {
    const { size, origin: ledger } = by.head.ledger
    const boundBy = { ledger, index: by.index, size }
    const said = [undefined, ...by.statement.retired.toReversed()]
    const ofSigner = said.filter((former) => (former ?? by.statement).node === signer)
    return ofSigner.map((gone) => ({ by, boundBy, ...(gone && { retired: { at: gone.at, why: gone.why } }) }))
  })
  return lastOf(all)
}

/** The last of them, and before all one that says of a leak. */
function lastOf(all: readonly Named[]): Named | undefined {
  return all.findLast(({ retired }) => retired?.why === 'leaked') ?? all.at(-1)
}

/** What a receipt says of its batch. The entry of the block shows the first two, the proof of the batch all of them. */
const everyFact = ['dataset', 'block', 'bodyHash', 'status', 'offsets'] as const

interface Found extends Pick<Trust, 'nowMs'> {
  readonly beside: Beside
  readonly line: readonly Stated[]
  readonly policy: Policy
}

function becameOf(receipt: Promising, { beside, line, policy, nowMs }: Found): Became {
  const { promise } = receipt
  const places = beside.places.filter(
    ({ head, entry }) => head.ledger.origin === promise.ledger && answersPromise(promise, entry),
  )
  const batches = places.flatMap((by) => {
    const fault = by.batch && faultOfBatch(receipt, by.batch)
    return fault === undefined ? [] : [{ by, fault }]
  })
  const other = batches.find(({ fault }) => fault !== '')
  if (other !== undefined)
    return broken(`The batch has another ${other.fault.replace('Hash', '')} in the ledger.`, other.by)
  const worth = (one: Placed): number =>
    (one.head.quorum === 'not met' ? 0 : 2) + (batches.some(({ by }) => by === one) ? 1 : 0)
  const kept = places.filter(({ entry }) => keepsPromise(promise, entry)).sort((a, b) => worth(b) - worth(a))
  const [best] = kept
  if (best !== undefined) {
    const { head, index } = best
    const shown = everyFact.slice(0, worth(best) % 2 === 1 ? everyFact.length : 2)
    const inTime = kept.find((one) => quorumWhen(one.head, policy, (ms) => ms <= promise.byMs) !== 'not met')?.head
    const facts = { head, index, shown, ...(inTime && { inTime }) }
    if (head.quorum !== 'not met') return { verdict: 'included', facts }
    const reason = 'The entry is there, under a head that too few witnesses signed.'
    return { verdict: 'witness quorum not met', reason, facts }
  }
  const [instead] = places
  if (instead !== undefined) return broken('The ledger has another block in the place of the promised one.', instead)
  const by = new Date(promise.byMs).toISOString()
  const absent = beside.absent.filter(({ head }) => head.ledger.origin === promise.ledger)
  if (absent.some(({ head }) => quorumWhen(head, policy, (ms) => ms > promise.byMs + graceMs) === 'met')) {
    return broken(`A head that the witnesses signed after ${by} does not hold the promised entry.`)
  }
  const ends = absent.flatMap(({ end }) => (end ? [`${end.size} ${base64Text(end.root)}`] : []))
  const next = line.findLast(({ statement: { previous } }) => {
    return previous?.origin === promise.ledger && ends.includes(`${previous.size} ${previous.root}`)
  })
  if (next !== undefined) {
    const reason = `${next.head.ledger.origin} took the place of the ledger, which ended without the promised entry.`
    const link = line.findLast(
      (one) => one.head.ledger.origin === promise.ledger && keysOf(one).includes(next.statement.node),
    )
    return broken(reason, next, ...(link ? [link] : []))
  }
  if (nowMs <= promise.byMs + graceMs) {
    return { verdict: 'promised, not yet due', reason: dueText(promise, receipt.time, nowMs), facts: {} }
  }
  const reason = `It is due since ${by}, and nothing that was given shows whether the ledger has it: ask the node.`
  return { verdict: 'not judged', missing: 'ledger', reason, facts: {} }
}

/** The member that the batch in the ledger has otherwise than the receipt; empty where none, undefined where it is another batch. */
function faultOfBatch(receipt: SignedReceipt, record: JsonObject): string | undefined {
  // The id of a key comes again after it was rejected.
  const isAgain = record.get('status') === 'rejected' && receipt.idempotencyKey !== undefined
  if (record.get('id') !== receipt.batchId || isAgain) return undefined
  const text = (value: JsonValue | undefined): string => canonicalText(value ?? null)
  const names = ['bodyHash', 'status', 'offsets'] as const
  return names.find((name) => text(record.get(name)) !== text(fromPlain(receipt[name] ?? null))) ?? ''
}

function broken(reason: string, ...by: readonly (Placed | Stated)[]): Became {
  return { verdict: 'promise broken', reason, by, facts: {} }
}

/** What those witnesses are for the policy that signed the head at such a time. What the ledger itself says of time does not count. */
function quorumWhen({ witnessed }: HeadFacts, policy: Policy, isWhen: (ms: number) => boolean): Quorum {
  const names = witnessed.filter(({ at }) => isWhen(at * 1000)).map(({ name }) => name)
  return names.length === 0 ? 'not met' : quorumOf(policy, names)
}

function dueText({ byMs }: LedgerPromise, time: string, nowMs: number): string {
  const by = new Date(byMs).toISOString()
  if (nowMs > byMs) return `It was due at ${by}, and counts as broken only a minute later.`
  const days = Math.floor((byMs - Date.parse(time)) / dayMs)
  return days < 1
    ? `It is due at ${by}.`
    : `It is due only at ${by}, ${days} days after it was signed: no node asks for so long.`
}
