// What is committed, as the catalog knows it: loading, following, looking for what was not announced, broken chains.

import { afterEach, describe, expect, test } from 'vitest'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { type DatasetChain, viewOf } from '../../../src/node/catalog/dataset-chain.ts'
import { Outcomes } from '../../../src/node/catalog/outcomes.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { type Announcements, openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { blockKey, checkpointKey, commitKey, headKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { batchId, buildAll, datasetId, schemaOf, TestWriter, userFields } from '../builder/support.ts'
import { announcement } from '../../helpers/announcement.ts'

const a = datasetId('a')
const b = datasetId('b')
const extra = { name: 'x', type: { kind: 'Option', inner: { kind: 'Int64' } } } as const

/** A store with the dataset acme/a (three blocks of creation, then `blocks` of two rows each) and acme/b (empty). */
async function storeWith(blocks: number): Promise<ObjectStore> {
  const store = openMemoryStore()
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  await log.append(0, [writer.create(a, 'Acme/A'), writer.create(b, 'acme/b', { visibility: 'private' })])
  for (let i = 0; i < blocks; i++) {
    await log.append(0, [writer.rows(a, [{ rows: 2, key: `k${i}` }]), writer.cut([{ dataset: a, sequence: 3 + i }])])
  }
  await buildAll(log, store)
  return store
}

const open: Catalog[] = []
afterEach(() => {
  for (const catalog of open.splice(0)) catalog.close()
})

function catalogOf(store: ObjectStore, announcements: Announcements = openLocalAnnouncements(silentLogger)): Catalog {
  const catalog = new Catalog({ store, announcements, logger: silentLogger })
  open.push(catalog)
  return catalog
}

/** The store, but for the objects whose keys are given: those are missing, or have other bytes. */
function damaged(store: ObjectStore, objects: ReadonlyMap<string, Uint8Array | undefined>): ObjectStore {
  const faulty = Object.create(store) as ObjectStore // every other member is the store's own
  faulty.get = async (key) => (objects.has(key) ? objects.get(key) : store.get(key))
  return faulty
}

async function chainOf(catalog: Catalog, alias = 'acme/a'): Promise<DatasetChain> {
  return must(await catalog.byAlias(alias), 'a dataset')
}

