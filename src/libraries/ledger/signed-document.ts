// Documents signed by the key of a node: Ed25519 over the domain, a newline and the canonical JSON of the document without its
// member `proof`, which has the form that it has in answers.

import { concatBytes, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { base64urlText, decodeMultibase, parseDidKey } from '../base/ids/identifiers.ts'
import { canonicalBytes } from '../base/json/canonical.ts'
import { fromPlain } from '../base/json/json.ts'
import { checked, object, oneOf, readShape, text } from '../base/json/shape.ts'
import type { JsonObject } from '../base/json/value.ts'
import { signatureFault } from '../proof/check.ts'
import { proofType } from '../proof/commitment.ts'
import type { NodeKey } from '../proof/sign.ts'

/** Receipts of batches, and refusals of them. */
export const receiptDomain = 'proofstream/receipt/1'
export const refusalDomain = 'proofstream/refusal/1'

const proofShape = object({ type: oneOf(proofType), verificationMethod: text(), proofValue: text() })
const signatureBytes = 64

/** A time in signed documents: RFC 3339 in UTC. `Date.parse` takes it; of what lies below a millisecond nothing counts. */
export const utcText = checked(text(), (value) => {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value) ? Date.parse(value) : Number.NaN
  // Date.parse takes 30 February for 2 March, and 24:00.
  const isThere = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value.slice(0, 10))
  return isThere ? undefined : 'is not a time in UTC'
})

/** The document with its `proof`. What is signed in one domain is nothing in another. */
export function signDocument(domain: string, document: JsonObject, key: Pick<NodeKey, 'did' | 'sign'>): JsonObject {
  const signature = key.sign(signedBytes(domain, document))
  const proof = { type: proofType, verificationMethod: key.did, proofValue: base64urlText(signature) }
  return new Map([...document, ['proof', fromPlain(proof)]])
}

/** The did:key that has signed a document. Throws DecodeError where it is not signed, or the signature is not good. */
export function signerOf(domain: string, document: JsonObject): string {
  const { verificationMethod, proofValue } = readShape('proof', proofShape, document.get('proof'))
  const signature = decodeMultibase(proofValue, 'signature', signatureBytes)
  const fault = signatureFault(parseDidKey(verificationMethod), signedBytes(domain, document), signature)
  if (fault !== undefined) throw new DecodeError('signature', fault)
  return verificationMethod
}

function signedBytes(domain: string, document: JsonObject): Uint8Array {
  const unsigned = new Map(document)
  unsigned.delete('proof')
  return concatBytes([utf8(`${domain}\n`), canonicalBytes(unsigned)])
}
