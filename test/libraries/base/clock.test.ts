// The text of times, which keeps what many have in common: it is that of the platform, in whatever order they come.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timeText } from '../../../src/libraries/base/clock.ts'

const nearMs = fc.tuple(fc.constantFrom(0, 1_772_359_200_000, -62_167_219_200_000, 8.64e15), fc.integer()).map(
  // Around minutes, whose texts are kept, on both sides of what a year of four digits holds.
  ([ms, more]) => Math.min(8.64e15, ms + (more % 200_000)),
)

test('is RFC 3339 in UTC with milliseconds', () => {
  fc.assert(
    fc.property(fc.array(nearMs, { minLength: 1 }), (times) => {
      for (const ms of times) expect(timeText(ms)).toBe(new Date(ms).toISOString())
    }),
  )
  expect(timeText(1.5)).toBe('1970-01-01T00:00:00.001Z')
  expect(() => timeText(Number.NaN)).toThrow(RangeError)
})
