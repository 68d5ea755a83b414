// Byte helpers against Node's Buffer.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concatBytes, equalBytes, fromHex, toHex, utf8 } from '../../../src/libraries/base/bytes.ts'

describe('hex', () => {
  it('goes to bytes and back as in Buffer, in either case', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = Buffer.from(bytes).toString('hex')
        expect(toHex(bytes)).toBe(text)
        expect(fromHex(text)).toEqual(bytes)
        expect(fromHex(text.toUpperCase())).toEqual(bytes)
      }),
    )
  })

  it('of two characters is bytes for hex digits and nothing else', () => {
    const characters = [...Array(0x300).keys()].map((code) => String.fromCharCode(code))
    for (const c of characters) {
      const digit = /^[0-9a-fA-F]$/.test(c)
      expect(fromHex(`${c}7`)?.[0]).toBe(digit ? Number.parseInt(`${c}7`, 16) : undefined)
      expect(fromHex(`f${c}`)?.[0]).toBe(digit ? Number.parseInt(`f${c}`, 16) : undefined)
    }
    expect(fromHex('abc')).toBeUndefined()
    expect(fromHex('')).toEqual(new Uint8Array(0))
  })
})

describe('arrays of bytes', () => {
  it('are joined in order and compared by content', () => {
    const joined = concatBytes([utf8('a'), new Uint8Array(0), utf8('é')])
    expect(joined).toEqual(Uint8Array.of(0x61, 0xc3, 0xa9))
    expect(equalBytes(joined, utf8('aé'))).toBe(true)
    expect(equalBytes(joined, utf8('aè'))).toBe(false)
    expect(equalBytes(joined, utf8('a'))).toBe(false)
  })
})
