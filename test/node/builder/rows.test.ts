// Rows are decoded once and kept for their block. What comes of it must not depend on what was kept.

import fc from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { buildSlice } from '../../../src/node/builder/build-slice.ts'
import { EarlySlices } from '../../../src/node/builder/early-slice.ts'
import { RowsTask } from '../../../src/node/machine/work/rows-task.ts'
import { ColumnTask } from '../../../src/node/machine/work/column-task.ts'
import type { TaskKind, Tasks } from '../../../src/node/machine/work/tasks.ts'
import { Handover } from '../../../src/node/machine/work/handover.ts'
import type { Task, TaskThreads } from '../../../src/node/machine/work/work-pool.ts'
import { KeptRows, readBatches } from '../../../src/node/builder/rows.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { FoldHarness } from './fold-harness.ts'
import { actions, scriptOf } from './script.ts'
import { compressor, datasetId, drained, start, TestWriter } from './support.ts'

/** Threads that are this one. */
function ownThreads(most = Number.POSITIVE_INFINITY): TaskThreads & { begun: number; ended: number } {
  const threads = { begun: 0, ended: 0, begin }
  function begin<K extends TaskKind>(kind: K, settings: Tasks[K]['settings']): Task<K>[] {
    if (threads.begun === most) return []
    threads.begun++
    const compress = (bytes: Uint8Array): Uint8Array => compressor.compress(bytes)
    // `as`, three times: slices are all that is worked on here.
    const task =
      kind === 'rows'
        ? new RowsTask(settings as Tasks['rows']['settings'], compress)
        : new ColumnTask(settings as Tasks['columns']['settings'], compress)
    const say = async (message: Tasks[K]['to']): Promise<Tasks[K]['from']> =>
      (await task.take(message as never, new Handover())) as Tasks[K]['from']
    return [{ say, end: () => threads.ended++ }]
  }
  return threads
}

/** The fold's states and plans, and the hashes of the slices, as they come; of batches that are begun early too. */
async function builtWith(
  messages: readonly Uint8Array[],
  id: string,
  { kept, onEarly }: { kept?: KeptRows; onEarly?: () => void } = {},
): Promise<unknown[]> {
  const fold = new FoldHarness(id, kept)
  const built: unknown[] = []
  for (const message of messages) {
    const { plan, effect } = await fold.take(message)
    built.push(effect, plan, fold.current === undefined ? undefined : fold.snapshot())
    if (plan?.kind !== 'data' || plan.rows === 0) continue
    const { physicalHash, logicalHash } = await buildSlice(plan, {
      compressor,
      readBatches: (positions) => readBatches(fold.source, positions),
      early: async (of) => {
        const rows = await kept?.early?.take(of)
        if (rows !== undefined) onEarly?.()
        return rows
      },
      storeSlice: async () => {},
    })
    built.push(physicalHash, logicalHash)
  }
  return built
}

test('states, plans and slices are the same whether all rows are kept, some, or none', async () => {
  await fc.assert(
    fc.asyncProperty(actions, fc.integer({ min: 0, max: 20_000 }), async (todo, someBytes) => {
      const { messages } = await scriptOf(todo)
      for (const id of ['a', 'b', 'c'].map(datasetId)) {
        const readAgain = await builtWith(messages, id)
        for (const mostBytes of [someBytes, 1e9]) {
          const memory = { freeBytes: mostBytes }
          const kept = new KeptRows(memory)
          expect(await builtWith(messages, id, { kept })).toEqual(readAgain)
          expect(memory.freeBytes).toBeGreaterThanOrEqual(0)
          kept.close()
          expect([memory.freeBytes, kept.freeBytes]).toEqual([mostBytes, 0])
        }
      }
    }),
    { numRuns: 40 },
  )
})

test('states, plans and slices are the same where they are begun while parts come', async () => {
  await fc.assert(
    fc.asyncProperty(actions, async (todo) => {
      const { messages } = await scriptOf(todo)
      const threads = ownThreads()
      const early = new EarlySlices({ clock: systemClock, threads })
      for (const id of ['a', 'b', 'c'].map(datasetId)) {
        const kept = new KeptRows({ freeBytes: 0 }, early)
        expect(await builtWith(messages, id, { kept })).toEqual(await builtWith(messages, id))
        kept.close()
      }
      expect(threads.ended).toBe(threads.begun)
    }),
    { numRuns: 60 },
  )
})

