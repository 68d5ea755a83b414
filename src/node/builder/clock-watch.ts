// Whether the wall clock can be trusted: blocks are dated by it, and no block is older than the one before it, so one block
// with a time of the future dates a dataset permanently. Measured by the monotonic clock while the process runs, and at its start
// by when something was last committed.

import type { Clock } from '../../libraries/base/clock.ts'

/** The wall clock may be moved so far at once: it is set now and then. */
const jumpMs = 10 * 60_000
/** A clock that is trusted again has been steady for so long. */
const steadyMs = 60_000
/** A steady clock may be slewed by so much meanwhile. */
const slewMs = 1_000
/** Nobody can say that a clock was steady while nobody looked at it. */
const unwatchedMs = 30_000

/** A clock that is so far beyond what is known of the time is wrong, however steady it is: the time of a block stays. */
const farMs = 5 * 365 * 24 * 60 * 60_000

/** What the wall clock is ahead of the monotonic one. */
interface Lead {
  readonly leadMs: number
  /** Monotonic times of the first and of the last look at which it was so. */
  readonly sinceMs: number
  readonly seenMs: number
}

export class ClockWatch {
  readonly #clock: Clock
  #trustedMs: number
  #candidate: Lead | undefined

  /** `lastMs`: when something was last committed, by the clock of the store; undefined where nothing was. */
  constructor(clock: Clock, lastMs?: number) {
    this.#clock = clock
    const nowMs = clock.nowMs()
    this.#trustedMs = (lastMs !== undefined && nowMs - lastMs > farMs ? lastMs : nowMs) - clock.monotonicMs()
  }

  /** True while the wall clock is years ahead. It is not trusted then until it is put right. */
  get isFar(): boolean {
    return this.#clock.nowMs() - this.#clock.monotonicMs() - this.#trustedMs > farMs
  }

  /** True while the wall clock is not to be trusted. Looks at it: callers that rely on it ask every few seconds. */
  hasJumped(): boolean {
    const atMs = this.#clock.monotonicMs()
    const leadMs = this.#clock.nowMs() - atMs
    // One that stands on the border does not come and go.
    const isAway = this.#candidate !== undefined
    const isNear = Math.abs(leadMs - this.#trustedMs) <= (isAway ? jumpMs / 2 : jumpMs)
    if (isNear || this.isFar) {
      this.#candidate = undefined
      return !isNear
    }
    const before = this.#candidate
    const isSame =
      before !== undefined && Math.abs(leadMs - before.leadMs) <= slewMs && atMs - before.seenMs <= unwatchedMs
    this.#candidate = isSame ? { ...before, seenMs: atMs } : { leadMs, sinceMs: atMs, seenMs: atMs }
    if (atMs - this.#candidate.sinceMs < steadyMs) return true
    this.#trustedMs = leadMs
    this.#candidate = undefined
    return false
  }
}
