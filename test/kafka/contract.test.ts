// The Kafka log on a real broker against the contract of event logs, and what only it must do: end its connections, and
// pass over what others put into the topic.

import { connect, type Socket } from 'node:net'
import kafkajs from 'kafkajs'
import type { ISocketFactory, Producer } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { createKafka } from '../../src/drivers/kafka/client.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { decodeMessage } from '../../src/node/log/messages.ts'
import { until } from '../helpers/until.ts'
import { kafkaLogOptions, newPrefix, noKafka, recordsTopic, sharedKafka } from '../helpers/kafka-shared.ts'
import { describeEventLog, readAll } from '../node/log/contract-suite.ts'

describe.skipIf(noKafka)('on a broker', () => {
  describeEventLog('the Kafka log', () => openKafkaLog(kafkaLogOptions()))
})

describe.skipIf(noKafka)('connections', () => {
  test('end with the log, also those for messages of many partitions that were asked for at once', async () => {
    const partitions = 4
    const all = Array.from({ length: partitions }, (_, partition) => partition)
    const options = kafkaLogOptions({ partitions })
    const writing = await openKafkaLog(options)
    for (const partition of all) await writing.append(partition, [Uint8Array.of(partition)])
    await writing.close()

    const sockets: Socket[] = []
    const socketFactory: ISocketFactory = ({ host, port, onConnect }) => {
      const socket = connect(port, host, onConnect)
      sockets.push(socket)
      return socket
    }
    const brokers = [sharedKafka().broker]
    const reading = await openKafkaLog({ ...options, connection: { brokers, socketFactory } })
    const found = await Promise.all(all.map((partition) => reading.get(partition, 0)))
    expect(found).toEqual(all.map((partition) => Buffer.of(partition)))
    await reading.close()
    await until('every connection has ended', () => sockets.every((socket) => socket.destroyed))
  })
})

describe.skipIf(noKafka)('foreign records', () => {
  test('are positions like any other', async () => {
    const options = kafkaLogOptions()
    const log = await openKafkaLog(options)
    const topic = recordsTopic(options)
    const kafka = createKafka(options.connection, silentLogger)
    const plain = kafka.producer({ allowAutoTopicCreation: false })
    const transactional = kafka.producer({ transactionalId: newPrefix(), maxInFlightRequests: 1, idempotent: true })
    const using = async (producer: Producer, work: () => Promise<void>): Promise<void> => {
      await producer.connect()
      await work()
      await producer.disconnect()
    }
    await log.append(0, [new Uint8Array([1])])
    await using(plain, async () => {
      await plain.send({ topic, messages: [{ key: 'tombstone', value: null }] })
      const compression = kafkajs.CompressionTypes.GZIP
      await plain.send({ topic, compression, messages: [{ value: 'a'.repeat(1000) }, { value: 'b' }] })
    })
    await using(transactional, async () => {
      const kept = await transactional.transaction()
      await kept.send({ topic, messages: [{ value: 'kept' }] })
      await kept.commit()
      const dropped = await transactional.transaction()
      await dropped.send({ topic, messages: [{ value: 'dropped' }] })
      await dropped.abort()
    })
    // The broker writes the marker of a transaction after it has answered.
    await expect.poll(async () => (await log.range(0)).end).toBe(8)
    const last = await log.append(0, [new Uint8Array([2])])
    const entries = await readAll(log)
    // One of ours, a tombstone, two compressed, two transactions of one record and one marker each, one of ours.
    expect(entries.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(last).toBe(8)
    const texts = entries.map(({ bytes }) => new TextDecoder().decode(bytes))
    expect(texts.slice(1, 8)).toEqual(['', 'a'.repeat(1000), 'b', 'kept', '', 'dropped', ''])
    expect(entries.map(({ bytes }) => decodeMessage(bytes).kind)).toEqual(entries.map(() => 'foreign'))
    expect(await log.get(0, 5)).toEqual(new Uint8Array(0))
    await log.close()
  })
})
