// Checks a proof by itself: hashes and signature, in a fixed order, without dataset, engine or network.
// What was read by proof-body.ts goes in; the first fault comes out as the error for the client.

import { Point } from '@noble/ed25519'
import { ed25519Verify } from '../base/ids/native-crypto.ts'
import { littleEndian } from '../base/bytes.ts'
import { NodeError } from '../base/errors.ts'
import type { Hash } from '../base/ids/identifiers.ts'
import type { JsonValue } from '../base/json/value.ts'
import { commitmentBytes, hashCanonical, proofType } from './commitment.ts'
import type { ProofBody } from './proof-body.ts'
import { isRewritten } from './rewritten.ts'

/** Steps in the order in which they are checked; each throws NodeError. */
export const proofSteps = [
  { name: 'proofType', check: checkType },
  { name: 'inputHash', check: checkInput },
  { name: 'subQueriesHash', check: checkSubQueries },
  { name: 'signature', check: checkSignature },
] as const

/**
 * Proof type, input hash, hash of the sub-queries, signature, and the output's hash where there is an output.
 * Throws NodeError `UnsupportedProofType`, `InvalidRequest::InputHash`, `…::SubQueriesHash`, `…::BadSignature`,
 * `…::RewrittenOutput`, `…::OutputHash`: the first that applies.
 */
export function checkProof(body: ProofBody): void {
  for (const step of proofSteps) step.check(body)
  if (body.output !== undefined) checkOutput(body.output, body.commitment.outputHash)
}

/**
 * Throws NodeError where `output` has not the hash `expected`: `InvalidRequest::RewrittenOutput` where its values are those
 * that were signed, else `InvalidRequest::OutputHash`.
 */
export function checkOutput(output: JsonValue, expected: Hash): void {
  if (hashCanonical(output) === expected) return
  if (isRewritten(output, expected)) {
    throw new NodeError(
      'InvalidRequest::RewrittenOutput',
      'Read as doubles the numbers of the output are those that were signed: a JSON library has parsed and printed it. Integers beyond 2^53 may have become others.',
      { hint: 'Check the bytes as they were received, or the proof without output.' },
    )
  }
  throw new NodeError(
    'InvalidRequest::OutputHash',
    "The output is not the one that was signed: commitment.outputHash doesn't match its hash.",
  )
}

function checkType({ proof }: ProofBody): void {
  if (proof.type === proofType) return
  throw new NodeError(
    'UnsupportedProofType',
    `Proofs of the type ${JSON.stringify(proof.type.slice(0, 100))} cannot be checked, only ${proofType}.`,
  )
}

function checkInput(body: ProofBody): void {
  if (hashCanonical(body.input) === body.commitment.inputHash) return
  throw new NodeError(
    'InvalidRequest::InputHash',
    undisputable("commitment.inputHash doesn't match the hash of the input"),
  )
}

function checkSubQueries(body: ProofBody): void {
  if (hashCanonical([...body.subQueries]) === body.commitment.subQueriesHash) return
  throw new NodeError(
    'InvalidRequest::SubQueriesHash',
    undisputable("commitment.subQueriesHash doesn't match the hash of the sub-queries"),
  )
}

function checkSignature({ commitment, proof }: ProofBody): void {
  const fault = signatureFault(proof.publicKey, commitmentBytes(commitment), proof.signature)
  if (fault !== undefined) throw new NodeError('InvalidRequest::BadSignature', undisputable(fault))
}

function undisputable(reason: string): string {
  return `The commitment is invalid and cannot be disputed: ${reason}.`
}

/** Why a signature does not count; undefined when it does. Key of 32 bytes, signature of 64. */
export function signatureFault(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): string | undefined {
  if (publicKey.length !== 32) return 'the key has not 32 bytes'
  if (signature.length !== 64) return 'the signature has not 64 bytes'
  const fault = pointFault(publicKey, 'key') ?? pointFault(signature.subarray(0, 32), "signature's point")
  if (fault !== undefined) return fault
  if (littleEndian(signature.subarray(32)) >= Point.CURVE().n)
    return "the signature's scalar is not below the group order"
  return ed25519Verify(publicKey, message, signature) ? undefined : 'the verification equation is not satisfied'
}

function pointFault(bytes: Uint8Array, name: string): string | undefined {
  let point: Point
  try {
    point = Point.fromBytes(bytes, false)
  } catch {
    return `the ${name} is not the canonical form of a point on the curve`
  }
  return point.isSmallOrder() ? `the ${name} is of small order` : undefined
}
