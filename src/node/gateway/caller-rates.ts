// What callers may send in a time: their rates of batches and bytes.

import type { Clock } from '../../libraries/base/clock.ts'
import type { Limits } from '../../libraries/base/limits.ts'

const windowSeconds = 10
/** Callers remembered before those who have been quiet for the window are forgotten. */
const callersKept = 10_000

const rateNames = ['callerRequestRate', 'callerByteRate'] as const
type RateName = (typeof rateNames)[number]

/** What is left in each bucket at a time; below 0 when a batch was larger than what was left. */
type Buckets = Record<RateName, number> & { atMs: number }

/**
 * What one caller may send in a time: batches and bytes, each a bucket that holds ten seconds' worth. Pure over monotonic
 * time. A batch is let in while the buckets are not empty, and paid for when its size is known.
 */
export class CallerRates {
  /** Per second; 0 for no limit. */
  readonly #limits: Pick<Limits, RateName>
  readonly #clock: Clock
  readonly #callers = new Map<string, Buckets>()

  constructor(limits: Pick<Limits, RateName>, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** The rate that keeps `caller` from sending a batch now, and for how long. */
  shortage(caller: string): { readonly name: RateName; readonly retryAfterSeconds: number } | undefined {
    if (rateNames.every((name) => this.#limits[name] === 0)) return undefined
    const left = this.#filled(caller)
    for (const name of rateNames) {
      const rate = this.#limits[name]
      const least = name === 'callerRequestRate' ? 1 : 0
      if (rate === 0 || left[name] >= least) continue
      return { name, retryAfterSeconds: Math.max(1, Math.ceil((least - left[name]) / rate)) }
    }
    return undefined
  }

  /** Counts a batch, whose size is told to `spend`. */
  take(caller: string): void {
    if (this.#limits.callerRequestRate > 0) this.#filled(caller).callerRequestRate -= 1
  }

  /** Counts the bytes of a batch that was taken. */
  spend(caller: string, bytes: number): void {
    if (this.#limits.callerByteRate > 0) this.#filled(caller).callerByteRate -= bytes
  }

  #filled(caller: string): Buckets {
    const nowMs = this.#clock.monotonicMs()
    let held = this.#callers.get(caller)
    if (held === undefined) {
      if (this.#callers.size >= callersKept) this.#forgetQuiet(nowMs)
      // Long ago: full by now.
      held = { callerRequestRate: 0, callerByteRate: 0, atMs: nowMs - 2 * windowSeconds * 1000 }
      this.#callers.set(caller, held)
    }
    const seconds = (nowMs - held.atMs) / 1000
    for (const name of rateNames) {
      const rate = this.#limits[name]
      held[name] = Math.min(rate * windowSeconds, held[name] + rate * seconds)
    }
    held.atMs = nowMs
    return held
  }

  /** A caller who is not in debt and has been quiet for the window has full buckets, as a new one has. */
  #forgetQuiet(nowMs: number): void {
    for (const [caller, { atMs, callerByteRate }] of this.#callers) {
      if (nowMs - atMs >= windowSeconds * 1000 && callerByteRate >= 0) this.#callers.delete(caller)
    }
  }
}
