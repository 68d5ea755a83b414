// What one caller may send in a time: batches and bytes, each a bucket that holds ten seconds' worth. Pure over
// monotonic time. A batch is let in while the buckets are not empty, and paid for when its size is known.

import type { Clock } from '../lib/clock.ts'
import type { LimitName } from '../lib/limits.ts'
import { NodeError } from '../model/errors.ts'

const windowSeconds = 10
/** Callers remembered before those who have been quiet for the window are forgotten. */
const callersKept = 10_000

type RateName = Extract<LimitName, 'callerRequestRate' | 'callerByteRate'>

const units = { callerRequestRate: 'requests/s', callerByteRate: 'bytes/s' } as const satisfies Record<RateName, string>

/** Per second; 0 for no limit. */
export type CallerRateLimits = Readonly<Record<RateName, number>>

/** What is left in each bucket at a time; below 0 when a batch was larger than what was left. */
type Buckets = Record<RateName, number> & { atMs: number }

export class CallerRates {
  readonly #limits: CallerRateLimits
  readonly #clock: Clock
  readonly #callers = new Map<string, Buckets>()

  constructor(limits: CallerRateLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Counts a batch of `caller`, whose size is told to `spend`. Throws NodeError `QuotaExceeded`; then nothing counts. */
  take(caller: string): void {
    const { callerRequestRate, callerByteRate } = this.#limits
    if (callerRequestRate === 0 && callerByteRate === 0) return
    const buckets = this.#filled(caller)
    if (callerRequestRate > 0) this.#demand(buckets, 'callerRequestRate', 1)
    if (callerByteRate > 0) this.#demand(buckets, 'callerByteRate', 0)
    buckets.callerRequestRate -= 1
  }

  /** Counts the bytes of a batch that was taken. */
  spend(caller: string, bytes: number): void {
    if (this.#limits.callerByteRate > 0) this.#filled(caller).callerByteRate -= bytes
  }

  #demand(buckets: Buckets, name: RateName, least: number): void {
    const value = this.#limits[name]
    const left = buckets[name]
    if (left >= least) return
    throw new NodeError('QuotaExceeded', `This token has used up its ${value} ${units[name]}.`, {
      hint: 'Wait as long as Retry-After says, then send it again.',
      limit: { name, value, unit: units[name] },
      retryAfterSeconds: Math.max(1, Math.ceil((least - left) / value)),
    })
  }

  #filled(caller: string): Buckets {
    const nowMs = this.#clock.monotonicMs()
    const { callerRequestRate, callerByteRate } = this.#limits
    const held = this.#callers.get(caller)
    if (held === undefined) {
      if (this.#callers.size >= callersKept) this.#forgetQuiet(nowMs)
      const full = {
        callerRequestRate: callerRequestRate * windowSeconds,
        callerByteRate: callerByteRate * windowSeconds,
        atMs: nowMs,
      }
      this.#callers.set(caller, full)
      return full
    }
    const seconds = (nowMs - held.atMs) / 1000
    for (const name of ['callerRequestRate', 'callerByteRate'] as const) {
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
