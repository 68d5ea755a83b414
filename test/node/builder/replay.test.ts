// One log, many ways to build it: restarted at every message, crashed at every put, raced, from different floors.
// Every way must end in the same bytes, and the rows must be those that an account of its own expects.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadDataset } from '../../../src/node/builder/load-dataset.ts'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { nextTurn } from '../../../src/libraries/base/clock.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { dataKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { readSlice } from '../../helpers/slices.ts'
import { FoldHarness, snapshotOf } from './fold-harness.ts'
import { actions, type Script, scriptOf } from './script.ts'
import { buildAll, chainOf, compressor, datasetId, drained, dump, start, TestWriter } from './support.ts'
import { until } from '../../helpers/until.ts'

async function logOf(messages: readonly Uint8Array[], id = 'log-1'): Promise<EventLog> {
  const log = openMemoryLog({ id })
  if (messages.length > 0) await log.append(0, messages)
  return log
}

/** All that must be equal: datasets and names, hints included. */
async function contents(store: ObjectStore): Promise<Record<string, string>> {
  const all = [...(await dump(store, 'datasets')), ...(await dump(store, 'names'))]
  return Object.fromEntries(all.map(([key, bytes]) => [key, Buffer.from(bytes).toString('base64')]))
}

/** Values of column `n` in chain order. */
async function rowsOf(store: ObjectStore, id: string): Promise<number[]> {
  const values: number[] = []
  for (const { block } of await chainOf(store, id)) {
    if (block.event.kind !== 'AddData' || block.event.newData === undefined) continue
    const bytes = must(await store.get(dataKey(id, block.event.newData.physicalHash)), 'a slice')
    const batch = await readSlice(bytes)
    const column = must(
      batch.columns.find(({ name }) => name === 'n'),
      'column n',
    )
    const view = new DataView(column.values.buffer, column.values.byteOffset)
    for (let row = 0; row < batch.rows; row++) values.push(Number(view.getBigInt64(8 * row, true)))
  }
  return values
}

async function reference({ messages, expected }: Script): Promise<Record<string, string>> {
  const store = openMemoryStore()
  const { builder } = await buildAll(await logOf(messages), store)
  expect(builder.status().halted).toEqual([])
  const report = await fsck(store, {})
  expect([report.problems, report.datasets.flatMap(({ problems, notes }) => [...problems, ...notes])]).toEqual([[], []])
  expect(report.orphans).toBe(0)
  for (const [id, rows] of expected) expect(await rowsOf(store, id)).toEqual(rows)
  return contents(store)
}

describe('one log', () => {
  test('gives every row that must be there, once, and the same bytes when the builder restarts at every message', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (todo) => {
        const script = await scriptOf(todo)
        const whole = await reference(script)
        const log = await logOf([])
        const store = openMemoryStore()
        for (const message of script.messages) {
          await log.append(0, [message])
          await buildAll(log, store)
        }
        expect(await contents(store)).toEqual(whole)
      }),
      { numRuns: 120 },
    )
  })

  test('leaves the state that a fold over all of it has', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (todo) => {
        const { messages } = await scriptOf(todo)
        const store = openMemoryStore()
        await buildAll(await logOf(messages), store)
        for (const id of ['a', 'b', 'c'].map(datasetId)) {
          const fold = new FoldHarness(id)
          await fold.takeAll(messages)
          const loaded = must(await loadDataset(store, id), 'a chain')
          // A chain holds no open parts of a batch that never became whole after its last block.
          const isOpen = fold.state.firstChange !== undefined
          expect(isOpen ? undefined : snapshotOf(loaded.state)).toEqual(isOpen ? undefined : fold.snapshot())
        }
      }),
      { numRuns: 120 },
    )
  })

  test('gives the same bytes after a crash at any put, before or after it took effect', async () => {
    await fc.assert(
      fc.asyncProperty(
        actions,
        fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.boolean()), { minLength: 1, maxLength: 4 }),
        async (todo, crashes) => {
          const script = await scriptOf(todo)
          const whole = await reference(script)
          const log = await logOf(script.messages)
          const store = openMemoryStore()
          for (const [puts, takesEffect] of crashes) {
            const crashing = crashingStore(store, puts, takesEffect)
            const running = await start(log, crashing.store).catch(() => undefined)
            if (running === undefined) continue
            await Promise.race([crashing.crashed, drained(log, running)])
            await running.builder.stop()
          }
          await buildAll(log, store)
          expect(await contents(store)).toEqual(whole)
        },
      ),
      { numRuns: 12 },
    )
  })

  test('gives the same bytes to two builders at once, and to one that starts at a later floor', async () => {
    await fc.assert(
      fc.asyncProperty(actions, fc.nat(), async (todo, at) => {
        const script = await scriptOf(todo)
        const whole = await reference(script)
        const split = at % script.messages.length
        // Two logs of the same messages: builders let their log go of what is below the floor of their own store.
        const [slowLog, log] = [
          await logOf(script.messages.slice(0, split)),
          await logOf(script.messages.slice(0, split)),
        ]
        const [one, two] = [openMemoryStore(), openMemoryStore()]
        const slow = await start(slowLog, one)
        await buildAll(log, two)
        const rest = script.messages.slice(split)
        if (rest.length > 0) for (const each of [slowLog, log]) await each.append(0, rest)
        const [first, second] = [await start(log, two), await start(log, two)]
        await drained(slowLog, slow)
        for (const running of [first, second]) await drained(log, running)
        for (const { builder } of [slow, first, second]) {
          await builder.stop()
          expect(builder.status().lostRaces).toBe(0)
        }
        expect(await contents(one)).toEqual(whole)
        expect(await contents(two)).toEqual(whole)
      }),
      { numRuns: 120 },
    )
  })

  test('is let go of below the floor, and building goes on from what is left', async () => {
    const dataset = datasetId('a')
    const idle = datasetId('idle')
    const writer = new TestWriter('w')
    const first = [
      writer.create(dataset, 'acme/a'),
      writer.create(idle, 'acme/idle'),
      writer.rows(idle, [{}]),
      writer.cut([{ dataset: idle, sequence: 3 }]),
    ]
    const more = Array.from({ length: 20 }, (_, i) => [
      writer.rows(dataset, [{}]),
      writer.cut([{ dataset, sequence: 3 + i }]),
    ]).flat()
    const last = [writer.rows(idle, [{ rows: 2 }]), writer.cut([{ dataset: idle, sequence: 4 }])]
    const whole = openMemoryStore()
    await buildAll(await logOf([...first, ...more, ...last]), whole)
    const log = await logOf([...first, ...more])
    const store = openMemoryStore()
    await buildAll(log, store)
    expect(await log.range(0)).toEqual({ start: 43, end: 44 })
    await log.append(0, last)
    const { builder } = await buildAll(log, store)
    expect(builder.status().halted).toEqual([])
    expect(await contents(store)).toEqual(await contents(whole))
  })
})

