// A log that is no longer the one that was read halts its readers with the reason: cut off, gone back, made anew, or
// another cluster at the same address. Nothing is skipped and nothing read again in silence.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type KafkaLog, type KafkaLogOptions, openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { Broker } from '../helpers/kafka-broker.ts'
import { KafkaProxy } from '../helpers/kafka-proxy.ts'
import { kafkaLogOptions, noKafka, recordsTopic, sharedAdmin, sharedKafka } from '../helpers/kafka-shared.ts'
import { readAll } from '../node/log/contract-suite.ts'

const message = (name: string, n: number): Uint8Array => new TextEncoder().encode(`${name} ${n}`)

async function fill(log: KafkaLog, name: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await log.append(0, [message(name, n)])
}

/** Follows from `from`; `seen` are the positions handed over, `ended` the error that ended it. */
function follow(log: KafkaLog, from: number): { seen: number[]; ended: Promise<unknown>; stop: AbortController } {
  const stop = new AbortController()
  const seen: number[] = []
  const ended = (async () => {
    try {
      for await (const entries of log.read(0, from, { signal: stop.signal })) {
        seen.push(...entries.map(({ position }) => position))
      }
      return undefined
    } catch (error) {
      return error
    }
  })()
  return { seen, ended, stop }
}

describe.skipIf(noKafka)('a reader', () => {
  let options: KafkaLogOptions
  let log: KafkaLog
  let admin: Admin
  let topic = ''
  beforeEach(async () => {
    options = kafkaLogOptions()
    topic = recordsTopic(options)
    log = await openKafkaLog(options)
    admin = await sharedAdmin()
  })
  afterEach(async () => {
    await log.close()
    await admin.disconnect()
  })

  async function makeAnew(count: number): Promise<void> {
    await admin.deleteTopics({ topics: [topic] })
    await sleep(1_000)
    const other = await openKafkaLog(options)
    await fill(other, 'new', count)
    await other.close()
  }

  test('that begins below what retention has kept is told so', async () => {
    await fill(log, 'old', 10)
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '6' }] })
    expect(await log.range(0)).toEqual({ start: 6, end: 10 })
    expect(await log.get(0, 5)).toBeUndefined()
    await expect(readAll(log, 5)).rejects.toMatchObject({ reason: 'LogTruncated' })
    expect((await readAll(log, 6)).map(({ position }) => position)).toEqual([6, 7, 8, 9])
  })

  test('whose next message is deleted while it reads is told so', async () => {
    await fill(log, 'old', 2)
    const reading = log.read(0, 0, {})[Symbol.asyncIterator]()
    const first = await reading.next()
    expect(first.done).toBe(false)
    for (let n = 0; n < 40; n++) await log.append(0, [new Uint8Array(500_000)])
    await sleep(500)
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '42' }] })
    const rest = (async () => {
      for (;;) if ((await reading.next()).done === true) return
    })()
    await expect(rest).rejects.toMatchObject({ reason: 'LogTruncated' })
  })

  test.each([
    { what: 'is longer now', from: 0, count: 40, reason: 'LogReplaced' },
    { what: 'is shorter now', from: 0, count: 3, reason: 'LogRegressed' },
    // It knows the log by the message before its position.
    { what: 'is longer now, before it has read anything,', from: 20, count: 40, reason: 'LogReplaced' },
  ])('of a topic that was deleted, made again and $what goes no further', async ({ from, count, reason }) => {
    await fill(log, 'old', 20)
    const { seen, ended } = follow(log, from)
    await expect.poll(() => seen.length).toBe(20 - from)
    if (from > 0) await sleep(500)
    await makeAnew(count)
    expect(await ended).toMatchObject({ reason })
    expect(seen).toHaveLength(20 - from)
  })

  test('and a writer of a topic that was made anew stop; what was acknowledged before is not confused', async () => {
    await fill(log, 'old', 20)
    await makeAnew(3)
    await expect(log.append(0, [message('late', 0)])).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
    await expect(log.append(0, [message('late', 1)])).rejects.toMatchObject({ kind: 'LogUnavailable' })
    await expect(readAll(log, 0)).rejects.toMatchObject({ reason: 'LogReplaced' })
    expect(log.fault()).toMatch(/acknowledged position 3/)
  })

  test('refuses a topic whose partitions have become more', async () => {
    const proxy = await KafkaProxy.before(sharedKafka().broker)
    const { socketFactory } = proxy
    const cut = await openKafkaLog({ ...options, connection: { ...options.connection, socketFactory } })
    await fill(cut, 'old', 2)
    const { seen, ended } = follow(cut, 0)
    await expect.poll(() => seen.length).toBe(2)
    await admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] })
    // The check comes every 30 s, and after each failure.
    proxy.cutAll()
    expect(await ended).toMatchObject({ reason: 'LogReplaced', message: expect.stringContaining('2 partitions') })
    await cut.close()
    await proxy.close()
  })
})

describe.skipIf(noKafka)('another cluster at the same address', () => {
  test('is not taken for the one that was opened', async () => {
    const broker = await Broker.start()
    try {
      const log = await openKafkaLog(kafkaLogOptions({ connection: { brokers: [broker.address] } }))
      await fill(log, 'old', 20)
      const { seen, ended } = follow(log, 0)
      await expect.poll(() => seen.length).toBe(20)
      await broker.stop('SIGKILL')
      await broker.format(`K${broker.clusterId.slice(1).split('').toReversed().join('')}`)
      broker.spawn()
      await broker.ready()
      expect(await ended).toMatchObject({ reason: 'LogReplaced', message: expect.stringContaining('cluster') })
      const append = log.append(0, [message('late', 0)])
      await expect(append).rejects.toMatchObject({ kind: expect.stringMatching(/^(?:LogUnavailable|OutcomeUnknown)$/) })
      expect(log.fault()).toContain('cluster')
      await log.close()
    } finally {
      await broker.remove()
    }
  })
})
