// The strict Ed25519 rule: a signature that any checker would doubt is refused. Key and R must be canonical points of
// no small order and S below the group order; then the platform's cofactorless equation decides.
// Source: RFC 8032; "Taming the many EdDSAs" (Chalkias, Garillot, Nikolaenko, 2020), the strictest column.

import { Point } from '@noble/ed25519'
import { ed25519Verify } from '../ids/native-crypto.ts'

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

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0)
  return value
}
