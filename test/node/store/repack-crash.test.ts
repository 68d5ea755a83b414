// Invariant: a chain that is packed, packed again into larger packs and swept, and is stopped at each of the steps of all
// that by a loss of power or the end of its process, has every object at every time, and ends as one that nothing stopped.
// Method: packs of four commits, two of which make one of the next level, on a disk that keeps of what was not fsynced all,
// nothing or some.

import { expect, test, vi } from 'vitest'
import { checkPacks } from '../../../src/node/upkeep/packs.ts'
import { openDirectoryStore } from '../../../src/node/store/directory/directory-store.ts'
import { readHead } from '../../../src/node/store/heads.ts'
import { commitsPrefix, packFilesPrefix, packLevelPrefix } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { listNumbers, putLog, readLog } from '../../../src/node/store/records.ts'
import { markSwept, sweepChain } from '../../../src/node/store/sweep.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { SimulatedDisk, systemError } from '../../adapters/simulated-disk.ts'
import { dataset, objectsOfChain, putAll } from './packed-chain.ts'

vi.mock('../../../src/libraries/odf/chain/pack-span.ts', async (original) => ({
  ...(await original<object>()),
  packSpan: 4,
  spanOf: (level: number) => 4 * 2 ** level,
}))

const root = '/store'
const objects = objectsOfChain(27)
const headSequence = 29

/** How a process ends, and what then is left of what was not made durable. */
const ends = {
  killed: (disk: SimulatedDisk) => disk.kill(),
  'without power, nothing kept': (disk: SimulatedDisk) => disk.crash(() => false),
  'without power, all kept': (disk: SimulatedDisk) => disk.crash(() => true),
  'without power, some kept': (disk: SimulatedDisk, step: number) => {
    let number = 0
    disk.crash(() => (number++ * 7 + step) % 3 === 0)
  },
} satisfies Record<string, (disk: SimulatedDisk, step: number) => void>

test.for(Object.entries(ends))('a process that ends %s at any step', async ([, end]) => {
  const disk = new SimulatedDisk([`${root}/.tmp`])
  const opened = async (): Promise<ObjectStore> => withPacks(await openDirectoryStore(root, disk.files))
  const first = await opened()
  await putLog(first, { id: 'log', kind: 'file', partitions: 1 })
  await putAll(first, objects)
  const pass = async (store: ObjectStore): Promise<void> => {
    await packChain(store, dataset, headSequence)
    await markSwept(store)
    await sweepChain(store, dataset, { beforeMs: 0 })
  }
  let stops = 0
  for (let steps = 0; ; steps++) {
    const store = await opened()
    let taken = 0
    disk.before = () => {
      if (taken++ >= steps) throw systemError('POWER')
    }
    const outcome = await pass(store).then(
      () => 'done' as const,
      () => 'stopped' as const,
    )
    disk.before = () => {}
    end(disk, steps)
    const after = await opened()
    for (const { key, bytes } of objects)
      expect({ steps, key, bytes: await after.get(key) }).toEqual({ steps, key, bytes })
    expect(await readHead(after, dataset)).toMatchObject({ sequence: headSequence })
    if (outcome === 'done') break
    stops++
  }
  expect(stops).toBeGreaterThan(10)
  const store = await opened()
  const problems: string[] = []
  expect(await checkPacks(store, dataset, (_, message) => void problems.push(message))).toBe(3)
  expect(problems).toEqual([])
  // 16, 8 and 4 first sequences; the last two blocks are in none.
  const levels = [0, 1, 2].map((level) => listNumbers(store, packLevelPrefix(dataset, level)))
  expect(await Promise.all(levels)).toEqual([[6], [2], [0]])
  expect((await store.list(packFilesPrefix(dataset))).length).toBe(3)
  expect(await listNumbers(store, commitsPrefix(dataset))).toEqual([28, 29])
  expect(await readLog(store, 'log')).toMatchObject({ storeFormat: 2 })
})

test('a pack goes only once the one that replaces it is durable, whoever has left that named alone', async () => {
  const disk = new SimulatedDisk([`${root}/.tmp`])
  const opened = async (): Promise<ObjectStore> => withPacks(await openDirectoryStore(root, disk.files))
  const store = await opened()
  await putLog(store, { id: 'log', kind: 'file', partitions: 1 })
  await putAll(store, objects)
  await packChain(store, dataset, 3)
  await markSwept(store)
  await sweepChain(store, dataset, { beforeMs: 0 })
  // The process that packs hangs before the name of the larger pack is on the platter, and another one goes on.
  const seen = new Promise<void>((resolve) => {
    disk.before = (operation, path) => {
      if (operation !== 'syncDirectory' || !path.endsWith('packs/1')) return undefined
      resolve()
      disk.before = () => {}
      return new Promise<void>(() => {})
    }
  })
  void packChain(store, dataset, 7)
  await seen
  await packChain(await opened(), dataset, 7)
  disk.crash(() => false)
  const after = await opened()
  for (const { key, bytes } of objects) expect({ key, bytes: await after.get(key) }).toEqual({ key, bytes })
})
