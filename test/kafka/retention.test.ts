// Builders that lag so long that Kafka could delete what they have not read: gateways refuse rows before, and take them
// again when the builders have caught up.

import { describe, expect, test } from 'vitest'
import { LogWatch } from '../../src/node/gateway/log-watch.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { fastClock } from '../node/builder/support.ts'
import { Rig } from '../node/gateway/support.ts'
import { kafkaLogOptions, noKafka } from '../helpers/kafka-shared.ts'

const weekMs = 7 * 86_400_000

describe.skipIf(noKafka)('the retention of a topic', () => {
  test('is known, and so is when each message was stored', async () => {
    const log = await openKafkaLog(kafkaLogOptions())
    const beforeMs = Date.now()
    await log.append(0, [new Uint8Array(9)])
    await new Promise((resolve) => setTimeout(resolve, 30))
    await log.append(0, [new Uint8Array(9)])
    expect(log.retentionMs).toBe(weekMs)
    const [first, second] = [(await log.storedMs(0, 0)) ?? 0, (await log.storedMs(0, 1)) ?? 0]
    expect(first).toBeGreaterThanOrEqual(beforeMs)
    expect(second).toBeGreaterThan(first)
    expect(await log.storedMs(0, 2)).toBeUndefined()
    await log.close()
  })

  test('keeps rows out while others have waited for half of it, with 503 and a time to come back', async () => {
    const log = await openKafkaLog(kafkaLogOptions())
    const store = openMemoryStore()
    const aging = {
      id: log.id,
      partitions: log.partitions,
      retentionMs: 1_000,
      range: (partition: number) => log.range(partition),
      storedMs: (partition: number, position: number) => log.storedMs(partition, position),
    }
    const watch = new LogWatch({ log: aging, store, clock: fastClock(30), logger: silentLogger })
    const rig = await new Rig({ log, store, haltOf: (_, partition) => watch.of(partition) }).build()
    try {
      await rig.post('a/b', '{"n":1}\n', { query: { create: 'true' } })
      await rig.pause()
      const later = { headers: { prefer: 'respond-async' } }
      await rig.post('a/b', '{"n":2}\n', later)
      await new Promise((resolve) => setTimeout(resolve, 600))
      await rig.post('a/b', '{"n":3}\n', later)
      await expect.poll(() => watch.of(0)).toContain('for their block')
      await expect(rig.post('a/b', '{"n":4}\n', later)).rejects.toMatchObject({
        kind: 'LogUnavailable',
        details: { retryAfterSeconds: 30 },
      })
      await rig.build()
      await expect.poll(() => watch.of(0)).toBeUndefined()
      const { body } = await rig.post('a/b', '{"n":5}\n')
      expect(body).toMatchObject({ status: 'committed', offsets: { start: 3, end: 3 } })
    } finally {
      await watch.close()
      await rig.stop()
      await log.close()
    }
  })
})
