import { beforeAll, describe, expect, test } from 'vitest'
import { commitCodec, packCodec } from '../../../src/libraries/odf/chain/records.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { HaltError } from '../../../src/libraries/base/errors.ts'
import { followHead, readHead } from '../../../src/node/store/heads.ts'
import {
  blockKey,
  commitKey,
  headKey,
  packableOf,
  packFileKey,
  packKey,
  packLevelPrefix,
  packsPrefix,
} from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { listPacks } from '../../../src/node/store/packs.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { putCommit } from '../../../src/node/store/records.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import type { StoredObject } from '../../helpers/long-chain.ts'
import { dataset, objectsOfChain, storeOf } from './packed-chain.ts'

const blocks = 17 * 256
const objects = objectsOfChain(blocks)
const blockKeys = objects.map(({ key }) => key).filter((key) => packableOf(key)?.kind === 'blocks')
const headSequence = blockKeys.length - 1
const headHash = blockKeys.at(-1)?.split('/').at(-1) ?? ''

/** Keys of what the commits after the last full range put: a checkpoint, a block, a commit and a slice each. */
const tail = headSequence + 1 - 17 * 256
const unpacked = new Set([...objects.slice(-blocks - 3 * tail, -blocks), ...objects.slice(-tail)].map(({ key }) => key))

/** What packing a store of all objects has stored. */
let made: readonly StoredObject[] = []
beforeAll(async () => {
  const store = withPacks(await storeOf(objects))
  await packChain(store, dataset, headSequence)
  made = await packObjects(store)
})

/** The records of the packs of a store, and their files. */
async function packObjects(store: ObjectStore): Promise<readonly StoredObject[]> {
  const keys: string[] = []
  for (const folder of await store.list(packsPrefix(dataset))) {
    for (const name of await store.list(`${packsPrefix(dataset)}/${folder}`)) {
      keys.push(`${packsPrefix(dataset)}/${folder}/${name}`)
    }
  }
  return Promise.all(keys.map(async (key) => ({ key, bytes: must(await store.get(key), 'it is listed') })))
}

/** The store with everything packed that is full, and no loose copies of what is. */
async function packedStore(): Promise<{ loose: ObjectStore; store: ObjectStore }> {
  const loose = await storeOf(made)
  await loose.replace(headKey(dataset), utf8(headHash))
  for (const { key, bytes } of objects) {
    const sequence = Number(key.split('/commits/')[1] ?? Number.NaN)
    if (sequence >= 17 * 256) await loose.put(key, bytes)
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
    expect(await store.list(packLevelPrefix(dataset, 0))).toEqual(['16'])
    expect((await store.list(`${packsPrefix(dataset)}/files`)).length).toBe(2)
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
      // What belongs to the blocks after the last full range is nowhere now, but for its commits.
      const expected = unpacked.has(key) && isPacked ? undefined : bytes
      expect({ key, bytes: await store.get(key) }).toEqual({ key, bytes: expected })
      if (unpacked.has(key)) continue
      expect(await store.size(key)).toBe(bytes.length)
      if (kind === 'commits' || i % 7 !== 0) continue
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

  test('has the last word over a late put: only the very commit that it holds has won', async () => {
    const { store } = await packedStore()
    const held = commitCodec.decode(must(await store.get(commitKey(dataset, 1000)), 'a commit'))
    expect(await putCommit(store, { id: dataset, sequence: 1000 }, held)).toEqual({ outcome: 'won' })
    const other = { ...held, next: held.next + 1 }
    expect(await putCommit(store, { id: dataset, sequence: 1001 }, other)).toMatchObject({ outcome: 'lost' })
    expect(await putCommit(store, { id: dataset, sequence: 1 }, other)).toEqual({ outcome: 'lost' })
  })

  test('is read on when a pack of the next level takes the place of those that are known', async () => {
    const loose = await storeOf(objects)
    const store = withPacks(loose)
    const before = objects.filter(({ key }) => Number(key.split('/commits/')[1]) < 300)
    await packChain(store, dataset, 800)
    const { key, bytes } = must(
      objects.find((object) => packableOf(object.key)?.kind === 'checkpoints'),
      'a checkpoint',
    )
    await loose.delete(key)
    expect(await store.get(key)).toEqual(bytes)
    const small = await listPacks(loose, dataset)
    for (const { key: name, bytes: pack } of made) if (!name.includes('/0/')) await loose.put(name, pack)
    for (const { level, number, record } of small) {
      await loose.delete(packKey(dataset, level, number))
      await loose.delete(packFileKey(dataset, record.hash))
    }
    expect(await store.get(key)).toEqual(bytes)
    for (const commit of before) expect(await store.get(commit.key)).toEqual(commit.bytes)
  })
})

