// What a node says of a batch or a row in a proof, beside what the entry shows: the name of the dataset, and when the block was made.
// It is the word of its signer, bound to the entry. Source: docs/spec/ledger.md#proofs

import { toHex } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { sha256 } from '../base/ids/native-crypto.ts'
import { fromPlain } from '../base/json/json.ts'
import { object, oneOf, readShape, text } from '../base/json/shape.ts'
import type { JsonObject } from '../base/json/value.ts'
import type { NodeKey } from '../proof/sign.ts'
import { signDocument, signerOf, utcText } from './signed-document.ts'

export const recordDomain = 'proofstream/record/1'

export interface SignedRecord {
  /** did:key. */
  readonly signer: string
  /** Name of the dataset when the proof was made. */
  readonly dataset: string
  /** When the block was made: RFC 3339 UTC. */
  readonly blockTime: string
}

const shape = object({
  type: oneOf(recordDomain),
  entry: text(/^[0-9a-f]{64}$/),
  dataset: text(),
  blockTime: utcText,
  proof: (value) => value,
})

export function signRecord(
  entry: Uint8Array,
  said: Omit<SignedRecord, 'signer'>,
  key: Pick<NodeKey, 'did' | 'sign'>,
): JsonObject {
  const { dataset, blockTime } = said
  const document = fromPlain({ type: recordDomain, entry: toHex(sha256(entry)), dataset, blockTime })
  return signDocument(recordDomain, document as JsonObject, key) // of an object
}

/** Throws DecodeError where it is not signed well, or is of another entry. */
export function openRecord(document: JsonObject, entry: Uint8Array): SignedRecord {
  const signer = signerOf(recordDomain, document)
  const { dataset, blockTime, entry: of } = readShape('signed', shape, document)
  if (of !== toHex(sha256(entry))) throw new DecodeError('signed', 'is of another entry')
  return { signer, dataset, blockTime }
}
