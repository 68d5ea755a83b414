import { describe, expect, test } from 'vitest'
import { commitCodec } from '../../src/chain/records.ts'
import { must } from '../../src/lib/assert.ts'
import { utf8 } from '../../src/lib/bytes.ts'
import { HaltError } from '../../src/model/errors.ts'
import { followHead, readHead } from '../../src/store/heads.ts'
import {
  blockKey,
  commitKey,
  packableOf,
  packFileKey,
  packKey,
  packLevelPrefix,
  packsPrefix,
} from '../../src/store/layout.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { listPacks } from '../../src/store/packs.ts'
import { withPacks } from '../../src/store/packed-store.ts'
import { packChain } from '../../src/store/write-pack.ts'
import { dataset, objectsOfChain, storeOf } from './packed-chain.ts'

const blocks = 17 * 256
const objects = objectsOfChain(blocks)
const headSequence = objects.filter(({ key }) => packableOf(key)?.kind === 'blocks').length - 1

/** The store with everything packed that is full, level 0 only or all levels, and no loose copies of what is. */
async function packedStore(count = objects.length): Promise<{ loose: ObjectStore; store: ObjectStore }> {
  const loose = await storeOf(objects.slice(0, count))
  await packChain(withPacks(loose), dataset, headSequence)
  for (const { key } of objects) {
    const sequence = Number(key.split('/commits/')[1] ?? Number.NaN)
    if (Number.isNaN(sequence) || sequence < 17 * 256) await loose.delete(key)
  }
  return { loose, store: withPacks(loose) }
}

/** Commits that no pack covers stay loose, with what they name. */
async function restore(store: ObjectStore): Promise<void> {
  for (const { key, bytes } of objects) if (!key.includes('/commits/')) await store.put(key, bytes)
}

describe('a store whose chain is packed', () => {
  test('has the packs of each full range, sixteen of them in one', async () => {
    const { store } = await packedStore()
    expect(await store.list(packsPrefix(dataset))).toEqual(['0', '1', 'files'])
    expect((await store.list(packLevelPrefix(dataset, 0))).length).toBe(17)
    expect((await listPacks(store, dataset)).map(({ level, number, from, to }) => [level, number, from, to])).toEqual([
      [1, 0, 0, 4096],
      [0, 16, 4096, 4352],
    ])
  })

  test('gives every object as it was, whole, in parts and by size', async () => {
    const { store, loose } = await packedStore()
    for (const [i, { key, bytes }] of objects.entries()) {
      const { kind } = must(packableOf(key), 'objects of chains')
      const isPacked = (await loose.size(key)) === undefined
      // The blocks after the last full range are nowhere now.
      const found = await store.get(key)
      if (found === undefined) {
        expect(i).toBeGreaterThan(0)
        continue
      }
      expect(found).toEqual(bytes)
      expect(await store.size(key)).toBe(bytes.length)
      if (!isPacked || kind === 'commits' || i % 7 !== 0) continue
      expect(await store.getRange(key, 1, bytes.length)).toEqual(bytes.subarray(1))
      expect(await store.getRange(key, 0, 0)).toEqual(new Uint8Array(0))
      await expect(store.getRange(key, 0, bytes.length + 1)).rejects.toThrow(RangeError)
    }
  })

  test('says undefined of what is in none', async () => {
    const { store } = await packedStore()
    const absent = `f1620${'0'.repeat(64)}`
    expect(await store.get(blockKey(dataset, absent))).toBeUndefined()
    expect(await store.size(blockKey(dataset, absent))).toBeUndefined()
    expect(await store.getRange(blockKey(dataset, absent), 0, 1)).toBeUndefined()
    expect(await store.get(commitKey(dataset, headSequence + 1))).toBeUndefined()
    expect(await store.get(blockKey(`did:odf:fed01${'8'.repeat(64)}`, absent))).toBeUndefined()
  })

  test('is followed from its first commit to its head', async () => {
    const { store, loose } = await packedStore()
    await restore(loose)
    const first = commitCodec.decode(must(await store.get(commitKey(dataset, 0)), 'the first commit'))
    const end = first.blocks.length - 1
    const head = await followHead(store, dataset, { sequence: end, hash: first.blocks[end] ?? '' })
    expect(head.sequence).toBe(headSequence)
    expect(await readHead(store, dataset)).toEqual(head)
  })

  test('takes no notice of a loose commit that a pack covers', async () => {
    const { store, loose } = await packedStore()
    const sequence = 1000
    const word = await store.get(commitKey(dataset, sequence))
    const other = { blocks: [`f1620${'1'.repeat(64)}`], log: 'log', partition: 0, next: 5 }
    await loose.put(commitKey(dataset, sequence), commitCodec.encode(other))
    expect(await store.get(commitKey(dataset, sequence))).toEqual(word)
    expect(await withPacks(loose).get(commitKey(dataset, sequence))).toEqual(word)
    // The creation has several blocks: no commit begins within it.
    await loose.put(commitKey(dataset, 1), commitCodec.encode(other))
    expect(await withPacks(loose).get(commitKey(dataset, 1))).toBeUndefined()
  })

  test('is read on when a pack of the next level takes the place of those that are known', async () => {
    const loose = await storeOf(objects)
    const store = withPacks(loose)
    const before = objects.filter(({ key }) => Number(key.split('/commits/')[1]) < 300)
    await packChain(store, dataset, 4095 - 256)
    const { key, bytes } = must(
      objects.find((object) => packableOf(object.key)?.kind === 'checkpoints'),
      'a checkpoint',
    )
    await loose.delete(key)
    expect(await store.get(key)).toEqual(bytes)
    const small = await listPacks(loose, dataset)
    await packChain(withPacks(loose), dataset, headSequence)
    for (const { level, number, record } of small) {
      await loose.delete(packKey(dataset, level, number))
      await loose.delete(packFileKey(dataset, record.hash))
    }
    expect(await store.get(key)).toEqual(bytes)
    for (const commit of before) expect(await store.get(commit.key)).toEqual(commit.bytes)
  })
})

