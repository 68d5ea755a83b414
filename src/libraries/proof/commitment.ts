// The commitment of an answer: three hashes that bind what was asked, what came out and which answers it rests on. Its
// canonical text, 259 bytes, is what sign.ts signs and check.ts checks.

import { type Hash, sha3Hash } from '../base/ids/identifiers.ts'
import { canonicalBytes } from '../base/json/canonical.ts'
import { assert } from '../base/assert.ts'
import type { JsonValue } from '../base/json/value.ts'

export interface Commitment {
  readonly inputHash: Hash
  readonly outputHash: Hash
  readonly subQueriesHash: Hash
}

/** A value, or its bytes where they are canonical JSON already. */
export type Committed = JsonValue | Uint8Array

/** Length of a commitment's signed text. */
export const commitmentTextBytes = 259

/** The sha3-256 multihash of `value` in canonical JSON. */
export function hashCanonical(value: Committed): Hash {
  return sha3Hash(value instanceof Uint8Array ? value : canonicalBytes(value))
}

/** The commitment of an answer; no `subQueries` is the empty list. */
export function commit(answer: {
  readonly input: Committed
  readonly output: Committed
  readonly subQueries?: Committed
}): Commitment {
  return {
    inputHash: hashCanonical(answer.input),
    outputHash: hashCanonical(answer.output),
    subQueriesHash: hashCanonical(answer.subQueries ?? []),
  }
}

/** The 259 ASCII bytes that are signed. The hashes are in the form `f1620…`. */
export function commitmentBytes(commitment: Commitment): Uint8Array {
  const bytes = canonicalBytes(
    new Map([
      ['inputHash', commitment.inputHash],
      ['outputHash', commitment.outputHash],
      ['subQueriesHash', commitment.subQueriesHash],
    ]),
  )
  assert(bytes.length === commitmentTextBytes, 'a commitment holds three hashes of the form f1620…')
  return bytes
}

/** The one kind of proof that is made and checked. */
export const proofType = 'Ed25519Signature2020'
