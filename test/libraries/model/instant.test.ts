// Instants against Date, which knows the calendar to the millisecond.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareInstants,
  instantFromMs,
  instantMs,
  instantText,
  parseInstant,
} from '../../../src/libraries/model/instant.ts'

const anyMs = fc.integer({ min: Date.parse('0000-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59.999Z') })

describe('instants', () => {
  it('agree with Date on every millisecond', () => {
    fc.assert(
      fc.property(anyMs, (ms) => {
        const text = instantFromMs(ms)
        const date = new Date(ms)
        expect(Date.parse(text)).toBe(ms)
        expect(instantMs(text)).toBe(ms)
        const parts = parseInstant(text)!
        const yearStart = new Date(ms)
        yearStart.setUTCMonth(0, 1)
        yearStart.setUTCHours(0, 0, 0, 0)
        expect(parts.year).toBe(date.getUTCFullYear())
        expect((parts.dayOfYear - 1) * 86_400_000 + parts.secondOfDay * 1000 + parts.nanos / 1e6).toBe(
          ms - yearStart.getTime(),
        )
        expect(instantText(parts)).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })

  it('are ordered as their milliseconds, and finer digits after that', () => {
    fc.assert(
      fc.property(anyMs, anyMs, (a, b) => {
        expect(Math.sign(compareInstants(instantFromMs(a), instantFromMs(b)))).toBe(Math.sign(a - b))
      }),
    )
    const ascending = ['00Z', '00.000000001Z', '00.1Z', '00.10001Z', '00.5Z', '01Z'].map(
      (end) => `2025-01-01T00:00:${end}`,
    )
    for (const [i, a] of ascending.entries())
      for (const [j, b] of ascending.entries()) expect(compareInstants(a, b)).toBe(Math.sign(i - j))
  })

  it('keep nanoseconds, of which milliseconds are cut off', () => {
    expect(parseInstant('2025-03-01T01:02:03.123456789Z')).toEqual({
      year: 2025,
      dayOfYear: 60,
      secondOfDay: 3723,
      nanos: 123_456_789,
    })
    expect(instantMs('1969-12-31T23:59:59.9999Z')).toBe(-1)
  })

  it.each([
    '2025-02-29T00:00:00Z',
    '2025-13-01T00:00:00Z',
    '2025-00-01T00:00:00Z',
    '2025-01-00T00:00:00Z',
    '2025-04-31T00:00:00Z',
    '2025-01-01T24:00:00Z',
    '2025-01-01T00:60:00Z',
    '2025-01-01T00:00:60Z',
    '2025-01-01T00:00:00.10Z',
    '2025-01-01T00:00:00.Z',
    '2025-01-01T00:00:00.1234567891Z',
    '2025-01-01T00:00:00+00:00',
    '2025-01-01 00:00:00Z',
    '2025-01-01T00:00:00z',
    '12025-01-01T00:00:00Z',
    '',
  ])('%j is not one in the stored form', (text) => {
    expect(parseInstant(text)).toBeUndefined()
  })

  it('know leap years', () => {
    expect(parseInstant('2024-12-31T00:00:00Z')?.dayOfYear).toBe(366)
    expect(parseInstant('1900-02-29T00:00:00Z')).toBeUndefined()
    expect(parseInstant('2000-02-29T00:00:00Z')?.dayOfYear).toBe(60)
  })
})
