// CRC-32C against published values and a bit-by-bit reference.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { crc32c, joinedCrc32c, sealedCrc32c } from '../../../src/libraries/base/crc32c.ts'

/** The definition, one bit at a time. */
function reference(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

// RFC 3720, B.4, and the check value of the CRC catalogue.
test.each([
  ['nothing', new Uint8Array(0), 0],
  ['the digits 1 to 9', new TextEncoder().encode('123456789'), 0xe3069283],
  ['32 zeros', new Uint8Array(32), 0x8a9136aa],
  ['32 ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
  ['0 to 31', Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
  ['31 to 0', Uint8Array.from({ length: 32 }, (_, i) => 31 - i), 0x113fdb5c],
])('the CRC-32C of %s is the published one', (_name, bytes, expected) => {
  expect(crc32c(bytes)).toBe(expected)
})

test('agrees with the definition on any bytes, whole or in parts', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), (bytes, cut) => {
      const at = Math.min(cut, bytes.length)
      expect(crc32c(bytes)).toBe(reference(bytes))
      expect(crc32c(bytes, at, bytes.length, crc32c(bytes, 0, at))).toBe(reference(bytes))
    }),
  )
})

test('of two neighbours is that of both, joined', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 5_000 }), (first, second) => {
      const both = new Uint8Array([...first, ...second])
      expect(joinedCrc32c(crc32c(first), crc32c(second), second.length)).toBe(reference(both))
    }),
  )
  const large = new Uint8Array(16 * 1024 * 1024 + 7).fill(0xa5)
  expect(joinedCrc32c(crc32c(large, 0, 9), crc32c(large, 9), large.length - 9)).toBe(crc32c(large))
})

test('of bytes that end with their own is always the same', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const whole = new Uint8Array([...bytes, 0, 0, 0, 0])
      new DataView(whole.buffer).setUint32(bytes.length, reference(bytes), true)
      expect(reference(whole)).toBe(sealedCrc32c)
    }),
  )
})
