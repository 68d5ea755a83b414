// Multihashes and multibase against vectors made by other implementations.

import { readFileSync } from 'node:fs'
import { base58btc } from 'multiformats/bases/base58'
import { describe, expect, test } from 'vitest'
import {
  arrowDigestText,
  base16Text,
  base58Text,
  base64urlText,
  decodeMultibase,
  hashText,
  multihashBytes,
  multihashText,
  normalHash,
  sha3Hash,
} from '../../../../src/libraries/base/ids/identifiers.ts'
import { fromHex, toHex, utf8 } from '../../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'

interface Identifiers {
  multihashes: {
    inputUtf8: string
    code: number
    digestHex: string
    multihashHex: string
    base16: string
    base16upper: string
    base58btc: string
    base64url: string
  }[]
  invalidMultihashes: { text: string; reason: string }[]
}

const vectors: Identifiers = JSON.parse(readFileSync('test/vectors/identifiers.json', 'utf8'))
const hex = (text: string): Uint8Array => fromHex(text)!

describe('multihash', () => {
  test.each(vectors.multihashes.filter((row) => row.code === 0x16))('of $inputUtf8 is $base16', (row) => {
    expect(sha3Hash(utf8(row.inputUtf8))).toBe(row.base16)
    expect(hashText(hex(row.digestHex))).toBe(row.base16)
  })

  test.each(vectors.multihashes)('of code $code has one value in four spellings ($base16)', (row) => {
    for (const text of [row.base16, row.base16upper, row.base58btc, row.base64url]) {
      expect(toHex(multihashBytes(text))).toBe(row.multihashHex)
      expect(multihashText(multihashBytes(text))).toBe(row.base16)
    }
    expect(base58Text(hex(row.multihashHex))).toBe(row.base58btc)
    expect(base64urlText(hex(row.multihashHex))).toBe(row.base64url)
  })

  test.each([
    ...vectors.invalidMultihashes,
    { text: `f8016${'20'}${'ab'.repeat(32)}`, reason: 'an unfinished code' },
    { text: `f968000${'20'}${'ab'.repeat(32)}`, reason: 'a code with a needless byte' },
    { text: `f16a000${'ab'.repeat(32)}`, reason: 'a length with a needless byte' },
  ])('refuses $text: $reason', ({ text }) => {
    expect(() => multihashBytes(text)).toThrow(DecodeError)
  })

  test('a logical hash begins f9680c00120', () => {
    const digest = new Uint8Array(32).fill(7)
    expect(arrowDigestText(digest)).toBe(`f9680c00120${'07'.repeat(32)}`)
  })

  test('only a sha3-256 multihash is the hash of an object', () => {
    const row = vectors.multihashes[1]!
    expect(normalHash(row.base58btc)).toBe(row.base16)
    expect(normalHash(row.base16upper)).toBe(row.base16)
    expect(() => normalHash(arrowDigestText(new Uint8Array(32)))).toThrow('not a sha3-256 multihash')
  })
})

describe('multibase', () => {
  test('base16 keeps to the case that its letter names', () => {
    expect(() => decodeMultibase('fAB', 'x', 8)).toThrow(DecodeError)
    expect(() => decodeMultibase('Fab', 'x', 8)).toThrow(DecodeError)
    expect(base16Text(decodeMultibase('FAB', 'x', 8))).toBe('fab')
  })

  test('base64url has one spelling of a value: no padding, no stray bits', () => {
    expect(toHex(decodeMultibase('uAQ', 'x', 8))).toBe('01')
    for (const text of ['uAQ==', 'uAR', 'uAQA=', 'uA', 'uA+A', 'uA/A']) {
      expect(() => decodeMultibase(text, 'x', 8), `text ${text}`).toThrow(DecodeError)
    }
  })

  test('leading zero bytes survive base58', () => {
    const bytes = hex('0000ff01')
    expect(decodeMultibase(base58btc.encode(bytes), 'x', 4)).toEqual(bytes)
  })

  test('a text that is too long is refused before its digits are read', () => {
    const long = `z${'2'.repeat(2_000_000)}`
    expect(() => decodeMultibase(long, 'x', 34)).toThrow('longer than 34 bytes can be')
    expect(() => decodeMultibase('f010203', 'x', 2)).toThrow(DecodeError)
  })
})
