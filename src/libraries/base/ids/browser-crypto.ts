// What native-crypto.ts is where Node.js is not: the hashes and the signature check that verifiers need. Bundlers put
// this file in the other's place (`browser` in package.json; scripts/browser-bundle.ts).

import { Point } from '@noble/ed25519'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 as nobleSha256, sha512 } from '@noble/hashes/sha2.js'
import { sha3_256 } from '@noble/hashes/sha3.js'
import { concatBytes, equalBytes, littleEndian, toHex } from '../bytes.ts'

/** SHA3-256 (FIPS 202) as 64 hexadecimal digits. */
export function sha3256Hex(bytes: Uint8Array): string {
  return toHex(sha3_256(bytes))
}

/** SHA-256, 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return nobleSha256(bytes)
}

/** HMAC-SHA-256 (RFC 2104), 32 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return hmac(nobleSha256, key, message)
}

/** SHA3-256 over bytes that come in pieces; `digest` is called once, at the end. */
export function createSha3256(): { update(bytes: Uint8Array): void; digest(): Uint8Array } {
  const hash = sha3_256.create()
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() }
}

/** SHA-256 or SHA-512 over bytes that come in pieces. */
export function createSha2(algorithm: 'sha256' | 'sha512'): { update(bytes: Uint8Array): void; digest(): Uint8Array } {
  const hash = (algorithm === 'sha256' ? nobleSha256 : sha512).create()
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() }
}

/**
 * The check of native-crypto.ts: cofactorless (RFC 8032, 5.1.7: S·B = R + k·A, both sides compared as bytes), S < L.
 * The library's own `verify` multiplies by the cofactor and so takes signatures that Node.js refuses.
 */
export function ed25519Verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  const [r, s] = [signature.subarray(0, 32), littleEndian(signature.subarray(32))]
  const order = Point.CURVE().n
  if (s >= order) return false
  let key: Point
  try {
    key = Point.fromBytes(publicKey, false)
  } catch {
    return false
  }
  const k = littleEndian(sha512(concatBytes([r, publicKey, message]))) % order
  const expected = Point.BASE.multiply(s, false).subtract(key.multiply(k, false))
  return equalBytes(expected.toBytes(), r)
}
