// Numbers from bytes against Number(), BigInt() and the grammar written as a regular expression.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  doubleOf,
  exactNumber,
  NumberScan,
  scaledInteger,
  scanNumber,
} from '../../../src/libraries/formats/number-scan.ts'

const scan = new NumberScan()
const strict = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const lenient = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/

function whole(text: string, loose: boolean): boolean {
  const bytes = Buffer.from(text)
  return scanNumber(scan, bytes, 0, bytes.length, loose) && scan.end === bytes.length
}

const digits = (max: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength: 1, maxLength: max })
const token = fc
  .tuple(fc.constantFrom('', '-'), digits(22), fc.option(digits(22)), fc.option(fc.integer({ min: -340, max: 340 })))
  .map(([sign, int, fraction, exponent]) => {
    const head = int.replace(/^0+(?=[0-9])/, '')
    return `${sign}${head}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`
  })

describe('scanNumber', () => {
  it('takes exactly the JSON grammar', () => {
    const unit = fc.constantFrom(...Array.from('0123456789+-.eE'))
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), (text) => {
        expect(whole(text, false)).toBe(strict.test(text))
      }),
      {
        numRuns: 3000,
      },
    )
  })

  it('takes exactly the looser grammar of CSV', () => {
    const unit = fc.constantFrom(...Array.from('0123456789+-.eE'))
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), (text) => {
        expect(whole(text, true)).toBe(lenient.test(text))
      }),
      {
        numRuns: 3000,
      },
    )
  })

  it('gives the double that Number gives, to the sign of zero', () => {
    fc.assert(
      fc.property(token, (text) => {
        expect(whole(text, false)).toBe(true)
        expect(doubleOf(scan, Buffer.from(text))).toBe(Number(text))
      }),
      { numRuns: 20_000 },
    )
  })

  it('gives the double of every shortest form', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = Object.is(value, -0) ? '-0' : String(value)
        expect(whole(text, true)).toBe(true)
        expect(doubleOf(scan, Buffer.from(text))).toBe(value)
      }),
      { numRuns: 5000 },
    )
  })

  it('keeps all digits of integers and of scaled ones', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }),
        fc.integer({ min: 0, max: 20 }),
        (value, zeros) => {
          const negative = value < 0n
          const plain = (negative ? -value : value).toString().padStart(zeros + 1, '0')
          const point = zeros === 0 ? plain : `${plain.slice(0, -zeros)}.${plain.slice(-zeros)}`
          const text = (negative ? '-' : '') + point
          expect(whole(text, true)).toBe(true)
          expect(scaledInteger(exactNumber(scan, Buffer.from(text)), zeros)).toBe(value)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['1.0', 0, 1n],
    ['1e3', 0, 1000n],
    ['12.50e1', 0, 125n],
    ['-0', 0, 0n],
    ['0e999999999999', 0, 0n],
    ['1.5', 0, 'fraction'],
    ['1e-400', 0, 'fraction'],
    ['1e400', 0, 'range'],
    ['1e99999999999999999999', 0, 'range'],
  ] as const)('reads %s times 10^%i as an integer: %s', (text, shift, expected) => {
    expect(whole(text, false)).toBe(true)
    expect(scaledInteger(exactNumber(scan, Buffer.from(text)), shift)).toBe(expected)
  })

  it.each([
    ['1700000000.9999', 3, 1700000000999n],
    ['-0.0005', 3, -1n],
    ['-1.5', 0, -2n],
    ['1e-30', 3, 0n],
  ] as const)('cuts %s times 10^%i down to %s', (text, shift, expected) => {
    expect(whole(text, false)).toBe(true)
    expect(scaledInteger(exactNumber(scan, Buffer.from(text)), shift, true)).toBe(expected)
  })
})
