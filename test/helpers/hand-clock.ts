// A clock that moves when a test says so: nothing waits for real time.

import { type Clock, systemClock } from '../../src/libraries/base/clock.ts'

export interface HandClock extends Clock {
  /** How long each sleep was to be, in milliseconds. */
  readonly slept: number[]
  /** Moves the clock, ends all sleeps, and lets what follows from them happen. */
  advance(ms: number): Promise<void>
}

export function handClock(): HandClock {
  let nowMs = 0
  const sleepers = new Set<() => void>()
  const slept: number[] = []
  return {
    ...systemClock,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        slept.push(ms)
        sleepers.add(resolve)
        const end = (): void => {
          sleepers.delete(resolve)
          resolve()
        }
        if (signal?.aborted === true) end()
        signal?.addEventListener('abort', end, { once: true })
      }),
    slept,
    async advance(ms) {
      nowMs += ms
      for (const wake of sleepers) wake()
      sleepers.clear()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
