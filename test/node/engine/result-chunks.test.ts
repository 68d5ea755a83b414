// The chunks of a result: each has room for 2,048 rows, which only the collector frees, however few rows it has.

import { expect, onTestFinished, test, vi } from 'vitest'
import { chunksOf } from '../../../src/node/engine/duckdb/groups.ts'

/** When the collector was called over a result of so many chunks, by the number of those that were read. */
async function collectedAt(chunks: number, { isAhead = false, readMost = Infinity } = {}): Promise<unknown> {
  const before = globalThis.gc
  onTestFinished(() => void (globalThis.gc = before))
  const calls: unknown[] = []
  let [made, read] = [0, 0]
  globalThis.gc = vi.fn((how: unknown) => void calls.push([how, read])) as never // it is called with what is noted
  const fetchChunk = async (): Promise<never> => (made++ < chunks ? { rowCount: 1 } : null) as never // no more is looked at
  for await (const _ of chunksOf({ fetchChunk }, isAhead)) if (++read >= readMost) break
  return { calls, made: Math.min(made, chunks) }
}

test('are collected after so many, and behind the last, where there were some', async () => {
  const minor = { type: 'minor' }
  expect(await collectedAt(0)).toEqual({ calls: [], made: 0 })
  expect(await collectedAt(7)).toEqual({ calls: [], made: 7 })
  expect(await collectedAt(8)).toEqual({ calls: [[minor, 8]], made: 8 })
  for (const isAhead of [false, true]) {
    const calls = [64, 128, 130].map((read) => [minor, read])
    expect(await collectedAt(130, { isAhead })).toEqual({ calls, made: 130 })
  }
})

test('are made when they are read, or one ahead', async () => {
  expect(await collectedAt(5, { readMost: 3 })).toEqual({ calls: [], made: 3 })
  expect(await collectedAt(5, { readMost: 3, isAhead: true })).toEqual({ calls: [], made: 4 })
})
