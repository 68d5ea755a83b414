// Whether the wall clock may be trusted with the times of blocks (protocol.md §3): one that has jumped against the
// monotonic clock is not, until it has been steady for a minute. A laptop that slept has a clock that jumped and is right.

import type { Clock } from '../lib/clock.ts'

/** The wall clock may be moved so far at once: it is set now and then. */
const jumpMs = 10 * 60_000
/** A clock that is trusted again has been steady for so long. */
const steadyMs = 60_000
/** A steady clock may be slewed by so much meanwhile. */
const slewMs = 1_000
/** Nobody can say that a clock was steady while nobody looked at it. */
const unwatchedMs = 30_000

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

  constructor(clock: Clock) {
    this.#clock = clock
    this.#trustedMs = clock.nowMs() - clock.monotonicMs()
  }

  /** True while the wall clock is not to be trusted. Looks at it: whoever relies on it asks every few seconds. */
  hasJumped(): boolean {
    const atMs = this.#clock.monotonicMs()
    const leadMs = this.#clock.nowMs() - atMs
    if (Math.abs(leadMs - this.#trustedMs) <= jumpMs) {
      this.#candidate = undefined
      return false
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
