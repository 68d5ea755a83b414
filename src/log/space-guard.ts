// Keeps part of the volume back from rows, so that cuts, blocks and checkpoints can still be written when producers
// have filled the rest: that is how a full disk empties itself.

import type { Clock } from '../lib/clock.ts'

const MiB = 1024 * 1024
/** Space that rows may never use; twice the open bytes come on top. */
const reserveBytes = 256 * MiB
const freshMs = 100
const freshBytes = 16 * MiB

interface SpaceGuardOptions {
  readonly freeBytes: () => number
  /** Bytes of rows that are in the log and not yet in a block. */
  readonly openBytes: () => number
  readonly clock: Clock
}

export class SpaceGuard {
  readonly #options: SpaceGuardOptions
  #free = 0
  #checkedAtMs = Number.NEGATIVE_INFINITY
  #usedSince = 0

  constructor(options: SpaceGuardOptions) {
    this.#options = options
  }

  /** True when `bytes` more rows leave the reserve untouched. Asks the volume at most every 100 ms or 16 MiB. */
  admitsRows(bytes: number): boolean {
    const now = this.#options.clock.monotonicMs()
    if (now - this.#checkedAtMs >= freshMs || this.#usedSince >= freshBytes) {
      this.#free = this.#options.freeBytes()
      this.#checkedAtMs = now
      this.#usedSince = 0
    }
    return this.#free - this.#usedSince - bytes >= reserveBytes + 2 * this.#options.openBytes()
  }

  /** Counts bytes that were written. */
  used(bytes: number): void {
    this.#usedSince += bytes
  }
}
