// Builders that are told which partitions to build: they come and go, and nobody's rows are left lying.

import { describe, expect, test } from 'vitest'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import type { PartitionAssignment } from '../../../src/node/log/partitions.ts'
import { readHead } from '../../../src/node/store/heads.ts'
import { newestLowWaterMark } from '../../../src/node/store/records.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { buildAll, datasetId, dump, fastClock, quickCuts, start, TestWriter } from './support.ts'
import { until } from '../../helpers/until.ts'

/** A assignment whose word is given by hand. */
function assignmentByHand(): PartitionAssignment & {
  give(numbers: readonly number[]): void
  readonly hasLeft: () => boolean
} {
  let next: readonly number[] | undefined
  let hasLeft = false
  let wake = new AbortController()
  return {
    give(numbers) {
      next = numbers
      wake.abort()
    },
    hasLeft: () => hasLeft,
    async *assignments(signal) {
      while (!signal.aborted) {
        if (next === undefined) {
          await new Promise<void>((resolve) => {
            AbortSignal.any([signal, wake.signal]).addEventListener('abort', () => resolve(), { once: true })
          })
          wake = new AbortController()
        } else {
          const numbers = next
          next = undefined
          yield numbers
        }
      }
      hasLeft = true
    },
  }
}

/** A log of two partitions, of which nothing is let go, with one dataset of `rows` batches in each, and who goes on writing. */
async function twoPartitions(rows: number) {
  const log = Object.assign(openMemoryLog({ partitions: 2 }), { release: async () => {} })
  const sides = ['a', 'b'].map((name, partition) => {
    const writer = new TestWriter(name)
    const dataset = datasetId(name)
    const append = (): Promise<number> => log.append(partition, [writer.rows(dataset, [{}])])
    return { dataset, append, writer, partition }
  })
  for (const { dataset, append, writer, partition } of sides) {
    await log.append(partition, [writer.create(dataset, `acme/${writer.writer.slice(0, 8).toLowerCase()}x`)])
    for (let n = 0; n < rows; n++) await append()
  }
  return { log, sides }
}

describe('a builder that shares partitions', () => {
  test('is ready when it has been told, also that it has none', async () => {
    const { log } = await twoPartitions(1)
    const assignment = assignmentByHand()
    const { builder } = await start(log, openMemoryStore(), { assignment })
    expect(builder.status()).toMatchObject({ ready: false, partitions: [] })
    assignment.give([])
    await until('it is ready', () => builder.status().ready)
    expect(builder.status().partitions).toEqual([])
    await builder.stop()
    expect(assignment.hasLeft()).toBe(true)
  })

  test('builds what it is given, and what it gives back another goes on with', async () => {
    const { log, sides } = await twoPartitions(5)
    const store = openMemoryStore()
    const assignments = [assignmentByHand(), assignmentByHand()] as const
    const runs = await Promise.all(
      assignments.map((assignment) => start(log, store, { assignment, options: quickCuts })),
    )
    const heldBy = (at: number): number[] =>
      runs[at]?.builder.status().partitions.map(({ partition }) => partition) ?? []
    const committed = async (at: number): Promise<number> =>
      (await readHead(store, sides[at]?.dataset ?? ''))?.sequence ?? 0
    assignments[0].give([0])
    assignments[1].give([])
    await until('the first dataset has rows', async () => (await committed(0)) > 1)
    expect(await committed(1)).toBe(0)
    expect([heldBy(0), heldBy(1)]).toEqual([[0], []])
    for (let round = 0; round < 6; round++) {
      assignments[round % 2 === 0 ? 0 : 1].give([1])
      assignments[round % 2 === 0 ? 1 : 0].give([0])
      const before = await Promise.all([committed(0), committed(1)])
      await Promise.all(sides.map(({ append }) => append()))
      await until(
        'both go on',
        async () => (await committed(0)) > (before[0] ?? 0) && (await committed(1)) > (before[1] ?? 0),
      )
    }
    await until('each has one', () => heldBy(0).length === 1 && heldBy(1).length === 1)
    await Promise.all(runs.map(({ builder }) => builder.stop()))
    await expectSameAsAlone(log, store)
  })

  test('ends at a clean point: the floor of a partition that was given back is at the end of what is committed', async () => {
    const { log, sides } = await twoPartitions(5)
    const store = openMemoryStore()
    const assignment = assignmentByHand()
    const { builder } = await start(log, store, { assignment, options: quickCuts })
    assignment.give([0, 1])
    await until('both have rows', async () => {
      const heads = await Promise.all(sides.map(({ dataset }) => readHead(store, dataset)))
      return heads.every((head) => (head?.sequence ?? 0) > 1)
    })
    assignment.give([1])
    await until('the floor is written', async () => ((await newestLowWaterMark(store, log.id, 0))?.position ?? 0) > 0)
    assignment.give([1, 0])
    assignment.give([1])
    assignment.give([0])
    await until('it has what it was told last', () => {
      const { ready, partitions } = builder.status()
      return ready && partitions.length === 1 && partitions[0]?.partition === 0
    })
    expect(builder.status().lostRaces).toBe(0)
    await builder.stop()
  })

  test('builds what another was given and does not build', async () => {
    const { log, sides } = await twoPartitions(3)
    const store = openMemoryStore()
    const assignment = assignmentByHand()
    const { builder } = await start(log, store, { assignment, options: quickCuts, clock: fastClock(100) })
    assignment.give([0])
    await until('the dataset that nobody builds has rows', async () => {
      return ((await readHead(store, sides[1]?.dataset ?? ''))?.sequence ?? 0) > 1
    })
    expect(builder.status().partitions.map(({ partition }) => partition)).toEqual([0, 1])
    assignment.give([1])
    await until('it has what it was told', () => builder.status().partitions.length === 1)
    await builder.stop()
  })
})

/** One builder alone makes the same objects of the log. */
async function expectSameAsAlone(log: EventLog, store: ReturnType<typeof openMemoryStore>): Promise<void> {
  const alone = openMemoryStore()
  await buildAll(log, alone)
  const expected = await dump(alone, 'datasets')
  const found = await dump(store, 'datasets')
  const isCommit = (key: string): boolean => key.includes('/commits/')
  expect([...found.keys()].filter(isCommit).sort()).toEqual([...expected.keys()].filter(isCommit).sort())
  for (const [key, bytes] of expected) expect([key, found.get(key)]).toEqual([key, bytes])
}
