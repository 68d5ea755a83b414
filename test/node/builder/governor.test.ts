// When blocks end, over a clock of the test's own.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BlockBudget, type CutOptions, defaultCutOptions, Governor } from '../../../src/node/builder/governor.ts'
import { AttemptWatch } from '../../../src/node/builder/keeper.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { FoldHarness } from './fold-harness.ts'
import { buildAll, datasetId, quickCuts, start, TestWriter } from './support.ts'
import { until } from '../../helpers/until.ts'

function governorOf(options: Partial<CutOptions> = {}): Governor {
  const all = { ...defaultCutOptions, ...options }
  return new Governor(all, new BlockBudget(all.blocksPerSecond))
}

describe('a governor', () => {
  test('ends a block when its rows are a second old, or 100 ms where a caller waits', () => {
    const governor = governorOf()
    governor.opened('a', 0, 'nobody')
    governor.opened('b', 0, 'caller')
    expect(governor.nextDueMs(0)).toBe(100)
    expect(governor.take(99)).toEqual([])
    expect(governor.take(100)).toEqual(['b'])
    expect(governor.take(999)).toEqual([])
    expect(governor.take(1000)).toEqual(['a'])
    expect(governor.take(1001)).toEqual([])
  })

  test('counts from the first row, and hurries for a caller who comes later', () => {
    const governor = governorOf()
    expect(governor.opened('a', 0, 'nobody')).toBe(true)
    expect(governor.opened('a', 500, 'nobody')).toBe(false)
    expect(governor.opened('a', 600, 'caller')).toBe(true)
    expect(governor.nextDueMs(600)).toBe(700)
  })

  test('lets a quiet dataset make 60 blocks at once, then one per 5 s, and refills while quiet', () => {
    const governor = governorOf()
    let nowMs = 0
    let blocks = 0
    const waits: number[] = []
    while (blocks < 63) {
      governor.opened('a', nowMs, 'caller')
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
      governor.opened('a', nowMs, 'nobody')
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
    for (let i = 0; i < 250; i++) governor.opened(`d${i}`, i, 'nobody')
    expect(governor.take(2_000)).toEqual(Array.from({ length: 100 }, (_, i) => `d${i}`))
    expect(governor.take(2_500)).toHaveLength(50)
    expect(governor.nextDueMs(2_500)).toBe(2_510)
    expect(governor.take(3_500)[0]).toBe('d150')
  })

  test('asks again for a cut that is not read back', () => {
    const governor = governorOf()
    governor.opened('a', 0, 'nobody')
    expect(governor.take(1_000)).toEqual(['a'])
    expect(governor.take(20_000)).toEqual([])
    expect(governor.take(31_000)).toEqual(['a'])
    governor.forget('a')
    expect(governor.nextDueMs(31_000)).toBeUndefined()
  })

  test('asks again a second after a cut could not be written', () => {
    const governor = governorOf()
    governor.opened('a', 0, 'nobody')
    governor.opened('b', 0, 'nobody')
    const taken = governor.take(1_000)
    governor.ended('b', 1_100)
    governor.failed(taken, 1_200)
    expect(governor.nextDueMs(1_200)).toBe(2_200)
    expect(governor.take(2_199)).toEqual([])
    expect(governor.take(2_200)).toEqual(['a'])
    expect(governor.take(3_300)).toEqual([])
  })

  test('a dataset for which a caller waits goes before thousands that are due, but not forever', () => {
    const governor = governorOf()
    for (let i = 0; i < 5_000; i++) governor.opened(`d${i}`, 0, 'nobody')
    expect(governor.take(2_000)).toHaveLength(100)
    governor.opened('d4999', 2_000, 'caller')
    governor.opened('new', 2_000, 'caller')
    expect(new Set(governor.take(2_100).slice(0, 2))).toEqual(new Set(['d4999', 'new']))
    let blocks = 0
    for (let nowMs = 3_000; nowMs < 70_000; nowMs += 1_000) {
      for (let i = 0; i < 100; i++) governor.opened(`w${nowMs}-${i}`, nowMs - 500, 'caller')
      const taken = governor.take(nowMs)
      for (const dataset of taken) governor.ended(dataset, nowMs)
      blocks += taken.filter((dataset) => dataset.startsWith('d')).length
    }
    expect(blocks).toBeGreaterThan(500)
  })

  test('tells callers how long the datasets with callers before them take', () => {
    const governor = governorOf()
    for (let i = 0; i < 1_100; i++) governor.opened(`d${i}`, 0, 'caller')
    expect(governor.take(2_000)).toHaveLength(100)
    expect(governor.earliestNextCutInMs('x', 2_000)).toBe(10_000)
  })

  test('gives out what a search through all open datasets would, whatever happens', () => {
    const names = fc.integer({ min: 0, max: 12 }).map((n) => `d${n}`)
    const step = fc.record({
      what: fc.constantFrom('opened', 'opened', 'opened', 'ended', 'forget', 'failed', 'take', 'take'),
      dataset: names,
      waits: fc.boolean(),
      afterMs: fc.constantFrom(0, 1, 90, 900, 31_000, 70_000),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const options = { ...defaultCutOptions, burstBlocks: 1e9, blocksPerSecond: 3 }
        const governor = new Governor(options, new BlockBudget(3))
        const budget = new BlockBudget(3)
        const open = new Map<string, { byAgeMs: number; waits: boolean; againMs?: number }>()
        let nowMs = 0
        const wrong: string[] = []
        for (const { what, dataset, waits, afterMs } of steps) {
          nowMs += afterMs
          const held = open.get(dataset)
          if (what === 'opened') {
            governor.opened(dataset, nowMs, waits ? 'caller' : 'nobody')
            const byAgeMs = Math.min(nowMs + (waits ? 100 : 1_000), held?.byAgeMs ?? Number.POSITIVE_INFINITY)
            open.set(dataset, { ...held, byAgeMs, waits: waits || held?.waits === true })
          } else if (what === 'failed') {
            governor.failed([dataset], nowMs)
            if (held?.againMs !== undefined) held.againMs = nowMs + 1_000
          } else if (what === 'take') {
            const keyOf = (name: string): number => {
              const one = open.get(name)
              return (one?.byAgeMs ?? 0) - (one?.waits === true ? 60_000 : 0)
            }
            const due = [...open].filter(([, one]) => (one.againMs ?? one.byAgeMs) <= nowMs).map(([name]) => name)
            const keys = due.map(keyOf).toSorted((a, b) => a - b)
            const taken = governor.take(nowMs)
            const expected = keys.slice(0, budget.take(due.length, nowMs))
            if (taken.map(keyOf).join() !== expected.join())
              wrong.push(`at ${nowMs}: ${taken.join()}, ${expected.join()}`)
            if (!taken.every((name) => due.includes(name)) || new Set(taken).size < taken.length)
              wrong.push(taken.join())
            for (const name of taken) Object.assign(open.get(name) ?? {}, { againMs: nowMs + 30_000 })
          } else {
            if (what === 'ended') governor.ended(dataset, nowMs)
            else governor.forget(dataset)
            open.delete(dataset)
          }
          if ((governor.nextDueMs(nowMs) === undefined) !== (open.size === 0))
            wrong.push(`at ${nowMs}: nothing is next`)
        }
        expect(wrong).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  test('costs what is due, not what is open', () => {
    const governor = governorOf({ blocksPerSecond: 1_000 })
    for (let i = 0; i < 50_000; i++) governor.opened(`d${i}`, 10_000_000, 'nobody')
    const startedMs = performance.now()
    for (let nowMs = 0; nowMs < 20_000; nowMs += 10) {
      governor.opened('busy', nowMs, 'caller')
      for (const dataset of governor.take(nowMs + 100)) governor.ended(dataset, nowMs + 100)
      governor.nextDueMs(nowMs + 100)
      governor.earliestNextCutInMs('busy', nowMs + 100)
    }
    // A search through all of them takes 20 s and more.
    expect(performance.now() - startedMs).toBeLessThan(2_000)
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

test('a block comes soon after the log has refused its cut', async () => {
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  const dataset = datasetId('a')
  await log.append(0, [writer.create(dataset, 'acme/a')])
  const append = log.append.bind(log)
  let refused = 0
  log.append = async (...call) => {
    if (call[2]?.useReserve === true && refused++ === 0) throw new NodeError('LogUnavailable', 'for a moment')
    return append(...call)
  }
  const { builder } = await start(log, openMemoryStore(), { options: quickCuts })
  await append(0, [writer.rows(dataset, [{ rows: 1 }])])
  await until('the rows are open', () => builder.openRows() === 1 || refused > 1)
  const startedMs = performance.now()
  await until('the block is there', () => builder.openRows() === 0)
  expect(performance.now() - startedMs).toBeLessThan(5_000)
  expect(refused).toBeGreaterThan(1)
  await builder.stop()
})

const [busy, quiet] = [datasetId('busy'), datasetId('quiet')]

test('a block of a quiet dataset is committed before the backlog that came before it in the log', async () => {
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  const backlog = 300
  await log.append(0, [writer.create(busy, 'acme/busy'), writer.create(quiet, 'acme/quiet')])
  for (let i = 0; i < backlog; i++) {
    await log.append(0, [writer.rows(busy, [{ rows: 1 }]), writer.cut([{ dataset: busy, sequence: 3 + i }])])
  }
  await log.append(0, [writer.rows(quiet, [{ rows: 1 }]), writer.cut([{ dataset: quiet, sequence: 3 }])])
  const { announced } = await buildAll(log, openMemoryStore())
  const order = announced.filter(({ sequence }) => sequence >= 3).map(({ dataset }) => dataset)
  expect(order).toHaveLength(backlog + 1)
  expect(order.indexOf(quiet)).toBeLessThan(backlog / 2)
})

test('blocks that end by their size take no cuts from other datasets', () => {
  const governor = new Governor(defaultCutOptions, new BlockBudget(1))
  for (let i = 0; i < 10_000; i++) {
    governor.opened(busy, i, 'nobody')
    governor.ended(busy, i)
  }
  governor.opened(quiet, 10_000, 'nobody')
  governor.opened(busy, 10_001, 'nobody')
  expect(governor.take(10_000 + defaultCutOptions.openAgeMs)).toEqual([quiet])
})
