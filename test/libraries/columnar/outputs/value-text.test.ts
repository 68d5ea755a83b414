// Tokens of single values against tables measured on deployed nodes and against JavaScript's own calendar.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dateText,
  decimalText,
  float32Token,
  float64Token,
  intervalText,
  stringToken,
  timeNanosText,
  timestampMicrosText,
  timestampNanosText,
} from '../../../../src/libraries/columnar/outputs/value-text.ts'

describe('floats', () => {
  test.each([
    [1, '1.0', '1.0'],
    [1e12, '1000000000000.0', '1000000000000.0'],
    [1e13, '10000000000000.0', '1e+13'],
    [1e15, '1000000000000000.0', '1e+15'],
    [1e16, '1e+16', '1e+16'],
    [1e21, '1e+21', '1e+21'],
    [1e-5, '0.00001', '0.00001'],
    [1e-6, '1e-6', '0.000001'],
    [1e-7, '1e-7', '1e-7'],
    [1.23456789e-5, '0.0000123456789', '0.000012345679'],
    [0, '0.0', '0.0'],
    [-0, '-0.0', '-0.0'],
    [Number.NaN, 'null', 'null'],
    [Number.NEGATIVE_INFINITY, 'null', 'null'],
    [2537.07, '2537.07', '2537.07'],
    [-1234567, '-1234567.0', '-1234567.0'],
    [0.1, '0.1', '0.1'],
  ])('%f prints as a deployed node prints it', (value, wide, narrow) => {
    expect(float64Token(value)).toBe(wide)
    expect(float32Token(Math.fround(value))).toBe(narrow)
  })

  test('the extremes keep all their digits', () => {
    expect(float64Token(5e-324)).toBe('5e-324')
    expect(float64Token(Number.MAX_VALUE)).toBe('1.7976931348623157e+308')
    expect(float32Token(3.4028234663852886e38)).toBe('3.4028235e+38')
  })

  test('every token reads back as the value, and is a JSON number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const token = float64Token(value)
        expect(Object.is(Number(token), value)).toBe(true)
        expect(token).toMatch(/^-?\d+(\.\d+|(\.\d+)?e[+-]\d+)$/)
      }),
    )
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const token = float32Token(value)
        expect(Object.is(Math.fround(Number(token)), value)).toBe(true)
        expect(token).toMatch(/^-?\d+(\.\d+|(\.\d+)?e[+-]\d+)$/)
      }),
    )
  })
})

describe('times', () => {
  test('dates agree with the calendar of JavaScript over its whole range', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100_000_000, max: 100_000_000 }), (days) => {
        const iso = new Date(days * 86_400_000).toISOString().slice(0, -14)
        // JavaScript pads signed years to six digits.
        const expected = iso.replace(/^([+-])0{0,2}(\d{4,6})-/, '$1$2-')
        expect(dateText(days)).toBe(expected)
      }),
    )
  })

  test.each([
    [-719_529, '-0001-12-31'],
    [-719_162, '0001-01-01'],
    [2_932_897, '+10000-01-01'],
    [-1, '1969-12-31'],
  ])('day %i is %s', (days, text) => {
    expect(dateText(days)).toBe(text)
  })

  test('fractions have 0, 3, 6 or 9 digits as the value needs', () => {
    expect(timestampMicrosText(1_725_313_800_000_000n)).toBe('2024-09-02T21:50:00')
    expect(timestampMicrosText(1_725_313_800_120_000n)).toBe('2024-09-02T21:50:00.120')
    expect(timestampMicrosText(1_725_313_800_000_001n)).toBe('2024-09-02T21:50:00.000001')
    expect(timestampNanosText(1_725_313_800_000_000_001n)).toBe('2024-09-02T21:50:00.000000001')
    expect(timestampMicrosText(-1n)).toBe('1969-12-31T23:59:59.999999')
    expect(timeNanosText(86_400_000_000_000n)).toBe('24:00:00')
    expect(timeNanosText(78_600_500_000_000n)).toBe('21:50:00.500')
  })

  test('microseconds and nanoseconds agree beyond the exact doubles', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 58n), max: 2n ** 58n }), (micros) => {
        expect(timestampMicrosText(micros)).toBe(timestampNanosText(micros * 1000n))
      }),
    )
  })

  test.each([
    [14, 3, 14_706_789_000n, 'P14M3DT4H5M6.789S'],
    [0, 0, 0n, 'PT0S'],
    [0, -1, 0n, 'P-1D'],
    [0, 0, -90_000_000n, 'PT-1M-30S'],
    [-1, 0, 1n, 'P-1MT0.000001S'],
  ])('interval %i, %i, %i is %s', (months, days, micros, text) => {
    expect(intervalText(months, days, micros)).toBe(text)
  })
})

test.each([
  [150n, 2, '1.50'],
  [-5n, 2, '-0.05'],
  [0n, 3, '0.000'],
  [12n, 0, '12'],
])('decimal %i with scale %i is %s', (scaled, scale, text) => {
  expect(decimalText(scaled, scale)).toBe(text)
})

test('strings escape as canonical JSON, beyond ASCII only where asked', () => {
  expect(stringToken('a"\\\b\t\n\f\r\u0001\u007fé😀/', true)).toBe(
    '"a\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u007f\\u00e9\\ud83d\\ude00/"',
  )
  expect(stringToken('é\u0001', false)).toBe('"é\\u0001"')
})
