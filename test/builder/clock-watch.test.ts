// When the wall clock is trusted: whatever it does, it is mistrusted from a jump on, and only until it has been steady.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ClockWatch } from '../../src/builder/governor.ts'
import type { Clock } from '../../src/lib/clock.ts'

const minuteMs = 60_000

/** A clock that is moved by hand: `pass` by both clocks, `jump` by the wall clock alone. */
function handClock() {
  const at = { monotonicMs: 0, nowMs: 1_700_000_000_000 }
  const clock: Clock = { nowMs: () => at.nowMs, monotonicMs: () => at.monotonicMs, sleep: async () => {} }
  const pass = (ms: number): void => {
    at.monotonicMs += ms
    at.nowMs += ms
  }
  const jump = (ms: number): void => {
    at.nowMs += ms
  }
  return { clock, pass, jump }
}

/** Looks every 5 s for `ms`; resolves with how long the clock was mistrusted from the start on. */
function mistrustedMs(watch: ClockWatch, pass: (ms: number) => void, ms: number): number {
  let last = -1
  for (let at = 0; at <= ms; at += 5_000) {
    if (watch.hasJumped()) last = at
    pass(5_000)
  }
  return last + 1
}

describe('a wall clock', () => {
  const jumps = fc.oneof(
    fc.integer({ min: -10 * minuteMs, max: 10 * minuteMs }),
    fc.integer({ min: 10 * minuteMs + 1, max: 400 * 24 * 60 * minuteMs }),
    fc.integer({ min: -400 * 24 * 60 * minuteMs, max: -10 * minuteMs - 1 }),
  )

  test('that jumps once is mistrusted for a minute if it jumped far, and not at all if it did not', () => {
    fc.assert(
      fc.property(jumps, (ms) => {
        const { clock, pass, jump } = handClock()
        const watch = new ClockWatch(clock)
        expect(mistrustedMs(watch, pass, minuteMs)).toBe(0)
        jump(ms)
        const isFar = Math.abs(ms) > 10 * minuteMs
        expect(mistrustedMs(watch, pass, 5 * minuteMs)).toBe(isFar ? 55_001 : 0)
        // From then on the new time is the one that others are measured by.
        jump(-ms)
        expect(mistrustedMs(watch, pass, 5 * minuteMs)).toBe(isFar ? 55_001 : 0)
      }),
    )
  })

  test('that goes on jumping is mistrusted until it stops', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 11 * minuteMs, max: 24 * 60 * minuteMs }), { minLength: 2, maxLength: 20 }),
        (steps) => {
          const { clock, pass, jump } = handClock()
          const watch = new ClockWatch(clock)
          for (const step of steps) {
            jump(step)
            for (let at = 0; at < 50_000; at += 5_000) {
              expect(watch.hasJumped()).toBe(true)
              pass(5_000)
            }
          }
          // The last 50 s of it were steady already.
          expect(mistrustedMs(watch, pass, 5 * minuteMs)).toBe(5_001)
        },
      ),
    )
  })

  test('that jumped back is trusted at once', () => {
    const { clock, pass, jump } = handClock()
    const watch = new ClockWatch(clock)
    jump(60 * minuteMs)
    expect(watch.hasJumped()).toBe(true)
    pass(5_000)
    jump(-60 * minuteMs)
    expect(watch.hasJumped()).toBe(false)
  })

  test('is not steady while nobody looks', () => {
    const { clock, pass, jump } = handClock()
    const watch = new ClockWatch(clock)
    jump(60 * minuteMs)
    expect(watch.hasJumped()).toBe(true)
    pass(10 * minuteMs)
    expect(watch.hasJumped()).toBe(true)
    expect(mistrustedMs(watch, pass, 5 * minuteMs)).toBe(55_001)
  })
})
