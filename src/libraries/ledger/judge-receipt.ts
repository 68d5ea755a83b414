// Receipts and refusals that a node has signed, and the verdict on what a receipt promises: that its block is an entry of a ledger by
// a time. Kept or broken follows from the receipt and what the ledger has signed, so that a stranger can say it.

import { base64Text, fromBase64 } from '../base/base64.ts'
import { decodeUtf8, equalBytes, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { fromPlain } from '../base/json/json.ts'
import { list, map, natural, object, oneOf, optional, readShape, refuse, text } from '../base/json/shape.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import { blockEntryBytes, parseEntry, promisedBytes } from './entry.ts'
import type { OpenedHead } from './open-head.ts'
import { type Policy, quorumOf } from './policy.ts'
import { receiptDomain, refusalDomain, signerOf } from './signed-document.ts'
import { checkInclusion, hashBytes, leafHash } from './tree.ts'

/** Of the file that shows that a promise was broken. */
export const brokenPromiseType = 'proofstream/broken-promise/1'

/** Clocks of a node and of witnesses may differ by so much. */
const graceMs = 60_000

/** What a receipt promises. */
export interface LedgerPromise {
  /** Origin of the ledger. */
  readonly ledger: string
  readonly byMs: number
  /** The entry as far as it is promised: tag of the dataset, sequence, tag of the block. */
  readonly entry: Uint8Array
}

export interface SignedReceipt {
  /** did:key. */
  readonly signer: string
  readonly receiptId: string
  readonly status: string
  /** DID of the dataset. */
  readonly dataset: string
  readonly block?: { readonly hash: string; readonly sequence: number }
  readonly promise?: LedgerPromise
}

export interface SignedRefusal {
  readonly signer: string
  readonly dataset: string
  readonly bodyHash: string
  /** Of the error table. */
  readonly kind: string
  readonly time: string
}

const time = map(text(), (value) => {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value) ? Date.parse(value) : Number.NaN
  // Date.parse takes 30 February for 2 March, and 24:00.
  const isThere = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value.slice(0, 10))
  return isThere ? ms : refuse('is not a time in UTC')
})
const bytesText = map(text(), (value) => fromBase64(value) ?? refuse('is not base64'))
const hash = map(bytesText, (bytes) => (bytes.length === hashBytes ? bytes : refuse('is not a hash')))
const promised = map(bytesText, (bytes) => {
  const entry = bytes.length === promisedBytes ? parseEntry(whole(bytes)) : undefined
  return entry?.kind === 'block' ? { bytes, sequence: entry.sequence } : refuse('is not the beginning of an entry')
})
const more = { others: 'ignored' } as const
const receiptShape = object(
  {
    receiptId: text(),
    status: text(),
    dataset: object({ id: text() }, more),
    block: optional(object({ hash: text(), sequence: natural }, more)),
    promise: optional(object({ ledger: text(), by: time, entry: promised })),
  },
  more,
)
const refusalShape = object({ dataset: (value) => value, bodyHash: text(), kind: text(), time: text() }, more)
const anyObject = (value: unknown): JsonObject =>
  // Names of JSON members are strings; the value comes out of parseJson.
  value instanceof Map ? (value as JsonObject) : refuse('is not an object')
const brokenShape = object({
  type: oneOf(brokenPromiseType),
  receipt: anyObject,
  head: map(text(), utf8),
  found: optional(object({ entry: bytesText, index: natural, hashes: list(hash) })),
})

/** The bytes of an entry of which only the beginning is known. */
function whole(beginning: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(blockEntryBytes)
  bytes.set(beginning)
  return bytes
}

/** A signed receipt. Throws DecodeError where it is none, or is not what was signed. */
export function openReceipt(document: JsonObject): SignedReceipt {
  const signer = signerOf(receiptDomain, document)
  const { receiptId, status, dataset, block, promise } = readShape('receipt', receiptShape, document)
  if (promise !== undefined && promise.entry.sequence !== block?.sequence) {
    throw new DecodeError('receipt', 'promises an entry of another block than its own')
  }
  return {
    signer,
    receiptId,
    status,
    dataset: dataset.id,
    ...(block !== undefined && { block }),
    ...(promise !== undefined && {
      promise: { ledger: promise.ledger, byMs: promise.by, entry: promise.entry.bytes },
    }),
  }
}

/** A signed refusal. Throws as `openReceipt`. */
export function openRefusal(document: JsonObject): SignedRefusal {
  const signer = signerOf(refusalDomain, document)
  const { dataset, bodyHash, kind, time } = readShape('refusal', refusalShape, document)
  const id = dataset instanceof Map ? dataset.get('id') : dataset
  if (typeof id !== 'string') throw new DecodeError('refusal', 'names no dataset')
  return { signer, dataset: id, bodyHash, kind, time }
}

