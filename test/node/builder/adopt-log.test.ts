// One log given up for another: nothing is lost where the old one can be read to its end, and what is lost is named,
// in the answer and in the chain.

import { beforeEach, describe, expect, test } from 'vitest'
import { type AdoptionRequest, adoptLog } from '../../../src/node/builder/adopt-log.ts'
import { declareLog, otherLogs } from '../../../src/node/builder/resume.ts'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { Outcomes } from '../../../src/node/catalog/outcomes.ts'
import { logPositionOf } from '../../../src/libraries/odf/chain/records.ts'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { partitionOf } from '../../../src/node/log/partitions.ts'
import { decodeBlock } from '../../../src/libraries/odf/block.ts'
import { readHead } from '../../../src/node/store/heads.ts'
import { adoptionKey, blockKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { newestLowWaterMark, readAdoption } from '../../../src/node/store/records.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { batchId, buildAll, compressor, datasetId, dump, fastClock, rowCount, TestWriter } from './support.ts'

const [a, b] = [datasetId('a'), datasetId('b')]
let store: ObjectStore
let writer: TestWriter

beforeEach(() => {
  store = openMemoryStore()
  writer = new TestWriter('w')
})

async function logOf(id: string, messages: readonly Uint8Array[] = [], partitions = 1): Promise<EventLog> {
  const log = openMemoryLog({ id, partitions })
  if (messages.length > 0) await log.append(0, messages)
  return log
}

/** A log that a node has begun to write. */
async function knownLog(id: string, messages: readonly Uint8Array[]): Promise<EventLog> {
  const log = await logOf(id, messages)
  await declareLog(store, log)
  return log
}

/** Two datasets; the last rows of the first are in no block yet. */
function beginning(): Uint8Array[] {
  return [
    writer.create(a, 'acme/a'),
    writer.create(b, 'acme/b'),
    writer.rows(a, [{ rows: 2, key: 'first' }]),
    writer.rows(b, [{ rows: 3 }]),
    writer.cut([
      { dataset: a, sequence: 3 },
      { dataset: b, sequence: 3 },
    ]),
    writer.rows(a, [{ rows: 4 }]),
  ]
}

function adopt(
  request: Partial<AdoptionRequest> & Pick<AdoptionRequest, 'old' | 'next'>,
  over = store,
  signal = new AbortController().signal,
) {
  const announcements = openLocalAnnouncements(silentLogger)
  const deps = { store: over, announcements, clock: fastClock(500), logger: silentLogger, compressor, signal }
  return adoptLog(deps, { acceptLoss: false, ...request })
}

/** What the head says of the log. */
async function positionAtHead(id: string) {
  const { hash } = must(await readHead(store, id), 'a head')
  const { block } = decodeBlock(must(await store.get(blockKey(id, hash)), 'a block'))
  return block.event.kind === 'AddData' ? logPositionOf(block.event.newSourceState) : undefined
}

function append(log: EventLog, alias: string, messages: readonly Uint8Array[]): Promise<number> {
  return log.append(partitionOf(alias, log.partitions), messages)
}

async function expectSound(): Promise<void> {
  const { ok, problems, datasets } = await fsck(store)
  expect({ ok, problems, of: datasets.flatMap((dataset) => dataset.problems) }).toEqual({
    ok: true,
    problems: [],
    of: [],
  })
}

async function copied(): Promise<ObjectStore> {
  const copy = openMemoryStore()
  for (const root of ['datasets', 'names', 'logs', 'progress', 'adoptions']) {
    for (const [key, bytes] of await dump(store, root)) await copy.put(key, bytes)
  }
  return copy
}

describe('a log that can be read to its end', () => {
  test('is built to its end first, so that nothing is given up; chains, keys and rows go on in the other', async () => {
    const [old, next] = [await logOf('old', beginning()), await logOf('new', [], 3)]
    await buildAll(old, store)
    expect(await rowCount(store, a)).toBe(2)
    expect(await adopt({ old, next })).toEqual({ outcome: 'adopted', old: 'old', new: 'new', givenUp: [] })
    expect(await rowCount(store, a)).toBe(6)
    const before = must(await readHead(store, a), 'a head')
    await append(next, 'acme/a', [
      writer.rows(a, [{ rows: 2, key: 'first' }]),
      writer.rows(a, [{ rows: 5 }]),
      writer.cut([{ dataset: a, sequence: before.sequence + 1 }]),
    ])
    const { builder } = await buildAll(next, store)
    expect(builder.status().halted).toEqual([])
    expect(await rowCount(store, a)).toBe(11)
    const place = { log: 'new', partition: partitionOf('acme/a', 3), next: 3 }
    expect(await positionAtHead(a)).toMatchObject({ ...place, adopted: [{ log: 'old', partition: 0 }] })
    await append(next, 'acme/a', [writer.rows(a, [{}]), writer.cut([{ dataset: a, sequence: before.sequence + 2 }])])
    await buildAll(next, store)
    expect(await positionAtHead(a)).toMatchObject({ ...place, next: 5 })
    expect(await positionAtHead(a)).not.toHaveProperty('adopted')
    await expectSound()
  })

  test('leaves nothing of a batch whose parts stopped coming', async () => {
    const large = writer.large(a, { rows: 50 }, 2)
    const old = await knownLog('old', [...beginning(), large.part(0)])
    const next = await logOf('new')
    expect(await adopt({ old, next })).toMatchObject({ outcome: 'adopted', givenUp: [] })
    const { sequence } = must(await readHead(store, a), 'a head')
    await next.append(0, [large.part(1), writer.rows(a, [{}]), writer.cut([{ dataset: a, sequence: sequence + 1 }])])
    expect((await buildAll(next, store)).builder.status().halted).toEqual([])
    expect(await rowCount(store, a)).toBe(7)
    await expectSound()
  })

  test('two builders of the other make the same blocks, of a bare creation too', async () => {
    const c = datasetId('c')
    const [old, next] = [await knownLog('old', [...beginning(), writer.create(c, 'acme/c')]), await logOf('new', [], 2)]
    await adopt({ old, next })
    const { sequence } = must(await readHead(store, a), 'a head')
    const rows = [writer.rows(a, [{}]), writer.cut([{ dataset: a, sequence: sequence + 1 }])]
    const rowsOfC = [writer.rows(c, [{}]), writer.cut([{ dataset: c, sequence: 3 }])]
    const other = await copied()
    for (const over of [store, other]) {
      // The same log once more: a builder lets go of what it has committed.
      const log = await logOf('new', [], 2)
      await append(log, 'acme/a', rows)
      await append(log, 'acme/c', rowsOfC)
      expect((await buildAll(log, over)).builder.status().halted).toEqual([])
    }
    expect(await dump(store, 'datasets')).toEqual(await dump(other, 'datasets'))
    expect(await positionAtHead(c)).toMatchObject({ log: 'new', adopted: [{ log: 'old', partition: 0 }] })
    await expectSound()
  })

  test('may be given up for a log that is in use, and that one for a third', async () => {
    const [one, two, three] = [
      await knownLog('one', beginning()),
      await logOf('two', [], 2),
      await logOf('three', [], 3),
    ]
    const c = datasetId('c')
    await append(two, 'acme/c', [
      writer.create(c, 'acme/c'),
      writer.rows(c, [{}]),
      writer.cut([{ dataset: c, sequence: 3 }]),
    ])
    await buildAll(two, store)
    await adopt({ old: one, next: two })
    await adopt({ old: two, next: three })
    for (const [id, alias] of [
      [a, 'acme/a'],
      [c, 'acme/c'],
    ] as const) {
      const { sequence } = must(await readHead(store, id), 'a head')
      await append(three, alias, [writer.rows(id, [{}]), writer.cut([{ dataset: id, sequence: sequence + 1 }])])
    }
    expect((await buildAll(three, store)).builder.status().halted).toEqual([])
    expect([await rowCount(store, a), await rowCount(store, c)]).toEqual([7, 2])
    expect((await positionAtHead(a))?.adopted?.map(({ log }) => log)).toEqual(['one', 'two'])
    expect((await positionAtHead(c))?.adopted?.map(({ log }) => log)).toEqual(['two'])
    await expectSound()
  })

  test('names lead to the other, and what was decided under the old one is still found', async () => {
    const [old, next] = [await knownLog('old', beginning()), await logOf('new', [], 3)]
    await adopt({ old, next })
    const { sequence } = must(await readHead(store, a), 'a head')
    await append(next, 'acme/a', [
      writer.rows(a, [{ key: 'second' }]),
      writer.cut([{ dataset: a, sequence: sequence + 1 }]),
    ])
    const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
    const unread = must(await catalog.byAlias('acme/a'), 'a dataset')
    expect(unread.name).toMatchObject({ log: 'new', partition: partitionOf('acme/a', 3) })
    expect(unread.next).toBe(-1)
    const outcomes = new Outcomes(store)
    const first = { id: batchId(`${a} first`), position: 2 }
    const second = { id: batchId(`${a} second`), position: 0 }
    expect(await outcomes.at(unread, second)).toBeUndefined()
    await buildAll(next, store)
    await catalog.refresh(unread)
    expect(unread.next).toBe(2)
    expect(await outcomes.at(unread, first)).toMatchObject({ outcome: { status: { start: 0, end: 1 } } })
    expect(await outcomes.at(unread, second)).toMatchObject({ outcome: { status: { start: 6, end: 6 } } })
    expect(await outcomes.at(unread, { ...second, position: 1 })).toBe('void')
    expect(await outcomes.at(unread, { ...second, position: 9 })).toBeUndefined()
  })
})

describe('a log that cannot be read to its end', () => {
  test('that is gone is not given up unless loss is accepted; then the chain says from where on', async () => {
    const old = await logOf('old', beginning().slice(0, 5))
    await buildAll(old, store)
    const next = await logOf('new')
    const lost = { partition: 0, from: 5, reason: 'the log is gone' }
    expect(await adopt({ old: 'old', next })).toMatchObject({ outcome: 'refused', givenUp: [lost] })
    expect(await readAdoption(store, 'old')).toBeUndefined()
    expect(await dump(store, 'logs/new')).toEqual(new Map())
    expect(await adopt({ old: 'old', next, acceptLoss: true })).toMatchObject({ outcome: 'adopted', givenUp: [lost] })
    await next.append(0, [writer.rows(a, [{}]), writer.cut([{ dataset: a, sequence: 4 }])])
    await buildAll(next, store)
    expect(await positionAtHead(a)).toMatchObject({ adopted: [{ log: 'old', partition: 0, givenUp: { from: 5 } }] })
    expect(await rowCount(store, a)).toBe(3)
    await expectSound()
  })

  test('because its beginning is gone: the range that nobody has read is named', async () => {
    const old = await logOf('old', beginning().slice(0, 5))
    await buildAll(old, store)
    await old.append(0, [writer.rows(a, [{}]), writer.rows(a, [{}]), writer.rows(a, [{}])])
    await old.release(0, 8)
    const next = await logOf('new')
    const lost = { partition: 0, from: 5, to: 8, reason: expect.stringContaining('LogTruncated') }
    expect(await adopt({ old, next })).toMatchObject({ outcome: 'refused', givenUp: [lost] })
    await adopt({ old, next, acceptLoss: true })
    await next.append(0, [writer.rows(b, [{}]), writer.cut([{ dataset: b, sequence: 4 }])])
    await buildAll(next, store)
    expect((await positionAtHead(b))?.adopted).toEqual([{ log: 'old', partition: 0, givenUp: { from: 5, to: 8 } }])
    await expectSound()
  })

  test('because it is shorter than what was read: its end is not known', async () => {
    const messages = beginning().slice(0, 5)
    await buildAll(await logOf('old', messages), store)
    const cut = await logOf('old', messages.slice(0, 3))
    const lost = { partition: 0, from: 5, reason: expect.stringContaining('LogRegressed') }
    expect(await adopt({ old: cut, next: await logOf('new') })).toEqual({
      outcome: 'refused',
      old: 'old',
      new: 'new',
      givenUp: [lost],
    })
  })

  test('for one dataset that is stopped: only its rows are given up', async () => {
    const old = await logOf('old', [...beginning(), writer.rows(b, [{ rows: 7 }])])
    await buildAll(old, store)
    const { hash } = must(await readHead(store, b), 'a head')
    const good = must(await store.get(blockKey(b, hash)), 'a block')
    await store.replace(blockKey(b, hash), good.slice(0, -3))
    const next = await logOf('new')
    const answer = await adopt({ old, next })
    expect(answer).toMatchObject({ outcome: 'refused', givenUp: [{ partition: 0, dataset: b, reason: 'ChainBroken' }] })
    expect(answer.givenUp).toHaveLength(1)
    await adopt({ old, next, acceptLoss: true })
    await store.replace(blockKey(b, hash), good)
    const sequence = must(await readHead(store, a), 'a head').sequence + 1
    await next.append(0, [
      writer.rows(a, [{}]),
      writer.rows(b, [{}]),
      writer.cut([
        { dataset: a, sequence },
        { dataset: b, sequence: 4 },
      ]),
    ])
    expect((await buildAll(next, store)).builder.status().halted).toEqual([])
    expect([await rowCount(store, a), await rowCount(store, b)]).toEqual([7, 4])
    const range = { from: answer.givenUp[0]?.from, to: (await old.range(0)).end }
    expect((await positionAtHead(a))?.adopted).toEqual([{ log: 'old', partition: 0 }])
    expect((await positionAtHead(b))?.adopted).toEqual([{ log: 'old', partition: 0, givenUp: range }])
    await expectSound()
  })
})

describe('what an adoption asks of the two logs', () => {
  test('two logs, the old one known, the new one empty or known, neither given up for another', async () => {
    const old = await logOf('old', beginning())
    await buildAll(old, store)
    const refused = (request: Parameters<typeof adopt>[0]) =>
      expect(adopt(request)).rejects.toMatchObject({ kind: 'InvalidParameter' })
    await refused({ old, next: old })
    await refused({ old: 'never', next: await logOf('new') })
    await refused({ old, next: await logOf('used', [writer.rows(a, [{}])]) })
    await adopt({ old, next: await logOf('new') })
    await refused({ old, next: await logOf('third') })
    await refused({ old: await logOf('new'), next: old })
  })

  test('who has been given up is not built from any more', async () => {
    const old = await knownLog('old', beginning())
    await adopt({ old, next: await logOf('new') })
    await expect(buildAll(old, store)).rejects.toMatchObject({ reason: 'LogReplaced' })
  })

  test('a log that has not taken over is not gone on in', async () => {
    await buildAll(await logOf('old', beginning()), store)
    const { builder } = await buildAll(await logOf('new', [writer.rows(a, [{}])]), store)
    expect(builder.status().halted).toMatchObject([{ dataset: a, reason: 'LogReplaced' }])
  })

  test('a damaged record stops the datasets that it is about, and no others', async () => {
    const [old, next] = [await knownLog('old', beginning()), await logOf('new')]
    await adopt({ old, next })
    await store.replace(adoptionKey('old'), new Uint8Array([1, 2, 3]))
    const c = datasetId('c')
    await next.append(0, [writer.rows(a, [{}]), writer.create(c, 'acme/c')])
    const { builder } = await buildAll(next, store)
    expect(builder.status().halted).toMatchObject([{ dataset: a, reason: 'ChainBroken' }])
    const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
    await expect(catalog.byAlias('acme/a')).rejects.toMatchObject({ reason: 'ChainBroken' })
    expect((await catalog.byAlias('acme/c'))?.name.log).toBe('new')
    expect(await otherLogs(store, next)).toEqual(['old'])
  })

  test('rows in another partition than the name leads to stop their dataset', async () => {
    const next = await logOf('new', [], 3)
    const old = await knownLog('old', beginning())
    await adopt({ old, next })
    await next.append((partitionOf('acme/a', 3) + 1) % 3, [writer.rows(a, [{}])])
    const { builder } = await buildAll(next, store)
    expect(builder.status().halted).toMatchObject([{ dataset: a, reason: 'LogReplaced' }])
  })
})

test('a process that ends anywhere in between leaves either log in force, and a repeat finishes it', async () => {
  for (let survived = 0; ; survived++) {
    store = openMemoryStore()
    writer = new TestWriter('w')
    const [old, next] = [await logOf('old', beginning()), await logOf('new')]
    await buildAll(old, store)
    let puts = 0
    const dying: ObjectStore = {
      ...store,
      put: async (key, bytes) => {
        if (/^(?:logs|adoptions)/.test(key) && puts++ >= survived) throw new Error('killed')
        return store.put(key, bytes)
      },
    }
    const died = await adopt({ old, next }, dying).then(
      () => false,
      () => true,
    )
    const isOver = (await readAdoption(store, 'old')) !== undefined
    expect(await adopt({ old, next })).toMatchObject({ outcome: isOver ? 'was adopted before' : 'adopted' })
    expect(await rowCount(store, a)).toBe(6)
    expect((await newestLowWaterMark(store, 'old', 0))?.position).toBe((await old.range(0)).end)
    await expectSound()
    if (!died) break
    expect(survived).toBeLessThan(9)
  }
})

test('a log or a store that takes no more ends it, with nothing given up', async () => {
  const old = await knownLog('old', beginning())
  await old.close()
  const failure = new AbortController()
  setTimeout(() => failure.abort(new Error('the disk is gone')), 50)
  await expect(adopt({ old, next: await logOf('new') }, store, failure.signal)).rejects.toThrow('the disk is gone')
  expect(await readAdoption(store, 'old')).toBeUndefined()
})
