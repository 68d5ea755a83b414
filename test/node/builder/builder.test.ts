// The builder end to end over memory log and memory store: from messages to chains.

import { describe, expect, test } from 'vitest'
import { decodeCheckpoint } from '../../../src/libraries/odf/chain/checkpoint.ts'
import { assert, must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { decodeMessage } from '../../../src/node/log/messages.ts'
import type { AddData } from '../../../src/libraries/model/events.ts'
import { readName } from '../../../src/node/store/names.ts'
import { readHead } from '../../../src/node/store/heads.ts'
import { blockKey, checkpointKey } from '../../../src/node/store/layout.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import {
  buildAll,
  type ChainBlock,
  chainOf,
  datasetId,
  drained,
  quickCuts,
  schemaOf,
  start,
  TestWriter,
  userFields,
} from './support.ts'
import { until } from '../../helpers/until.ts'

const dataset = datasetId('a')

function lastData(chain: readonly ChainBlock[]): AddData {
  const event = must(chain.at(-1), 'a head').block.event
  assert(event.kind === 'AddData', 'the head has data')
  return event
}

describe('a builder', () => {
  test('commits creations of different names side by side, and of one name in the order of the log', async () => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    const [slow, loser, other] = [datasetId('slow'), datasetId('loser'), datasetId('other')]
    const [put, isThere] = [store.put, async () => (await readName(store, 'acme/other')) !== undefined]
    store.put = async (key, bytes) => {
      // The first creation ends after the last one.
      if (key.startsWith(`datasets/${slow}/commits/`)) await until('the other one is there', isThere)
      return put(key, bytes)
    }
    await log.append(0, [
      writer.create(slow, 'acme/name'),
      writer.create(loser, 'ACME/name'),
      writer.create(other, 'acme/other'),
    ])
    await buildAll(log, store)
    expect(await readName(store, 'acme/name')).toMatchObject({ id: slow })
    expect(await readName(store, 'acme/other')).toMatchObject({ id: other })
  })

  test('makes a dataset from a creation and commits rows at a cut', async () => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    await log.append(0, [
      writer.create(dataset, 'Acme/Trips'),
      writer.rows(dataset, [{ rows: 3 }, { rows: 2, key: 'k' }]),
      writer.cut([{ dataset, sequence: 3 }]),
    ])
    const { announced } = await buildAll(log, store)
    const chain = await chainOf(store, dataset)
    expect(chain.map(({ block }) => block.event.kind)).toEqual(['Seed', 'SetDataSchema', 'AddPushSource', 'AddData'])
    const event = lastData(chain)
    expect(event.newData?.offsetInterval).toEqual({ start: 0, end: 4 })
    expect(event.newWatermark).toBe('2026-03-01T00:00:00.004Z')
    const hash = must(event.newCheckpoint, 'a checkpoint').physicalHash
    const checkpoint = decodeCheckpoint(must(await store.get(checkpointKey(dataset, hash)), 'a checkpoint'))
    expect(checkpoint.outcomes.map(({ position, index, status }) => [position, index, status])).toEqual([
      [1, 0, { kind: 'committed', start: 0, end: 2 }],
      [1, 1, { kind: 'committed', start: 3, end: 4 }],
    ])
    expect(checkpoint.next).toBe(3)
    expect((await readName(store, 'acme/trips'))?.alias).toBe('Acme/Trips')
    expect(announced.map(({ sequence, headSequence, next }) => [sequence, headSequence, next])).toEqual([
      [0, 2, 1],
      [3, 3, 3],
    ])
  })

  test('builds nothing for a creation whose name is taken', async () => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    await log.append(0, [writer.create(dataset, 'Acme/Trips')])
    await buildAll(log, store)
    const others = Array.from({ length: 20 }, (_, i) => datasetId(`late ${i}`))
    await log.append(0, [
      ...others.map((id) => writer.create(id, 'acme/TRIPS')),
      writer.create(datasetId('b'), 'acme/b'),
    ])
    await buildAll(log, store)
    expect((await readName(store, 'acme/trips'))?.id).toBe(dataset)
    const folders = [dataset, datasetId('b')].map((id) => id.slice('did:odf:'.length))
    expect((await store.list('datasets')).toSorted()).toEqual(folders.toSorted())
  })

  test('cuts by itself once rows have waited', async () => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    const running = await start(log, store, { options: quickCuts })
    await log.append(0, [writer.create(dataset, 'acme/trips')])
    for (let i = 0; i < 5; i++) {
      await log.append(0, [writer.rows(dataset, [{ wait: true }])])
      await until('a block', () => running.announced.length === i + 2)
    }
    await running.builder.stop()
    const chain = await chainOf(store, dataset)
    expect(chain).toHaveLength(8)
    expect(lastData(chain).newData?.offsetInterval).toEqual({ start: 4, end: 4 })
  })

  test('adds a column with its rows', async () => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    const fields = [...userFields, { name: 'zone', type: { kind: 'Option', inner: { kind: 'String' } } } as const]
    await log.append(0, [
      writer.create(dataset, 'acme/trips'),
      writer.rows(dataset, [{ rows: 3 }]),
      writer.rows(dataset, [{ rows: 2 }], { fields, schema: schemaOf(fields) }),
      writer.cut([{ dataset, sequence: 3 }]),
    ])
    await buildAll(log, store)
    const chain = await chainOf(store, dataset)
    expect(chain.map(({ block }) => block.event.kind).slice(3)).toEqual(['SetDataSchema', 'AddPushSource', 'AddData'])
  })
})

