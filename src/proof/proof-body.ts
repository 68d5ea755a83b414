// The shape of a saved answer or a request to verify: which members it has, and that hashes, key and signature are
// well-formed. Nothing is checked against anything yet; that is check.ts.

import { parseDidKey } from '../ids/did.ts'
import { decodeMultibase, normalHash } from '../ids/multihash.ts'
import { DecodeError, NodeError } from '../model/errors.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import type { Commitment } from './commitment.ts'

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

/** Reads `{input, output?, subQueries, commitment, proof}`. Throws NodeError `InvalidRequest` naming the faulty member. */
export function readProofBody(value: JsonValue, at = ''): ProofBody {
  const body = members(value, at, { required: ['input', 'subQueries', 'commitment', 'proof'], optional: ['output'] })
  const output = body.get('output')
  return {
    input: objectAt(body.get('input'), `${at}input`),
    ...(output === undefined ? {} : { output: objectAt(output, `${at}output`) }),
    subQueries: readSubQueries(body.get('subQueries'), `${at}subQueries`),
    commitment: readCommitment(body.get('commitment'), `${at}commitment`),
    proof: readProof(body.get('proof'), `${at}proof`),
  }
}

/** Answers that this one rests on: same shape, all the way down; their own hashes and signatures are not judged. */
function readSubQueries(value: JsonValue | undefined, at: string): readonly JsonValue[] {
  if (!Array.isArray(value)) throw invalid(at, 'is not an array')
  for (const [index, item] of value.entries()) readProofBody(item, `${at}[${index}].`)
  return value
}

function readCommitment(value: JsonValue | undefined, at: string): Commitment {
  const commitment = members(value, `${at}.`, { required: ['inputHash', 'outputHash', 'subQueriesHash'] })
  const hash = (name: string): string => {
    const text = textAt(commitment.get(name), `${at}.${name}`)
    return decoded(`${at}.${name}`, () => normalHash(text))
  }
  return { inputHash: hash('inputHash'), outputHash: hash('outputHash'), subQueriesHash: hash('subQueriesHash') }
}

function readProof(value: JsonValue | undefined, at: string): ProofBody['proof'] {
  const proof = members(value, `${at}.`, { required: ['type', 'verificationMethod', 'proofValue'] })
  const type = textAt(proof.get('type'), `${at}.type`)
  const signer = textAt(proof.get('verificationMethod'), `${at}.verificationMethod`)
  const proofValue = textAt(proof.get('proofValue'), `${at}.proofValue`)
  return {
    type,
    signer,
    publicKey: decoded(`${at}.verificationMethod`, () => parseDidKey(signer)),
    signature: decoded(`${at}.proofValue`, () => readSignature(proofValue)),
  }
}

function readSignature(text: string): Uint8Array {
  const bytes = decodeMultibase(text, 'signature', signatureBytes)
  if (bytes.length !== signatureBytes)
    throw new DecodeError('signature', `has ${bytes.length} bytes, not ${signatureBytes}`)
  return bytes
}

function members(
  value: JsonValue | undefined,
  at: string,
  names: { readonly required: readonly string[]; readonly optional?: readonly string[] },
): JsonObject {
  const object = objectAt(value, at === '' ? 'the body' : at.slice(0, -1))
  for (const name of names.required) if (!object.has(name)) throw invalid(`${at}${name}`, 'is missing')
  for (const name of object.keys()) {
    if (!names.required.includes(name) && names.optional?.includes(name) !== true) {
      throw invalid(`${at}${name}`, 'is not a member that is known here')
    }
  }
  return object
}

function objectAt(value: JsonValue | undefined, at: string): JsonObject {
  if (!(value instanceof Map)) throw invalid(at, 'is not an object')
  return value
}

function textAt(value: JsonValue | undefined, at: string): string {
  if (typeof value !== 'string') throw invalid(at, 'is not a string')
  return value
}

function decoded<T>(at: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (error instanceof DecodeError) throw invalid(at, error.message.slice(`${error.what}: `.length))
    throw error
  }
}

function invalid(at: string, reason: string): NodeError {
  return new NodeError('InvalidRequest', `${at.length > 100 ? `${at.slice(0, 100)}…` : at}: ${reason}.`)
}
