import { beforeAll, describe, expect, test } from 'vitest'
import { packCodec } from '../../../src/libraries/odf/chain/records.ts'
import { checkPacks } from '../../../src/node/upkeep/packs.ts'
import type { ProblemKind } from '../../../src/node/upkeep/report.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { blockKey, checkpointKey, packableOf, packFileKey, packKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { listPacks } from '../../../src/node/store/packs.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { dataset, objectsOfChain, storeOf } from '../store/packed-chain.ts'

const objects = objectsOfChain(600)
let loose: ObjectStore
let store: ObjectStore
let pack: Uint8Array

beforeAll(async () => {
  loose = await storeOf(objects)
  store = withPacks(loose)
  await packChain(store, dataset, 600)
  const [first] = await listPacks(store, dataset)
  pack = must(await store.get(packFileKey(dataset, must(first, 'a pack').record.hash)), 'its file')
})

async function problems(of: ObjectStore): Promise<ProblemKind[]> {
  const kinds: ProblemKind[] = []
  await checkPacks(of, dataset, (kind) => void kinds.push(kind))
  return kinds
}

/** The store with another file in the place of its first pack, under the hash of that file. */
async function withFile(file: Uint8Array): Promise<ObjectStore> {
  const other = await storeOf(objects)
  const record = { hash: sha3Hash(file), sizeBytes: file.length }
  await other.put(packKey(dataset, 0, 0), packCodec.encode(record))
  await other.put(packFileKey(dataset, record.hash), file)
  return withPacks(other)
}

describe('packs of a store', () => {
  test('are sound with loose copies and without', async () => {
    expect(await checkPacks(store, dataset, () => expect.unreachable())).toBe(2)
    const alone = await storeOf(objects.slice(-1))
    for (const level of ['0', 'files']) {
      const prefix = `${blockKey(dataset, `f1620${'0'.repeat(64)}`).split('/blocks/')[0]}/packs/${level}`
      for (const name of await loose.list(prefix)) {
        await alone.put(`${prefix}/${name}`, must(await loose.get(`${prefix}/${name}`), 'it is listed'))
      }
    }
    expect(await problems(withPacks(alone))).toEqual([])
  })

  test('are told when a byte of theirs differs, wherever it is', async () => {
    const [first] = await listPacks(store, dataset)
    const key = packFileKey(dataset, must(first, 'a pack').record.hash)
    for (let at = 3; at < pack.length; at += Math.floor(pack.length / 40)) {
      const damaged = pack.slice()
      damaged[at] = (damaged[at] ?? 0) ^ 4
      const other = await storeOf(objects)
      await other.put(packKey(dataset, 0, 0), packCodec.encode(must(first, 'a pack').record))
      await other.put(key, damaged)
      expect((await problems(withPacks(other)))[0], `byte ${at}`).toBe('HashMismatch')
    }
  })

  test('are told when they are missing, or their record is damaged', async () => {
    const other = await withFile(pack)
    await other.delete(packFileKey(dataset, sha3Hash(pack)))
    expect(await problems(other)).toEqual(['ObjectMissing'])
    await other.replace(packKey(dataset, 0, 0), new Uint8Array(3))
    expect(await problems(other)).toEqual(['PackDisagrees'])
  })

  test('are told when they are whole but not what their commits make', async () => {
    // The second pack in the place of the first.
    const second = must((await listPacks(store, dataset))[1], 'a second pack')
    const file = must(await store.get(packFileKey(dataset, second.record.hash)), 'its file')
    expect(await problems(await withFile(file))).toContain('PackDisagrees')
  })

  test('are told when an object that they should hold is damaged or nowhere', async () => {
    const checkpoint = must(
      objects.find(({ key }) => packableOf(key)?.kind === 'checkpoints'),
      'a checkpoint',
    )
    const hash = must(checkpoint.key.split('/').at(-1), 'its hash')
    const other = await withFile(pack)
    await other.replace(checkpointKey(dataset, hash), new Uint8Array(5))
    expect(await problems(other)).toEqual(['PackDisagrees'])
  })
})
