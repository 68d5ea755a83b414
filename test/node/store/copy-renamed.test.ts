// A backup of a store in which a dataset is renamed while it is copied: the copy has it, under a name that leads to it.

import { expect, test } from 'vitest'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import { copyStore } from '../../../src/node/store/copy-store.ts'
import { followName, readName } from '../../../src/node/store/names.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { buildAll, datasetId, TestWriter } from '../builder/support.ts'

test.each([
  ['to a name that stands before it', 'acme/a', 'names'],
  ['to a name that stands after it', 'acme/z', 'names'],
  ['to a name that was read already', 'acme/a', 'names/acme/x'],
])('%s', async (_, alias, from) => {
  const id = datasetId('renamed')
  const writer = new TestWriter('w')
  const log = openMemoryLog({ id: '0'.repeat(32) })
  const source = openMemoryStore()
  const run = async (...all: readonly Uint8Array[]): Promise<void> => {
    for (const bytes of all) await log.append(0, [bytes])
    await buildAll(log, source)
  }
  // The other name was somebody's once.
  const other = datasetId('other')
  await run(writer.create(id, 'acme/x'), writer.rows(id, [{ rows: 2 }]))
  if (from !== 'names') await run(writer.create(other, alias), writer.change(other, { alias: 'acme/y' }))
  let isRenamed = false
  const rename = async (key: string): Promise<void> => {
    if (isRenamed || key !== from) return
    isRenamed = true
    await run(writer.change(id, { alias }))
  }
  const watched: ObjectStore = {
    ...source,
    list: async (prefix) => {
      const names = await source.list(prefix)
      if (prefix === 'names/acme') await rename('names')
      return names
    },
    get: async (key) => {
      await rename(key)
      return source.get(key)
    },
  }
  const target = openMemoryStore()
  expect(await copyStore(watched, target)).toMatchObject({ damaged: [] })
  expect(isRenamed).toBe(true)
  expect(await followName(target, { id, alias: 'acme/x' })).toMatchObject({ id, alias })
  expect(await readName(target, 'acme/x')).toBeUndefined()
  // Floors that say of the last block may be missing: the log has what comes after the older ones.
  expect((await fsck(target)).problems.map(({ kind }) => kind)).toEqual([])
})
