// The operator's way out of a halt by one message: what a rejection covers, who sees it, and that everybody who has the
// log and the rejections makes the same blocks.

import fc from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { ArrowStreamReader } from '../../../src/libraries/columnar/arrow/ipc-reader.ts'
import type { BatchOutcome } from '../../../src/libraries/odf/chain/checkpoint.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { optional } from '../../../src/libraries/model/schema.ts'
import { loadCheckpoint } from '../../../src/node/store/load-block.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { newestLowWaterMark, putReject } from '../../../src/node/store/records.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import {
  buildAll,
  chainOf,
  compressor,
  datasetId,
  drained,
  dump,
  fastClock,
  rowCount,
  type Running,
  schemaOf,
  start,
  TestWriter,
  userFields,
} from './support.ts'
import { until } from '../../helpers/until.ts'

const a = datasetId('a')
const b = datasetId('b')
const poisonFields = [...userFields, { name: 'poison', type: optional({ kind: 'String' as const }) }]
const word = { reason: 'it cannot be written', by: 'ada', at: '2026-03-02T00:00:00.000Z' }
const operatorsWord = {
  kind: 'rejected',
  error: 'InvalidRequest',
  message: 'Rejected by an operator (ada): it cannot be written',
}

/** Cannot write a text that begins with `poison`. */
const failing = {
  ...compressor,
  compress: (bytes: Uint8Array): Uint8Array => {
    if (Buffer.from(bytes).includes('poison ')) throw new RangeError('a bug')
    return compressor.compress(bytes)
  },
}

let store: ObjectStore
let writer: TestWriter
let log: EventLog

beforeEach(() => {
  store = openMemoryStore()
  writer = new TestWriter('w')
  log = openMemoryLog({ id: 'log-1' })
})

/** A log of which nothing is let go, so that it can be built again. */
function keeping(of: EventLog): EventLog {
  return Object.assign(of, { release: async () => {} })
}

const poison = (): Uint8Array =>
  writer.rows(a, [{ rows: 400 }, { rows: 1, key: 'k' }], { fields: poisonFields, schema: schemaOf(poisonFields) })

function run(compressing = failing, of = log): Promise<Running> {
  return start(of, store, { clock: fastClock(500), compressor: compressing })
}

async function reject(position: number, dataset: string | null = a): Promise<void> {
  await putReject(
    store,
    { log: 'log-1', partition: 0, position },
    { ...(dataset === null ? {} : { dataset }), ...word },
  )
}

/** All outcomes of the chain, oldest first. */
async function outcomesOf(id: string, of = store): Promise<BatchOutcome[]> {
  const outcomes: BatchOutcome[] = []
  for (const { block } of await chainOf(of, id)) {
    const hash = block.event.kind === 'AddData' ? block.event.newCheckpoint?.physicalHash : undefined
    if (hash !== undefined) outcomes.push(...(await loadCheckpoint(of, { id }, hash)).outcomes)
  }
  return outcomes
}

/** What a stranger with the log and the rejections makes. */
async function replayed(of: EventLog): Promise<ObjectStore> {
  const other = openMemoryStore()
  for (const [key, bytes] of await dump(store, 'rejects')) await other.put(key, bytes)
  await buildAll(keeping(of), other)
  return other
}

