// Starting again: floors, anchors, halts with a reason, and what goes on beside a halted dataset.

import { beforeEach, describe, expect, test } from 'vitest'
import { loadDataset } from '../../../src/node/builder/load-dataset.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { readHead } from '../../../src/node/store/heads.ts'
import { blockKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { newestLowWaterMark } from '../../../src/node/store/records.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import {
  buildAll,
  compressor,
  datasetId,
  drained,
  dump,
  fastClock,
  quickCuts,
  rowCount,
  start,
  TestWriter,
} from './support.ts'
import { until } from '../../helpers/until.ts'

const a = datasetId('a')
const b = datasetId('b')
let store: ObjectStore
let writer: TestWriter

beforeEach(() => {
  store = openMemoryStore()
  writer = new TestWriter('w')
})

async function logOf(messages: readonly Uint8Array[], id = 'log-1'): Promise<EventLog> {
  const log = openMemoryLog({ id })
  await log.append(0, messages)
  return log
}

/** Creations of a and b, and a block of rows for each. */
function beginning(from = writer): Uint8Array[] {
  return [
    from.create(a, 'acme/a'),
    from.create(b, 'acme/b'),
    from.rows(a, [{ rows: 2 }]),
    from.rows(b, [{ rows: 3 }]),
    from.cut([
      { dataset: a, sequence: 3 },
      { dataset: b, sequence: 3 },
    ]),
  ]
}

async function dropFloors(): Promise<void> {
  for (const key of (await dump(store, 'progress')).keys()) await store.delete(key)
}

async function reasons(log: EventLog): Promise<(string | undefined)[][]> {
  const { builder } = await buildAll(log, store)
  return builder.status().halted.map(({ dataset, reason }) => [dataset, reason])
}

describe('a floor', () => {
  test('reaches the end of the log within 10 s when all falls quiet', async () => {
    const log = await logOf(beginning())
    const clock = fastClock(200)
    const running = await start(log, store, { clock })
    await drained(log, running)
    const quietMs = clock.monotonicMs()
    await until('the floor is at the end', async () => (await newestLowWaterMark(store, 'log-1', 0))?.position === 5)
    expect(clock.monotonicMs() - quietMs).toBeLessThan(60_000)
    await running.builder.stop()
    expect(await log.range(0)).toEqual({ start: 4, end: 5 })
  })

  test('stays below rows that are in no block, and below the first part of a batch that is not whole', async () => {
    const large = new TestWriter('large').large(a, { rows: 50 }, 2)
    const log = await logOf([
      ...beginning(),
      large.part(0),
      writer.rows(a, [{}]),
      writer.cut([{ dataset: a, sequence: 4 }]),
    ])
    await buildAll(log, store)
    expect((await newestLowWaterMark(store, 'log-1', 0))?.position).toBe(5)
    await log.append(0, [large.part(1)])
    await buildAll(log, store)
    expect((await newestLowWaterMark(store, 'log-1', 0))?.position).toBe(5)
    await log.append(0, [writer.cut([{ dataset: a, sequence: 5 }])])
    await buildAll(log, store)
    expect((await newestLowWaterMark(store, 'log-1', 0))?.position).toBe(10)
    expect(await rowCount(store, a)).toBe(53)
  })

  test('that another builder has put meanwhile is where reading begins again', async () => {
    const log = await logOf(beginning())
    await buildAll(log, store)
    await log.append(0, [writer.rows(a, [{}])])
    let lists = 0
    const stale: ObjectStore = {
      ...store,
      list: async (prefix) => (prefix.startsWith('progress') && ++lists === 1 ? [] : store.list(prefix)),
    }
    const { builder } = await buildAll(log, stale, { clock: fastClock(100) })
    expect(lists).toBeGreaterThan(1)
    expect(builder.status()).toMatchObject({ ready: true, halted: [] })
  })
})

describe('a log that does not fit the store halts the partition', () => {
  test('LogTruncated: it begins above the floor', async () => {
    const log = await logOf(beginning())
    await log.release(0, 3)
    expect(await reasons(log)).toEqual([[undefined, 'LogTruncated']])
  })

  test('LogRegressed: it ends below the floor', async () => {
    await buildAll(await logOf(beginning()), store)
    expect(await reasons(await logOf(beginning(new TestWriter('w')).slice(0, 3)))).toEqual([
      [undefined, 'LogRegressed'],
    ])
  })

  test('LogReplaced: the message below the floor is another one', async () => {
    await buildAll(await logOf(beginning()), store)
    expect(await reasons(await logOf(beginning(new TestWriter('x'))))).toEqual([[undefined, 'LogReplaced']])
  })

  test('NewerLog and LogDamaged: a message of a later version, or with a wrong checksum', async () => {
    const newer = writer.rows(a, [{}])
    newer[7] = '3'.charCodeAt(0)
    expect(await reasons(await logOf([...beginning(), newer]))).toEqual([[undefined, 'NewerLog']])
    const damaged = writer.rows(a, [{}])
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1
    store = openMemoryStore()
    expect(await reasons(await logOf([...beginning(), damaged]))).toEqual([[undefined, 'LogDamaged']])
    expect(await rowCount(store, a)).toBe(2)
  })

  test('a partition count other than the declared one refuses to start', async () => {
    await buildAll(openMemoryLog({ id: 'log-1', partitions: 2 }), store)
    await expect(buildAll(openMemoryLog({ id: 'log-1' }), store)).rejects.toMatchObject({ reason: 'LogReplaced' })
  })
})

