// Which wall clocks are trusted, and what a builder does with one that is not.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ClockWatch } from '../../../src/node/builder/clock-watch.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { progressPrefix } from '../../../src/node/store/layout.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { until } from '../../helpers/until.ts'
import { chainOf, datasetId, quickCuts, start, TestWriter } from './support.ts'

const minuteMs = 60_000
const yearMs = 365 * 24 * 60 * minuteMs

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

  test('that stands on the border is mistrusted no longer than any other', () => {
    const { clock, pass, jump } = handClock()
    const watch = new ClockWatch(clock)
    jump(10 * minuteMs)
    let turn = 0
    const passUneven = (ms: number): void => {
      pass(ms)
      jump(turn++ % 2 === 0 ? 1 : -1)
    }
    expect(mistrustedMs(watch, passUneven, 5 * minuteMs)).toBeLessThan(70_000)
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

  test('that is years ahead is never trusted, however steady it is, until it is put right', () => {
    const { clock, pass, jump } = handClock()
    const watch = new ClockWatch(clock)
    jump(73 * yearMs)
    expect(mistrustedMs(watch, pass, 60 * minuteMs)).toBe(60 * minuteMs + 1)
    jump(-73 * yearMs)
    expect(watch.hasJumped()).toBe(false)
    // So it is where a process starts with it.
    const { clock: late, pass: passLate, jump: jumpLate } = handClock()
    const { nowMs } = late
    const started = new ClockWatch(late, nowMs() - 6 * yearMs)
    expect(mistrustedMs(started, passLate, 60 * minuteMs)).toBe(60 * minuteMs + 1)
    jumpLate(-6 * yearMs)
    expect(started.hasJumped()).toBe(false)
    expect(new ClockWatch(late, nowMs() - 4 * yearMs).hasJumped()).toBe(false)
  })
})

test('a builder makes no block years after its last one, and goes on when the clock is right', async () => {
  const writer = new TestWriter('w')
  const [log, store, id] = [openMemoryLog(), openMemoryStore(systemClock.nowMs), datasetId('dated')]
  await log.append(0, [writer.create(id, 'acme/x'), writer.rows(id, [{}])])
  const first = await start(log, store, { options: quickCuts })
  await until('a floor is written', async () => (await store.list(progressPrefix(log.id, 0))).length > 0)
  await first.builder.stop()
  const ahead = { ms: 73 * yearMs }
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + ahead.ms }
  const { builder } = await start(log, store, { clock, options: quickCuts })
  await log.append(0, [writer.rows(id, [{}])])
  await until('it says why it does not build', async () => builder.haltOf(0, id)?.what.includes('five years') === true)
  expect(builder.status()).toMatchObject({ ready: false })
  const { length } = await chainOf(store, id)
  ahead.ms = 0
  await until('it goes on', async () => (await chainOf(store, id)).length > length)
  const times = (await chainOf(store, id)).map(({ block }) => block.systemTime)
  expect(times.filter((time) => time > '2090')).toEqual([])
  await builder.stop()
})
