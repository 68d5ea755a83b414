// The columns of a slice are shared out among threads: the file is the same whatever their number and whoever is done
// first, arrays that others hold stay whole, and a lost thread fails its block alone.

import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { createColumnBuilder } from '../../../src/libraries/columnar/arrow/column-builder.ts'
import { sliceBatch } from '../../../src/libraries/columnar/arrow/columns.ts'
import { buildSlice, type SliceDeps } from '../../../src/node/builder/build-slice.ts'
import type { DataPlan } from '../../../src/node/builder/dataset-state.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { toHex } from '../../../src/libraries/base/bytes.ts'
import {
  type DataSchema,
  defaultVocabulary,
  optional,
  type RecordBatch,
  systemFields,
} from '../../../src/libraries/model/schema.ts'
import { compressor } from '../../../src/node/machine/work/zstd-page.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { Handover } from '../../../src/node/machine/work/handover.ts'
import { ThreadPool } from '../../../src/node/machine/work/thread-pool.ts'
import type { Task } from '../../../src/node/machine/work/work-pool.ts'
import { appendText } from '../../helpers/slices.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { SimulatedThreads } from '../../adapters/simulated-threads.ts'
import { datasetId, fastClock, rowCount, type Running, start, TestWriter } from './support.ts'
import { until } from '../../helpers/until.ts'

const schema: DataSchema = {
  fields: [
    ...systemFields(defaultVocabulary),
    { name: 'n', type: { kind: 'Int64' } },
    { name: 'few', type: optional({ kind: 'String' }) },
    { name: 'text', type: optional({ kind: 'String' }) },
    { name: 'flag', type: optional({ kind: 'Bool' }) },
    { name: 'x', type: optional({ kind: 'Float64' }) },
    { name: 'list', type: optional({ kind: 'List', itemType: optional({ kind: 'Int32' }) }) },
  ],
}

/** Rows of all columns but the first three, with nulls. */
function batchOf(rows: number, seed: number): RecordBatch {
  const columns = schema.fields.slice(3).map((field, place) => {
    const builder = createColumnBuilder(place === 0 ? field : { ...field })
    for (let row = 0; row < rows; row++) {
      const value = (Math.imul(row + seed, 2_654_435_761) >>> 3) % 100_000
      if (place > 1 && value % 7 === place) builder.appendNull()
      else if (place < 2) builder.appendInt64(1_772_000_000_000 + value)
      else if (place === 2) appendText(builder, `c${value % 50}`)
      else if (place === 3) appendText(builder, `${value} of ${'long '.repeat(value % 9)}`)
      else if (place === 4) builder.appendBool(value % 2 === 0)
      else if (place === 5) builder.appendFloat64(value / 7)
      else {
        const items = value % 4
        for (let i = 0; i < items; i++) builder.items?.appendInt32(value + i)
        builder.endList()
      }
    }
    return builder.finish()
  })
  return { rows, columns }
}

async function built(
  batches: readonly RecordBatch[],
  deps: Partial<SliceDeps>,
): Promise<{ physicalHash: string; logicalHash: string }> {
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0)
  const plan: DataPlan = {
    kind: 'data',
    dataset: 'did:odf:x',
    sequence: 3,
    timeMs: 1_772_000_000_000,
    firstChange: 1,
    next: 2,
    vocabulary: defaultVocabulary,
    schema,
    schemaChanged: false,
    firstOffset: 10,
    rows,
    sources: [{ positions: [1], ranges: [0, rows] }],
    payloadBytes: Math.max(2 ** 20, 10 * rows),
    checkpoint: { number: 0, moved: 0, outcomes: [], attempts: [], writers: [], ids: [] },
  }
  const { physicalHash, logicalHash } = await buildSlice(plan, {
    compressor,
    readBatches: async function* () {
      yield* batches
    },
    storeSlice: async (_, chunks) => {
      for await (const _ of chunks);
    },
    ...deps,
  })
  return { physicalHash, logicalHash }
}

const newPool = (tasks: number): ThreadPool =>
  new ThreadPool({ clock: systemClock, jobs: 0, queueLimit: 0, tasks, heapMiB: 128 })

const begin = (pool: ThreadPool, bytes: number): Task<'columns'>[] =>
  pool.begin('columns', schema.fields, { bytes, most: 9 })

// One of several is left to others.
const pools = [1, 3, 5].map(newPool)
afterAll(() => Promise.all(pools.map((pool) => pool.close())))

