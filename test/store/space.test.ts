// Room for rows on the volume of the store.

import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { createRoomCheck, hasRoomForRows, spaceReserveBytes } from '../../src/store/space.ts'

test('rows leave the reserve and twice what is open untouched', () => {
  expect(hasRoomForRows(spaceReserveBytes, 0)).toBe(true)
  expect(hasRoomForRows(spaceReserveBytes - 1, 0)).toBe(false)
  expect(hasRoomForRows(spaceReserveBytes + 20, 10)).toBe(true)
  expect(hasRoomForRows(spaceReserveBytes + 19, 10)).toBe(false)
  expect(hasRoomForRows(undefined, 1e15)).toBe(true)
})

test('the volume is asked at most every 100 ms, what is open each time', async () => {
  let nowMs = 0
  let free = spaceReserveBytes + 100
  let open = 0
  let asked = 0
  const hasRoom = createRoomCheck({
    freeBytes: async () => {
      asked++
      return free
    },
    openBytes: () => open,
    clock: { ...systemClock, monotonicMs: () => nowMs },
  })
  expect(await hasRoom(50)).toBe(true)
  expect(await hasRoom(51)).toBe(false)
  open = 50
  expect(await hasRoom(1)).toBe(false)
  open = 0
  free = 0
  nowMs = 99
  expect(await hasRoom(0)).toBe(true)
  nowMs = 100
  expect(await hasRoom(0)).toBe(false)
  expect(asked).toBe(2)
})

test('a volume that cannot be asked lets no rows in', async () => {
  const hasRoom = createRoomCheck({
    freeBytes: () => Promise.reject(new RangeError('no such volume')),
    openBytes: () => 0,
    clock: systemClock,
  })
  await expect(hasRoom(0)).rejects.toThrow('no such volume')
})