describe('a chain that does not fit the log halts its dataset', () => {
  test('LogRegressed: without a floor, the message below its next position is gone', async () => {
    const messages = beginning()
    await buildAll(await logOf([...messages, writer.rows(a, [{}]), writer.cut([{ dataset: a, sequence: 4 }])]), store)
    await dropFloors()
    expect(await reasons(await logOf(messages))).toEqual([[a, 'LogRegressed']])
  })

  test('LogReplaced: the message is another one; a bare creation is checked too', async () => {
    await buildAll(
      await logOf([
        writer.create(a, 'acme/a'),
        writer.rows(a, [{}]),
        writer.cut([{ dataset: a, sequence: 3 }]),
        writer.create(b, 'acme/b'),
      ]),
      store,
    )
    await dropFloors()
    const other = new TestWriter('other')
    const log = await logOf([other.rows(a, [{}]), other.rows(a, [{}]), other.rows(a, [{}]), other.rows(b, [{}])])
    expect(await reasons(log)).toEqual([
      [a, 'LogReplaced'],
      [b, 'LogReplaced'],
    ])
  })

  test('LogReplaced: it was made from another log', async () => {
    await buildAll(await logOf(beginning()), store)
    const log = await logOf([writer.rows(a, [{}]), writer.create(datasetId('c'), 'acme/c')], 'log-2')
    expect(await reasons(log)).toEqual([[a, 'LogReplaced']])
    expect(await readHead(store, datasetId('c'))).toBeDefined()
  })

  test('ChainRegressed: rows without a chain, and a cut above the next block', async () => {
    expect(
      await reasons(
        await logOf([...beginning(), writer.rows(datasetId('c'), [{}]), writer.cut([{ dataset: b, sequence: 9 }])]),
      ),
    ).toEqual(
      expect.arrayContaining([
        [datasetId('c'), 'ChainRegressed'],
        [b, 'ChainRegressed'],
      ]),
    )
  })

  test('ChainBroken: its head is damaged; the others and the floor go on, and nothing is lost once it is mended', async () => {
    const log = await logOf(beginning())
    await buildAll(log, store)
    const head = must(await readHead(store, a), 'a head')
    const key = blockKey(a, head.hash)
    const good = must(await store.get(key), 'a block')
    await store.replace(key, good.slice(0, -5))
    await log.append(0, [
      writer.rows(a, [{ rows: 7 }]),
      writer.rows(b, [{ rows: 7 }]),
      writer.cut([
        { dataset: a, sequence: 4 },
        { dataset: b, sequence: 4 },
      ]),
    ])
    expect(await reasons(log)).toEqual([[a, 'ChainBroken']])
    expect(await rowCount(store, b)).toBe(10)
    const floor = await newestLowWaterMark(store, 'log-1', 0)
    expect(floor).toMatchObject({ position: 8, halted: [{ dataset: a, position: 5, reason: 'ChainBroken' }] })
    expect((await log.range(0)).start).toBeLessThanOrEqual(5)
    await store.replace(key, good)
    expect(await reasons(log)).toEqual([])
    expect(await rowCount(store, a)).toBe(9)
    expect(await rowCount(store, b)).toBe(10)
  })

  test('PoisonBlock: a block that cannot be built; a builder that can goes on', async () => {
    const log = await logOf([
      ...beginning().slice(0, 2),
      writer.rows(a, [{ rows: 5_000 }]),
      writer.cut([{ dataset: a, sequence: 3 }]),
    ])
    let calls = 0
    const poisoned = {
      ...compressor,
      compress: (bytes: Uint8Array): Uint8Array => {
        if (calls++ < 2) throw new RangeError('a bug')
        return compressor.compress(bytes)
      },
    }
    const { builder } = await buildAll(log, store, { compressor: poisoned, clock: fastClock(100) })
    expect(builder.status().halted).toMatchObject([
      { dataset: a, reason: 'PoisonBlock', what: 'block 3 cannot be built: RangeError: a bug (because of message 2)' },
    ])
    expect(await newestLowWaterMark(store, 'log-1', 0)).toMatchObject({
      position: 4,
      halted: [{ dataset: a, position: 2 }],
    })
    await buildAll(log, store)
    expect([await rowCount(store, a), await rowCount(store, b)]).toEqual([5_000, 0])
  })
})

