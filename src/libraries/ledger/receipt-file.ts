// A signed receipt and what settles its promise, as one file: proofs in their form as JSON, and the policy that the sender used, which
// is a suggestion and counts for nothing. Source: docs/spec/ledger.md#a-receipt-with-its-proofs

import { decodeUtf8 } from '../base/bytes.ts'
import { fromPlain, parseJson } from '../base/json/json.ts'
import { list, object, oneOf, optional, readShape, text } from '../base/json/shape.ts'
import type { JsonObject } from '../base/json/value.ts'
import { anyObject } from './proof-document.ts'

export const receiptFileType = 'proofstream/receipt-with-proofs/1'

export interface ReceiptFile {
  /** With its signature. */
  readonly receipt: JsonObject
  readonly proofs: readonly JsonObject[]
  /** Text of a policy. */
  readonly policy?: string | undefined
}

const shape = object({
  type: oneOf(receiptFileType),
  receipt: anyObject,
  proofs: list(anyObject),
  policy: optional(text()),
})

export function receiptFileJson({ receipt, proofs, policy }: ReceiptFile): JsonObject {
  const document = { type: receiptFileType, receipt, proofs, ...(policy !== undefined && { policy }) }
  return fromPlain(document) as JsonObject // of an object
}

/** Reads such a file; nothing is checked yet. Throws DecodeError. */
export function parseReceiptFile(document: JsonObject): ReceiptFile {
  const { type: _, ...file } = readShape('receipt with proofs', shape, document)
  return file
}

/** The body that a node gives at a path; undefined where it has none. */
export type GetBody = (path: string) => Promise<Uint8Array | undefined>

/**
 * Gathers it from a node: the signed receipt, the proof of its batch and of the newest statement as far as they are there, and the
 * policy of the node. Undefined where there is no such receipt. Throws what `get` throws, and DecodeError.
 */
export async function gatherReceipt(receiptId: string, get: GetBody): Promise<JsonObject | undefined> {
  const path = `/receipts/${encodeURIComponent(receiptId)}`
  const receipt = objectIn(await get(`${path}?include=signature`))
  if (receipt === undefined) return undefined
  const batch = objectIn(await get(`${path}/proof?format=json`))
  const statement = objectIn(await get('/ledger'))?.get('statement')
  const named =
    typeof statement === 'string' ? `/ledger/statements/${encodeURIComponent(statement)}/proof?format=json` : undefined
  // A statement says whose key has signed; by itself it settles nothing.
  const own = batch === undefined || named === undefined ? undefined : objectIn(await get(named))
  const policy = batch && (await get('/ledger/policy'))
  const proofs = [batch, own].filter((one) => one !== undefined)
  return receiptFileJson({ receipt, proofs, policy: policy && decodeUtf8(policy) })
}

function objectIn(bytes: Uint8Array | undefined): JsonObject | undefined {
  const value = bytes && parseJson(bytes)
  return value instanceof Map ? (value as JsonObject) : undefined // names of members are strings
}
