// The platform's cryptography against a second implementation (@noble), at lengths around the hash's block size.

import { Point } from '@noble/ed25519'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import { sha3_256 as nobleSha3 } from '@noble/hashes/sha3.js'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createSha3256,
  ed25519Signer,
  ed25519Verify,
  randomBytes,
  sha256,
  sha3256,
} from '../../../../src/libraries/base/ids/native-crypto.ts'
import { utf8 } from '../../../../src/libraries/base/bytes.ts'

describe('hashes', () => {
  test('agree with a second implementation around block boundaries', () => {
    for (const length of [0, 1, 31, 63, 64, 65, 135, 136, 137, 271, 272, 273, 10_000]) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + length) & 255)
      expect(sha3256(bytes), `sha3-256 of ${length} bytes`).toEqual(nobleSha3(bytes))
      expect(sha256(bytes), `sha-256 of ${length} bytes`).toEqual(nobleSha256(bytes))
    }
  })

  test('are plain arrays of 32 bytes of their own', () => {
    const first = sha3256(utf8('a'))
    const copy = Uint8Array.from(first)
    sha3256(utf8('b'))
    expect(first).toEqual(copy)
    expect(Object.getPrototypeOf(first)).toBe(Uint8Array.prototype)
    expect(first).toHaveLength(32)
  })

  test('see only the bytes of a view', () => {
    const whole = utf8('xabcx')
    expect(sha3256(whole.subarray(1, 4))).toEqual(sha3256(utf8('abc')))
  })

  test('are the same in any parts', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }), (parts) => {
        const hash = createSha3256()
        for (const part of parts) hash.update(part)
        expect(hash.digest()).toEqual(nobleSha3(Uint8Array.from(parts.flatMap((part) => [...part]))))
      }),
      { numRuns: 100 },
    )
  })
})

describe('Ed25519', () => {
  const signer = ed25519Signer(new Uint8Array(32).fill(3))
  const message = utf8('message')

  test('gives keys that are points and signatures that verify', () => {
    expect(Point.fromBytes(signer.publicKey).toBytes()).toEqual(signer.publicKey)
    expect(ed25519Verify(signer.publicKey, message, signer.sign(message))).toBe(true)
    expect(ed25519Verify(signer.publicKey, utf8('massage'), signer.sign(message))).toBe(false)
  })

  test('says false, and throws nothing, for what is no key or signature', () => {
    const signature = signer.sign(message)
    expect(ed25519Verify(new Uint8Array(31), message, signature)).toBe(false)
    expect(ed25519Verify(new Uint8Array(32).fill(255), message, signature)).toBe(false)
    expect(ed25519Verify(signer.publicKey, message, signature.subarray(1))).toBe(false)
    expect(ed25519Verify(signer.publicKey, message, new Uint8Array(64).fill(255))).toBe(false)
  })
})

test('random bytes differ', () => {
  expect(randomBytes(32)).toHaveLength(32)
  expect(randomBytes(32)).not.toEqual(randomBytes(32))
})
