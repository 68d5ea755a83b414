import { beforeAll, describe, expect, test } from 'vitest'
import { packedSliceBytesMost } from '../../../src/libraries/odf/chain/pack-span.ts'
import { commitCodec } from '../../../src/libraries/odf/chain/records.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { HaltError } from '../../../src/libraries/base/errors.ts'
import { commitKey, packableOf, packFileKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { listPacks } from '../../../src/node/store/packs.ts'
import { putLog, readCommit, readLog, sweptSince } from '../../../src/node/store/records.ts'
import { markSwept, sweepChain } from '../../../src/node/store/sweep.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import type { StoredObject } from '../../helpers/long-chain.ts'
import { dataset, objectsOfChain, putAll } from './packed-chain.ts'

const [packedMs, markedMs] = [5_000, 7_000]
const headSequence = 530 + 2
let objects: readonly StoredObject[] = []
beforeAll(() => {
  objects = objectsOfChain(530)
})

/** A chain of which two ranges are packed, all of it loose as well. */
async function packedChain(): Promise<{ loose: ObjectStore; store: ObjectStore }> {
  let nowMs = 0
  const loose = openMemoryStore(() => nowMs)
  await putLog(loose, { id: 'log', kind: 'file', partitions: 1 })
  await putAll(loose, objects)
  nowMs = packedMs
  await packChain(withPacks(loose), dataset, headSequence)
  nowMs = markedMs
  return { loose, store: withPacks(loose) }
}

/** Objects of the chain that lie loose. */
async function looseOf(loose: ObjectStore): Promise<readonly string[]> {
  const found = await Promise.all(objects.map(async ({ key }) => ((await loose.size(key)) === undefined ? [] : [key])))
  return found.flat()
}

async function expectWhole(store: ObjectStore): Promise<void> {
  for (const { key, bytes } of objects) expect({ key, bytes: await store.get(key) }).toEqual({ key, bytes })
}

describe('a sweep', () => {
  test('removes what packs hold, and nothing else; every object is found as before', async () => {
    const { loose, store } = await packedChain()
    await markSwept(store)
    expect(await sweepChain(store, dataset, { beforeMs: markedMs })).toBe(512 - 2)
    const left = await looseOf(loose)
    // A commit, a block, a checkpoint and a slice of each block after the last full range.
    expect(left.length).toBe(4 * (headSequence + 1 - 512))
    await expectWhole(store)
    await expectWhole(withPacks(loose))
    expect(await sweepChain(store, dataset, { beforeMs: markedMs })).toBe(0)
    expect(await packChain(store, dataset, headSequence)).toBe(0)
  })

  test('waits until pack and mark are old enough', async () => {
    const { loose, store } = await packedChain()
    expect(await sweepChain(store, dataset, { beforeMs: Number.POSITIVE_INFINITY })).toBe(0)
    expect(await sweptSince(store)).toBeUndefined()
    await markSwept(store)
    expect(await sweptSince(store)).toBe(markedMs)
    expect(await sweepChain(store, dataset, { beforeMs: markedMs - 1 })).toBe(0)
    const young: ObjectStore = { ...store, modifiedMs: async (key) => (key.includes('/packs/') ? markedMs + 1 : 0) }
    expect(await sweepChain(young, dataset, { beforeMs: markedMs })).toBe(0)
    expect((await looseOf(loose)).length).toBe(objects.length)
  })

  test('goes on where it was stopped, and every object is found at each step', async () => {
    const { loose, store } = await packedChain()
    await markSwept(store)
    let left = 0
    const stopping: ObjectStore = {
      ...store,
      async delete(...keys) {
        for (const key of keys) {
          if ((await loose.size(key)) !== undefined && left-- <= 0) throw new TypeError('stopped')
          await store.delete(key)
        }
      },
    }
    let tries = 0
    for (let isDone = false; !isDone; tries++) {
      left = 97
      isDone = await sweepChain(stopping, dataset, { beforeMs: markedMs }).then(
        () => true,
        () => false,
      )
      if (tries % 4 === 0) await expectWhole(withPacks(loose))
    }
    expect(tries).toBeGreaterThan(10)
    expect((await looseOf(loose)).length).toBe(4 * (headSequence + 1 - 512))
    await expectWhole(store)
  })

  test('takes nothing of a pack that is damaged or gone', async () => {
    const { loose, store } = await packedChain()
    await markSwept(store)
    const file = packFileKey(dataset, must((await listPacks(store, dataset))[0], 'a pack').record.hash)
    const bytes = must(await loose.get(file), 'its file')
    const changed = bytes.slice()
    changed[1000] = (changed[1000] ?? 0) ^ 1
    for (const damage of [() => loose.replace(file, changed), () => loose.delete(file)]) {
      await damage()
      await expect(sweepChain(store, dataset, { beforeMs: markedMs })).rejects.toThrow(HaltError)
      expect((await looseOf(loose)).length).toBe(objects.length)
    }
  })

  test('takes away a commit that came late, and the chain says what its pack says', async () => {
    const { loose, store } = await packedChain()
    await markSwept(store)
    await sweepChain(store, dataset, { beforeMs: markedMs })
    const word = must(await readCommit(store, dataset, 300), 'a commit')
    for (const sequence of [1, 300])
      await loose.put(commitKey(dataset, sequence), commitCodec.encode({ ...word, next: 1 }))
    expect(await sweepChain(store, dataset, { beforeMs: markedMs })).toBe(2)
    expect(await loose.size(commitKey(dataset, 300))).toBeUndefined()
    expect(await readCommit(store, dataset, 300)).toEqual(word)
    expect(await readCommit(store, dataset, 1)).toBeUndefined()
  })

  test('leaves the slices that packs do not hold', async () => {
    const own = objectsOfChain(300, { sliceBytes: (number) => (number === 7 ? packedSliceBytesMost + 1 : 1000) })
    const loose = openMemoryStore()
    await putLog(loose, { id: 'log', kind: 'file', partitions: 1 })
    await putAll(loose, own)
    const store = withPacks(loose)
    await packChain(store, dataset, 302)
    await markSwept(store)
    await sweepChain(store, dataset, { beforeMs: 0 })
    const slices = own.filter((object) => packableOf(object.key)?.kind === 'data')
    const left = await Promise.all(slices.map(async ({ key }, number) => ((await loose.size(key)) ? [number] : [])))
    // Those of the blocks after the first 256, three of which are the creation's.
    expect(left.flat()).toEqual([7, ...Array.from({ length: 300 - 253 }, (_, i) => 253 + i)])
  })
})

describe('a store that is marked', () => {
  test('says so in its log records, once, and keeps the rest of them', async () => {
    const store = openMemoryStore()
    const log = { id: 'log', kind: 'file', partitions: 3 } as const
    await putLog(store, log)
    await markSwept(store)
    await markSwept(store)
    expect(await readLog(store, 'log')).toEqual({ ...log, storeFormat: 2 })
    expect(await putLog(store, log)).toMatchObject({ outcome: 'lost', inForce: { partitions: 3 } })
  })

  test('of a newer form is refused', async () => {
    const store = openMemoryStore()
    await store.put('logs/log', utf8('{"id":"log","kind":"file","partitions":1,"storeFormat":3}'))
    await expect(sweptSince(store)).rejects.toThrow(/needs a newer Proofstream/)
  })
})