describe('a builder', () => {
  test('announces and names again what the chain has above the floor', async () => {
    const messages = beginning()
    await buildAll(await logOf(messages), store)
    await dropFloors()
    await store.delete('names/acme/a')
    const { announced } = await buildAll(await logOf(messages), store)
    expect(announced.map(({ alias, headSequence }) => [alias, headSequence])).toEqual([
      ['acme/a', 3],
      ['acme/b', 3],
    ])
  })

  test('gives a name to the first creation of it; the other stays unreachable and unannounced', async () => {
    const { announced, builder } = await buildAll(
      await logOf([writer.create(a, 'acme/Name'), writer.create(b, 'ACME/name')]),
      store,
    )
    expect(announced.map(({ dataset }) => dataset)).toEqual([a])
    expect(builder.status().halted).toEqual([])
  })

  test('waits out faults of the store', async () => {
    let failures = 20
    const failing: ObjectStore = {
      ...store,
      put: (key, bytes) => (failures-- > 0 ? Promise.reject(new Error('EIO')) : store.put(key, bytes)),
    }
    const log = await logOf(beginning())
    failures = 0
    const running = await start(log, failing, { clock: fastClock(500) })
    failures = 20
    await drained(log, running)
    await running.builder.stop()
    expect([await rowCount(store, a), await rowCount(store, b)]).toEqual([2, 3])
  })

  test('writes no cuts while the wall clock is off by more than 10 minutes', async () => {
    let offMs = 0
    const base = fastClock(100)
    const clock = { ...base, nowMs: () => base.nowMs() + offMs }
    const log = await logOf([writer.create(a, 'acme/a')])
    const running = await start(log, store, { clock, options: quickCuts })
    await drained(log, running)
    offMs = 11 * 60_000
    await log.append(0, [writer.rows(a, [{}])])
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(running.builder.status()).toMatchObject({ ready: false, halted: [{ reason: 'ClockJump' }] })
    expect((await log.range(0)).end).toBe(2)
    offMs = 0
    await log.append(0, [writer.rows(a, [{ wait: true }])])
    await until('a block', async () => (await rowCount(store, a)) === 2)
    await running.builder.stop()
  })

  test('cuts again once a clock that jumped has been steady for a minute', async () => {
    let offMs = 0
    const base = fastClock(2_000)
    const clock = { ...base, nowMs: () => base.nowMs() + offMs }
    const log = await logOf([writer.create(a, 'acme/a')])
    const running = await start(log, store, { clock, options: quickCuts })
    await drained(log, running)
    offMs = 5 * 3_600_000
    await until('it has noticed', () => running.builder.status().halted.length === 1)
    const jumpedMs = clock.monotonicMs()
    await log.append(0, [writer.rows(a, [{ rows: 2 }])])
    await until('a block', async () => (await rowCount(store, a)) === 2)
    expect(clock.monotonicMs() - jumpedMs).toBeGreaterThan(40_000)
    expect(running.builder.status()).toMatchObject({ ready: true, halted: [] })
    await running.builder.stop()
  })

  test('ends an attempt whose parts stopped coming, and the floor goes on', async () => {
    const large = writer.large(a, { rows: 50 }, 2)
    const log = await logOf([writer.create(a, 'acme/a'), large.part(0)])
    const running = await start(log, store, { clock: fastClock(5_000), options: quickCuts })
    await until(
      'the floor passes the attempt',
      async () => ((await newestLowWaterMark(store, 'log-1', 0))?.position ?? 0) >= 4,
    )
    await running.builder.stop()
    expect(await log.range(0)).toMatchObject({ end: 4 })
    expect(await rowCount(store, a)).toBe(0)
  })

  test('works off a backlog far larger than a block by count, then cuts what is left', async () => {
    const log = await logOf([writer.create(a, 'acme/a')])
    for (let i = 0; i < 9; i++) await log.append(0, [writer.rows(a, [{ rows: 100_000 }])])
    const running = await start(log, store, { options: quickCuts })
    await until('all rows are in blocks', async () => (await rowCount(store, a)) === 900_000)
    await running.builder.stop()
    const head = must(await loadDataset(store, a), 'a chain')
    expect(head.state.nextSequence).toBe(3 + 5)
    expect((await log.range(0)).end).toBe(11)
  })

  test('builds each partition of a log', async () => {
    const log = openMemoryLog({ id: 'log-1', partitions: 2 })
    await log.append(0, [writer.create(a, 'acme/a')])
    await log.append(1, [
      writer.create(b, 'acme/b'),
      writer.rows(b, [{ rows: 4 }]),
      writer.cut([{ dataset: b, sequence: 3 }]),
    ])
    await buildAll(log, store)
    expect([await rowCount(store, a), await rowCount(store, b)]).toEqual([0, 4])
    expect((await newestLowWaterMark(store, 'log-1', 1))?.position).toBe(3)
  })
})
