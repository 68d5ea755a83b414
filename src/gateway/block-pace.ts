// Whether waiting for a block is worth it: the earliest next cut of each dataset, as announcements tell it.

import type { Clock } from '../lib/clock.ts'
import type { Announcements } from '../log/announcements.ts'
import type { DatasetId } from '../model/events.ts'

/** A block due within this time is waited for by default. */
const worthWaitingMs = 1000
/** Datasets remembered; the pace of a forgotten one is "at once". */
const maxDatasets = 10_000

export class BlockPace {
  readonly #clock: Clock
  readonly #earliestMs = new Map<DatasetId, number>()
  readonly #unsubscribe: () => void

  constructor(deps: { announcements: Announcements; clock: Clock }) {
    this.#clock = deps.clock
    this.#unsubscribe = deps.announcements.subscribe((message) => {
      this.#earliestMs.delete(message.dataset)
      this.#earliestMs.set(message.dataset, this.#clock.monotonicMs() + message.earliestNextCutInMs)
      const oldest = this.#earliestMs.keys().next().value
      if (this.#earliestMs.size > maxDatasets && oldest !== undefined) this.#earliestMs.delete(oldest)
    })
  }

  /** True when the next block of the dataset may come within a second. */
  isDueSoon(dataset: DatasetId): boolean {
    return (this.#earliestMs.get(dataset) ?? 0) - this.#clock.monotonicMs() <= worthWaitingMs
  }

  close(): void {
    this.#unsubscribe()
  }
}
