// A block that takes longer to build than a member of the group may be silent (8 s against 6 s): nobody else waits for
// it, the builder keeps its partitions, and the block comes as soon as it can.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Builder, startBuilder } from '../../src/node/builder/builder.ts'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openKafkaAnnouncements } from '../../src/drivers/kafka/announcements.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { openDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import { dataPaths } from '../../src/node/store/layout.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { compressor, quickCuts } from '../node/builder/support.ts'
import { kafkaUrl, newPrefix, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'

/** A store whose puts of slices under `slowId()` wait for `release`. */
function slowFor(store: ObjectStore, slowId: () => string, release: Promise<void>): ObjectStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (name === 'put') {
        return async (...args: Parameters<ObjectStore['put']>) => {
          if (slowId() !== '' && args[0].includes(slowId()) && args[0].includes('/data/')) await release
          return target.put(...args)
        }
      }
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}

describe.skipIf(noKafka)('a block that takes long to build', () => {
  const topicPrefix = newPrefix()
  let live: LiveNode
  let builder: Builder
  let slowId = ''
  let release = (): void => {}
  const ending: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    const { broker } = sharedKafka()
    live = await startLiveNode({ log: kafkaUrl(topicPrefix, 1), roles: 'gateway' })
    const common = { connection: { brokers: [broker] }, clock: systemClock, logger: silentLogger, topicPrefix }
    const log = await openKafkaLog(common)
    const announcements = openKafkaAnnouncements(common)
    const store = await openDirectoryStore(dataPaths(live.dataDir).store)
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = slowFor(store, () => slowId, released)
    builder = await startBuilder({ ...common, log, store: slow, announcements, compressor, options: quickCuts })
    ending.push(
      () => builder.stop(),
      () => announcements.close(),
      () => log.close(),
      () => store.close(),
    )
  })
  afterAll(async () => {
    release()
    for (const end of ending) await end()
    await live.stop()
  })

  test('holds up no other dataset of its partition', async () => {
    for (const name of ['slow', 'other']) {
      expect((await live.ingest(`acme/${name}`, [{ i: 0 }], '?create=true')).at('status')).toBe('committed')
    }
    const created = await live.call('/datasets')
    const datasets = created.at('datasets') as { id: string; alias: string }[]
    slowId = datasets.find(({ alias }) => alias === 'acme/slow')?.id.replace('did:odf:', '') ?? ''
    expect(slowId).not.toBe('')
    const headers = { 'content-type': 'application/x-ndjson', prefer: 'respond-async' }
    const waiting = await live.call('/acme/slow/ingest', { method: 'POST', headers, body: '{"i":1}\n' })
    const status = async (): Promise<unknown> =>
      (await live.call(`/receipts/${String(waiting.at('receiptId'))}`)).at('status')
    const until = performance.now() + 8_000
    let others = 0
    while (performance.now() < until) {
      expect((await live.ingest('acme/other', [{ i: ++others }])).at('status')).toBe('committed')
      await sleep(200)
    }
    expect(await status()).toBe('accepted')
    expect(builder.status()).toMatchObject({ ready: true, halted: [] })
    release()
    await expect.poll(status).toBe('committed')
    console.log(`a block held for 8 s: ${others} blocks of another dataset meanwhile`)
  })
})
