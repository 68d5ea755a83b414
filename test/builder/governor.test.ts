// When blocks end, over a clock of the test's own.

import { describe, expect, test } from 'vitest'
import { AttemptWatch } from '../../src/builder/attempt-watch.ts'
import { BlockBudget, type CutOptions, defaultCutOptions, Governor } from '../../src/builder/governor.ts'
import { FoldHarness } from './fold-harness.ts'
import { datasetId, TestWriter } from './support.ts'

function governorOf(options: Partial<CutOptions> = {}): Governor {
  const all = { ...defaultCutOptions, ...options }
  return new Governor(all, new BlockBudget(all.blocksPerSecond))
}

describe('a governor', () => {
  test('ends a block when its rows are a second old, or 100 ms where a caller waits', () => {
    const governor = governorOf()
    governor.opened('a', 0, false)
    governor.opened('b', 0, true)
    expect(governor.nextDueMs(0)).toBe(100)
    expect(governor.take(99)).toEqual([])
    expect(governor.take(100)).toEqual(['b'])
    expect(governor.take(999)).toEqual([])
    expect(governor.take(1000)).toEqual(['a'])
    expect(governor.take(1001)).toEqual([])
  })

  test('counts from the first row, and hurries for a caller who comes later', () => {
    const governor = governorOf()
    expect(governor.opened('a', 0, false)).toBe(true)
    expect(governor.opened('a', 500, false)).toBe(false)
    expect(governor.opened('a', 600, true)).toBe(true)
    expect(governor.nextDueMs(600)).toBe(700)
  })

  test('lets a quiet dataset make 60 blocks at once, then one per 5 s, and refills while quiet', () => {
    const governor = governorOf()
    let nowMs = 0
    let blocks = 0
    const waits: number[] = []
    while (blocks < 63) {
      governor.opened('a', nowMs, true)
      const dueMs = governor.nextDueMs(nowMs) ?? 0
      waits.push(Math.round(dueMs - nowMs))
      nowMs = dueMs
      expect(governor.take(nowMs)).toEqual(['a'])
      governor.ended('a', nowMs)
      blocks++
    }
    expect(waits.slice(0, 60).every((wait) => wait === 100)).toBe(true)
    // A little has refilled during the burst: one more block, and then the interval rules.
    expect(waits[62]).toBeGreaterThan(4_000)
    expect(waits[62]).toBeLessThanOrEqual(5_000)
    expect(governor.earliestNextCutInMs('a', nowMs)).toBeGreaterThan(4_000)
    expect(governor.earliestNextCutInMs('a', nowMs + 5_000)).toBe(0)
    expect(governor.earliestNextCutInMs('b', nowMs)).toBe(0)
    const laterMs = nowMs + 60 * 5_000
    for (let i = 0; i < 60; i++) {
      expect(governor.earliestNextCutInMs('a', laterMs)).toBe(0)
      governor.ended('a', laterMs)
    }
    expect(governor.earliestNextCutInMs('a', laterMs)).toBeGreaterThan(0)
  })

  test('stretches the interval to 60 s when the burst has not refilled for hours: no 31 million blocks a year', () => {
    const governor = governorOf()
    let nowMs = 0
    let blocks = 0
    const dayMs = 86_400_000
    while (nowMs < dayMs) {
      governor.opened('a', nowMs, false)
      nowMs = governor.nextDueMs(nowMs) ?? dayMs
      for (const dataset of governor.take(nowMs)) {
        governor.ended(dataset, nowMs)
        blocks++
      }
    }
    expect(blocks).toBeLessThan(4_000)
    expect(blocks).toBeGreaterThan(1_400)
  })

  test('serves the longest due first within 100 blocks a second of all datasets', () => {
    const governor = governorOf()
    for (let i = 0; i < 250; i++) governor.opened(`d${i}`, i, false)
    expect(governor.take(2_000)).toEqual(Array.from({ length: 100 }, (_, i) => `d${i}`))
    expect(governor.take(2_500)).toHaveLength(50)
    expect(governor.nextDueMs(2_500)).toBe(2_510)
    expect(governor.take(3_500)[0]).toBe('d150')
  })

  test('asks again for a cut that is not read back', () => {
    const governor = governorOf()
    governor.opened('a', 0, false)
    expect(governor.take(1_000)).toEqual(['a'])
    expect(governor.take(20_000)).toEqual([])
    expect(governor.take(31_000)).toEqual(['a'])
    governor.forget('a')
    expect(governor.nextDueMs(31_000)).toBeUndefined()
  })
})

test('an attempt whose parts stop coming is named after 15 minutes', async () => {
  const fold = new FoldHarness()
  const writer = new TestWriter('w')
  const dataset = datasetId('a')
  await fold.take(writer.create(dataset, 'acme/a'))
  const large = writer.large(dataset, { rows: 30 }, 3)
  await fold.take(large.part(0))
  const watch = new AttemptWatch()
  const minute = 60_000
  expect(watch.expired([fold.state], 0)).toEqual([])
  expect(watch.expired([fold.state], 14 * minute)).toEqual([])
  await fold.take(large.part(1))
  expect(watch.expired([fold.state], 16 * minute)).toEqual([])
  expect(watch.expired([fold.state], 30 * minute)).toEqual([])
  const named = [{ dataset, attempt: large.attempt }]
  expect(watch.expired([fold.state], 31 * minute)).toEqual(named)
  expect(watch.expired([fold.state], 32 * minute)).toEqual([])
  expect(watch.expired([fold.state], 46 * minute)).toEqual(named)
  await fold.take(writer.abort(dataset, large.attempt))
  expect(watch.expired([fold.state], 90 * minute)).toEqual([])
})
