// Checks a proof by itself: hashes and signature, in a fixed order, without dataset, engine or network.
// What was read by proof-body.ts goes in; the first fault comes out as the error a client is told.

import { type CanonicalForm, canonicalForms } from '../json/canonical.ts'
import { DecodeError, NodeError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import type { JsonValue } from '../model/json.ts'
import { commitmentBytes, hashCanonical } from './commitment.ts'
import type { ProofBody } from './proof-body.ts'
import { proofType } from './sign.ts'
import { signatureFault } from './strict-ed25519.ts'

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
 * `…::OutputHash`: the first that applies.
 */
export function checkProof(body: ProofBody): void {
  for (const step of proofSteps) step.check(body)
  if (body.output !== undefined) checkOutput(body.output, body.commitment.outputHash, ['verbatim'])
}

/** The form in which `output` has the hash `expected`. Throws NodeError `InvalidRequest::OutputHash` when none fits. */
export function checkOutput(
  output: JsonValue,
  expected: Hash,
  forms: readonly CanonicalForm[] = canonicalForms,
): CanonicalForm {
  for (const form of forms) if (outputHash(output, form) === expected) return form
  throw new NodeError(
    'InvalidRequest::OutputHash',
    "The output is not the one that was signed: commitment.outputHash doesn't match its hash.",
  )
}

/** Undefined where the form has no spelling for a number of the output. */
function outputHash(output: JsonValue, form: CanonicalForm): Hash | undefined {
  try {
    return hashCanonical(output, form)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
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
