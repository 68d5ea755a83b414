// The one seam to the platform's cryptography: hashes, Ed25519, random bytes. In browsers browser-crypto.ts stands in its
// place. Everything here takes and returns plain Uint8Arrays; strictness about keys and signatures is libraries/proof/check.ts.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  randomFillSync,
  sign,
  verify,
} from 'node:crypto'
import { assert, must } from '../assert.ts'
import { concatBytes, fromHex } from '../bytes.ts'

/** A hash over bytes that arrive in parts. `digest` ends it. */
export interface IncrementalHash {
  update(bytes: Uint8Array): void
  digest(): Uint8Array
}

/** An Ed25519 key that can sign. Signatures are deterministic (RFC 8032) and 64 bytes long. */
export interface Ed25519Signer {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

// DER wrappers of a raw key (RFC 8410): PKCS #8 around the 32-byte seed, SubjectPublicKeyInfo around the 32-byte point.
const pkcs8Prefix = must(fromHex('302e020100300506032b657004220420'), 'hex')
const spkiPrefix = must(fromHex('302a300506032b6570032100'), 'hex')

/** SHA3-256 (FIPS 202), 32 bytes. */
export function sha3256(bytes: Uint8Array): Uint8Array {
  return plainArray(hash('sha3-256', bytes, 'buffer'))
}

/** SHA3-256 as 64 hexadecimal digits: a third cheaper than the bytes, where text is what is wanted. */
export function sha3256Hex(bytes: Uint8Array): string {
  return hash('sha3-256', bytes, 'hex')
}

/** SHA-256 as 64 hexadecimal digits, lower case. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

/** SHA-256, 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return plainArray(hash('sha256', bytes, 'buffer'))
}

const hmacBlockBytes = 64

/** HMAC-SHA-256 (RFC 2104), 32 bytes; the key has at most 64. Two hashes: four times as fast as an object of the platform. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  assert(key.length <= hmacBlockBytes, 'a key of HMAC is not longer than a block')
  const inner = new Uint8Array(hmacBlockBytes + message.length).fill(0x36, 0, hmacBlockBytes)
  const outer = new Uint8Array(hmacBlockBytes + 32).fill(0x5c, 0, hmacBlockBytes)
  for (const [at, byte] of key.entries()) {
    inner[at] = 0x36 ^ byte
    outer[at] = 0x5c ^ byte
  }
  inner.set(message, hmacBlockBytes)
  outer.set(hash('sha256', inner, 'buffer'), hmacBlockBytes)
  return plainArray(hash('sha256', outer, 'buffer'))
}

/** SHA3-256 over bytes that arrive in parts. */
export function createSha3256(): IncrementalHash {
  const state = createHash('sha3-256')
  return { update: (bytes) => void state.update(bytes), digest: () => plainArray(state.digest()) }
}

/** SHA-256 or SHA-512 over bytes that arrive in parts. */
export function createSha2(algorithm: 'sha256' | 'sha512'): IncrementalHash {
  const state = createHash(algorithm)
  return { update: (bytes) => void state.update(bytes), digest: () => plainArray(state.digest()) }
}

const pool = Buffer.alloc(4096)
let poolUsed = pool.length

/** `count` bytes from the system's generator, which is asked for many at a time. */
export function randomBytes(count: number): Uint8Array {
  if (count > pool.length) return randomFillSync(new Uint8Array(count))
  return fromPool(count, (start, end) => Uint8Array.prototype.slice.call(pool, start, end))
}

/** `count` bytes from the system's generator, as base64url. At most 4,096. */
export function randomText(count: number): string {
  return fromPool(count, (start, end) => pool.toString('base64url', start, end))
}

function fromPool<T>(count: number, read: (start: number, end: number) => T): T {
  if (poolUsed + count > pool.length) {
    randomFillSync(pool)
    poolUsed = 0
  }
  const end = poolUsed + count
  const value = read(poolUsed, end)
  // What was handed out, a key perhaps, stays nowhere else.
  pool.fill(0, poolUsed, end)
  poolUsed = end
  return value
}

/** A signer from the 32-byte seed of RFC 8032. */
export function ed25519Signer(seed: Uint8Array): Ed25519Signer {
  assert(seed.length === 32, 'an Ed25519 seed has 32 bytes')
  const privateKey = createPrivateKey({
    key: Buffer.from(concatBytes([pkcs8Prefix, seed])),
    format: 'der',
    type: 'pkcs8',
  })
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  return {
    publicKey: new Uint8Array(spki.subarray(spkiPrefix.length)),
    sign: (message) => plainArray(sign(null, message, privateKey)),
  }
}

/** The platform's own check (cofactorless, S < L). False for anything that is no signature by this key. */
export function ed25519Verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  let key: KeyObject
  try {
    key = createPublicKey({ key: Buffer.from(concatBytes([spkiPrefix, publicKey])), format: 'der', type: 'spki' })
  } catch {
    return false
  }
  return verify(null, message, key, signature)
}

function plainArray(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
