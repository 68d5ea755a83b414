// Announcements inside one process.

import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { announcement } from '../../helpers/announcement.ts'

test('reach every listener in order, from its subscription to its end', async () => {
  const announcements = openLocalAnnouncements(silentLogger)
  const heard: string[] = []
  const stopA = announcements.subscribe(({ sequence }) => heard.push(`a${sequence}`))
  await announcements.announce(announcement(1))
  announcements.subscribe(({ sequence }) => heard.push(`b${sequence}`))
  await announcements.announce(announcement(2))
  stopA()
  stopA()
  await announcements.announce(announcement(3))
  expect(heard).toEqual(['a1', 'a2', 'b2', 'b3'])
})

test('reach the others when one listener fails, and the failure is logged', async () => {
  const errors: string[] = []
  const announcements = openLocalAnnouncements({ ...silentLogger, error: (_fields, text) => errors.push(text) })
  const heard: number[] = []
  announcements.subscribe(() => {
    throw new RangeError('no')
  })
  announcements.subscribe(({ sequence }) => heard.push(sequence))
  await announcements.announce(announcement(1))
  expect(heard).toEqual([1])
  expect(errors).toHaveLength(1)
})

test('lets one listener subscribe twice', async () => {
  const announcements = openLocalAnnouncements(silentLogger)
  let count = 0
  const listener = (): void => {
    count++
  }
  const stop = announcements.subscribe(listener)
  announcements.subscribe(listener)
  stop()
  await announcements.announce(announcement(1))
  expect(count).toBe(1)
})
