// What others put into the topic: bytes without a value, compressed batches, transactions. All of it is a position with
// some bytes, which readers of messages pass over; nothing stops the log.

import kafkajs from 'kafkajs'
import type { Producer } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { createKafka } from '../../src/log/kafka/client.ts'
import { openKafkaLog } from '../../src/log/kafka/kafka-log.ts'
import { topicNames } from '../../src/log/kafka/topics.ts'
import { decodeMessage } from '../../src/log/messages.ts'
import { kafkaLogOptions, newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { readAll } from '../log/contract-suite.ts'

describe.skipIf(noKafka)('foreign records', () => {
  test('are positions like any other', async () => {
    const options = kafkaLogOptions()
    const log = await openKafkaLog(options)
    const topic = topicNames(must(options.topicPrefix, 'a prefix')).records
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
    await expect.poll(async () => (await log.range(0)).end, { timeout: 20_000 }).toBe(8)
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
