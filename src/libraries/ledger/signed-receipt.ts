// Receipts, refusals and broken promises as files: what a node has signed of them, read and held against its signature.

import { base64Text } from '../base/base64.ts'
import { decodeUtf8, utf8 } from '../base/bytes.ts'
import { defined } from '../base/collections.ts'
import { DecodeError } from '../base/errors.ts'
import { datasetIdPattern, hashPattern } from '../base/ids/identifiers.ts'
import { fromPlain } from '../base/json/json.ts'
import { list, map, natural, object, oneOf, optional, readShape, text } from '../base/json/shape.ts'
import { itemsAt, textAt } from '../base/json/members.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import { promisedEntry } from './entry.ts'
import { anyObject, bytesText, hashText, pathHash } from './proof-document.ts'
import { receiptDomain, refusalDomain, signerOf, utcText } from './signed-document.ts'

/** Of the file that shows that a promise was broken. */
export const brokenPromiseType = 'proofstream/broken-promise/1'

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
  /** When it was signed: RFC 3339 UTC. */
  readonly time: string
  readonly receiptId: string
  /** `id` of the record of its batch. */
  readonly batchId: string
  readonly status: string
  /** DID of the dataset. */
  readonly dataset: string
  /** Its name then. */
  readonly alias?: string
  readonly bodyHash: string
  readonly block?: { readonly hash: string; readonly sequence: number }
  readonly offsets?: { readonly start: number; readonly end: number }
  readonly idempotencyKey?: string
  readonly promise?: LedgerPromise
}

export interface SignedRefusal {
  readonly signer: string
  /** Its DID; undefined of a dataset that was not there yet. */
  readonly dataset?: string
  readonly alias?: string
  readonly bodyHash: string
  /** Of the error table. */
  readonly kind: string
  /** What was wrong with the first records. */
  readonly reasons: readonly string[]
  readonly time: string
}

const more = { others: 'ignored' } as const
const receiptShape = object(
  {
    receiptId: text(),
    batchId: text(),
    time: utcText,
    status: text(),
    dataset: object(
      { id: text(datasetIdPattern), alias: optional((value) => (typeof value === 'string' ? value : undefined)) },
      more,
    ),
    bodyHash: text(),
    block: optional(object({ hash: text(hashPattern), sequence: natural }, more)),
    offsets: optional(object({ start: natural, end: natural })),
    idempotencyKey: optional(text()),
    promise: optional(object({ ledger: text(), by: utcText, datasetSalt: hashText, blockSalt: hashText })),
  },
  more,
)
const refusalShape = object({ bodyHash: text(), kind: text(), time: utcText }, more)
const brokenShape = object({
  type: oneOf(brokenPromiseType),
  receipt: anyObject,
  head: optional(map(text(), utf8)),
  found: optional(object({ entry: bytesText, index: natural, hashes: list(pathHash) })),
  proofs: list(anyObject),
})

/** A signed receipt. Throws DecodeError where it is none, is not what was signed, or contradicts itself. */
export function openReceipt(document: JsonObject): SignedReceipt {
  const signer = signerOf(receiptDomain, document)
  const { dataset, promise, ...receipt } = readShape('receipt', receiptShape, document)
  const opened = { signer, ...receipt, dataset: dataset.id, ...defined({ alias: dataset.alias }) }
  if (promise === undefined) return opened
  const { block, status } = receipt
  if (block === undefined || status !== 'committed') {
    throw new DecodeError('receipt', 'promises the entry of a block and has none')
  }
  const { ledger, by, datasetSalt, blockSalt } = promise
  const of = { dataset: { id: dataset.id, salt: datasetSalt }, block: { ...block, salt: blockSalt } }
  return { ...opened, promise: { ledger, byMs: Date.parse(by), entry: promisedEntry(of) } }
}

/** A signed refusal. Throws as `openReceipt`. */
export function openRefusal(document: JsonObject): SignedRefusal {
  const signer = signerOf(refusalDomain, document)
  const dataset = textAt(document, 'dataset', 'id') ?? textAt(document, 'dataset')
  const alias = textAt(document, 'dataset', 'alias')
  if (dataset === undefined && alias === undefined) throw new DecodeError('refusal', 'names no dataset')
  const reasons = itemsAt(document, 'errors').flatMap((one) => textAt(one, 'message') ?? [])
  return { signer, ...defined({ dataset, alias }), ...readShape('refusal', refusalShape, document), reasons }
}

/** A broken promise as a file: the signed receipt, and what the ledger has signed against it. */
export interface BrokenPromise {
  readonly receipt: JsonObject
  /** A signed head, a note: the entries below it do not have the promised one, or have `found`. */
  readonly head?: Uint8Array
  /** The entry in the promised place, and its path to the head. */
  readonly found?: { readonly entry: Uint8Array; readonly index: number; readonly hashes: readonly Uint8Array[] }
  /** Proofs of statements and batches, in their form as JSON. */
  readonly proofs: readonly JsonObject[]
}

export function brokenPromiseJson({ receipt, head, found, proofs }: BrokenPromise): JsonValue {
  return fromPlain({
    type: brokenPromiseType,
    receipt,
    ...(head && { head: decodeUtf8(head) }),
    ...(found && {
      found: { entry: base64Text(found.entry), index: found.index, hashes: found.hashes.map(base64Text) },
    }),
    proofs,
  })
}

/** Reads such a file; nothing is checked yet. Throws DecodeError. */
export function parseBrokenPromise(document: JsonObject): BrokenPromise {
  const { type: _, ...broken } = readShape('broken promise', brokenShape, document)
  return broken
}
