// Two nodes over one log in Kafka and one store share the messages of a broker, while one and then the other is killed.

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../helpers/until.ts'
import { kafkaUrl, newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { hasMosquitto } from '../helpers/mosquitto.ts'
import { reading, sendAll } from '../helpers/mqtt-device.ts'
import { brokerOf, Taker } from '../helpers/mqtt-taker.ts'

describe.skipIf(noKafka || !hasMosquitto)('a subscription shared over Kafka', () => {
  test('while nodes are killed nothing is lost, and nothing is there twice', async () => {
    const broker = await brokerOf()
    const shared = await mkdtemp(join(tmpdir(), 'proofstream-mqtt-share-'))
    const store = ['--store', join(shared, 'store'), '--node-key', join(shared, 'node-key.json')]
    const args = ['--log', kafkaUrl(newPrefix(), 2), ...store]
    const routes = ['$share/nodes/sensors/+/up=acme/sensors?create=true&dedupe=body&topic=topic']
    const first = await Taker.start(broker.url, routes, args)
    const second = await Taker.start(broker.url, routes, args)
    const [devices, each] = [200, 20]
    const sending = Promise.all(
      Array.from({ length: devices }, async (_, device) => {
        await new Promise((resolve) => setTimeout(resolve, device * 40))
        const messages = Array.from({ length: each }, (_, n) => reading(`d${device}`, n))
        await sendAll(broker.port, `d${device}`, messages)
      }),
    )
    for (const taker of [first, second]) {
      await until('it has its part', async () => (await taker.metric('stored_messages_total')) > 100)
      await taker.end('SIGKILL')
      await taker.restart()
    }
    await sending
    const all = devices * each
    await first.becomes('select count(*), count(distinct (topic, n)) from "acme/sensors"', [[all, all]])
    await until('nothing is under way', async () => {
      const counts = await Promise.all([first, second].map((taker) => taker.metric('unacknowledged_messages')))
      return counts.every((count) => count === 0)
    })
    expect(await second.query('select count(*) from "acme/sensors"')).toEqual([[all]])
    expect(await first.query('select count(*) from "acme/quarantine"')).toEqual([])
  })
})
