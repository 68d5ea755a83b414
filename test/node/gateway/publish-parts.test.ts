// Parts of a large batch on their way to the log: two at a time, in order, among the messages of others, and given up
// together.

import { expect, test } from 'vitest'
import { partBytes } from '../../../src/node/gateway/large-batch.ts'
import { Publisher, type RowsToPublish } from '../../../src/node/gateway/publish.ts'
import { assert, must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import type { MessageHeader } from '../../../src/node/log/messages.gen.ts'
import { decodeMessage } from '../../../src/node/log/messages.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { timestampMs } from '../../../src/libraries/model/schema.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { batchOf, datasetId, rowsPayload, userFields } from '../builder/support.ts'
import { until } from '../../helpers/until.ts'
import { decodeArrowStream } from '../../helpers/slices.ts'
import { Rig, sendLarge } from './support.ts'

interface Append {
  readonly header: MessageHeader
  /** Stores it. */
  pass(): Promise<void>
  /** Stores nothing. */
  refuse(): void
}

/** A memory log in which appends wait until the test decides on them. */
function openSlowLog(): {
  log: EventLog
  next(): Promise<Append>
  waiting(count: number): Promise<(number | string)[]>
} {
  const log = openMemoryLog()
  const store = log.append.bind(log)
  const appends: Append[] = []
  log.append = (partition, messages) =>
    new Promise((resolve, reject) => {
      appends.push({
        header: headerOf(must(messages[0], 'a message')),
        pass: async () => resolve(await store(partition, messages)),
        refuse: () => reject(new NodeError('LogUnavailable', 'Refused.')),
      })
    })
  return {
    log,
    next: async () => {
      await until('an append waits', () => appends.length > 0)
      return must(appends.shift(), 'an append waits')
    },
    waiting: async (count) => {
      await until('so many appends wait', () => appends.length >= count)
      // A further one would have come by now: to come so far takes a few turns of the event loop.
      await new Promise((resolve) => setTimeout(resolve, 20))
      return appends.map(({ header }) => nameOf(header))
    },
  }
}

function headerOf(bytes: Uint8Array): MessageHeader {
  const message = decodeMessage(bytes)
  assert(message.kind === 'message', 'the log holds messages')
  return message.header
}

/** Number of a part, else the kind of the message. */
function nameOf(header: MessageHeader): number | string {
  return header.kind === 'rows' ? (header.part?.number ?? 'rows') : header.kind
}

async function logged(log: EventLog): Promise<(number | string)[]> {
  const names: (number | string)[] = []
  for await (const entries of log.read(0, 0, { follow: false })) {
    for (const { bytes } of entries) names.push(nameOf(headerOf(bytes)))
  }
  return names
}

function rowsOf(seed: string): RowsToPublish {
  const dataset = datasetId(seed)
  const fields = [{ name: 'event_time', type: timestampMs }, ...userFields]
  return { dataset, partition: 0, schemaSequence: 1, fields, schema: undefined, batch: batchOf({ rows: 2 }, dataset) }
}

const zeros = (parts: number): Uint8Array => new Uint8Array(parts * partBytes)

test('two parts are in flight, and the next one goes when the first of them is durable', async () => {
  const { log, next, waiting } = openSlowLog()
  const large = sendLarge(new Publisher({ log, clock: systemClock }), rowsOf('a'), zeros(4))
  for (const expected of [[1, 2], [2, 3], [3, 4], [4]]) {
    expect(await waiting(expected.length)).toEqual(expected)
    await (await next()).pass()
  }
  expect(await large).toMatchObject({ position: 3 })
  expect(await logged(log)).toEqual([1, 2, 3, 4])
})

test('a small batch of another dataset waits for two parts of a large one at most', async () => {
  const { log, next, waiting } = openSlowLog()
  const publisher = new Publisher({ log, clock: systemClock })
  const large = sendLarge(publisher, rowsOf('a'), zeros(5))
  expect(await waiting(2)).toEqual([1, 2])
  const small = publisher.small(rowsOf('b'), decodeArrowStream(rowsPayload(2, 0)), 100)
  expect(await waiting(3)).toEqual([1, 2, 'rows'])
  for (let i = 0; i < 6; i++) await (await next()).pass()
  expect(await small).toMatchObject({ position: 2, index: 0 })
  expect(await large).toMatchObject({ position: 5 })
  expect(await logged(log)).toEqual([1, 2, 'rows', 3, 4, 5])
})

test('when a part in the middle fails, the attempt ends once the part behind it is settled', async () => {
  const { log, next, waiting } = openSlowLog()
  const large = sendLarge(new Publisher({ log, clock: systemClock }), rowsOf('a'), zeros(5))
  const first = await next()
  await first.pass()
  ;(await next()).refuse()
  const behind = await next()
  expect(nameOf(behind.header)).toBe(3)
  expect(await waiting(0)).toEqual([])
  await behind.pass()
  const abort = await next()
  const { writer, n } = first.header
  expect(abort.header).toMatchObject({ kind: 'abort', dataset: datasetId('a'), attempt: { writer, n } })
  await abort.pass()
  await expect(large).rejects.toMatchObject({ kind: 'LogUnavailable' })
  expect(await logged(log)).toEqual([1, 3, 'abort'])
})

test('of a body whose second part was refused nothing is stored, and its repeat is stored once', async () => {
  const log = openMemoryLog()
  const store = log.append.bind(log)
  let refuses = true
  log.append = (partition, messages, options) => {
    if (refuses && nameOf(headerOf(must(messages[0], 'a message'))) === 2) {
      refuses = false
      return Promise.reject(new NodeError('LogUnavailable', 'Refused.'))
    }
    return store(partition, messages, options)
  }
  const rig = await new Rig({ log }).build()
  const filler = 'x'.repeat(1_000)
  const body = Array.from({ length: 2_000 }, (_, i) => `{"i":${i},"text":"${filler}"}\n`).join('')
  const post = { headers: { 'idempotency-key': '"k"' } }
  await rig.post('a/b', '{"i":-1,"text":""}\n', { query: { create: 'true' } })
  await expect(rig.post('a/b', body, post)).rejects.toMatchObject({ kind: 'LogUnavailable' })
  const again = await rig.post('a/b', body, post)
  expect(again).toMatchObject({ status: 200, replayed: false, body: { offsets: { start: 1, end: 2_000 } } })
  const repeated = await rig.post('a/b', body, post)
  expect(repeated).toMatchObject({ status: 200, replayed: true, body: { offsets: { start: 1, end: 2_000 } } })
  const chain = must(await rig.catalog.byAlias('a/b'), 'the dataset is there')
  expect(chain.slices.at(-1)?.end).toBe(2_000)
  await rig.stop()
})
