// Whether the volume of the store has room for rows, asked at most every 100 ms.

import type { Clock } from '../lib/clock.ts'
import { type FreeSpace, whyNoRoom } from './space.ts'

/** The volume is asked at most this often. */
const freshMs = 100

export interface RoomOptions {
  /** What the volume of the store has left. */
  readonly freeSpace: () => Promise<FreeSpace | undefined>
  /** Bytes of rows that are in the log and in no block yet. */
  readonly openBytes: () => number
  readonly clock: Clock
}

/** A function that says whether `bytes` of rows, beside what is open, leave the reserve untouched. */
export function createRoomCheck({ freeSpace, openBytes, clock }: RoomOptions): (bytes: number) => Promise<boolean> {
  let free: Promise<FreeSpace | undefined> = Promise.resolve(undefined)
  let askedAtMs = Number.NEGATIVE_INFINITY
  return async (bytes) => {
    const nowMs = clock.monotonicMs()
    if (nowMs - askedAtMs >= freshMs) {
      free = freeSpace()
      askedAtMs = nowMs
    }
    return whyNoRoom(await free, openBytes() + bytes) === undefined
  }
}
