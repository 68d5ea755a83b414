// Changes of a dataset as builders take them: in log order, each in blocks of its own, the record of the name after them,
// the same whoever builds and wherever he stops.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { loadCheckpoint } from '../../../src/node/store/load-block.ts'
import { deleteName, followName, readDeletion, readName } from '../../../src/node/store/names.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { buildAll, chainOf, datasetId, dump, fastClock, quickCuts, start, TestWriter } from './support.ts'
import { until } from '../../helpers/until.ts'

const id = datasetId('changed')
const nameOf = (store: ObjectStore) => readName(store, 'acme/x')
const kindsOf = async (store: ObjectStore) => (await chainOf(store, id)).map(({ block }) => block.event.kind)

function messages(): Uint8Array[] {
  const writer = new TestWriter('w')
  return [
    writer.create(id, 'acme/x'),
    writer.rows(id, [{ rows: 3, key: 'a' }]),
    writer.change(id, { visibility: 'private', info: { description: 'one' } }),
    writer.rows(id, [{ rows: 2, key: 'b' }]),
    writer.rows(id, [{ rows: 2, key: 'a' }]),
    writer.change(id, { freshnessMs: 5_000, ingest: { dedupe: 'id' } }),
    writer.change(id, { attachments: [], freshnessMs: 0 }),
    writer.rows(id, [{ rows: 1 }]),
    writer.cut([{ dataset: id, sequence: 10 }]),
  ]
}

function deletions(): Uint8Array[] {
  const writer = new TestWriter('w')
  return [
    writer.create(id, 'acme/x'),
    writer.rows(id, [{ rows: 3, key: 'a' }]),
    writer.delete(id),
    writer.rows(id, [{ rows: 2, key: 'b' }]),
    writer.change(id, { visibility: 'private' }),
    writer.delete(id),
    writer.restore(id, 'acme/y'),
    writer.restore(id, 'acme/y'),
    writer.rows(id, [{ rows: 2, key: 'b' }]),
    writer.delete(id, { after: 3 }),
    writer.delete(id, { after: 99 }),
  ]
}

function renames(): Uint8Array[] {
  const writer = new TestWriter('w')
  return [
    writer.create(id, 'acme/x'),
    writer.rows(id, [{ rows: 3 }]),
    writer.change(id, { alias: 'acme/y', visibility: 'private' }),
    writer.rows(id, [{ rows: 2 }]),
    writer.change(id, { alias: 'Acme/Y' }),
    writer.change(id, { alias: 'acme/z', info: { description: 'one' } }),
    writer.change(id, { alias: 'acme/x' }),
    writer.change(id, { freshnessMs: 5_000 }),
    writer.change(id, { alias: 'acme/y' }),
    writer.delete(id),
    writer.change(id, { alias: 'acme/w' }),
    writer.restore(id, 'acme/v'),
    writer.change(id, { alias: 'acme/z' }),
    writer.rows(id, [{}]),
    writer.cut([{ dataset: id, sequence: 15 }]),
  ]
}

async function statusesOf(store: ObjectStore): Promise<string[]> {
  const statuses: string[] = []
  for (const { block } of await chainOf(store, id)) {
    const hash = block.event.kind === 'AddData' ? block.event.newCheckpoint?.physicalHash : undefined
    const outcomes = hash === undefined ? [] : (await loadCheckpoint(store, { id }, hash)).outcomes
    statuses.push(...outcomes.map(({ status }) => (status.kind === 'rejected' ? status.error : status.kind)))
  }
  return statuses
}

async function logOf(all: readonly Uint8Array[]): Promise<EventLog> {
  const log = openMemoryLog({ id: '0'.repeat(32) })
  for (const bytes of all) await log.append(0, [bytes])
  return log
}

