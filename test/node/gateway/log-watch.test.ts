// Rows are refused before a log that deletes what is old can lose those that it has.

import { expect, onTestFinished, test } from 'vitest'
import { type AgingLog, LogWatch, openAgeFault } from '../../../src/node/gateway/log-watch.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { putAdoption, putLowWaterMark } from '../../../src/node/store/records.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { fastClock } from '../builder/support.ts'
import { until } from '../../helpers/until.ts'

const hourMs = 3_600_000
const weekMs = 168 * hourMs

test('a partition takes rows until the oldest open one has waited for half of the retention', () => {
  expect(openAgeFault(0, weekMs)).toBeUndefined()
  expect(openAgeFault(weekMs / 2, weekMs)).toBeUndefined()
  expect(openAgeFault(weekMs / 2 + 1, weekMs)).toBe(
    'rows have waited 84.0 h for their block, and the log keeps them for 168.0 h',
  )
  expect(openAgeFault(1000 * weekMs, Number.POSITIVE_INFINITY)).toBeUndefined()
})

/** A log of two partitions whose messages were stored an hour one after the other. */
async function watched(retentionHours: number) {
  const held = openMemoryLog({ id: 'log', partitions: 2 })
  const log: AgingLog = {
    id: held.id,
    partitions: held.partitions,
    range: (partition) => held.range(partition),
    retentionMs: retentionHours * hourMs,
    storedMs: async (partition, position) =>
      (await held.get(partition, position)) === undefined ? undefined : position * hourMs,
  }
  const store = openMemoryStore()
  await held.append(
    1,
    Array.from({ length: 8 }, () => utf8('m')),
  )
  const watch = new LogWatch({ log, store, clock: fastClock(500), logger: silentLogger })
  onTestFinished(() => watch.close())
  const floor = (position: number): unknown =>
    putLowWaterMark(store, { log: 'log', partition: 1, position, anchor: sha3Hash(utf8('m')), halted: [] })
  return { watch, store, held, floor }
}

test('what is open is told by partition, by the times of the log alone, and ends when the floor rises', async () => {
  const { watch, floor } = await watched(10)
  await until('the open rows are found', () => watch.of(1) !== undefined)
  expect(watch.of(1)).toContain('7.0 h for their block, and the log keeps them for 10.0 h')
  expect([watch.of(0), watch.fault()]).toEqual([undefined, watch.of(1)])
  expect(watch.openAges()).toEqual([
    { partition: 0, openMs: 0 },
    { partition: 1, openMs: 7 * hourMs },
  ])
  await floor(4)
  await until('the floor is found', () => watch.fault() === undefined)
  expect(watch.openAges()[1]).toEqual({ partition: 1, openMs: 3 * hourMs })
  await floor(8)
  await until('nothing is open', () => watch.openAges()[1]?.openMs === 0)
})

test('where messages are gone already, the first that is there counts', async () => {
  const { watch, held } = await watched(4)
  await held.release(1, 4)
  await until('the open rows are found', () => watch.of(1) !== undefined)
  expect(watch.openAges()[1]?.openMs).toBe((7 - (await held.range(1)).start) * hourMs)
})

test('a log that was given up for another takes no rows', async () => {
  const { watch, store } = await watched(1000)
  await until('it has looked', () => watch.openAges().length > 0)
  expect(watch.fault()).toBeUndefined()
  const partitions = [
    { floor: 0, end: 0 },
    { floor: 8, end: 8 },
  ]
  await putAdoption(store, { old: 'log', new: 'other', partitions, halted: [], begin: [0] })
  await until('it is found', () => watch.of(0) !== undefined)
  expect(watch.of(0)).toBe('the log was given up for log other')
})
