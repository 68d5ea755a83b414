// Invariant: wherever a loss of power stops the making of a pack, the store is sound, nothing is taken from it, and the
// pack is made by the next try; wherever it stops a sweep, each object is found, and the next sweep goes on. Method: a disk that forgets every name that was not fsynced, stopped at each kind of step.

import { expect, test } from 'vitest'
import { checkPacks } from '../../../src/node/upkeep/packs.ts'
import { openDirectoryStore } from '../../../src/node/store/directory/directory-store.ts'
import { commitsPrefix } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { listPacks } from '../../../src/node/store/packs.ts'
import { putLog } from '../../../src/node/store/records.ts'
import { markSwept, sweepChain } from '../../../src/node/store/sweep.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { SimulatedDisk, systemError } from '../../adapters/simulated-disk.ts'
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

test('a loss of power at any step of a sweep does no harm', async () => {
  const disk = new SimulatedDisk([`${root}/.tmp`])
  const opened = async (): Promise<ObjectStore> => withPacks(await openDirectoryStore(root, disk.files))
  const first = await opened()
  await putLog(first, { id: 'log', kind: 'file', partitions: 1 })
  await putAll(first, objects)
  await packChain(first, dataset, 258)
  let stops = 0
  for (let steps = 0; ; steps += 11, stops++) {
    const store = await opened()
    let taken = 0
    disk.before = () => {
      if (taken++ >= steps) throw systemError('POWER')
    }
    const outcome = await markSwept(store)
      .then(() => sweepChain(store, dataset, { beforeMs: Number.POSITIVE_INFINITY }))
      .then(
        () => 'swept' as const,
        () => 'stopped' as const,
      )
    disk.before = () => {}
    let number = 0
    disk.crash(() => (number++ * 7 + steps) % 3 === 0)
    const after = await opened()
    for (const { key, bytes } of objects) expect(await after.get(key)).toEqual(bytes)
    if (outcome === 'swept') break
  }
  expect(stops).toBeGreaterThan(20)
  const store = await opened()
  expect(await checkPacks(store, dataset, () => expect.unreachable())).toBe(1)
  expect((await store.list(commitsPrefix(dataset))).length).toBe(263 - 256)
})

test('nothing goes before a pack is durable that another process has left named alone', async () => {
  for (const folder of ['packs/files', 'packs/0']) {
    const disk = new SimulatedDisk([`${root}/.tmp`])
    const opened = async (): Promise<ObjectStore> => withPacks(await openDirectoryStore(root, disk.files))
    const store = await opened()
    await putLog(store, { id: 'log', kind: 'file', partitions: 1 })
    await putAll(store, objects)
    await markSwept(store)
    // The process that packs hangs before its names are on the platter, and another one sweeps.
    const hung: Promise<unknown>[] = []
    const seen = new Promise<void>((resolve) => {
      disk.before = (operation, path) => {
        if (operation !== 'syncDirectory' || !path.endsWith(folder)) return undefined
        resolve()
        disk.before = () => {}
        const never = new Promise<void>(() => {})
        hung.push(never)
        return never
      }
    })
    void packChain(store, dataset, 258)
    await seen
    if (folder === 'packs/files') await packChain(await opened(), dataset, 258)
    await sweepChain(await opened(), dataset, { beforeMs: Number.POSITIVE_INFINITY })
    disk.crash(() => false)
    const after = await opened()
    for (const { key, bytes } of objects) expect(await after.get(key)).toEqual(bytes)
  }
})