describe('while sixteen packs become one', () => {
  const isLeft = ({ key }: StoredObject): boolean => Number(key.split('/commits/')[1]) >= 4096 || unpacked.has(key)
  /** What a store holds with all of level 0 that is full, and nothing loose of what that covers. */
  const sixteenPacks = async (): Promise<readonly StoredObject[]> => {
    const store = withPacks(await storeOf(objects))
    const full = new Error('sixteen')
    let count = 0
    const onPack = async (): Promise<void> => {
      if (++count === 16) throw full
    }
    await expect(packChain(store, dataset, headSequence, { onPack })).rejects.toBe(full)
    return [...(await packObjects(store)), ...objects.filter(isLeft)]
  }
  /** `store`, which becomes what it is after the join when it is asked for the `turn`-th time. */
  const joinedAt = (store: ObjectStore, turn: number): ObjectStore => {
    let asked = 0
    const ask = <A extends unknown[], T>(work: (...args: A) => Promise<T>) => {
      return async (...args: A): Promise<T> => {
        if (++asked === turn) {
          for (const { key, bytes } of made) if (!key.includes('/packs/0/')) await store.put(key, bytes)
          const small = await store.list(packLevelPrefix(dataset, 0))
          for (const number of small.filter((name) => Number(name) < 16)) {
            const { hash } = packCodec.decode(must(await store.get(packKey(dataset, 0, Number(number))), 'a pack'))
            await store.delete(packKey(dataset, 0, Number(number)), packFileKey(dataset, hash))
          }
        }
        return work(...args)
      }
    }
    return {
      ...store,
      list: ask(store.list),
      get: ask(store.get),
      getRange: ask(store.getRange),
      size: ask(store.size),
    }
  }
  const blockOf = must(
    objects.find(({ key }) => packableOf(key)?.kind === 'blocks'),
    'a block',
  )
  const commitOf = must(
    objects.find(({ key }) => key === commitKey(dataset, 1000)),
    'a commit',
  )
  const other = commitCodec.encode({ ...commitCodec.decode(commitOf.bytes), next: 5 })

  test.each<[string, (store: ObjectStore) => Promise<unknown>, unknown]>([
    ['each range is listed', async (store) => (await listPacks(store, dataset)).at(-1)?.to, 4096],
    ['a block is found', (store) => withPacks(store).get(blockOf.key), blockOf.bytes],
    ['a commit is found', (store) => withPacks(store).get(commitOf.key), commitOf.bytes],
    ['a commit that comes late is none', (store) => withPacks(store).put(commitOf.key, other), 'exists'],
    ['the end of the chain is found', async (store) => (await readHead(store, dataset))?.sequence, headSequence],
  ])('%s', async (_, work, expected) => {
    const before = await sixteenPacks()
    for (let turn = 1; turn <= 30; turn++) {
      const store = await storeOf(before)
      await store.delete(headKey(dataset))
      expect([turn, await work(joinedAt(store, turn))]).toEqual([turn, expected])
    }
  })
})

describe('packs', () => {
  test('are the same whoever makes them, at once or as the chain grows', async () => {
    const store = withPacks(await storeOf(objects))
    for (const head of [300, 2_000, headSequence]) await packChain(store, dataset, head)
    expect(await packObjects(store)).toEqual(made)
    expect(await packChain(store, dataset, headSequence)).toBe(0)
  })

  test('that larger ones replace go, also when that was interrupted', async () => {
    const held = await storeOf(objects)
    let deletes = 0
    const store: ObjectStore = {
      ...held,
      delete: (key) => (++deletes % 5 === 0 ? Promise.reject(new TypeError('no disk')) : held.delete(key)),
    }
    let tries = 0
    for (let isDone = false; !isDone; tries++) {
      isDone = await packChain(withPacks(store), dataset, headSequence).then(
        () => true,
        () => false,
      )
      expect((await listPacks(store, dataset))[0]).toMatchObject({ level: 1, to: 4096 })
    }
    expect(tries).toBeGreaterThan(4)
    expect(await packObjects(held)).toEqual(made)
  })

  test('are not made where they would take the room that rows and blocks need', async () => {
    const held = await storeOf(objects.slice(0, 3_000))
    let freeBytes = 2 ** 30 - 1
    const store: ObjectStore = { ...held, freeSpace: async () => ({ bytes: freeBytes, inodes: undefined }) }
    await expect(packChain(store, dataset, 300)).rejects.toMatchObject({ kind: 'StorageFull' })
    expect(await held.list(packsPrefix(dataset))).toEqual([])
    freeBytes++
    await expect(packChain(store, dataset, 300)).rejects.toThrow(/slice/)
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