function payloadBytes(message: Uint8Array): number {
  const decoded = decodeMessage(message)
  return decoded.kind === 'message' ? decoded.payload.length : 0
}

describe('the open bytes of a builder', () => {
  test('rise with rows and with parts of a large batch, and fall when the block is committed', async () => {
    const log = openMemoryLog()
    let monotonicMs = 0
    const clock = { ...systemClock, monotonicMs: () => monotonicMs++ * 1000 }
    const writer = new TestWriter('w')
    const running = await start(log, openMemoryStore(), { clock })
    await log.append(0, [writer.create(dataset, 'acme/open')])
    await drained(log, running)
    expect(running.builder.openBytes()).toBe(0)

    const rows = [writer.rows(dataset, [{ rows: 100 }]), writer.rows(dataset, [{ rows: 7 }])]
    await log.append(0, rows)
    await drained(log, running)
    const logged = rows.reduce((sum, message) => sum + payloadBytes(message), 0)
    expect(running.builder.openBytes()).toBe(logged)

    const large = writer.large(dataset, { rows: 300 }, 2)
    await log.append(0, [large.part(0)])
    await drained(log, running)
    expect(running.builder.openBytes()).toBeGreaterThan(logged + 512 * 1024 - 1)
    const last = large.part(1)
    await log.append(0, [last, writer.cut([{ dataset, sequence: 3 }])])
    await drained(log, running)
    await until('the block is committed', () => running.builder.openBytes() === 0)
    await running.builder.stop()
  })
})

test('a restart reads the chains behind the floor many at once', async () => {
  const log = openMemoryLog()
  const store = openMemoryStore()
  const writer = new TestWriter('w')
  const ids = Array.from({ length: 60 }, (_, i) => datasetId(`d${i}`))
  await log.append(
    0,
    ids.map((id, i) => writer.create(id, `acme/d${i}`)),
  )
  await (await buildAll(log, store)).builder.stop()
  await log.append(
    0,
    ids.map((id) => writer.rows(id, [{ rows: 3 }])),
  )
  let inFlight = 0
  let most = 0
  const slow = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (name !== 'get') return typeof member === 'function' ? (member.bind(target) as unknown) : member
      return async (key: string) => {
        most = Math.max(most, ++inFlight)
        await new Promise((resolve) => setTimeout(resolve, 2))
        inFlight--
        return target.get(key)
      }
    },
  })
  const { builder } = await start(log, slow)
  await until('the log has been read', () => builder.status().partitions[0]?.caughtUp === true)
  expect(builder.openRows()).toBe(180)
  await builder.stop()
  expect(most).toBeGreaterThan(8)
})

test('a chain that cannot be read ahead halts its dataset, and no other', async () => {
  const log = openMemoryLog()
  const store = openMemoryStore()
  const writer = new TestWriter('w')
  const [good = '', bad = ''] = ['good', 'bad'].map(datasetId)
  await log.append(0, [writer.create(good, 'acme/good'), writer.create(bad, 'acme/bad')])
  await buildAll(log, store)
  await store.delete(blockKey(bad, must(await readHead(store, bad), 'a head').hash))
  await log.append(0, [writer.rows(bad, [{ rows: 2 }]), writer.rows(good, [{ rows: 3 }])])
  const { builder } = await start(log, store)
  await until('the log has been read', () => builder.openRows() === 3)
  expect(builder.status().halted).toMatchObject([{ dataset: bad, reason: 'ChainBroken' }])
  await builder.stop()
})