describe('a change', () => {
  test('ends the open block, is blocks of its own, and then the record of the name', async () => {
    const store = openMemoryStore()
    const { builder } = await buildAll(await logOf(messages()), store)
    expect(builder.status().halted).toEqual([])
    const made = ['Seed', 'SetDataSchema', 'AddPushSource']
    const changes = ['AddData', 'SetInfo', 'AddData', 'AddData', 'AddData', 'SetAttachments', 'AddData']
    expect(await kindsOf(store)).toEqual([...made, ...changes, 'AddData'])
    expect(await nameOf(store)).toMatchObject({
      visibility: 'private',
      ingest: { dedupe: 'id' },
      changed: 9,
    })
    expect(await nameOf(store)).not.toHaveProperty('freshnessMs')
    expect(await fsck(store)).toMatchObject({ ok: true })
  })

  test('is taken once, however often it is sent', async () => {
    const writer = new TestWriter('w')
    const change = writer.change(id, { visibility: 'private' })
    const store = openMemoryStore()
    await buildAll(await logOf([writer.create(id, 'acme/x'), change, change]), store)
    expect((await kindsOf(store)).filter((kind) => kind === 'AddData')).toHaveLength(1)
  })

  test('before a creation that never came halts its dataset, and no other', async () => {
    const writer = new TestWriter('w')
    const other = datasetId('other')
    const store = openMemoryStore()
    const all = [writer.change(id, { visibility: 'private' }), writer.create(other, 'acme/other')]
    const { builder } = await buildAll(await logOf(all), store)
    expect(builder.status().halted).toMatchObject([{ dataset: id, reason: 'ChainRegressed' }])
    expect(await readName(store, 'acme/other')).toMatchObject({ id: other })
  })
})

describe('a deletion', () => {
  test('rejects what comes after it until it is taken back, under a name that is free', async () => {
    const store = openMemoryStore()
    const { builder } = await buildAll(await logOf(deletions()), store)
    expect(builder.status().halted).toEqual([])
    expect(await statusesOf(store)).toEqual([
      'committed',
      'changed',
      'DatasetDeleted',
      'DatasetDeleted',
      'DatasetDeleted',
      'changed',
      'DatasetExists',
      'committed',
      'HeadMoved',
      'changed',
    ])
    for (const alias of ['acme/x', 'acme/y']) expect(await readName(store, alias)).toBeUndefined()
    expect(await readDeletion(store, id)).toMatchObject({ name: { alias: 'acme/y', born: 'acme/x' } })
    expect(await fsck(store)).toMatchObject({ ok: true, problems: [] })
  })

  test('by a clock that was set back can be taken back as long as any other', async () => {
    const writer = new TestWriter('w')
    const store = openMemoryStore()
    const at = '1970-01-01T00:00:10.000Z'
    const log = await logOf([writer.create(id, 'acme/x'), writer.delete(id, { at, graceMs: 60_000 })])
    await buildAll(log, store)
    const { at: from = '', until: to = '' } = (await readDeletion(store, id)) ?? {}
    expect(Date.parse(from)).toBe(Date.parse((await chainOf(store, id)).at(-1)?.block.systemTime ?? ''))
    expect(Date.parse(to) - Date.parse(from)).toBe(60_000)
    await log.append(0, [writer.restore(id, 'acme/x')])
    await buildAll(log, store)
    expect(await statusesOf(store)).toEqual(['changed', 'changed'])
    expect(await nameOf(store)).toMatchObject({ id })
  })

  test('is not taken back under a name that another dataset has by then', async () => {
    const writer = new TestWriter('w')
    const second = datasetId('second')
    const store = openMemoryStore()
    const log = await logOf([writer.create(id, 'acme/x'), writer.delete(id)])
    await buildAll(log, store)
    for (const bytes of [writer.create(second, 'acme/x'), writer.restore(id, 'acme/X')]) await log.append(0, [bytes])
    await buildAll(log, store)
    expect(await statusesOf(store)).toEqual(['changed', 'DatasetExists'])
    expect(await nameOf(store)).toMatchObject({ id: second })
  })

  test('does not give its name to a creation that came before it, when that is read once more', async () => {
    const writer = new TestWriter('w')
    const second = datasetId('second')
    const store = openMemoryStore()
    const log = await logOf([writer.create(id, 'acme/x'), writer.create(second, 'acme/X'), writer.delete(id)])
    await buildAll(log, store)
    await store.delete(...(await dump(store, 'progress')).keys())
    await buildAll(log, store)
    expect(await nameOf(store)).toBeUndefined()
    expect(await chainOf(store, second)).toEqual([])
  })

  test('cannot be taken back when its grace is over', async () => {
    const writer = new TestWriter('w')
    const all = [writer.create(id, 'acme/x'), writer.delete(id, { graceMs: 10 }), writer.restore(id, 'acme/x')]
    const store = openMemoryStore()
    await buildAll(await logOf(all), store)
    expect(await statusesOf(store)).toEqual(['changed', 'DatasetDeleted'])
    expect(await nameOf(store)).toBeUndefined()
  })

  test('is followed by a removal when all that the log held is committed, and by none before', async () => {
    const writer = new TestWriter('w')
    const store = openMemoryStore()
    const all = [writer.create(id, 'acme/x'), writer.rows(id, [{}]), writer.delete(id, { graceMs: 0 })]
    const log = await logOf([...all, writer.rows(id, [{}])])
    await buildAll(log, store)
    expect((await dump(store, 'datasets')).size).toBeGreaterThan(5)
    const { builder } = await start(log, store, { clock: fastClock(100), options: quickCuts })
    await until('nothing is left', async () => (await dump(store, 'datasets')).size === 0)
    await builder.stop()
    expect(builder.status().halted).toEqual([])
    // A message of a dataset that is gone, and a dataset of its name.
    const other = datasetId('second')
    for (const bytes of [writer.rows(id, [{}]), writer.create(other, 'acme/x')]) await log.append(0, [bytes])
    const again = await buildAll(log, store)
    expect(again.builder.status().halted).toEqual([])
    expect(await nameOf(store)).toMatchObject({ id: other })
    expect(await readDeletion(store, id)).toMatchObject({ name: { id } })
    expect(await fsck(store)).toMatchObject({ ok: true })
  })
})

