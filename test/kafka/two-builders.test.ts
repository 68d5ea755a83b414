// Two builders on one topic and one store: each reads everything, whoever commits first has won, and the chain is the
// same as one builder would have made.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Builder, startBuilder } from '../../src/node/builder/builder.ts'
import { fsck } from '../../src/node/upkeep/fsck.ts'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openKafkaAnnouncements } from '../../src/drivers/kafka/announcements.ts'
import { type KafkaLog, openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { compressor } from '../../src/node/machine/work/zstd-page.ts'
import { openDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import { dataPaths } from '../../src/node/store/layout.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { kafkaUrl, newPrefix, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'

interface SecondBuilder {
  readonly builder: Builder
  readonly log: KafkaLog
  readonly store: ObjectStore
  readonly announcements: { close(): Promise<void> }
}

describe.skipIf(noKafka)('two builders', () => {
  const topicPrefix = newPrefix()
  let live: LiveNode
  let second: SecondBuilder
  beforeAll(async () => {
    const { broker } = sharedKafka()
    live = await startLiveNode({ log: kafkaUrl(topicPrefix, 2) })
    const common = { connection: { brokers: [broker] }, clock: systemClock, logger: silentLogger, topicPrefix }
    const log = await openKafkaLog(common)
    const announcements = openKafkaAnnouncements(common)
    const store = await openDirectoryStore(dataPaths(live.dataDir).store)
    const builder = await startBuilder({ ...common, log, store, announcements, compressor })
    second = { builder, log, store, announcements }
  })
  afterAll(async () => {
    await second.builder.stop()
    await second.announcements.close()
    await second.log.close()
    await live.stop()
    await second.store.close()
  })

  test('make one chain without holes, and the store is sound', async () => {
    const names = ['a', 'b', 'c']
    await Promise.all(names.map((name) => live.ingest(`acme/${name}`, [{ i: 0 }], '?create=true')))
    const posts = names.flatMap((name) =>
      Array.from({ length: 4 }, async (_, writer) => {
        for (let n = 0; n < 10; n++) {
          const posted = await live.ingest(`acme/${name}`, [{ i: 1 + writer * 10 + n }])
          expect([posted.status, posted.at('status')]).toEqual([200, 'committed'])
        }
      }),
    )
    await Promise.all(posts)
    for (const name of names) {
      const answer = await live.query(`select count(*), count(distinct i), max("offset") from "acme/${name}"`)
      expect(answer.at('output.data.0')).toEqual([41, 41, 40])
    }
    const report = await fsck(second.store)
    expect(report.problems).toEqual([])
    expect(report.datasets.flatMap(({ problems }) => problems)).toEqual([])
    const ends = await Promise.all([0, 1].map(async (partition) => (await second.log.range(partition)).end))
    expect(ends.every((end) => end > 0)).toBe(true)
    await expect.poll(() => second.builder.status().partitions.map(({ position }) => position)).toEqual(ends)
    expect(second.builder.status()).toMatchObject({ ready: true, halted: [] })
  })
})