/** True where the entry has the dataset and the sequence that are promised: it is the promised one, or breaks the promise. */
export function answersPromise({ entry: promised }: LedgerPromise, entry: Uint8Array): boolean {
  const upToBlock = promisedBytes - hashBytes
  return entry.length === blockEntryBytes && equalBytes(entry.subarray(0, upToBlock), promised.subarray(0, upToBlock))
}

export type PromiseVerdict =
  | { readonly verdict: 'included'; readonly index: number; readonly quorum: 'met' | 'none' }
  | { readonly verdict: 'witness quorum not met'; readonly index: number; readonly reason: string }
  | { readonly verdict: 'promised, not yet due'; readonly reason: string }
  | { readonly verdict: 'promise broken'; readonly reason: string }
  | { readonly verdict: 'impossible'; readonly reason: string }

/** What was read of a ledger up to a head: the entry that answers the promise, or none among all of them. */
export interface Looked {
  readonly opened: OpenedHead & { readonly ok: true }
  readonly found?: { readonly entry: Uint8Array; readonly index: number }
}

/** What has become of a promise. Without `looked` nothing is known of the ledger. That a node has signed the receipt is not judged here. */
export function judgePromise(
  promise: LedgerPromise,
  looked: Looked | undefined,
  { policy, nowMs }: { readonly policy: Policy; readonly nowMs: number },
): PromiseVerdict {
  const by = new Date(promise.byMs).toISOString()
  if (looked?.found !== undefined) {
    const { entry, index } = looked.found
    if (!equalBytes(entry.subarray(0, promisedBytes), promise.entry)) {
      return { verdict: 'promise broken', reason: 'The ledger has another block in the place of the promised one.' }
    }
    const { quorum } = looked.opened
    if (quorum !== 'not met') return { verdict: 'included', index, quorum }
    return {
      verdict: 'witness quorum not met',
      index,
      reason: 'The entry is there, under a head that too few witnesses signed.',
    }
  }
  if (looked !== undefined && isSignedAfter(looked.opened, policy, promise.byMs + graceMs)) {
    return {
      verdict: 'promise broken',
      reason: `A head that the witnesses signed after ${by} does not hold the promised entry.`,
    }
  }
  if (nowMs <= promise.byMs + graceMs) {
    const grace = `It was due at ${by}, and counts as broken only a minute later.`
    return { verdict: 'promised, not yet due', reason: nowMs <= promise.byMs ? `It is due at ${by}.` : grace }
  }
  return {
    verdict: 'impossible',
    reason: `It was due at ${by}, and no head that the policy's witnesses signed since shows it or its absence.`,
  }
}

/** A quorum signed the head later than this. What the ledger itself says of time does not count. */
function isSignedAfter({ witnessed }: Looked['opened'], policy: Policy, ms: number): boolean {
  const late = witnessed.filter(({ at }) => at * 1000 > ms).map(({ name }) => name)
  return quorumOf(policy, late) === 'met'
}

/** A broken promise as a file: the signed receipt, and what the ledger has signed against it. */
export interface BrokenPromise {
  readonly receipt: JsonObject
  /** The signed head, a note. */
  readonly head: Uint8Array
  /** The entry in the promised place, and its path; without it the entries below the head do not have the promised one. */
  readonly found?: { readonly entry: Uint8Array; readonly index: number; readonly hashes: readonly Uint8Array[] }
}

export function brokenPromiseJson({ receipt, head, found }: BrokenPromise): JsonValue {
  return fromPlain({
    type: brokenPromiseType,
    receipt,
    head: decodeUtf8(head),
    ...(found && {
      found: { entry: base64Text(found.entry), index: found.index, hashes: found.hashes.map(base64Text) },
    }),
  })
}

/** Reads such a file; nothing is checked yet. Throws DecodeError. */
export function parseBrokenPromise(document: JsonObject): BrokenPromise {
  const { type: _, ...broken } = readShape('broken promise', brokenShape, document)
  return broken
}

/** What the file shows by itself: the entry, where it is in the tree of the head. Throws DecodeError where it is not. */
export function lookedIn({ found }: BrokenPromise, opened: Looked['opened']): Looked | undefined {
  if (found === undefined) return undefined
  const { entry, index, hashes } = found
  if (!checkInclusion(leafHash(entry), { index, size: opened.head.size, path: hashes }, opened.head.root)) {
    throw new DecodeError('ledger entry', 'is not at this place of the tree')
  }
  return { opened, found: { entry, index } }
}
