// Announcements between two processes: two of them on one topic.

import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openKafkaAnnouncements } from '../../src/drivers/kafka/announcements.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { announcement } from '../helpers/announcement.ts'
import { kafkaLogOptions, noKafka } from '../helpers/kafka-shared.ts'

describe.skipIf(noKafka)('announcements over Kafka', () => {
  test('reach listeners here at once and those of other processes soon, each once and in order', async () => {
    const options = kafkaLogOptions()
    await (await openKafkaLog(options)).close()
    const here = openKafkaAnnouncements(options)
    const there = openKafkaAnnouncements(options)
    const heardHere: number[] = []
    const heardThere: number[] = []
    here.subscribe(({ sequence }) => heardHere.push(sequence))
    there.subscribe(({ sequence }) => heardThere.push(sequence))
    // Who listens from the end hears nothing that was said before it knew the end.
    for (let sequence = 1; heardThere.length === 0; sequence++) {
      await here.announce(announcement(sequence))
      expect(heardHere.at(-1)).toBe(sequence)
      await systemClock.sleep(50)
    }
    const before = heardThere.length
    const first = heardHere.length + 1
    for (let sequence = first; sequence < first + 300; sequence++) await here.announce(announcement(sequence))
    await there.announce(announcement(9_000))
    await expect.poll(() => heardThere.length).toBeGreaterThanOrEqual(before + 301)
    await expect.poll(() => heardHere.at(-1)).toBe(9_000)
    const others = heardThere.filter((sequence) => sequence !== 9_000)
    expect(others).toEqual([...others].toSorted((a, b) => a - b))
    expect(new Set(heardThere).size).toBe(heardThere.length)
    expect(heardHere.filter((sequence) => sequence === 9_000)).toHaveLength(1)
    await Promise.all([here.close(), there.close()])
  })

  test('hold nobody up while no broker can be reached', async () => {
    const announcements = openKafkaAnnouncements({
      connection: { brokers: ['127.0.0.1:1'] },
      clock: systemClock,
      logger: silentLogger,
    })
    const heard: number[] = []
    announcements.subscribe(({ sequence }) => heard.push(sequence))
    for (let sequence = 0; sequence < 20_000; sequence++) await announcements.announce(announcement(sequence))
    expect(heard).toHaveLength(20_000)
    await announcements.close()
  })
})
