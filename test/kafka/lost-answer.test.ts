// A broker stores rows, its answer is lost, and connections are refused for a while: whatever the caller is told is
// true, each acknowledged row is there once, and every receipt comes to its block.

import { afterEach, describe, expect, test } from 'vitest'
import type { Receipt } from '../../src/node/gateway/receipts.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { kindOf, ndjson, receiptOf, Rig } from '../node/gateway/support.ts'
import { KafkaProxy } from '../helpers/kafka-proxy.ts'
import { kafkaLogOptions, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

/** A gateway that writes through a proxy, and a builder that reads past it. */
async function start(): Promise<{ rig: Rig; proxy: KafkaProxy }> {
  const { broker } = sharedKafka()
  const proxy = await KafkaProxy.before(broker)
  const options = kafkaLogOptions({ connection: { brokers: [broker], socketFactory: proxy.socketFactory } })
  const log = await openKafkaLog(options)
  const builtFrom = await openKafkaLog({ ...options, connection: { brokers: [broker] } })
  const rig = new Rig({ log })
  const builder = new Rig({ log: builtFrom, store: rig.store })
  await builder.build()
  builder.announcements.subscribe((announcement) => void rig.announcements.announce(announcement))
  ending.push(
    () => proxy.close(),
    () => log.close(),
    () => builtFrom.close(),
    () => builder.stop(),
    () => rig.stop(),
  )
  return { rig, proxy }
}

describe.skipIf(noKafka)('a lost answer', () => {
  test.each([
    [3_000, 'without keys'],
    [3_000, 'with keys'],
    [20_000, 'without keys'],
    [20_000, 'with keys'],
  ] as const)('then %i ms without connections, %s', async (ms, kind) => {
    const { rig, proxy } = await start()
    await rig.rows('a/b', [{ n: 0 }], { query: { create: 'true' } })
    const posts = Array.from({ length: 6 }, (_, i) => ({
      body: ndjson([{ n: i + 1 }]),
      headers: {
        ...(kind === 'with keys' ? { 'idempotency-key': `k${i}` } : {}),
        prefer: i % 2 === 0 ? 'respond-async' : 'wait=30',
      },
    }))
    proxy.storeAndRefuse(ms)
    const answers = await Promise.allSettled(posts.map(({ body, headers }) => rig.post('a/b', body, { headers })))
    const receipts: Receipt[] = []
    const failures: unknown[] = []
    for (const [i, answer] of answers.entries()) {
      if (answer.status === 'fulfilled') receipts.push(receiptOf(answer.value))
      else failures.push(await kindOf(Promise.reject(answer.reason)))
      if (answer.status === 'fulfilled' || kind === 'without keys') continue
      await expect.poll(() => proxy.refuses).toBe(false)
      const { body = '', headers = {} } = posts[i] ?? {}
      receipts.push(receiptOf(await rig.post('a/b', body, { headers })))
    }
    expect(failures).toEqual(failures.map(() => 'OutcomeUnknown'))
    expect(ms < 15_000 ? failures : []).toEqual([])
    const told = new Set<number | undefined>()
    for (const { receiptId } of receipts) {
      const read = async (): Promise<Receipt> => (await rig.gateway.receipt(receiptId)).receipt
      await expect.poll(read).toMatchObject({ status: 'committed' })
      told.add((await read()).offsets?.start)
    }
    expect(told.size).toBe(receipts.length)
    const chain = await rig.catalog.byAlias('a/b')
    const rows = chain?.head.rows
    expect(rows).toBe(1 + posts.length)
  })
})