describe('a slice', () => {
  test('has the same bytes with 0, 1, 2 and 4 threads', async () => {
    // Two row groups and the beginning of a third, from batches of all sizes; the rows stay as they were.
    const batches = [
      batchOf(150_000, 1),
      batchOf(1, 2),
      batchOf(9_000, 3),
      sliceBatch(batchOf(120_000, 4), 11, 115_000),
    ]
    const alone = await built(batches, {})
    for (const threads of pools) expect(await built(batches, { threads })).toEqual(alone)
    expect(await built(batches, {})).toEqual(alone)
  })

  test('has the same bytes whichever thread is done first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 12 }), fc.infiniteStream(fc.nat(3)), async (threads, turns) => {
        const batches = [batchOf(70, 5), batchOf(3000, 6)]
        const wait = async (): Promise<void> => {
          for (let turn = turns.next().value ?? 0; turn > 0; turn--) await new Promise(setImmediate)
        }
        const own = new SimulatedThreads({ threads, wait, compress: compressor.compress, isLost: () => false })
        expect(await built(batches, { threads: own })).toEqual(await built(batches, {}))
        expect(own.free).toBe(threads)
      }),
      { numRuns: 20 },
    )
  })

  test('fails when a thread is lost, gives the others back, and is built the next time', async () => {
    const batches = [batchOf(5000, 7)]
    let losses = 1
    const options = { threads: 3, wait: async () => {}, compress: compressor.compress, isLost: () => losses-- > 0 }
    const own = new SimulatedThreads(options)
    await expect(built(batches, { threads: own })).rejects.toThrow('a thread was lost')
    expect(own.free).toBe(3)
    expect(await built(batches, { threads: own })).toEqual(await built(batches, {}))
  })

  test('is built without threads where none is free, or the pool is closed', async () => {
    const pool = newPool(1)
    const [task] = begin(pool, 1e9)
    expect(begin(pool, 1e9)).toEqual([])
    const batches = [batchOf(5000, 8)]
    expect(await built(batches, { threads: pool })).toEqual(await built(batches, {}))
    task?.end()
    expect(begin(pool, 1000)).toEqual([])
    const going = begin(pool, 1e9)
    expect(going).toHaveLength(1)
    const said = going[0]?.say({ kind: 'end' })
    await Promise.all([expect(said).rejects.toThrow('a thread was lost'), pool.close()])
    expect(begin(pool, 1e9)).toEqual([])
  })
})

test('work that breaks fails with what broke it', async () => {
  const pool = newPool(1)
  const [task] = begin(pool, 1e9)
  const [column = never()] = batchOf(1, 1).columns
  await expect(task?.say({ kind: 'rows', columns: new Map([[99, column]]) })).rejects.toThrow('a field for each column')
  task?.end()
  expect(begin(pool, 1e9)).toHaveLength(1)
  await pool.close()
})

test('what is named moves to another thread, of a part of a buffer a copy does, and nothing else moves', () => {
  const whole = Uint8Array.of(1, 2, 3)
  const part = new Uint8Array(Uint8Array.of(4, 5, 6, 7).buffer, 1, 2)
  const pooled = Buffer.from('pooled')
  const unnamed = Uint8Array.of(8, 9)
  const [values, validity, items] = [Uint8Array.of(1), Uint8Array.of(3), Uint8Array.of(5)]
  const offsets = new Int32Array(4).subarray(2)
  const none = new Uint8Array(0)
  const over = new Handover()
  const bare = { name: 'a', type: { kind: 'String' }, nullable: true, rows: 1, nullCount: 0 } as const
  const message = {
    whole: over.take(whole),
    twice: over.take(whole),
    map: new Map([[1, { part: over.take(part) }]]),
    pooled: over.take(pooled),
    none: over.take(none),
    unnamed,
    column: over.column({ ...bare, values, validity, offsets, child: { ...bare, values: items } }),
  }
  const there = structuredClone(message, { transfer: over.buffers })
  expect(there).toMatchObject({ twice: Uint8Array.of(1, 2, 3), map: new Map([[1, { part: Uint8Array.of(5, 6) }]]) })
  expect(there.column).toMatchObject({ values: Uint8Array.of(1), offsets: new Int32Array(2) })
  expect([whole, values, validity, items].map(({ length }) => length)).toEqual([0, 0, 0, 0])
  expect([toHex(part), pooled.toString(), toHex(unnamed), offsets.length]).toEqual(['0506', 'pooled', '0809', 2])
})

function never(): never {
  throw new TypeError('there is a column')
}

describe('a builder', () => {
  const id = datasetId('a')
  const run = async (isLost: () => boolean): Promise<{ running: Running; store: ObjectStore }> => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    await log.append(0, [
      writer.create(id, 'acme/a'),
      writer.rows(id, [{ rows: 20 }]),
      writer.cut([{ dataset: id, sequence: 3 }]),
    ])
    const threads = new SimulatedThreads({ threads: 2, wait: async () => {}, compress: compressor.compress, isLost })
    return { running: await start(log, store, { compressor, threads, clock: fastClock(20) }), store }
  }

  test('builds a block again of which a thread was lost', async () => {
    let losses = 1
    const { running, store } = await run(() => losses-- > 0)
    await until('it is built', async () => (await rowCount(store, id)) === 20)
    await running.builder.stop()
    expect(losses).toBeLessThan(1)
  })

  test('halts a dataset of whose block threads are lost again and again', async () => {
    const { running } = await run(() => true)
    await until('it is halted', () => running.builder.status().halted.length > 0)
    expect(running.builder.status().halted).toMatchObject([{ dataset: id, reason: 'PoisonBlock' }])
    await running.builder.stop()
  })
})