describe('packs', () => {
  test('are the same whoever makes them, at once or as the chain grows', async () => {
    const all = await storeOf(objects)
    await packChain(withPacks(all), dataset, headSequence)
    const slowly = await storeOf(objects)
    for (let head = 0; head < headSequence; head += 500) await packChain(withPacks(slowly), dataset, head)
    await packChain(withPacks(slowly), dataset, headSequence)
    expect(await slowly.list(packsPrefix(dataset))).toEqual(await all.list(packsPrefix(dataset)))
    const names = await all.list(`${packsPrefix(dataset)}/files`)
    expect(await slowly.list(`${packsPrefix(dataset)}/files`)).toEqual(names)
    for (const name of names) {
      expect(await slowly.get(packFileKey(dataset, name))).toEqual(await all.get(packFileKey(dataset, name)))
    }
  })

  test('are made again without harm', async () => {
    const store = withPacks(await storeOf(objects))
    expect(await packChain(store, dataset, headSequence)).toBe(18)
    expect(await packChain(store, dataset, headSequence)).toBe(0)
  })

  test('are not made of what is not full, missing or damaged', async () => {
    const store = await storeOf(objects)
    expect(await packChain(store, dataset, 254)).toBe(0)
    const block = must(
      objects.find(({ key }) => packableOf(key)?.kind === 'blocks'),
      'a block',
    )
    await store.delete(block.key)
    await expect(packChain(store, dataset, headSequence)).rejects.toThrow(HaltError)
    await store.put(block.key, utf8('something else'))
    await expect(packChain(store, dataset, headSequence)).rejects.toThrow(HaltError)
    expect(await store.list(packsPrefix(dataset))).toEqual([])
  })

  test('that are damaged, cut short or missing are refused', async () => {
    const { loose } = await packedStore()
    const [pack] = await listPacks(loose, dataset)
    const { key } = must(
      objects.find((object) => packableOf(object.key)?.kind === 'blocks'),
      'a block',
    )
    const file = packFileKey(dataset, pack?.record.hash ?? '')
    const bytes = must(await loose.get(file), 'a pack')
    const changed = bytes.slice()
    changed[bytes.length - 60] = (changed[bytes.length - 60] ?? 0) ^ 1
    for (const other of [bytes.subarray(0, -1), changed, utf8('no pack')]) {
      await loose.replace(file, other)
      await expect(withPacks(loose).get(key)).rejects.toThrow(HaltError)
      await expect(withPacks(loose).get(commitKey(dataset, 0))).rejects.toThrow(HaltError)
    }
    await loose.delete(file)
    await expect(withPacks(loose).get(key)).rejects.toThrow(/is missing/)
    await loose.replace(packKey(dataset, 1, 0), utf8('{}'))
    await expect(withPacks(loose).get(key)).rejects.toThrow(/damaged/)
  })
})
