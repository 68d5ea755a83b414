// Three brokers: the one that coordinates the group of builders is killed or frozen. What each builder has it goes on
// with, and the partitions are shared again by themselves.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { clusterOf, createKafka } from '../../src/drivers/kafka/client.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import type { Broker } from '../helpers/kafka-broker.ts'
import { KafkaCluster } from '../helpers/kafka-cluster.ts'
import { newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { leaveAll, partitions, share, type Sharer, spread } from '../helpers/kafka-sharers.ts'

describe.skipIf(noKafka)('sharing partitions in a cluster', () => {
  const prefix = newPrefix()
  let kafka: KafkaCluster
  let sharers: Sharer[]

  beforeAll(async () => {
    kafka = await KafkaCluster.start()
    const connection = { brokers: kafka.addresses }
    const options = { connection, clock: systemClock, logger: silentLogger, topicPrefix: prefix, partitions }
    await (await openKafkaLog(options)).close()
    sharers = Array.from({ length: 3 }, () => share(connection, prefix))
  })

  afterAll(async () => {
    await leaveAll()
    await kafka.remove()
  })

  /** The broker that coordinates the group. */
  async function coordinator(): Promise<Broker> {
    const cluster = clusterOf(createKafka({ brokers: kafka.addresses }, silentLogger))
    await cluster.connect()
    await cluster.refreshMetadata()
    const found = await cluster.findGroupCoordinatorMetadata({ groupId: prefix })
    await cluster.disconnect()
    return kafka.broker(found.coordinator.nodeId)
  }

  test('the coordinator is killed, and one builder with it', async () => {
    await spread(sharers)
    const broker = await coordinator()
    const before = sharers.map(({ given }) => given())
    await broker.stop('SIGKILL')
    await sleep(1_000)
    expect(sharers.map(({ given }) => given())).toEqual(before)
    const [gone, ...others] = sharers
    await gone?.leave()
    const movedMs = await spread(others)
    console.log(`coordinator killed: the others had all after ${Math.round(movedMs)} ms`)
    broker.spawn()
    await kafka.ready()
    sharers = others
  })

  test('the coordinator is frozen for twenty seconds, and one builder comes meanwhile', async () => {
    const broker = await coordinator()
    broker.pause()
    await sleep(1_000)
    sharers.push(share({ brokers: kafka.addresses }, prefix))
    await sleep(19_000)
    broker.resume()
    const sharedMs = await spread(sharers)
    console.log(`coordinator frozen: shared ${Math.round(sharedMs)} ms after it woke`)
  })
})