describe('a large batch that finds no room', () => {
  const id = datasetId('a')
  let writer = new TestWriter('w')
  beforeEach(() => {
    writer = new TestWriter('w')
  })
  const create = (): Uint8Array => writer.create(id, 'acme/a')
  const few = (): Uint8Array => writer.rows(id, [{ rows: 5 }])
  /** Up to 262,144 rows may share a block with others. */
  const large = (rows = 300_000): Uint8Array[] => writer.parts(id, { rows }, 5)
  const cut = (): Uint8Array => writer.cut([{ dataset: id, sequence: 3 }])
  const hashesOf = async (messages: readonly Uint8Array[], early?: EarlySlices): Promise<[unknown[], boolean]> => {
    let isEarly = false
    const kept = new KeptRows({ freeBytes: 0 }, early)
    const built = await builtWith(messages, id, { kept, onEarly: () => (isEarly = true) })
    return [built, isEarly]
  }
  const withSlices = (threads = ownThreads()): EarlySlices => new EarlySlices({ clock: systemClock, threads })

  test('has its slice when its last part has come, over several row groups', async () => {
    const messages = [create(), ...large(), cut()]
    const [built, isEarly] = await hashesOf(messages, withSlices())
    expect(isEarly).toBe(true)
    expect(built).toEqual((await hashesOf(messages))[0])
  })

  test.each([
    ['stands behind other rows of its block', () => [create(), few(), ...large(200_000), cut()]],
    ['stands before other rows of its block', () => [create(), ...large(200_000), few(), cut()]],
  ])('is read again where it %s', async (_, made) => {
    const messages = made()
    const [built, isEarly] = await hashesOf(messages, withSlices())
    expect(isEarly).toBe(false)
    expect(built).toEqual((await hashesOf(messages))[0])
  })

  test('is read again where no thread is free', async () => {
    const messages = [create(), ...large(), cut()]
    const [built, isEarly] = await hashesOf(messages, withSlices(ownThreads(0)))
    expect(isEarly).toBe(false)
    expect(built).toEqual((await hashesOf(messages))[0])
  })

  test('gives its thread back when it is dropped, and answers whoever waits', async () => {
    const threads = ownThreads()
    const early = withSlices(threads)
    const fold = new FoldHarness(id, new KeptRows({ freeBytes: 0 }, early))
    const [first, ...parts] = [create(), ...large()]
    await fold.takeAll([first, ...parts.slice(0, -1)])
    await expect.poll(() => threads.begun).toBe(1)
    early.drop(({ dataset }) => dataset !== id)
    expect(threads.ended).toBe(0)
    const { plan } = await fold.take(parts.at(-1) ?? new Uint8Array()).then(() => fold.take(cut()))
    if (plan?.kind !== 'data') throw new Error('a cut ends a block')
    const taken = early.take(plan)
    early.drop(({ dataset }) => dataset === id)
    expect(await taken).toBeUndefined()
    expect(threads.ended).toBe(1)
  })

  test('goes on while other rows of its dataset get blocks, and keeps no thread once it is encoded', async () => {
    const threads = ownThreads()
    const early = withSlices(threads)
    const fold = new FoldHarness(id, new KeptRows({ freeBytes: 0 }, early))
    const others = new TestWriter('others')
    const [first, ...parts] = [create(), ...large()]
    await fold.takeAll([first, ...parts.slice(0, -1), others.rows(id, [{ rows: 5 }])])
    const { plan: small } = await fold.take(others.cut([{ dataset: id, sequence: 3 }]))
    if (small?.kind !== 'data') throw new Error('a cut ends a block')
    expect(await early.take(small)).toBeUndefined()
    await fold.take(parts.at(-1) ?? new Uint8Array())
    await expect.poll(() => [threads.begun, threads.ended]).toEqual([1, 1])
    const { plan } = await fold.take(writer.cut([{ dataset: id, sequence: fold.state.nextSequence }]))
    if (plan?.kind !== 'data') throw new Error('a cut ends a block')
    expect((await early.take(plan))?.rows).toBe(300_000)
    expect(await early.take(plan)).toBeUndefined()
  })

  test('gives its thread back where its sender lets it wait', async () => {
    const threads = ownThreads()
    const clock = { ...systemClock, sleep: async () => {} }
    const fold = new FoldHarness(id, new KeptRows({ freeBytes: 0 }, new EarlySlices({ clock, threads })))
    await fold.takeAll([create(), ...large().slice(0, 4)])
    await expect.poll(() => [threads.begun, threads.ended]).toEqual([1, 1])
  })
})

test('memory is given back as blocks are built, and what finds no room is read again', async () => {
  const id = datasetId('a')
  const writer = new TestWriter('w')
  const memory = { freeBytes: 100_000 }
  const fold = new FoldHarness(id, new KeptRows(memory))
  const read = vi.spyOn(fold.log, 'read')
  const readAgain = async (rows: number): Promise<number> => {
    await fold.takeAll([writer.create(id, 'acme/a'), writer.rows(id, [{ rows }]), ...writer.parts(id, { rows }, 3)])
    read.mockClear()
    for (const { positions } of fold.state.open?.sources ?? []) {
      for await (const _ of readBatches(fold.source, positions));
    }
    await fold.take(writer.cut([{ dataset: id, sequence: fold.state.nextSequence }]))
    expect(memory.freeBytes).toBe(100_000)
    return read.mock.calls.length
  }
  expect(await readAgain(100)).toBe(0)
  expect(await readAgain(10_000)).toBe(2)
})

test('a builder asks its log for no rows again while they are fresh', async () => {
  const id = datasetId('a')
  const writer = new TestWriter('w')
  const log = openMemoryLog()
  const store = openMemoryStore()
  const get = vi.spyOn(log, 'get')
  const read = vi.spyOn(log, 'read')
  const running = await start(log, store)
  await log.append(0, [
    writer.create(id, 'acme/a'),
    writer.rows(id, [{ rows: 5 }]),
    ...writer.parts(id, { rows: 50 }, 3),
  ])
  const cut = await log.append(0, [writer.cut([{ dataset: id, sequence: 3 }])])
  await drained(log, running)
  await running.builder.stop()
  expect(new Set(get.mock.calls.map(([, position]) => position))).toEqual(new Set([cut]))
  expect(read.mock.calls.filter(([, , { follow }]) => follow === false)).toEqual([])
})
