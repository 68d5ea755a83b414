// An attempt that fails is ended with a message that may use the space kept back from rows.

import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { partBytes, Publisher } from '../../src/gateway/publish.ts'
import { Spool } from '../../src/gateway/spool.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { decodeMessage } from '../../src/log/messages.ts'
import { NodeError } from '../../src/model/errors.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { batchOf, datasetId } from '../builder/support.ts'

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
  const dataset = datasetId('large')
  const spool = new Spool(tmpdir())
  await spool.append(new Uint8Array(partBytes + 1))
  const publisher = new Publisher({ log, clock: systemClock })
  const rows = {
    dataset,
    partition: 0,
    schemaSequence: 1,
    fields: [],
    schema: undefined,
    batch: batchOf({ rows: 9 }, dataset),
  }
  await expect(publisher.large(rows, spool)).rejects.toMatchObject({ kind: 'StorageFull' })
  await spool.discard()
  const headers = []
  for await (const entries of memory.read(0, 0, { follow: false })) {
    for (const { bytes } of entries) {
      const message = decodeMessage(bytes)
      if (message.kind === 'message') headers.push(message.header)
    }
  }
  const [part, abort] = headers
  expect(headers).toHaveLength(2)
  expect(part).toMatchObject({ kind: 'rows', part: { number: 1, count: 2 } })
  expect(abort).toMatchObject({ kind: 'abort', dataset, attempt: { writer: part?.writer, n: part?.n } })
})
