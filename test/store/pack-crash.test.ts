// Invariant: wherever a loss of power stops the making of a pack, the store is sound, nothing is taken from it, and the
// pack is made by the next try. Method: a disk that forgets every name that was not fsynced, stopped at each kind of step.

import { expect, test } from 'vitest'
import { checkPacks } from '../../src/fsck/packs.ts'
import { openDirectoryStore } from '../../src/store/directory/directory-store.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { withPacks } from '../../src/store/packed-store.ts'
import { listPacks } from '../../src/store/packs.ts'
import { packChain } from '../../src/store/write-pack.ts'
import { SimulatedDisk, systemError } from '../adapters/simulated-disk.ts'
import { dataset, objectsOfChain, putAll, storeOf } from './packed-chain.ts'

const root = '/store'
const objects = objectsOfChain(260)

test('a loss of power at any step of packing does no harm', async () => {
  const reference = await storeOf(objects)
  await packChain(withPacks(reference), dataset, 258)
  const expected = await listPacks(reference, dataset)

  const disk = new SimulatedDisk([`${root}/.tmp`])
  await putAll(await openDirectoryStore(root, disk.files), objects)
  const opened = async (): Promise<ObjectStore> => withPacks(await openDirectoryStore(root, disk.files))
  const tries = async (steps: number): Promise<'packed' | 'stopped'> => {
    const store = await opened()
    let taken = 0
    disk.before = () => {
      if (taken++ >= steps) throw systemError('POWER')
    }
    const outcome = await packChain(store, dataset, 258).then(
      () => 'packed' as const,
      () => 'stopped' as const,
    )
    disk.crash(() => false)
    return outcome
  }
  const stops: number[] = []
  for (let steps = 0; ; steps++) {
    if ((await tries(steps)) === 'packed') break
    stops.push(steps)
    const store = await opened()
    const problems: string[] = []
    await checkPacks(store, dataset, (_, message) => void problems.push(message))
    expect({ steps, problems }).toEqual({ steps, problems: [] })
    for (const { key, bytes } of objects.slice(0, 40)) expect(await store.get(key)).toEqual(bytes)
  }
  expect(stops.length).toBeGreaterThan(8)
  const store = await opened()
  expect(await listPacks(store, dataset)).toEqual(expected)
  expect(await checkPacks(store, dataset, () => expect.unreachable())).toBe(1)
})