describe('a catalog', () => {
  test('finds datasets by name in any case and by id, and says what there is none of', async () => {
    const catalog = catalogOf(await storeWith(1))
    expect(catalog.known('acme/a')).toBeUndefined()
    const chain = await chainOf(catalog, 'ACME/a')
    expect(chain.name).toMatchObject({ id: a, alias: 'Acme/A', visibility: 'public' })
    expect(await catalog.byId(a)).toBe(chain)
    expect((await catalog.byId(b))?.name.visibility).toBe('private')
    expect(catalog.known('aCmE/A')).toBe(chain)
    expect(await catalog.byAlias('acme/c')).toBeUndefined()
    expect(await catalog.byId(datasetId('c'))).toBeUndefined()
    expect((await catalog.names()).map(({ alias }) => alias)).toEqual(['Acme/A', 'acme/b'])
  })

  test('knows each block: rows, slices, positions, and what it can be asked for by hash', async () => {
    const chain = await chainOf(catalogOf(await storeWith(3)))
    expect([...chain.blocks].map(({ kind, rows, next }) => [kind, rows, next])).toEqual([
      ['Seed', 0, -1],
      ['SetDataSchema', 0, -1],
      ['AddPushSource', 0, -1],
      ['AddData', 2, 4],
      ['AddData', 4, 6],
      ['AddData', 6, 8],
    ])
    expect([...chain.slices].map(({ start, end, sequence }) => [start, end, sequence])).toEqual([
      [0, 1, 3],
      [2, 3, 4],
      [4, 5, 5],
    ])
    expect(chain.sequenceOf(chain.head.hash)).toBe(5)
    expect(chain.sequenceOf('f1620')).toBeUndefined()
    expect([3, 4, 5, 6, 7, 8].map((position) => chain.blockAtPosition(position)?.sequence)).toEqual([
      3,
      4,
      4,
      5,
      5,
      undefined,
    ])
  })

  test('views a dataset as it was at a block', async () => {
    const store = openMemoryStore()
    const log = openMemoryLog()
    const writer = new TestWriter('w')
    const wider = [...userFields, extra]
    await log.append(0, [
      writer.create(a, 'acme/a', { info: { description: 'A' } }),
      writer.rows(a, [{ rows: 1 }]),
      writer.cut([{ dataset: a, sequence: 4 }]),
      writer.rows(a, [{ rows: 1 }], { schema: schemaOf(wider), fields: wider }),
      writer.cut([{ dataset: a, sequence: 5 }]),
    ])
    await buildAll(log, store)
    const chain = await chainOf(catalogOf(store))
    const views = [...chain.blocks].map(({ sequence }) => viewOf(chain, sequence))
    expect([...chain.blocks].map(({ kind }) => kind).join(' ')).toBe(
      'Seed SetInfo SetDataSchema AddPushSource AddData SetDataSchema AddPushSource AddData',
    )
    expect(views.map(({ schema }) => schema?.fields.length)).toEqual([undefined, undefined, 6, 6, 6, 7, 7, 7])
    expect(views.map(({ schemaSequence }) => schemaSequence)).toEqual([-1, -1, 2, 2, 2, 5, 5, 5])
    expect(views.map(({ slices }) => slices.length)).toEqual([0, 0, 0, 0, 1, 1, 1, 2])
    expect(views.map(({ info }) => info?.description)).toEqual([undefined, ...Array.from({ length: 7 }, () => 'A')])
  })

  test('follows what is announced, and finds what was not when it is told to look', async () => {
    const store = openMemoryStore()
    const log = openMemoryLog()
    const writer = new TestWriter('w')
    const announcements = openLocalAnnouncements(silentLogger)
    const catalog = catalogOf(store, announcements)
    const advances: number[] = []
    const stop = catalog.onAdvance(({ chain, fromSequence }) => advances.push(fromSequence, chain.headSequence))
    await log.append(0, [writer.create(a, 'acme/a')])
    await buildAll(log, store, { announcements })
    const chain = await chainOf(catalog)
    expect(advances).toEqual([0, 2])
    await log.append(0, [writer.rows(a, [{}]), writer.cut([{ dataset: a, sequence: 3 }])])
    await buildAll(log, store)
    expect(chain.headSequence).toBe(2)
    await log.append(0, [writer.rows(a, [{}]), writer.cut([{ dataset: a, sequence: 4 }])])
    await buildAll(log, store)
    await Promise.all([catalog.refresh(chain), catalog.refresh(chain), catalog.refresh(chain)])
    expect(chain.headSequence).toBe(4)
    expect(advances).toEqual([0, 2, 3, 4])
    stop()
    await log.append(0, [writer.rows(a, [{}]), writer.cut([{ dataset: a, sequence: 5 }])])
    await buildAll(log, store)
    await catalog.refresh(chain)
    expect([chain.headSequence, advances.length]).toEqual([5, 4])
  })

  test('reads nothing of a block that it is told of with its bytes, unless it has missed one before it', async () => {
    const store = openMemoryStore()
    const log = openMemoryLog()
    const writer = new TestWriter('w')
    const announcements = openLocalAnnouncements(silentLogger)
    let reads = 0
    const counting = Object.create(store) as ObjectStore // every other member is the store's own
    counting.get = async (key) => {
      reads++
      return store.get(key)
    }
    const catalog = catalogOf(counting, announcements)
    const advances: number[] = []
    catalog.onAdvance(({ chain, fromSequence }) => advances.push(fromSequence, chain.headSequence))
    await log.append(0, [writer.create(a, 'acme/a')])
    await buildAll(log, store)
    const chain = await chainOf(catalog)
    const commit = async (sequence: number, heard?: Announcements): Promise<void> => {
      await log.append(0, [writer.rows(a, [{}]), writer.cut([{ dataset: a, sequence }])])
      await buildAll(log, store, heard && { announcements: heard })
    }
    reads = 0
    await commit(3, announcements)
    expect([chain.headSequence, reads]).toEqual([3, 0])
    await commit(4)
    await commit(5, announcements)
    await catalog.refresh(chain)
    expect(chain.headSequence).toBe(5)
    expect(advances).toEqual([0, 2, 3, 3, 4, 5])

    const next = { ...announcement(6), dataset: a, alias: 'acme/a' }
    await announcements.announce(next, [new Uint8Array(100)])
    await catalog.refresh(chain)
    expect(chain.headSequence).toBe(5)
  })

  test('reads a chain once for callers who ask at once', async () => {
    const store = await storeWith(2)
    let reads = 0
    const counting = Object.create(store) as ObjectStore // every other member is the store's own
    counting.get = async (key) => {
      if (key.includes('/blocks/')) reads++
      return store.get(key)
    }
    const catalog = catalogOf(counting)
    const chains = await Promise.all(['acme/a', 'ACME/A', 'acme/a'].map((alias) => chainOf(catalog, alias)))
    expect(new Set(chains).size).toBe(1)
    // Five blocks, and the one that the head names.
    expect(reads).toBe(6)
  })
})

