// Keeps part of the log's volume back from rows (lib/space.ts). The volume is asked at most every 100 ms or 16 MiB.

import type { Clock } from '../lib/clock.ts'
import { type FreeSpace, whyNoRoom } from './space.ts'

const freshMs = 100
const freshBytes = 16 * 1024 * 1024

interface SpaceGuardOptions {
  readonly freeSpace: () => FreeSpace
  /** Bytes of rows that are in the log and not yet in a block. */
  readonly openBytes: () => number
  readonly clock: Clock
}

export class SpaceGuard {
  readonly #options: SpaceGuardOptions
  #free: FreeSpace = { bytes: 0, inodes: undefined }
  #checkedAtMs = Number.NEGATIVE_INFINITY
  #usedSince = 0

  constructor(options: SpaceGuardOptions) {
    this.#options = options
  }

  /** True when `bytes` more rows leave the reserve untouched. */
  admitsRows(bytes: number): boolean {
    const now = this.#options.clock.monotonicMs()
    if (now - this.#checkedAtMs >= freshMs || this.#usedSince >= freshBytes) {
      this.#free = this.#options.freeSpace()
      this.#checkedAtMs = now
      this.#usedSince = 0
    }
    const left = { ...this.#free, bytes: this.#free.bytes - this.#usedSince - bytes }
    return whyNoRoom(left, this.#options.openBytes()) === undefined
  }

  /** Counts bytes that were written. */
  used(bytes: number): void {
    this.#usedSince += bytes
  }
}