describe('a message whose block cannot be built', () => {
  const healthy = (): Uint8Array => writer.rows(a, [{ rows: 3 }])
  const places = fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 4 }), fc.boolean())

  test('is named, and rejecting it alone ends the halt of a running builder; others make the same', async () => {
    await fc.assert(
      fc.asyncProperty(places, async ([before, after, hasOther]) => {
        store = openMemoryStore()
        writer = new TestWriter('w')
        log = keeping(openMemoryLog({ id: 'log-1' }))
        await log.append(0, [writer.create(a, 'acme/a'), writer.create(b, 'acme/b')])
        const messages = [...Array(before).keys()].map(healthy)
        const at = 2 + before
        await log.append(0, [
          ...messages,
          poison(),
          ...[...Array(after).keys()].map(healthy),
          ...(hasOther ? [writer.rows(b, [{ rows: 5 }])] : []),
          writer.cut([{ dataset: a, sequence: 3 }, ...(hasOther ? [{ dataset: b, sequence: 3 }] : [])]),
        ])
        const running = await run()
        await drained(log, running)
        expect(running.builder.status().halted).toMatchObject([{ dataset: a, reason: 'PoisonBlock', message: at }])
        const listed = { dataset: a, position: 2, reason: 'PoisonBlock', message: at }
        await until(
          'the floor names it',
          async () => (await newestLowWaterMark(store, 'log-1', 0))?.halted[0] !== undefined,
        )
        expect(await newestLowWaterMark(store, 'log-1', 0)).toMatchObject({ halted: [listed] })
        await reject(at)
        await until('it goes on', () => running.builder.status().halted.length === 0)
        await until('the rest is committed', async () => (await rowCount(store, a)) === 3 * (before + after))
        await until(
          'the floor names it no more',
          async () => (await newestLowWaterMark(store, 'log-1', 0))?.halted.length === 0,
        )
        await running.builder.stop()
        const outcomes = await outcomesOf(a)
        expect(outcomes.filter(({ status }) => status.kind === 'rejected')).toEqual(
          [0, 1].map((index) => expect.objectContaining({ position: at, index, status: operatorsWord })),
        )
        expect(outcomes.length).toBe(before + after + 2)
        expect(await rowCount(store, b)).toBe(hasOther ? 5 : 0)
        const other = await replayed(log)
        expect(await dump(other, 'datasets')).toEqual(await dump(store, 'datasets'))
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })

  test('halts two builders at once, which both go on when it is rejected; one that can build it lets it stand', async () => {
    for (const canBuild of [false, true]) {
      store = openMemoryStore()
      writer = new TestWriter('w')
      log = keeping(openMemoryLog({ id: 'log-1' }))
      await log.append(0, [
        writer.create(a, 'acme/a'),
        healthy(),
        poison(),
        healthy(),
        writer.cut([{ dataset: a, sequence: 3 }]),
      ])
      const first = await run()
      await until('the first is halted', () => first.builder.status().halted.length === 1)
      const second = await run(canBuild ? compressor : failing)
      if (!canBuild) await until('the second is halted', () => second.builder.status().halted.length === 1)
      await drained(log, second)
      await reject(2)
      for (const { builder } of [first, second]) await until('it goes on', () => builder.status().halted.length === 0)
      await log.append(0, [healthy(), writer.cut([{ dataset: a, sequence: canBuild ? 6 : 4 }])])
      await until('both go on', async () => (await rowCount(store, a)) === (canBuild ? 410 : 9))
      for (const { builder } of [first, second]) await builder.stop()
      expect((await outcomesOf(a)).filter(({ status }) => status.kind === 'rejected')).toHaveLength(canBuild ? 0 : 2)
    }
  })

  test('that is rejected leaves its key free', async () => {
    await log.append(0, [
      writer.create(a, 'acme/a'),
      poison(),
      writer.cut([{ dataset: a, sequence: 3 }]),
      writer.rows(a, [{ rows: 1, key: 'k' }]),
      writer.cut([{ dataset: a, sequence: 4 }]),
    ])
    await reject(1)
    await buildAll(log, store, { compressor: failing })
    expect((await outcomesOf(a)).map(({ status }) => status.kind)).toEqual(['rejected', 'rejected', 'committed'])
  })

  test('is not touched by a rejection where its chain has it, or by one that is of another dataset', async () => {
    await log.append(0, [writer.create(a, 'acme/a'), healthy(), writer.cut([{ dataset: a, sequence: 3 }])])
    await reject(1, b)
    await buildAll(keeping(log), store)
    expect(await rowCount(store, a)).toBe(3)
    const before = await dump(store, 'datasets')
    await store.delete('rejects/log-1/0/1')
    await reject(1)
    for (const key of (await dump(store, 'progress')).keys()) await store.delete(key)
    const { builder } = await buildAll(log, store)
    expect(builder.status().halted).toEqual([])
    expect(await dump(store, 'datasets')).toEqual(before)
  })

  test('and that is a large batch in parts is rejected whole, at its last part, by any of them', async () => {
    for (const part of [1, 2, 3]) {
      store = openMemoryStore()
      writer = new TestWriter(`parts ${part}`)
      log = openMemoryLog({ id: 'log-1' })
      await log.append(0, [
        writer.create(a, 'acme/a'),
        ...writer.parts(a, { rows: 50 }, 3),
        healthy(),
        writer.cut([{ dataset: a, sequence: 3 }]),
      ])
      await reject(part)
      const { builder } = await buildAll(keeping(log), store)
      expect(builder.status().halted).toEqual([])
      expect(await outcomesOf(a)).toMatchObject([
        { position: 3, status: operatorsWord },
        { position: 4, status: { kind: 'committed' } },
      ])
      expect(await rowCount(store, a)).toBe(3)
    }
  })

  test('and that is a creation makes no dataset when it is rejected', async () => {
    await log.append(0, [writer.create(a, 'acme/a'), writer.create(b, 'acme/b')])
    await reject(0)
    const { builder } = await buildAll(log, store)
    expect(builder.status().halted).toEqual([])
    expect([await rowCount(store, a), await rowCount(store, b)]).toEqual([undefined, 0])
  })
})

test('a message that breaks the fold halts its dataset alone, and can be rejected', async () => {
  await log.append(0, [
    writer.create(a, 'acme/a'),
    writer.create(b, 'acme/b'),
    ...writer.parts(a, { rows: 500 }, 2),
    writer.rows(b, [{ rows: 4 }]),
    writer.cut([
      { dataset: a, sequence: 3 },
      { dataset: b, sequence: 3 },
    ]),
  ])
  const push = ArrowStreamReader.prototype.push
  const breaking = vi.spyOn(ArrowStreamReader.prototype, 'push').mockImplementation(function (
    this: ArrowStreamReader,
    bytes,
  ) {
    if (bytes.length > 4096) throw new TypeError('a bug')
    return push.call(this, bytes)
  })
  const running = await run(compressor, keeping(log))
  await until('b is built', async () => (await rowCount(store, b)) === 4)
  await until('a is halted', () => running.builder.status().halted.length === 1)
  expect(running.builder.status()).toMatchObject({
    ready: true,
    halted: [{ dataset: a, reason: 'PoisonBlock', message: 2 }],
  })
  await running.builder.stop()
  breaking.mockRestore()
  await reject(2)
  await buildAll(log, store)
  expect(await outcomesOf(a)).toMatchObject([{ position: 3, status: operatorsWord }])
})

describe('a message that cannot be read', () => {
  const damages: readonly (readonly [string, (message: Uint8Array) => void])[] = [
    ['its checksum is wrong', (message) => message.fill(1, message.length - 4)],
    ['its header is not what it should be', (message) => message.fill(0x20, 12, 20)],
    ['its header is longer than it', (message) => message.fill(0x7f, 8, 12)],
  ]

  test.each(damages)('is skipped once it is rejected, by a running builder and a later one: %s', async (_, damage) => {
    const damaged = writer.rows(a, [{ rows: 9 }])
    damage(damaged)
    await log.append(0, [
      writer.create(a, 'acme/a'),
      damaged,
      writer.rows(a, [{ rows: 2 }]),
      writer.cut([{ dataset: a, sequence: 3 }]),
    ])
    const running = await run(compressor, keeping(log))
    await until('it is halted', () => running.builder.status().halted.length === 1)
    expect(running.builder.status().halted).toMatchObject([{ partition: 0, reason: 'LogDamaged', message: 1 }])
    await reject(1, null)
    await until('the rest is built', async () => (await rowCount(store, a)) === 2)
    expect(running.builder.status()).toMatchObject({ ready: true, halted: [] })
    await running.builder.stop()
    expect(await dump(await replayed(log), 'datasets')).toEqual(await dump(store, 'datasets'))
  })

  test('is the only one that a rejection without dataset covers', async () => {
    await log.append(0, [
      writer.create(a, 'acme/a'),
      writer.rows(a, [{ rows: 2 }]),
      writer.cut([{ dataset: a, sequence: 3 }]),
    ])
    await reject(1, null)
    await buildAll(log, store)
    expect(await rowCount(store, a)).toBe(2)
  })
})
