// Room for rows on the volume of the store.

import { expect, test } from 'vitest'
import {
  type FreeSpace,
  spaceReserveBytes,
  SpaceReserve,
  spaceReserveInodes,
  whyNoRoom,
} from '../../../../src/node/machine/disk/space.ts'
import { freeSpaceOf } from '../../../../src/node/machine/disk/files.ts'
import { systemClock } from '../../../../src/libraries/base/clock.ts'

const space = (bytes: number, inodes?: number): FreeSpace => ({ bytes, inodes })

test('rows leave the reserve and twice what is open untouched, and files that still fit', () => {
  expect(whyNoRoom(space(spaceReserveBytes), 0)).toBe(undefined)
  expect(whyNoRoom(space(spaceReserveBytes - 1), 0)).toBe('bytes')
  expect(whyNoRoom(space(spaceReserveBytes + 20), 10)).toBe(undefined)
  expect(whyNoRoom(space(spaceReserveBytes + 19), 10)).toBe('bytes')
  expect(whyNoRoom(space(1e15, spaceReserveInodes), 0)).toBe(undefined)
  expect(whyNoRoom(space(1e15, spaceReserveInodes - 1), 0)).toBe('inodes')
  expect(whyNoRoom(undefined, 1e15)).toBe(undefined)
})

test('a file system that counts no files has no bound on them', () => {
  const volume = { bavail: 10, bsize: 4096, files: 0, ffree: 0 }
  expect(freeSpaceOf(volume)).toEqual({ bytes: 40_960, inodes: undefined })
  expect(freeSpaceOf({ ...volume, files: 100, ffree: 7 })).toEqual({ bytes: 40_960, inodes: 7 })
})

test('the volume is asked at most every 100 ms, what is open each time', async () => {
  let nowMs = 0
  let free = spaceReserveBytes + 100
  let open = 0
  let asked = 0
  const reserve = new SpaceReserve({
    freeSpace: async () => {
      asked++
      return space(free)
    },
    openBytes: () => open,
    clock: { ...systemClock, monotonicMs: () => nowMs },
  })
  expect(await reserve.hasRoom(100)).toBe(true)
  expect(await reserve.hasRoom(101)).toBe(false)
  open = 50
  expect(await reserve.hasRoom(1)).toBe(false)
  open = 0
  free = 0
  nowMs = 99
  expect(await reserve.hasRoom(0)).toBe(true)
  nowMs = 100
  expect(await reserve.hasRoom(0)).toBe(false)
  expect(asked).toBe(2)
})

test('a volume that cannot be asked lets no rows in', async () => {
  const reserve = new SpaceReserve({
    freeSpace: () => Promise.reject(new RangeError('no such volume')),
    openBytes: () => 0,
    clock: systemClock,
  })
  await expect(reserve.hasRoom(0)).rejects.toThrow('no such volume')
})
