// The space reserve: rows are refused while the volume could not take what is already accepted, so that cuts, blocks,
// checkpoints and floors can always be written and a full disk can be emptied.

import type { Clock } from '../lib/clock.ts'

/** Kept free of rows on the volume of the store, beside room for what is open. */
export const spaceReserveBytes = 256 * 1024 * 1024
/** The volume is asked at most this often. */
const freshMs = 100

/**
 * True while new rows may be accepted. `freeBytes`: what the volume has left, undefined where that has no meaning;
 * `openBytes`: accepted bytes that are in no block yet, each of which may be needed twice (slice and checkpoint).
 */
export function hasRoomForRows(freeBytes: number | undefined, openBytes: number): boolean {
  return freeBytes === undefined || freeBytes >= spaceReserveBytes + 2 * openBytes
}

export interface RoomOptions {
  /** What the volume of the store has left. */
  readonly freeBytes: () => Promise<number | undefined>
  /** Bytes of rows that are in the log and in no block yet. */
  readonly openBytes: () => number
  readonly clock: Clock
}

/** A function that says whether `bytes` of rows, beside what is open, leave the reserve untouched. */
export function createRoomCheck({ freeBytes, openBytes, clock }: RoomOptions): (bytes: number) => Promise<boolean> {
  let free: Promise<number | undefined> = Promise.resolve(undefined)
  let askedAtMs = Number.NEGATIVE_INFINITY
  return async (bytes) => {
    const nowMs = clock.monotonicMs()
    if (nowMs - askedAtMs >= freshMs) {
      free = freeBytes()
      askedAtMs = nowMs
    }
    return hasRoomForRows(await free, openBytes() + bytes)
  }
}
