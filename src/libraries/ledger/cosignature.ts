// Cosignatures of type 4: the key of a witness says that at this time a head was the largest that it had seen of the ledger.
// Source: https://c2sp.org/tlog-cosignature (`cosignature/v1`)

import { assert } from '../base/assert.ts'
import { concatBytes, u64At, u64Bytes, utf8 } from '../base/bytes.ts'
import { signatureFault } from '../proof/check.ts'
import type { NoteSignature } from './note.ts'
import { signatureTypes, type Signer, type VerifierKey, verifierKey } from './verifier-key.ts'

const timeBytes = 8

/** The cosignature over the text of a head, at a time in seconds since 1970. The key signs nothing else. */
export function cosign(headText: string, name: string, signer: Signer, seconds: number): NoteSignature {
  assert(Number.isSafeInteger(seconds) && seconds >= 0, 'a cosignature has a time')
  const { id } = verifierKey(name, signatureTypes.cosignature, signer.publicKey)
  const signature = concatBytes([u64Bytes(seconds), signer.sign(cosignedBytes(headText, seconds))])
  return { name, keyId: id, signature }
}

/**
 * When the key has cosigned the text of a head, in seconds since 1970; undefined where the bytes are no cosignature of it. Times
 * after 2^53-1 are refused like others that lie in the future.
 */
export function cosignedAt(headText: string, key: VerifierKey, signature: Uint8Array): number | undefined {
  if (key.type !== signatureTypes.cosignature || signature.length < timeBytes) return undefined
  const seconds = u64At(signature, 0)
  if (seconds === undefined) return undefined
  const fault = signatureFault(key.publicKey, cosignedBytes(headText, seconds), signature.subarray(timeBytes))
  return fault === undefined ? seconds : undefined
}

function cosignedBytes(headText: string, seconds: number): Uint8Array {
  return utf8(`cosignature/v1\ntime ${seconds}\n${headText}`)
}
