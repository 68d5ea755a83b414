// The strict signature rule, on signatures made for the purpose: valid by the equation, refused by the rule.
// Points and scalars come from @noble/ed25519, which also shows that each forgery does satisfy the equation.

import { createHash } from 'node:crypto'
import { etc, Point } from '@noble/ed25519'
import { describe, expect, test } from 'vitest'
import { ed25519Signer } from '../../../src/libraries/base/ids/native-crypto.ts'
import { concatBytes, fromHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { signatureFault } from '../../../src/libraries/proof/check.ts'

const order = Point.CURVE().n
const message = utf8('commitment')
const seed = new Uint8Array(32).fill(1)
const signer = ed25519Signer(seed)
const good = signer.sign(message)

function littleEndian(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(64, '0'))!.toReversed()
}

function toBigint(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
}

/** The secret scalar of the seed (RFC 8032, 5.1.5). */
function secretScalar(): bigint {
  const half = createHash('sha512').update(seed).digest().subarray(0, 32)
  half[0] = half[0]! & 248
  half[31] = (half[31]! & 127) | 64
  return toBigint(half)
}

function challenge(r: Uint8Array, publicKey: Uint8Array): bigint {
  return etc.mod(toBigint(createHash('sha512').update(r).update(publicKey).update(message).digest()), order)
}

/** The cofactorless equation S·B = R + k·A (RFC 8032, 5.1.7). */
function equationHolds(publicKey: Uint8Array, signature: Uint8Array): boolean {
  const r = signature.subarray(0, 32)
  const right = Point.fromBytes(r).add(Point.fromBytes(publicKey).multiply(challenge(r, publicKey), false))
  return Point.BASE.multiply(toBigint(signature.subarray(32)), false).equals(right)
}

const identity = Point.ZERO.toBytes()
const zeroScalar = new Uint8Array(32)

describe('the strict rule', () => {
  test('accepts a genuine signature', () => {
    expect(signatureFault(signer.publicKey, message, good)).toBeUndefined()
    expect(equationHolds(signer.publicKey, good)).toBe(true)
  })

  test('refuses any changed bit of signature, key or message', () => {
    for (let bit = 0; bit < 512; bit += 5) {
      const changed = Uint8Array.from(good)
      changed[bit >> 3] = changed[bit >> 3]! ^ (1 << (bit & 7))
      expect(signatureFault(signer.publicKey, message, changed), `bit ${bit}`).toBeTypeOf('string')
    }
    const otherKey = ed25519Signer(new Uint8Array(32).fill(2)).publicKey
    expect(signatureFault(otherKey, message, good)).toBe('the verification equation is not satisfied')
    expect(signatureFault(signer.publicKey, utf8('commitmenT'), good)).toBe(
      'the verification equation is not satisfied',
    )
  })

  test('refuses the identity as key, with which one signature fits every message', () => {
    const forged = concatBytes([identity, zeroScalar])
    expect(equationHolds(identity, forged)).toBe(true)
    expect(signatureFault(identity, message, forged)).toBe('the key is of small order')
  })

  test('refuses the other spellings of the identity', () => {
    const p = Point.CURVE().p
    const forged = concatBytes([identity, zeroScalar])
    const negativeZero = Uint8Array.from(identity)
    negativeZero[31] = 0x80
    for (const key of [littleEndian(p + 1n), negativeZero]) {
      expect(signatureFault(key, message, forged)).toBe('the key is not the canonical form of a point on the curve')
      expect(signatureFault(signer.publicKey, message, concatBytes([key, zeroScalar]))).toBe(
        "the signature's point is not the canonical form of a point on the curve",
      )
    }
  })

  test('refuses every point of small order as key', () => {
    // Orders 1, 2, 4, 4, 8, 8, 8, 8.
    const smallOrder = [
      '0100000000000000000000000000000000000000000000000000000000000000',
      'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      '0000000000000000000000000000000000000000000000000000000000000000',
      '0000000000000000000000000000000000000000000000000000000000000080',
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    ]
    for (const text of smallOrder) {
      expect(signatureFault(fromHex(text)!, message, good), `key ${text}`).toBe('the key is of small order')
    }
  })

  test('refuses a signature whose point is of small order, though the equation holds', () => {
    const scalar = etc.mod(challenge(identity, signer.publicKey) * secretScalar(), order)
    const forged = concatBytes([identity, littleEndian(scalar)])
    expect(equationHolds(signer.publicKey, forged)).toBe(true)
    expect(signatureFault(signer.publicKey, message, forged)).toBe("the signature's point is of small order")
  })

  test('refuses a second scalar for the same signature', () => {
    const malleated = concatBytes([good.subarray(0, 32), littleEndian(toBigint(good.subarray(32)) + order)])
    expect(signatureFault(signer.publicKey, message, malleated)).toBe(
      "the signature's scalar is not below the group order",
    )
  })

  test('refuses a key that is no point, and wrong lengths', () => {
    const offCurve = Uint8Array.from(signer.publicKey)
    let attempts = 0
    for (; attempts < 100; attempts++) {
      offCurve[0] = attempts
      if (signatureFault(offCurve, message, good)?.includes('on the curve')) break
    }
    expect(attempts).toBeLessThan(100)
    expect(signatureFault(signer.publicKey.subarray(1), message, good)).toBe('the key has not 32 bytes')
    expect(signatureFault(signer.publicKey, message, good.subarray(1))).toBe('the signature has not 64 bytes')
  })
})
