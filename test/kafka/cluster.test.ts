// Three brokers: leaders that stop, die or freeze under load, and too few replicas. Whatever is acknowledged is there
// once at the position told, a reader sees each position once, and work goes on by itself.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { createKafka } from '../../src/drivers/kafka/client.ts'
import { type KafkaLog, openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { topicNames } from '../../src/drivers/kafka/topics.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'
import type { Broker } from '../helpers/kafka-broker.ts'
import { KafkaCluster } from '../helpers/kafka-cluster.ts'
import { newPrefix, noKafka } from '../helpers/kafka-shared.ts'

const partitions = 3
const decoder = new TextDecoder()

interface Load {
  /** Text of each acknowledged message by `partition/position`. */
  readonly acknowledged: Map<string, string>
  unknown: number
  refused: number
  /** Longest time without an acknowledgement, milliseconds. */
  gapMs: number
  stop(): Promise<void>
}

/** Writers and readers of every partition, until it is stopped. Readers throw when a position comes twice or never. */
function startLoad(log: KafkaLog): Load & { readonly read: Map<string, string> } {
  const halt = new AbortController()
  let isOver = false
  const load = {
    acknowledged: new Map<string, string>(),
    unknown: 0,
    refused: 0,
    gapMs: 0,
    read: new Map<string, string>(),
  }
  const write = async (partition: number, writer: number): Promise<void> => {
    let lastMs = performance.now()
    for (let n = 0; !isOver; n++) {
      const text = `${partition}-${writer}-${n}`
      try {
        const position = await log.append(partition, [new TextEncoder().encode(text)])
        load.acknowledged.set(`${partition}/${position}`, text)
        load.gapMs = Math.max(load.gapMs, performance.now() - lastMs)
        lastMs = performance.now()
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        if (error.kind === 'OutcomeUnknown') load.unknown++
        else load.refused++
      }
      await sleep(5)
    }
  }
  const read = async (partition: number): Promise<void> => {
    let next = 0
    for await (const entries of log.read(partition, 0, { signal: halt.signal })) {
      for (const { position, bytes } of entries) {
        expect(position).toBe(next)
        load.read.set(`${partition}/${position}`, decoder.decode(bytes))
        next++
      }
    }
  }
  const numbers = Array.from({ length: partitions }, (_, partition) => partition)
  const writers = numbers.flatMap((partition) => [write(partition, 0), write(partition, 1)])
  const readers = numbers.map(read)
  return Object.assign(load, {
    stop: async () => {
      isOver = true
      await Promise.all(writers)
      const ends = await Promise.all(numbers.map((partition) => log.range(partition)))
      const total = ends.reduce((sum, { end }) => sum + end, 0)
      await expect.poll(() => load.read.size).toBe(total)
      halt.abort()
      await Promise.all(readers)
    },
  })
}

describe.skipIf(noKafka)('a cluster of three brokers', () => {
  let cluster: KafkaCluster
  let admin: Admin
  let log: KafkaLog
  const topicPrefix = newPrefix()
  const topic = topicNames(topicPrefix).records
  beforeAll(async () => {
    cluster = await KafkaCluster.start()
    const connection = { brokers: cluster.addresses }
    log = await openKafkaLog({ connection, clock: systemClock, logger: silentLogger, topicPrefix, partitions })
    admin = createKafka(connection, silentLogger).admin()
    await admin.connect()
  })
  afterAll(async () => {
    await log.close()
    await admin.disconnect()
    await cluster.remove()
  })

  async function leader(partition: number): Promise<Broker> {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    return cluster.broker(topics[0]?.partitions.find((one) => one.partitionId === partition)?.leader ?? 0)
  }

  async function inStep(): Promise<void> {
    await cluster.ready()
    const copies = async (): Promise<number[]> => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
      return (topics[0]?.partitions ?? []).map(({ isr }) => isr.length)
    }
    await expect.poll(copies, { interval: 250 }).toEqual([3, 3, 3])
  }

  /** What the load has lost or confused; the first copy of a repeated message is where the answer said. */
  function faultsOf({
    acknowledged,
    read,
  }: {
    acknowledged: Map<string, string>
    read: Map<string, string>
  }): string[] {
    const faults: string[] = []
    for (const [at, text] of acknowledged) if (read.get(at) !== text) faults.push(`${text} is not at ${at}`)
    return faults
  }

  test('keeps three copies of each message, two of them in step', async () => {
    expect(log.replicas).toBe(3)
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: 2, name: topic, configNames: ['min.insync.replicas'] }],
    })
    expect(resources[0]?.configEntries.map(({ configValue }) => configValue)).toEqual(['2'])
  })

  test.each([
    ['stops', async (broker: Broker) => broker.stop('SIGTERM'), async (broker: Broker) => broker.spawn()],
    ['is killed', async (broker: Broker) => broker.stop('SIGKILL'), async (broker: Broker) => broker.spawn()],
    ['freezes for 12 s', async (broker: Broker) => broker.pause(), async (broker: Broker) => broker.resume()],
  ] as const)('loses nothing when a leader %s under load', async (what, harm, heal) => {
    await inStep()
    const load = startLoad(log)
    await sleep(2_000)
    const broker = await leader(0)
    await harm(broker)
    await sleep(what.startsWith('freezes') ? 12_000 : 5_000)
    await heal(broker)
    await sleep(3_000)
    await load.stop()
    const { acknowledged, unknown, refused, gapMs } = load
    console.log(
      `leader ${what}: ${acknowledged.size} acknowledged, ${unknown} unknown, ${refused} refused, ` +
        `longest wait ${Math.round(gapMs)} ms, ${load.read.size} read`,
    )
    expect(faultsOf(load)).toEqual([])
    expect(acknowledged.size).toBeGreaterThan(100)
  })

  test('acknowledges nothing while two brokers are dead, and goes on when they are back', async () => {
    await inStep()
    const load = startLoad(log)
    await sleep(1_000)
    const dead = [cluster.broker(2), cluster.broker(3)]
    await Promise.all(dead.map((broker) => broker.stop('SIGKILL')))
    await sleep(6_000)
    const before = load.acknowledged.size
    await sleep(3_000)
    expect(load.acknowledged.size).toBe(before)
    for (const broker of dead) broker.spawn()
    await cluster.ready()
    await expect.poll(() => load.acknowledged.size).toBeGreaterThan(before + 50)
    await load.stop()
    console.log(`two dead: ${load.acknowledged.size} acknowledged, ${load.unknown} unknown, ${load.refused} refused`)
    expect(faultsOf(load)).toEqual([])
  })
})
