// Numbers of many digits in NDJSON, read by the compiled reader: each is the double that JavaScript makes of it.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { optionalField, read, readerOptions } from './reading.ts'

const options = readerOptions([optionalField('v', { kind: 'Float64' })])

/** Digits with a point after the first, times a power of ten. */
const spelt = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 19n - 1n }), fc.integer({ min: -70, max: 45 }))
  .map(([digits, power]) => `${String(digits).replace(/^(.)/, '$1.')}${digits < 10n ? '0' : ''}e${power}`)
const small = fc
  .tuple(fc.nat(30), fc.bigInt({ min: 1n, max: 10n ** 19n - 1n }))
  .map(([zeros, digits]) => `0.${'0'.repeat(zeros)}${digits}`)
const printed = fc
  .tuple(fc.integer(), fc.integer({ min: 1 }))
  .map(([a, b]) => a / b)
  .map((value) => (Number.isInteger(value) ? `${value}.5` : String(value)))
/** Exactly between two doubles, or one digit beside that. */
const between = fc
  .tuple(fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n - 1n }), fc.nat(4), fc.integer({ min: -1, max: 1 }))
  .map(([bits, halvings, beside]) => `${(2n * bits + 1n) * 5n ** BigInt(halvings) + BigInt(beside)}e-${halvings}`)

it('gives the nearest double of any number', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(spelt, small, printed, between), { minLength: 1000, maxLength: 1000 }), (numbers) => {
      const { batches } = read('ndjson', numbers.map((number) => `{"v":${number}}\n`).join(''), options)
      const values = batches.flatMap(({ columns, rows }) => {
        const { buffer, byteOffset } = columns[1]?.values ?? new Uint8Array(0)
        return [...new Float64Array(buffer.slice(byteOffset, byteOffset + 8 * rows))]
      })
      expect(values).toEqual(numbers.map(Number))
    }),
    { numRuns: 30 },
  )
})
