// Signs answers: a node signs the text of a commitment with its Ed25519 key, and the proof names the signer by did:key,
// so that it can be checked years later without this node. Key files are read and written elsewhere.

import { base64urlText, didKeyText } from '../base/ids/identifiers.ts'
import { ed25519Signer, randomBytes } from '../base/ids/native-crypto.ts'
import { parseJson } from '../base/json/json.ts'
import { assert } from '../base/assert.ts'
import { fromHex, toHex } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { type Commitment, commitmentBytes, proofType } from './commitment.ts'

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
  return { commitment, proof: { type: proofType, verificationMethod: key.did, proofValue: base64urlText(signature) } }
}

/** A key that signs answers. `seed` is the secret; it stands in no log, error or answer. */
export interface NodeKey {
  readonly did: string
  readonly publicKey: Uint8Array
  readonly seed: Uint8Array
  /** 64 bytes, deterministic (RFC 8032). */
  sign(message: Uint8Array): Uint8Array
}

const seedBytes = 32

/** A fresh key from the system's generator. */
export function generateNodeKey(): NodeKey {
  return nodeKeyFromSeed(randomBytes(seedBytes))
}

/** The key of a 32-byte seed. */
export function nodeKeyFromSeed(seed: Uint8Array): NodeKey {
  assert(seed.length === seedBytes, 'a node key has a seed of 32 bytes')
  const signer = ed25519Signer(seed)
  return {
    did: didKeyText(signer.publicKey),
    publicKey: signer.publicKey,
    seed,
    sign: (message) => signer.sign(message),
  }
}

/** `{"type":"Ed25519","seed":"<64 hex>","did":"did:key:…"}` and a newline. */
export function nodeKeyToJson(key: NodeKey): string {
  return `${JSON.stringify({ type: 'Ed25519', seed: toHex(key.seed), did: key.did })}\n`
}

/** Reads the JSON form. Throws DecodeError, without any part of the seed, when it is not one or its DID is another's. */
export function nodeKeyFromJson(source: Uint8Array | string): NodeKey {
  const value = parseKeyFile(source)
  if (!(value instanceof Map) || value.get('type') !== 'Ed25519') {
    throw new DecodeError('node key', 'is not {"type":"Ed25519","seed":…,"did":…}')
  }
  const seedText = value.get('seed')
  const seed = typeof seedText === 'string' ? fromHex(seedText) : undefined
  if (seed?.length !== seedBytes) throw new DecodeError('node key', 'has no seed of 64 hex digits')
  const key = nodeKeyFromSeed(seed)
  if (value.get('did') !== key.did) throw new DecodeError('node key', 'names a DID that its seed does not give')
  return key
}

function parseKeyFile(source: Uint8Array | string): unknown {
  try {
    return parseJson(source)
  } catch {
    throw new DecodeError('node key', 'is not JSON')
  }
}
