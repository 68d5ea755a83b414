// The pace of datasets that have one of their own, over a clock of the test's own.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  BlockBudget,
  type CutOptions,
  defaultCutOptions,
  Governor,
  type Waits,
} from '../../../src/node/builder/governor.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { datasetId, fastClock, start, TestWriter } from './support.ts'
import { until } from '../../helpers/until.ts'

function governorOf(options: Partial<CutOptions>): Governor {
  const all = { ...defaultCutOptions, ...options }
  return new Governor(all, new BlockBudget(all.blocksPerSecond))
}

test('cuts at the freshness of a dataset where that is sooner, and its burst is spent and refilled at that pace', () => {
  const governor = governorOf({ burstBlocks: 2 })
  governor.setFreshness('fresh', 300)
  governor.setFreshness('sparse', 3_600_000)
  const agesOf = (dataset: string, waits: boolean): number[] => {
    const ages: number[] = []
    for (let nowMs = 0; ages.length < 5;) {
      governor.opened(dataset, nowMs, waits ? 'caller' : 'nobody')
      const dueMs = governor.nextDueMs(nowMs) ?? 0
      ages.push(dueMs - nowMs)
      expect(governor.take(dueMs)).toEqual([dataset])
      governor.ended(dataset, dueMs)
      expect(governor.earliestNextCutInMs(dataset, dueMs)).toBeLessThanOrEqual(dataset === 'fresh' ? 300 : 3_600_000)
      nowMs = dueMs
    }
    return ages.map(Math.round)
  }
  expect(agesOf('fresh', false)).toEqual([300, 300, 300, 300, 300])
  // The second since the first block refilled a little.
  expect(agesOf('sparse', false)).toEqual([1_000, 1_000, 3_599_000, 3_600_000, 3_600_000])
  governor.setFreshness('sparse', undefined)
  expect(governor.earliestNextCutInMs('sparse', 11_000_000)).toBe(0)
})

test('ends a block for a stream that begins whatever the pace, once a second at most', () => {
  const governor = governorOf({ burstBlocks: 1 })
  governor.setFreshness('a', 3_600_000)
  const blockAt = (nowMs: number, waits: Waits): number => {
    governor.opened('a', nowMs, waits)
    const dueMs = governor.nextDueMs(nowMs) ?? Number.NaN
    expect(governor.take(dueMs)).toEqual(['a'])
    governor.ended('a', dueMs)
    return dueMs
  }
  expect(blockAt(0, 'stream')).toBe(100)
  expect(blockAt(200, 'stream')).toBe(1_100)
  expect(blockAt(5_000, 'stream')).toBe(5_100)
  // Rows that are open already go with it, and those after it keep the pace.
  governor.opened('a', 6_000, 'caller')
  expect(governor.nextDueMs(6_000)).toBeGreaterThan(3_000_000)
  expect(governor.opened('a', 7_000, 'stream')).toBe(true)
  expect(governor.nextDueMs(7_000)).toBe(7_000)
  governor.take(7_000)
  governor.ended('a', 7_000)
  expect(blockAt(8_000, 'caller')).toBeGreaterThan(3_000_000)
})

