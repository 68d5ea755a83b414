// Appending to Kafka over a network that loses requests and answers: what was acknowledged is there, in order, where
// the answer said; of what was not, nothing is claimed.

import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { type KafkaLog, type KafkaLogOptions, openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { KafkaProxy, produceKey } from '../helpers/kafka-proxy.ts'
import { kafkaLogOptions, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'
import { readAll } from '../node/log/contract-suite.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textsOf = async (log: KafkaLog): Promise<string[]> =>
  (await readAll(log)).map(({ bytes }) => new TextDecoder().decode(bytes))

describe.skipIf(noKafka)('appending', () => {
  let proxy: KafkaProxy
  let log: KafkaLog
  let options: KafkaLogOptions
  beforeEach(async () => {
    const { broker } = sharedKafka()
    proxy = await KafkaProxy.before(broker)
    options = kafkaLogOptions({ connection: { brokers: [broker], socketFactory: proxy.socketFactory } })
    log = await openKafkaLog(options)
  })
  afterEach(async () => {
    proxy.fate = () => 'pass'
    proxy.swallows = false
    proxy.refuses = false
    await log.close()
    await proxy.close()
  })

  /** The fates of the next requests to store, then all pass. */
  const spoil = (...fates: ('before' | 'half' | 'after')[]): void => {
    proxy.fate = (apiKey) => (apiKey === produceKey ? (fates.shift() ?? 'pass') : 'pass')
  }

  test.each(['before', 'half'] as const)('stores once what was lost on the way (%s)', async (fate) => {
    await log.append(0, [bytesOf('warm')])
    spoil(fate, fate)
    expect(await log.append(0, [bytesOf('A'), bytesOf('B')])).toBe(1)
    expect(await log.append(0, [bytesOf('C')])).toBe(3)
    expect(proxy.cuts).toBe(2)
    expect(await textsOf(log)).toEqual(['warm', 'A', 'B', 'C'])
  })

  test('names the first copy when acknowledgements were lost and the message is there more than once', async () => {
    await log.append(0, [bytesOf('warm')])
    spoil('after', 'after')
    expect(await log.append(0, [bytesOf('A'), bytesOf('B')])).toBe(1)
    expect(await log.append(0, [bytesOf('C')])).toBe(7)
    expect(await textsOf(log)).toEqual(['warm', 'A', 'B', 'A', 'B', 'A', 'B', 'C'])
  })

  test('loses nothing acknowledged and keeps the order while one request in four is spoiled', async () => {
    const fates = ['before', 'half', 'after'] as const
    proxy.fate = (apiKey) => {
      const dice = must(randomBytes(1)[0], 'a byte')
      return apiKey === produceKey && dice < 64 ? must(fates[dice % 3], 'a fate') : 'pass'
    }
    const acknowledged: { text: string; position: number }[] = []
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; n < 60; n++) {
        const text = `${writer}-${n}`
        acknowledged.push({ text, position: await log.append(0, [bytesOf(text)]) })
      }
    })
    await Promise.all(writers)
    expect(proxy.cuts).toBeGreaterThan(5)
    proxy.fate = () => 'pass'
    const texts = await textsOf(log)
    expect(acknowledged.map(({ position }) => texts[position])).toEqual(acknowledged.map(({ text }) => text))
    for (let writer = 0; writer < 8; writer++) {
      const firsts = Array.from({ length: 60 }, (_, n) => texts.indexOf(`${writer}-${n}`))
      expect(firsts).toEqual(firsts.toSorted((a, b) => a - b))
    }
  })

  test('says that the outcome is unknown when Kafka falls silent, and goes on when it is back', async () => {
    await log.append(0, [bytesOf('warm')])
    proxy.fate = (apiKey) => {
      if (apiKey === produceKey) proxy.swallows = true
      return 'pass'
    }
    const asked = log.append(0, [bytesOf('A')])
    const startedMs = performance.now()
    await expect(asked).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
    expect(performance.now() - startedMs).toBeLessThan(30_000)
    proxy.fate = () => 'pass'
    proxy.swallows = false
    proxy.cutAll()
    const position = await log.append(0, [bytesOf('B')])
    expect((await textsOf(log))[position]).toBe('B')
  })

  test('names the first copy when the answer was lost and connections were refused for 3 s', async () => {
    await log.append(0, [bytesOf('warm')])
    proxy.storeAndRefuse(3_000)
    expect(await log.append(0, [bytesOf('A'), bytesOf('B')])).toBe(1)
    expect(await textsOf(log)).toEqual(['warm', 'A', 'B', 'A', 'B'])
  })

  test('says that the outcome is unknown when the answer was lost and connections were refused for 20 s', async () => {
    await log.append(0, [bytesOf('warm')])
    proxy.storeAndRefuse(20_000)
    await expect(log.append(0, [bytesOf('A')])).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
    await expect.poll(() => proxy.refuses).toBe(false)
    const position = await log.append(0, [bytesOf('B')])
    expect((await textsOf(log))[position]).toBe('B')
  })

  test('says that nothing was stored when no broker can be reached', async () => {
    proxy.refuses = true
    proxy.cutAll()
    const answers = await Promise.allSettled([log.append(0, [bytesOf('A')]), log.append(0, [bytesOf('B')])])
    for (const answer of answers) expect(answer).toMatchObject({ reason: { kind: 'LogUnavailable' } })
    proxy.refuses = false
    expect(await log.append(0, [bytesOf('C')])).toBe(0)
    expect(await textsOf(log)).toEqual(['C'])
  })

  test('refuses at once what no message can hold, and takes the rest', async () => {
    const tooLong = new Uint8Array(1_100_000)
    await expect(log.append(0, [tooLong])).rejects.toMatchObject({ kind: 'BodyTooLarge' })
    const most = new Uint8Array(1_048_000).fill(7)
    expect(await log.append(0, [most])).toBe(0)
    expect((await log.get(0, 0))?.length).toBe(most.length)
  })
})
