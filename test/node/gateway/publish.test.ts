// What the publisher writes: which batches share a message and which trace it carries, how a large one is cut, and how an
// attempt that fails is ended.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { partBytes } from '../../../src/node/gateway/large-batch.ts'
import { Publisher, type RowsToPublish } from '../../../src/node/gateway/publish.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { concatBytes } from '../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import type { RowsHeader } from '../../../src/node/log/messages.gen.ts'
import { decodeMessage } from '../../../src/node/log/messages.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import type { Field } from '../../../src/libraries/model/schema.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { batchOf, datasetId, rowsPayload, schemaOf, userFields } from '../builder/support.ts'
import { decodeArrowStream } from '../../helpers/slices.ts'
import { sendLarge } from './support.ts'

const eventTime: Field = { name: 'event_time', type: { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' } }
const fields = [eventTime, ...userFields]
const wider: readonly Field[] = [...fields, { name: 'x', type: { kind: 'Option', inner: { kind: 'Int64' } } }]

function rowsFor(seed: string, more: Partial<RowsToPublish> = {}): RowsToPublish {
  const dataset = datasetId(seed)
  return {
    dataset,
    partition: 0,
    schemaSequence: 1,
    fields,
    schema: undefined,
    batch: batchOf({ rows: 2 }, dataset),
    ...more,
  }
}

function columnsOf({ fields: own }: RowsToPublish): ReturnType<typeof decodeArrowStream> {
  return decodeArrowStream(rowsPayload(2, 0, own.slice(1)))
}

interface Logged {
  readonly header: RowsHeader
  readonly payload: Uint8Array
}

async function logged(log: EventLog): Promise<Logged[]> {
  const messages: Logged[] = []
  for await (const entries of log.read(0, 0, { follow: false })) {
    for (const { bytes } of entries) {
      const message = decodeMessage(bytes)
      if (message.kind === 'message' && message.header.kind === 'rows')
        messages.push({ header: message.header, payload: message.payload })
    }
  }
  return messages
}

async function publishAll(
  all: readonly RowsToPublish[],
  bytes = 100,
): Promise<{ messages: Logged[]; places: string[] }> {
  const log = openMemoryLog()
  const publisher = new Publisher({ log, clock: systemClock })
  const places = await Promise.all(all.map((rows) => publisher.small(rows, columnsOf(rows), bytes)))
  return { messages: await logged(log), places: places.map(({ position, index }) => `${position}.${index}`) }
}

test('batches of one dataset and one set of columns share a message, in order of arrival', async () => {
  const all = [rowsFor('a'), rowsFor('b'), rowsFor('a'), rowsFor('a')]
  const { messages, places } = await publishAll(all)
  expect(places).toEqual(['0.0', '1.0', '0.1', '0.2'])
  expect(messages.map(({ header }) => header.batches?.map(({ id }) => id))).toEqual([
    [all[0], all[2], all[3]].map((rows) => rows?.batch.id),
    [all[1]?.batch.id],
  ])
  expect(messages.map(({ payload }) => decodeArrowStream(payload).rows)).toEqual([6, 2])
  expect(messages.map(({ header }) => header.n)).toEqual([1, 2])
})

test('batches with other columns, or that bring a schema, have messages of their own', async () => {
  const bringing = rowsFor('a', { fields: wider, schema: schemaOf(wider.slice(1)) })
  const { messages, places } = await publishAll([
    rowsFor('a'),
    rowsFor('a', { fields: wider }),
    bringing,
    rowsFor('a'),
    bringing,
  ])
  expect(places).toEqual(['0.0', '1.0', '2.0', '0.1', '3.0'])
  expect(messages.map(({ header }) => header.schema !== undefined)).toEqual([false, false, true, true])
  expect(messages.map(({ payload }) => decodeArrowStream(payload).columns.length)).toEqual([3, 4, 4, 4])
})

test('a message holds at most a part of bytes, headers included, and 1,024 batches', async () => {
  const three = await publishAll([rowsFor('a'), rowsFor('a'), rowsFor('a')], partBytes / 2 - 1_000)
  expect(three.places).toEqual(['0.0', '0.1', '1.0'])
  const many = await publishAll(Array.from({ length: 1025 }, () => rowsFor('a')))
  expect(many.messages.map(({ header }) => header.batches?.length)).toEqual([1024, 1])
})

test('a large batch is cut into parts of one attempt that make up its stream', async () => {
  const log = openMemoryLog()
  const publisher = new Publisher({ log, clock: systemClock })
  const stream = Uint8Array.from({ length: 2 * partBytes + 7 }, (_, i) => i % 251)
  const rows = rowsFor('a')
  const pieces = [stream.subarray(0, 7), stream.subarray(7, partBytes + 9), stream.subarray(partBytes + 9)]
  expect(await sendLarge(publisher, rows, ...pieces)).toMatchObject({ position: 2, index: 0 })
  const messages = await logged(log)
  // A piece that fits into a part lies in one; a longer one fills them.
  expect(messages.map(({ payload }) => payload.length)).toEqual([partBytes, 9, partBytes - 2])
  expect(concatBytes(messages.map(({ payload }) => payload))).toEqual(stream)
  const writer = must(messages[0], 'a message').header.writer
  expect(messages.map(({ header }) => header.part)).toEqual(
    [{ number: 1 }, { number: 2 }, { number: 3, count: 3 }].map((part) => ({ attempt: { writer, n: 1 }, ...part })),
  )
  expect(messages.map(({ header }) => header.batches?.length)).toEqual([undefined, undefined, 1])
})

test('small batches go between the parts of a large one', async () => {
  const log = openMemoryLog()
  const publisher = new Publisher({ log, clock: systemClock })
  const large = sendLarge(publisher, rowsFor('a'), new Uint8Array(4 * partBytes))
  const small = await publisher.small(rowsFor('b'), columnsOf(rowsFor('b')), 100)
  expect(small.position).toBeLessThan((await large).position)
  const numbers = (await logged(log)).map(({ header }) => header.n)
  expect(numbers).toEqual([1, 2, 3, 4, 5])
})

test('a large batch whose end took more than five minutes has an unknown outcome', async () => {
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => (nowMs += 301_000) }
  const publisher = new Publisher({ log: openMemoryLog(), clock })
  const sent = sendLarge(publisher, rowsFor('a'), new Uint8Array(9))
  await expect(sent).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
})

test('a large batch whose next rows come more than five minutes late is given up', async () => {
  let nowMs = 0
  const log = openMemoryLog()
  const publisher = new Publisher({ log, clock: { ...systemClock, monotonicMs: () => nowMs } })
  const large = publisher.large(rowsFor('a'))
  await large.append(new Uint8Array(partBytes + 1))
  nowMs = 290_000
  await large.append(new Uint8Array(partBytes))
  nowMs = 600_000
  await expect(large.append(new Uint8Array(partBytes))).rejects.toMatchObject({ kind: 'RequestTimeout' })
  await large.discard()
  await large.discard()
  expect((await logged(log)).map(({ header }) => header.part?.number)).toEqual([1, 2])
  expect((await log.range(0)).end).toBe(3)
})

test('no message is larger than a log takes, whatever the keys are', async () => {
  const key = fc.string({ unit: fc.constantFrom('a', '"', '\\', 'ü', '\u0001'), minLength: 1, maxLength: 255 })
  const kinds = fc.record({
    keys: fc.array(key, { minLength: 1, maxLength: 4 }),
    rows: fc.integer({ min: 1, max: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(kinds, fc.integer({ min: 1, max: 2_500 }), async ({ keys, rows }, count) => {
      const log = openMemoryLog()
      const publisher = new Publisher({ log, clock: systemClock })
      const columns = decodeArrowStream(rowsPayload(rows, 0, userFields))
      const bytes = 40 * rows
      const places = Array.from({ length: count }, (_, i) => {
        const batch = { ...batchOf({ rows, key: `${i}` }, datasetId('a')), key: keys[i % keys.length] ?? '' }
        return publisher.small(rowsFor('a', { batch }), columns, bytes)
      })
      await Promise.all(places)
      for await (const entries of log.read(0, 0, { follow: false })) {
        for (const message of entries) expect(message.bytes.length).toBeLessThan(512 * 1024)
      }
    }),
    { numRuns: 8, examples: [[{ keys: ['k'.repeat(255)], rows: 10 }, 2_048]] },
  )
})

test('a large batch that meets a full volume is aborted in the log, although rows are refused', async () => {
  const memory = openMemoryLog()
  let isFull = false
  const log: EventLog = {
    ...memory,
    append: async (partition, messages, options) => {
      if (isFull && options?.useReserve !== true) throw new NodeError('StorageFull', 'The volume of the log is full.')
      const first = await memory.append(partition, messages)
      isFull = true
      return first
    },
  }
  const publisher = new Publisher({ log, clock: systemClock })
  await expect(sendLarge(publisher, rowsFor('large'), new Uint8Array(partBytes + 1))).rejects.toMatchObject({
    kind: 'StorageFull',
  })
  const headers = []
  for await (const entries of memory.read(0, 0, { follow: false })) {
    for (const { bytes } of entries) {
      const message = decodeMessage(bytes)
      if (message.kind === 'message') headers.push(message.header)
    }
  }
  const [part, abort] = headers
  expect(headers).toHaveLength(2)
  expect(part).toMatchObject({ kind: 'rows', part: { number: 1 } })
  expect(abort).toMatchObject({
    kind: 'abort',
    dataset: datasetId('large'),
    attempt: { writer: part?.writer, n: part?.n },
  })
})

const trace = (digit: string, flags = '01'): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}`

/** Publishes a batch for each trace into one message; what the message carries, and the traces of log lines. */
async function traced(traces: readonly (string | undefined)[]): Promise<{ carried: unknown; told: unknown[] }> {
  const log = openMemoryLog()
  const told: unknown[] = []
  const logger = {
    ...silentLogger,
    info: (line: Readonly<Record<string, unknown>>) => void told.push(line['traceparent']),
  }
  const publisher = new Publisher({ log, clock: systemClock, logger })
  const columns = decodeArrowStream(rowsPayload(2, 0, userFields))
  await Promise.all(
    traces.map((traceparent) => {
      return publisher.small(rowsFor('a', { traceparent }), columns, 100)
    }),
  )
  const message = decodeMessage((await log.get(0, 0)) ?? new Uint8Array(0))
  expect((await log.range(0)).end).toBe(1)
  return { carried: message.kind === 'message' ? message.header.traceparent : message.kind, told }
}

test('a message carries the first trace of its batches', async () => {
  expect(await traced([undefined, trace('a'), trace('b')])).toEqual({ carried: trace('a'), told: [trace('b')] })
  expect(await traced([undefined, undefined])).toEqual({ carried: undefined, told: [] })
})

test('others are told once each, if they are sampled and not the one that is carried', async () => {
  const others = [trace('a'), trace('b', '00'), trace('c'), undefined, trace('a')]
  expect(await traced([trace('a'), ...others])).toEqual({ carried: trace('a'), told: [trace('c')] })
})
