// Signs commitments. The proof names its signer by did:key, so that it can be checked years later without this node.

import { base64urlText } from '../ids/multibase.ts'
import { type Commitment, commitmentBytes } from './commitment.ts'
import type { NodeKey } from './node-key.ts'

export const proofType = 'Ed25519Signature2020'

/** The `proof` member of an answer, members in the order in which they are shown. */
export interface Proof {
  readonly type: typeof proofType
  /** `did:key:z6Mk…` of the signer. */
  readonly verificationMethod: string
  /** `u` + base64url of the 64-byte signature over the commitment's canonical text. */
  readonly proofValue: string
}

/** The members `commitment` and `proof` of an answer. Deterministic. */
export function signProof(
  commitment: Commitment,
  key: NodeKey,
): { readonly commitment: Commitment; readonly proof: Proof } {
  const signature = key.sign(commitmentBytes(commitment))
  return {
    commitment,
    proof: { type: proofType, verificationMethod: key.did, proofValue: base64urlText(signature) },
  }
}