describe('a chain that is broken', () => {
  test.each([
    ['a missing block', (chain: DatasetChain) => [blockKey(a, must(chain.blocks.at(4), 'a block').hash), undefined]],
    [
      'a damaged block',
      (chain: DatasetChain) => [blockKey(a, must(chain.blocks.at(1), 'a block').hash), Uint8Array.of(1, 2)],
    ],
    ['a missing commit below others', () => [commitKey(a, 4), undefined]],
    ['no first commit', () => [commitKey(a, 0), undefined]],
  ] satisfies [string, (chain: DatasetChain) => [string, Uint8Array | undefined]][])(
    'by %s is named, and others are read',
    async (_, harm) => {
      const store = await storeWith(3)
      const [key, bytes] = harm(await chainOf(catalogOf(store)))
      const catalog = catalogOf(damaged(store, new Map([[key, bytes]])))
      await expect(catalog.byAlias('acme/a')).rejects.toMatchObject({ reason: 'ChainBroken' })
      expect((await chainOf(catalog, 'acme/b')).headSequence).toBe(2)
      expect(await catalog.names()).toHaveLength(2)
    },
  )

  test.each([1, 2, 3])(
    'whose last %i commits are gone is told by its head, and never read as an older one',
    async (gone) => {
      const store = await storeWith(4)
      for (let n = 0; n < gone; n++) await store.delete(commitKey(a, 6 - n))
      await expect(chainOf(catalogOf(store))).rejects.toMatchObject({ reason: 'ChainBroken' })
      await expect(chainOf(catalogOf(store), 'acme/b')).resolves.toBeDefined()
      // A head is only a hint: without one the commits are all that is known.
      await store.delete(headKey(a))
      expect((await chainOf(catalogOf(store))).headSequence).toBe(6 - gone)
    },
  )

  test('is read once it is whole again', async () => {
    const store = await storeWith(3)
    const objects = new Map<string, Uint8Array | undefined>([[commitKey(a, 4), undefined]])
    const catalog = catalogOf(damaged(store, objects))
    await expect(catalog.byAlias('acme/a')).rejects.toMatchObject({ reason: 'ChainBroken' })
    objects.clear()
    expect((await chainOf(catalog)).headSequence).toBe(5)
  })

  test('stands where it stood when what comes next cannot be read', async () => {
    const store = await storeWith(3)
    const whole = await chainOf(catalogOf(store))
    const next = must(whole.blocks.at(5), 'a block').hash
    const objects = new Map<string, Uint8Array | undefined>([
      [commitKey(a, 5), undefined],
      [headKey(a), undefined],
    ])
    const hidden = damaged(store, objects)
    hidden.list = async (prefix) =>
      (await store.list(prefix)).filter((name) => !prefix.includes('commits') || Number(name) < 5)
    const catalog = catalogOf(hidden)
    const chain = await chainOf(catalog)
    expect(chain.headSequence).toBe(4)
    objects.clear()
    objects.set(blockKey(a, next), undefined)
    await expect(catalog.refresh(chain)).rejects.toMatchObject({ reason: 'ChainBroken' })
    expect(chain.headSequence).toBe(4)
    objects.clear()
    await catalog.refresh(chain)
    expect(chain.head.hash).toBe(next)
  })
})

describe('an outcome', () => {
  test('is found by id and position, and by its key as long as the chain remembers it', async () => {
    const store = await storeWith(3)
    const chain = await chainOf(catalogOf(store))
    const outcomes = new Outcomes(store)
    const batch = batchId(`${a} k1`)
    expect(await outcomes.at(chain, { id: batch, position: 4 })).toMatchObject({
      outcome: { status: { kind: 'committed', start: 2, end: 3 } },
      block: { sequence: 4 },
    })
    expect(await outcomes.at(chain, { id: batch, position: 6 })).toBe('void')
    expect(await outcomes.at(chain, { id: batch, position: 8 })).toBeUndefined()
    expect(await outcomes.known(chain, batch)).toMatchObject({ decided: { block: { sequence: 4 } } })
    expect(await outcomes.known(chain, batchId(`${a} never`))).toBeUndefined()
    expect(await outcomes.known(await chainOf(catalogOf(store), 'acme/b'), batch)).toBeUndefined()
  })

  test('that cannot be read is asked for again the next time', async () => {
    const store = await storeWith(1)
    const chain = await chainOf(catalogOf(store))
    const checkpoint = must(chain.checkpointAt(chain.headSequence), 'a checkpoint')
    const objects = new Map<string, Uint8Array | undefined>([[checkpointKey(a, checkpoint), undefined]])
    const outcomes = new Outcomes(damaged(store, objects))
    const batch = { id: batchId(`${a} k0`), position: 2 }
    await expect(outcomes.at(chain, batch)).rejects.toMatchObject({ reason: 'ChainBroken' })
    objects.clear()
    expect(await outcomes.at(chain, batch)).toMatchObject({ outcome: { status: { kind: 'committed' } } })
  })
})
