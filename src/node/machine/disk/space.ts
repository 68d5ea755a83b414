// The space reserve: rows are refused while a volume could not take what is already accepted, so that cuts, blocks,
// checkpoints and progress records can always be written and a full disk can be emptied. Log and store keep the same one.

import type { Clock } from '../../../libraries/base/clock.ts'

/** Kept free of rows on a volume, beside room for what is open. */
export const spaceReserveBytes = 256 * 1024 * 1024
/** Files that must still fit: a block takes about six, a new dataset as many directories. */
export const spaceReserveInodes = 10_000

/** A volume is asked again after this time, or after this much was written to it. */
const freshMs = 100
const freshBytes = 16 * 1024 * 1024

/** What a volume has left for this user. */
export interface FreeSpace {
  readonly bytes: number
  /** Files that may still be made; undefined where the file system has no such bound. */
  readonly inodes: number | undefined
}

/**
 * Why no rows may be accepted, or undefined. `free`: undefined where that has no meaning; `openBytes`: accepted bytes
 * that are in no block yet, each of which may be needed twice (slice and checkpoint).
 */
export function whyNoRoom(free: FreeSpace | undefined, openBytes: number): 'bytes' | 'inodes' | undefined {
  if (free === undefined) return undefined
  if (free.bytes < spaceReserveBytes + 2 * openBytes) return 'bytes'
  return free.inodes !== undefined && free.inodes < spaceReserveInodes ? 'inodes' : undefined
}

export interface SpaceReserveOptions {
  readonly freeSpace: () => Promise<FreeSpace | undefined>
  /** Bytes of rows that are in the log and in no block yet. */
  readonly openBytes: () => number
  readonly clock: Clock
}

/** The reserve of one volume, which is asked at most every 100 ms or 16 MiB. */
export class SpaceReserve {
  readonly #options: SpaceReserveOptions
  /** Until it is answered; of a question that failed, until the next one. */
  #asking: Promise<void> | undefined
  #free: FreeSpace | undefined
  #askedAtMs = Number.NEGATIVE_INFINITY
  #writtenBytes = 0

  constructor(options: SpaceReserveOptions) {
    this.#options = options
  }

  /** Asks the volume if that is due; undefined where nothing has to be awaited. Throws what the file system throws. */
  refresh(): Promise<void> | undefined {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#askedAtMs >= freshMs || this.#writtenBytes >= freshBytes) {
      this.#askedAtMs = nowMs
      this.#writtenBytes = 0
      this.#asking = this.#options.freeSpace().then((free) => {
        this.#free = free
        this.#asking = undefined
      })
    }
    return this.#asking
  }

  /** True when rows that take `bytes` of the volume leave the reserve untouched. To be refreshed before. */
  admits(bytes: number): boolean {
    const free = this.#free
    const left = free && { ...free, bytes: free.bytes - this.#writtenBytes - bytes }
    return whyNoRoom(left, this.#options.openBytes()) === undefined
  }

  /** `refresh`, then `admits`: at once where nothing has to be awaited. */
  hasRoom(bytes: number): boolean | Promise<boolean> {
    const asking = this.refresh()
    return asking === undefined ? this.admits(bytes) : asking.then(() => this.admits(bytes))
  }

  /** Counts bytes that were written since the volume was asked. */
  wrote(bytes: number): void {
    this.#writtenBytes += bytes
  }
}