test('a builder with another slice writer takes the chain that stands, and goes on from there', async () => {
  const dataset = datasetId('a')
  const writer = new TestWriter('w')
  const log = await logOf([writer.create(dataset, 'acme/a'), writer.rows(dataset, [{ rows: 3 }])])
  const store = openMemoryStore()
  const other = { ...compressor, name: 'zstd of tomorrow' }
  const ours = await start(log, store)
  const theirs = await start(log, store, { compressor: other })
  await drained(log, ours)
  await drained(log, theirs)
  for (let i = 0; i < 5; i++)
    await log.append(0, [writer.cut([{ dataset, sequence: 3 + i }]), writer.rows(dataset, [{ rows: 3 }])])
  await log.append(0, [writer.cut([{ dataset, sequence: 8 }])])
  await drained(log, ours)
  await drained(log, theirs)
  const lost = (): number => ours.builder.status().lostRaces + theirs.builder.status().lostRaces
  await until('one of them loses', () => lost() > 0)
  await ours.builder.stop()
  await theirs.builder.stop()
  expect(await rowsOf(store, dataset)).toEqual(Array.from({ length: 18 }, (_, i) => i))
  expect((await loadDataset(store, dataset))?.state.nextSequence).toBe(9)
})

/** What must agree between builders with different slice writers: everything but bytes and their hashes. */
async function meaning(store: ObjectStore): Promise<unknown> {
  const chains: unknown[] = []
  for (const id of ['a', 'b', 'c'].map(datasetId)) {
    for (const { block } of await chainOf(store, id)) {
      const { event } = block
      const data = event.kind === 'AddData' ? event.newData : undefined
      chains.push([block.sequenceNumber, block.systemTime, event.kind, data?.logicalHash, data?.offsetInterval])
    }
  }
  return chains
}

test('builders with different slice writers race to one sound chain that means the same', async () => {
  await fc.assert(
    fc.asyncProperty(actions, fc.integer({ min: 1, max: 9 }), async (todo, step) => {
      const script = await scriptOf(todo)
      const alone = openMemoryStore()
      await buildAll(await logOf(script.messages), alone)
      const log = await logOf([])
      const store = openMemoryStore()
      const racers = await Promise.all(
        ['of today', 'of tomorrow'].map((name) => start(log, store, { compressor: { ...compressor, name } })),
      )
      for (let at = 0; at < script.messages.length; at += step) {
        await log.append(0, script.messages.slice(at, at + step))
        await nextTurn()
      }
      for (const running of racers) await drained(log, running)
      for (const running of racers) await drained(log, running)
      for (const { builder } of racers) await builder.stop()
      for (const [id, rows] of script.expected) expect(await rowsOf(store, id)).toEqual(rows)
      expect(await meaning(store)).toEqual(await meaning(alone))
      const report = await fsck(store, {})
      expect(report.datasets.flatMap(({ problems }) => problems)).toEqual([])
    }),
    { numRuns: 8 },
  )
})

/** A store that is gone for good at put number `puts`, which still takes effect or not. */
function crashingStore(
  store: ObjectStore,
  puts: number,
  takesEffect: boolean,
): { store: ObjectStore; crashed: Promise<void> } {
  let left = puts
  let isGone = false
  let tell: () => void = () => {}
  const crashed = new Promise<void>((resolve) => {
    tell = resolve
  })
  const guard =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>, isPut: boolean) =>
    async (...args: A): Promise<R> => {
      if (isGone) throw new Error('the store is gone')
      if (!isPut || --left > 0) return work(...args)
      isGone = true
      tell()
      if (takesEffect) await work(...args)
      throw new Error('the store is gone')
    }
  const wrapped: ObjectStore = {
    ...store,
    put: guard((key: string, bytes: Uint8Array | readonly Uint8Array[]) => store.put(key, bytes), true),
    replace: guard((key: string, bytes: Uint8Array) => store.replace(key, bytes), true),
    get: guard((key: string) => store.get(key), false),
    list: guard((prefix: string) => store.list(prefix), false),
    delete: guard((key: string) => store.delete(key), false),
  }
  return { store: wrapped, crashed }
}
