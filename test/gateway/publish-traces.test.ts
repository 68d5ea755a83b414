// Which trace a message of several batches carries, and where the others are told.

import { expect, test } from 'vitest'
import { Publisher } from '../../src/gateway/publish.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { decodeMessage } from '../../src/log/messages.ts'
import type { Field } from '../../src/model/schema.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { batchOf, datasetId, rowsPayload, userFields } from '../builder/support.ts'
import { decodeArrowStream } from '../helpers/slices.ts'

const eventTime: Field = { name: 'event_time', type: { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' } }
const fields = [eventTime, ...userFields]
const trace = (digit: string, flags = '01'): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}`

/** Publishes a batch for each trace into one message; what the message carries, and the traces of log lines. */
async function publish(traces: readonly (string | undefined)[]): Promise<{ carried: unknown; told: unknown[] }> {
  const log = openMemoryLog()
  const told: unknown[] = []
  const logger = {
    ...silentLogger,
    info: (line: Readonly<Record<string, unknown>>) => void told.push(line['traceparent']),
  }
  const publisher = new Publisher({ log, clock: systemClock, logger })
  const dataset = datasetId('a')
  const columns = decodeArrowStream(rowsPayload(2, 0, userFields))
  await Promise.all(
    traces.map((traceparent) => {
      const batch = batchOf({ rows: 2 }, dataset)
      const rows = { dataset, partition: 0, schemaSequence: 1, fields, schema: undefined, batch, traceparent }
      return publisher.small(rows, columns, 100)
    }),
  )
  const message = decodeMessage((await log.get(0, 0)) ?? new Uint8Array(0))
  expect((await log.range(0)).end).toBe(1)
  return { carried: message.kind === 'message' ? message.header.traceparent : message.kind, told }
}

test('a message carries the first trace of its batches', async () => {
  expect(await publish([undefined, trace('a'), trace('b')])).toEqual({ carried: trace('a'), told: [trace('b')] })
  expect(await publish([undefined, undefined])).toEqual({ carried: undefined, told: [] })
})

test('others are told once each, if they are sampled and not the one that is carried', async () => {
  const others = [trace('a'), trace('b', '00'), trace('c'), undefined, trace('a')]
  expect(await publish([trace('a'), ...others])).toEqual({ carried: trace('a'), told: [trace('c')] })
})
