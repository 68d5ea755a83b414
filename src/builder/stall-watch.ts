// Finds partitions that other builders should build and do not: their process beats, but cannot write, has halted
// them, or belongs to another store with the same group. Somebody else then builds them too, which never does harm.

import type { Clock } from '../lib/clock.ts'
import type { EventLog } from '../log/event-log.ts'
import { newestFloor } from '../store/records.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** Longer than the longest time between blocks of a dataset by default. */
const stalledMs = 2 * 60_000
/** A partition that was found so is built for this long; then it is looked at afresh. */
const takenMs = 60 * 60_000

export interface StallWatchDeps {
  readonly log: EventLog
  readonly store: ObjectStore
  readonly clock: Clock
}

interface Seen {
  readonly floor: number
  readonly sinceMs: number
}

export class StallWatch {
  readonly #deps: StallWatchDeps
  readonly #seen = new Map<number, Seen>()
  /** Until when each is built here. */
  readonly #taken = new Map<number, number>()

  constructor(deps: StallWatchDeps) {
    this.#deps = deps
  }

  /**
   * Looks at all partitions but those `given` to this builder; resolves with those that should be built here
   * nevertheless. Throws what log and store throw.
   */
  async look(given: readonly number[]): Promise<readonly number[]> {
    const { log, clock } = this.#deps
    for (let number = 0; number < log.partitions; number++) {
      const nowMs = clock.monotonicMs()
      if (given.includes(number)) {
        this.#seen.delete(number)
        this.#taken.delete(number)
      } else if ((this.#taken.get(number) ?? nowMs) <= nowMs) {
        this.#taken.delete(number)
        if (await this.#isStalled(number)) this.#taken.set(number, nowMs + takenMs)
      }
    }
    return [...this.#taken.keys()]
  }

  /** True when the floor has been below the end of the log, and the same, for long. */
  async #isStalled(number: number): Promise<boolean> {
    const { log, store, clock } = this.#deps
    const floor = (await newestFloor(store, log.id, number))?.position ?? 0
    const { end } = await log.range(number)
    const nowMs = clock.monotonicMs()
    const seen = this.#seen.get(number)
    if (end <= floor) this.#seen.delete(number)
    else if (seen?.floor !== floor) this.#seen.set(number, { floor, sinceMs: nowMs })
    else if (nowMs - seen.sinceMs >= stalledMs) {
      this.#seen.delete(number)
      return true
    }
    return false
  }
}
