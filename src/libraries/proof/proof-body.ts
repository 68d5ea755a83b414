// The shape of a saved answer or a request to verify: which members it has, and that hashes, key and signature are
// well-formed. Nothing is checked against anything yet; that is check.ts.

import { decodeMultibase, normalHash, parseDidKey } from '../base/ids/identifiers.ts'
import { list, map, object, optional, refuse, type Shape, ShapeError, text } from '../base/json/shape.ts'
import { DecodeError, NodeError } from '../base/errors.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import type { Commitment } from './commitment.ts'

/** A saved answer has no more bytes: the rows of one have at most 256 MiB. */
export const answerBytesMost = 300 * 1024 * 1024

/** A body of the right shape; values as received. */
export interface ProofBody {
  readonly input: JsonObject
  readonly output?: JsonValue
  readonly subQueries: readonly JsonValue[]
  /** Hashes in the form `f1620…`, whatever multibase they came in. */
  readonly commitment: Commitment
  readonly proof: {
    readonly type: string
    /** did:key as received. */
    readonly signer: string
    readonly publicKey: Uint8Array
    readonly signature: Uint8Array
  }
}

const signatureBytes = 64

/** A text that `decode` can read; its DecodeErrors become faults of the member. */
export function decoded<T>(decode: (value: string) => T): Shape<T> {
  return map(text(), (value) => {
    try {
      return decode(value)
    } catch (error) {
      if (error instanceof DecodeError) return refuse(error.message.slice(`${error.what}: `.length))
      throw error
    }
  })
}

const jsonObject: Shape<JsonObject> = (value) => (value instanceof Map ? value : refuse('is not an object'))
const hash = decoded(normalHash)

const signature = decoded((value) => {
  const bytes = decodeMultibase(value, 'signature', signatureBytes)
  return bytes.length === signatureBytes ? bytes : refuse(`has ${bytes.length} bytes, not ${signatureBytes}`)
})

const bodyShape: Shape<ProofBody> = map(
  object({
    input: jsonObject,
    output: optional(jsonObject),
    // Answers that this one rests on have the same shape, all the way down; their hashes and signatures are not judged.
    subQueries: list((value): JsonValue => {
      bodyShape(value)
      return jsonObject(value)
    }),
    commitment: object({ inputHash: hash, outputHash: hash, subQueriesHash: hash }),
    // Proofs of their own, beside what is signed.
    ledger: optional((value) => value),
    proof: object({
      type: text(),
      verificationMethod: decoded((signer) => ({ signer, publicKey: parseDidKey(signer) })),
      proofValue: signature,
    }),
  }),
  ({ input, output, subQueries, commitment, proof }) => ({
    input,
    ...(output !== undefined && { output }),
    subQueries,
    commitment,
    proof: { type: proof.type, ...proof.verificationMethod, signature: proof.proofValue },
  }),
)

/** Of an answer whose arrays and objects are read later. */
const outlineShape: Shape<unknown> = object({
  input: jsonObject,
  output: optional(jsonObject),
  subQueries: list((value) => value),
  commitment: jsonObject,
  ledger: optional((value) => value),
  proof: jsonObject,
})

/** Reads `{input, output?, subQueries, commitment, proof}`. Throws NodeError `InvalidRequest` naming the faulty member. */
export function readProofBody(value: JsonValue): ProofBody {
  return readAs(bodyShape, value)
}

/** Throws what `readProofBody` throws of an answer with other members, of its outermost members alone. */
export function demandMembers(outline: JsonValue): void {
  readAs(outlineShape, outline)
}

function readAs<T>(shape: Shape<T>, value: JsonValue): T {
  try {
    return shape(value)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    if (value instanceof Map && value.has('output') && !value.has('commitment') && !value.has('proof')) {
      throw new NodeError('InvalidRequest', 'This answer has no proof. One is asked for with include Proof.')
    }
    const at = error.at === '' ? 'the body' : error.at
    throw new NodeError('InvalidRequest', `${at.length > 100 ? `${at.slice(0, 100)}…` : at}: ${error.reason}.`)
  }
}