describe('a rename', () => {
  test('moves the name, however often, and what was free is free again', async () => {
    const store = openMemoryStore()
    const { builder } = await buildAll(await logOf(renames()), store)
    expect(builder.status().halted).toEqual([])
    const all = [...Array<string>(6).fill('changed'), 'changed', 'DatasetDeleted', 'changed', 'changed']
    expect((await statusesOf(store)).filter((status) => status !== 'committed')).toEqual(all)
    expect(await readName(store, 'acme/z')).toMatchObject({ id, alias: 'acme/z', born: 'acme/x', from: 'acme/v' })
    expect(await readName(store, 'acme/z')).toMatchObject({ visibility: 'private', freshnessMs: 5_000 })
    for (const alias of ['acme/x', 'acme/y', 'acme/v', 'acme/w']) {
      expect(await readName(store, alias)).toBeUndefined()
    }
    for (const alias of ['acme/x', 'acme/y', 'acme/v', 'acme/z']) {
      expect(await followName(store, { id, alias })).toMatchObject({ alias: 'acme/z' })
    }
    expect(await fsck(store)).toMatchObject({ ok: true, problems: [] })
  })

  test('to a name that another dataset has is refused; one that frees it in time lets it pass', async () => {
    const writer = new TestWriter('w')
    const second = datasetId('second')
    const store = openMemoryStore()
    const log = await logOf([
      writer.create(id, 'acme/x'),
      writer.create(second, 'acme/y'),
      writer.change(id, { alias: 'acme/Y', visibility: 'private' }),
    ])
    await buildAll(log, store)
    expect(await statusesOf(store)).toEqual(['DatasetExists'])
    expect(await nameOf(store)).toMatchObject({ id, visibility: 'public' })
    await log.append(0, [writer.change(second, { alias: 'acme/z' })])
    await buildAll(log, store)
    await log.append(0, [writer.change(id, { alias: 'acme/Y' })])
    await buildAll(log, store)
    expect(await readName(store, 'acme/y')).toMatchObject({ id, alias: 'acme/Y' })
    // Through the name that is another's by now.
    expect(await followName(store, { id: second, alias: 'acme/y' })).toMatchObject({ alias: 'acme/z' })
    expect(await fsck(store)).toMatchObject({ ok: true, problems: [] })
  })

  test('does not give the old name to a creation that came before it, and to a later one', async () => {
    const writer = new TestWriter('w')
    const [second, third] = [datasetId('second'), datasetId('third')]
    const store = openMemoryStore()
    const all = [writer.create(id, 'acme/x'), writer.create(second, 'acme/X'), writer.change(id, { alias: 'acme/y' })]
    const log = await logOf(all)
    await buildAll(log, store)
    await log.append(0, [writer.create(third, 'acme/x')])
    await buildAll(log, store)
    expect(await nameOf(store)).toMatchObject({ id: third })
    // Read once more from the begin.
    await store.delete(...(await dump(store, 'progress')).keys())
    const { builder } = await buildAll(await logOf([...all, writer.create(third, 'acme/x')]), store)
    expect(builder.status().halted).toEqual([])
    expect(await chainOf(store, second)).toEqual([])
    expect(await nameOf(store)).toMatchObject({ id: third })
    expect(await readName(store, 'acme/y')).toMatchObject({ id })
  })

  test('that another builder has refused meanwhile gives back the name that it had claimed', async () => {
    const writer = new TestWriter('w')
    const second = datasetId('second')
    const made = [writer.create(id, 'acme/x'), writer.create(second, 'acme/y')]
    const rename = writer.change(id, { alias: 'acme/y' })
    const [theirs, ours] = [openMemoryStore(), openMemoryStore()]
    await buildAll(await logOf([...made, rename]), theirs)
    expect(await statusesOf(theirs)).toEqual(['DatasetExists'])
    // Here the name is free by the time when the message is judged, and the other builder's commit comes first.
    const log = await logOf(made)
    await buildAll(log, ours)
    const times = { at: '2026-01-01T00:00:00.000Z', until: '2026-01-08T00:00:00.000Z' }
    const freedAt = { log: log.id, partition: 0, position: 1 }
    await deleteName(ours, { id: second, alias: 'acme/y', sequence: 9 }, times, freedAt)
    let claimed: unknown
    const put = async (...args: Parameters<ObjectStore['put']>): ReturnType<ObjectStore['put']> => {
      if (args[0].includes('/commits/')) {
        claimed ??= await readName(ours, 'acme/y')
        for (const [key, bytes] of await dump(theirs, 'datasets')) await ours.put(key, bytes)
      }
      return ours.put(...args)
    }
    await log.append(0, [rename])
    const { builder } = await buildAll(log, Object.assign(Object.create(ours), { put }))
    expect(claimed).toMatchObject({ id })
    expect(builder.status()).toMatchObject({ halted: [], lostRaces: 1 })
    expect(await statusesOf(ours)).toEqual(['DatasetExists'])
    expect(await nameOf(ours)).toMatchObject({ id, alias: 'acme/x' })
    expect(await readName(ours, 'acme/y')).toBeUndefined()
    expect(await followName(ours, { id, alias: 'acme/y' })).toMatchObject({ alias: 'acme/x' })
  })

  test('of two datasets to one name at the same time is one', async () => {
    const writers = ['a', 'b'].map((name) => new TestWriter(name))
    const ids = ['first', 'second'].map(datasetId)
    const store = openMemoryStore()
    const log = openMemoryLog({ id: '0'.repeat(32), partitions: 2 })
    for (const [partition, writer] of writers.entries()) {
      await log.append(partition, [writer.create(ids[partition] ?? '', `acme/${partition}`)])
      await log.append(partition, [writer.change(ids[partition] ?? '', { alias: 'acme/one' })])
    }
    const { builder } = await start(log, store)
    await until('all is committed', () => builder.status().partitions.every(({ floor }) => floor === 2))
    await builder.stop()
    const names = await Promise.all(['acme/one', 'acme/0', 'acme/1'].map((alias) => readName(store, alias)))
    const held = names.flatMap((name) => (name === undefined ? [] : [name.id]))
    expect(names[0]).toBeDefined()
    expect([...held].sort()).toEqual([...ids].sort())
    expect(await fsck(store)).toMatchObject({ ok: true, problems: [] })
  })
})