test('cuts no row of a dataset later than its freshness, and no more blocks than burst and freshness allow', () => {
  const dataset = fc.record({
    freshnessMs: fc.option(fc.integer({ min: 100, max: 86_400_000 }), { nil: undefined }),
    gapsMs: fc.array(fc.oneof(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 100_000_000 })), {
      minLength: 1,
      maxLength: 60,
    }),
    waits: fc.boolean(),
  })
  fc.assert(
    fc.property(
      fc.array(dataset, { minLength: 1, maxLength: 4 }),
      fc.record({ openAgeMs: fc.constantFrom(100, 1_000), burstBlocks: fc.integer({ min: 1, max: 5 }) }),
      (datasets, options) => {
        const governor = governorOf({ ...options, blocksPerSecond: 1e9 })
        const arrivals = datasets.flatMap(({ gapsMs }, i) => {
          let atMs = 0
          return gapsMs.map((gapMs) => ({ i, atMs: (atMs += gapMs) }))
        })
        const firstMs = new Map<number, number>()
        const cutsMs = datasets.map((): number[] => [])
        const cutUpTo = (endMs: number): void => {
          for (let nowMs = 0; ;) {
            const dueMs = governor.nextDueMs(nowMs)
            if (dueMs === undefined || dueMs > endMs) return
            nowMs = dueMs
            for (const name of governor.take(nowMs)) {
              const i = Number(name)
              const { freshnessMs, waits } = datasets[i] ?? { freshnessMs: undefined, waits: false }
              const ageMs = nowMs - (firstMs.get(i) ?? 0)
              const mostMs = freshnessMs ?? defaultCutOptions.maxIntervalMs
              expect(ageMs).toBeLessThanOrEqual(mostMs + 1)
              expect(ageMs).toBeGreaterThanOrEqual(Math.min(waits ? 100 : options.openAgeMs, mostMs) - 1)
              governor.ended(name, nowMs)
              firstMs.delete(i)
              cutsMs[i]?.push(nowMs)
            }
          }
        }
        for (const [i, { freshnessMs }] of datasets.entries()) governor.setFreshness(String(i), freshnessMs)
        for (const { i, atMs } of arrivals.toSorted((a, b) => a.atMs - b.atMs)) {
          cutUpTo(atMs)
          governor.opened(String(i), atMs, datasets[i]?.waits === true ? 'caller' : 'nobody')
          if (!firstMs.has(i)) firstMs.set(i, atMs)
        }
        cutUpTo(Number.POSITIVE_INFINITY)
        for (const [i, cuts] of cutsMs.entries()) {
          const apartMs = datasets[i]?.freshnessMs ?? 5_000
          for (const [from, fromMs] of cuts.entries()) {
            const most = (toMs: number): number => from + options.burstBlocks + (toMs - fromMs + 1) / apartMs + 1
            expect(cuts.findIndex((toMs, to) => to > from && to > most(toMs))).toBe(-1)
          }
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('ends a sparse block early when so much has come behind it that a restart would read for long', async () => {
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  const [sparse, busy] = [datasetId('sparse'), datasetId('busy')]
  const paced = { clock: fastClock(20), options: { burstBlocks: 1 }, replayMost: { messages: 32, bytes: 1e9 } }
  const { builder, announced } = await start(log, openMemoryStore(), paced)
  const rowsOf = (dataset: string): number =>
    announced.filter((one) => one.dataset === dataset && one.sequence > 0).length
  await log.append(0, [writer.create(sparse, 'acme/sparse', { freshnessMs: 86_400_000 })])
  await log.append(0, [writer.create(busy, 'acme/busy', { freshnessMs: 100 }), writer.rows(sparse, [{}])])
  await until('the burst is spent', () => rowsOf(sparse) === 1)
  const position = await log.append(0, [writer.rows(sparse, [{}])])
  const post = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await log.append(0, [writer.rows(busy, [{}])])
    const { end } = await log.range(0)
    await until('the others are committed', () => builder.openRows() <= 1 && (announced.at(-1)?.next ?? 0) >= end)
  }
  await post(8)
  expect([rowsOf(sparse), builder.openRows()]).toEqual([1, 1])
  await post(40)
  await until('it is committed', () => rowsOf(sparse) === 2)
  await until('the log is let go of', () => (builder.status().partitions[0]?.floor ?? 0) > position)
  await builder.stop()
})

test('ends a full block at once, and no other', async () => {
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  const dataset = datasetId('full')
  const patient = { clock: fastClock(20), options: { openAgeMs: 1e9, waitAgeMs: 1e9, burstBlocks: 1 } }
  const { builder, announced } = await start(log, openMemoryStore(), patient)
  await log.append(0, [writer.create(dataset, 'acme/full'), writer.rows(dataset, [{ rows: 262_143 }])])
  await until('almost a block is read', () => builder.openRows() === 262_143)
  for (const sequence of [3, 4]) {
    expect(announced.filter((one) => one.sequence >= sequence)).toEqual([])
    await log.append(0, sequence === 3 ? [writer.rows(dataset, [{}])] : writer.parts(dataset, { rows: 262_144 }, 3))
    await until('it is committed', () => announced.some((one) => one.sequence === sequence))
  }
  await builder.stop()
})
