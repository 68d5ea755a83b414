// Large slices go to the store while they are made: the same file under the same hash as one that was held, whatever the
// store does meanwhile, and little of it in memory at a time.

import { appendText } from '../../helpers/slices.ts'
import { beforeEach, expect, test } from 'vitest'
import { createColumnBuilder } from '../../../src/libraries/columnar/arrow/column-builder.ts'
import { encodeArrowStream } from '../../../src/libraries/columnar/arrow/ipc.ts'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { decodeMessage, encodeMessage } from '../../../src/node/log/messages.ts'
import { optional, timestampMs } from '../../../src/libraries/model/schema.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { baseMs, buildAll, compressor, datasetId, dump, fastClock, TestWriter, userFields } from './support.ts'

const id = datasetId('a')
const rows = 200_000
let log: EventLog
let store: ObjectStore

/** Rows that do not compress well: about 16 MB of text in all. */
function noise(): Uint8Array {
  const fields = [
    { name: 'event_time', type: timestampMs },
    { name: 'city', type: optional({ kind: 'String' as const }) },
  ]
  const columns = fields.map((field) => {
    const builder = createColumnBuilder(field)
    let state = 1
    for (let row = 0; row < rows; row++) {
      if (field.name === 'event_time') builder.appendInt64(baseMs + row)
      else {
        let text = ''
        for (let i = 0; i < 10; i++) {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
          text += state.toString(36)
        }
        appendText(builder, text)
      }
    }
    return builder.finish()
  })
  return encodeArrowStream(fields, [{ rows, columns }])
}

const payload = noise()

beforeEach(async () => {
  log = Object.assign(openMemoryLog({ id: 'log-1' }), { release: async () => {} })
  store = openMemoryStore()
  const writer = new TestWriter('w')
  const small = decodeMessage(writer.rows(id, [{ rows }], { fields: userFields }))
  if (small.kind !== 'message') throw new TypeError('a message')
  await log.append(0, [
    writer.create(id, 'acme/a'),
    encodeMessage(small.header, payload),
    writer.cut([{ dataset: id, sequence: 3 }]),
  ])
})

test('is the same file that a writer makes at once, and the chain over it is sound', async () => {
  let streamed = 0
  await buildAll(log, {
    ...store,
    putStream: async (chunks, keyOf) => {
      streamed++
      return store.putStream(chunks, keyOf)
    },
  })
  expect(streamed).toBe(1)
  expect((await fsck(store)).datasets).toMatchObject([{ ok: true, rows }])
  const again = openMemoryStore()
  await buildAll(log, again)
  expect(await dump(again, 'datasets')).toEqual(await dump(store, 'datasets'))
})

test('is built again where the store failed in its midst', async () => {
  let failures = 3
  await buildAll(
    log,
    {
      ...store,
      putStream: async (chunks, keyOf) => {
        if (failures-- === 0) return store.putStream(chunks, keyOf)
        for await (const _ of chunks) throw new Error('EIO')
        throw new Error('EIO')
      },
    },
    { clock: fastClock(500) },
  )
  expect((await fsck(store)).datasets).toMatchObject([{ ok: true, rows }])
})

test('that cannot be made leaves nothing in the store, and halts with the message', async () => {
  let pages = 0
  const failing = {
    ...compressor,
    compress: (bytes: Uint8Array): Uint8Array => {
      if (bytes.length > 1024 * 1024 && ++pages % 2 === 0) throw new RangeError('a bug')
      return compressor.compress(bytes)
    },
  }
  const { builder } = await buildAll(log, store, { compressor: failing, clock: fastClock(500) })
  expect(builder.status().halted).toMatchObject([{ reason: 'PoisonBlock', message: 1 }])
  expect([...(await dump(store, 'datasets')).keys()].filter((key) => key.includes('/data/'))).toEqual([])
})