describe('wherever a builder stops', () => {
  test.each([
    ['changes', messages()],
    ['deletions', deletions()],
    ['renames', renames()],
  ])('the next one makes the same chain and records: %s', async (_, all) => {
    const whole = openMemoryStore()
    await buildAll(await logOf(all), whole)
    const prefixes = ['datasets', 'names', 'aliases', 'deletions']
    const sizes = await Promise.all(prefixes.map(async (prefix) => (await dump(whole, prefix)).size))
    const puts = sizes.reduce((sum, size) => sum + size, 0)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: puts + 1 }), fc.boolean(), async (stopAfter, isStored) => {
        const store = openMemoryStore()
        const log = await logOf(all)
        await stoppedAfter(log, store, { puts: stopAfter, isStored, messages: all.length })
        await buildAll(log, store)
        for (const prefix of prefixes) expect(await dump(store, prefix)).toEqual(await dump(whole, prefix))
      }),
      { numRuns: 30 },
    )
  })
})

interface Stop {
  readonly puts: number
  readonly isStored: boolean
  readonly messages: number
}

/** A builder that hangs at its n-th put, which is stored or not, and is thrown away. */
async function stoppedAfter(log: EventLog, store: ObjectStore, at: Stop): Promise<void> {
  let left = at.puts
  let hangs = false
  const put = async (...args: Parameters<ObjectStore['put']>): ReturnType<ObjectStore['put']> => {
    if (left-- > 0) return store.put(...args)
    if (at.isStored && !hangs) await store.put(...args)
    hangs = true
    return new Promise(() => {})
  }
  const dying: ObjectStore = Object.assign(Object.create(store), { put })
  const { builder } = await start(log, dying)
  await until('the builder hangs, or is done', () => hangs || builder.status().partitions[0]?.position === at.messages)
  void builder.stop()
}
