// Rows are decoded once and kept for their block. What comes of it must not depend on what was kept.

import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { buildSlice } from '../../../src/node/builder/build-slice.ts'
import { KeptRows, readBatches, RowMemory } from '../../../src/node/builder/rows.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { FoldHarness } from './fold-harness.ts'
import { actions, scriptOf } from './script.ts'
import { compressor, datasetId, drained, start, TestWriter } from './support.ts'

/** The fold's states and plans, and the hashes of the slices, as they come. */
async function builtWith(messages: readonly Uint8Array[], id: string, kept?: KeptRows): Promise<unknown[]> {
  const fold = new FoldHarness(id, kept)
  const built: unknown[] = []
  for (const message of messages) {
    const { plan, effect } = await fold.take(message)
    built.push(effect, plan, fold.current === undefined ? undefined : fold.snapshot())
    if (plan?.kind !== 'data' || plan.rows === 0) continue
    const { physicalHash, logicalHash } = await buildSlice(plan, {
      compressor,
      readBatches: (positions) => readBatches(fold.source, positions),
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
          const memory = new RowMemory(mostBytes)
          const kept = new KeptRows(memory)
          expect(await builtWith(messages, id, kept)).toEqual(readAgain)
          expect(memory.freeBytes).toBeGreaterThanOrEqual(0)
          kept.close()
          expect([memory.freeBytes, kept.freeBytes]).toEqual([mostBytes, 0])
        }
      }
    }),
    { numRuns: 40 },
  )
})

test('memory is given back as blocks are built, and what finds no room is read again', async () => {
  const id = datasetId('a')
  const writer = new TestWriter('w')
  const memory = new RowMemory(100_000)
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
