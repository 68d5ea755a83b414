// What a node says of itself while its brokers are silent or gone: alive, but not ready, and why.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Broker } from '../helpers/kafka-broker.ts'
import { kafkaUrl, newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'

/** Long enough for a question that nobody answers, and short enough for who asks every 5 s. */
const soonMs = 5_000

describe.skipIf(noKafka)('readiness of a node with Kafka', () => {
  let broker: Broker
  let live: LiveNode
  beforeAll(async () => {
    broker = await Broker.start()
    live = await startLiveNode({ log: kafkaUrl(newPrefix(), 2, broker.address) })
  })
  afterAll(async () => {
    broker.resume()
    await live.stop()
    await broker.remove()
  })

  async function readiness(): Promise<[number, unknown]> {
    const answer = await live.call('/readyz')
    return [answer.status, answer.at('reasons.log')]
  }

  test('a broker that is silent is told within seconds, and that it answers again', async () => {
    await expect.poll(readiness).toEqual([200, undefined])
    broker.pause()
    const startedMs = performance.now()
    const [status, reason] = await readiness()
    expect(performance.now() - startedMs).toBeLessThan(soonMs)
    expect([status, reason]).toEqual([503, expect.stringMatching(/^the log (?:does not answer|cannot be reached)$/)])
    expect((await live.call('/healthz')).status).toBe(200)
    broker.resume()
    await expect.poll(readiness).toEqual([200, undefined])
  })

  test('a broker that is gone is told within seconds', async () => {
    await broker.stop('SIGKILL')
    const startedMs = performance.now()
    expect(await readiness()).toEqual([503, expect.stringContaining('the log')])
    expect(performance.now() - startedMs).toBeLessThan(soonMs)
    expect((await live.call('/healthz')).status).toBe(200)
  })
})
