// Decimals in the physical forms that few writers use: byte arrays of any length, and fixed bytes longer than they need be.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { concatBytes } from '../../../../src/libraries/base/bytes.ts'
import { oneColumn, withLength } from './craft.ts'
import { readAll, refusal } from './parquet-helper.ts'

const [byteArray, fixed] = [6, 7]
const decimal = 5

/** The two's complement of `value` in `length` bytes, the highest first. */
function bigEndian(value: bigint, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => Number(BigInt.asUintN(8, value >> BigInt(8 * (length - 1 - i)))))
}

/** The fewest bytes that hold `value`. */
function shortest(value: bigint): number {
  let length = 1
  while (BigInt.asIntN(8 * length, value) !== value) length++
  return length
}

function file(values: readonly Uint8Array[], precision: number, typeLength?: number): Uint8Array {
  const type = typeLength === undefined ? byteArray : fixed
  const body = concatBytes(typeLength === undefined ? values.map(withLength) : values)
  const element = { type, converted: decimal, precision, scale: 2, ...(typeLength === undefined ? {} : { typeLength }) }
  return oneColumn({ entries: values.length, body }, { type }, element)
}

const most = 10n ** 38n - 1n
const arbDecimals = fc.array(fc.bigInt({ min: -most, max: most }), { minLength: 1, maxLength: 50 })

test('byte arrays of any length that holds the number', async () => {
  await fc.assert(
    fc.asyncProperty(arbDecimals, fc.nat({ max: 9 }), async (values, more) => {
      const [column] = await readAll(
        file(
          values.map((value, i) => bigEndian(value, shortest(value) + (i % (more + 1)))),
          38,
        ),
      )
      expect(column).toEqual({ name: 'n', type: 'Decimal(38,2)', values: values.map(String) })
    }),
  )
})

test('fixed bytes, also more than sixteen', async () => {
  await fc.assert(
    fc.asyncProperty(arbDecimals, fc.integer({ min: 16, max: 40 }), async (values, length) => {
      const [column] = await readAll(
        file(
          values.map((value) => bigEndian(value, length)),
          38,
          length,
        ),
      )
      expect(column?.values).toEqual(values.map(String))
    }),
  )
})

test('a number of more digits than its column declares is named by its record', async () => {
  for (const [value, precision] of [
    [1000n, 3],
    [-1000n, 3],
    [most + 1n, 38],
    [2n ** 127n - 1n, 38],
  ] as const) {
    expect(await refusal(file([bigEndian(0n, 16), bigEndian(value, 16)], precision, 16))).toMatchObject({
      kind: 'RecordsDoNotFit',
      details: { errors: [{ record: 1, column: 'n', kind: 'OutOfRange' }] },
    })
  }
})

test('numbers beyond sixteen bytes, and of none, are refused', async () => {
  for (const bytes of [bigEndian(2n ** 127n, 17), bigEndian(-(2n ** 200n), 30), new Uint8Array(0)]) {
    expect(await refusal(file([bytes], 38))).toMatchObject({ kind: 'MalformedBody' })
  }
})
