// A commit can be seen in the store before its writer has made it durable. Whoever finds one that nobody has announced
// makes it durable before showing it: a block that was told of must outlive a loss of power.

import { expect, test } from 'vitest'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { readHead } from '../../../src/node/store/heads.ts'
import { commitsPrefix } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { buildAll, datasetId, TestWriter } from '../builder/support.ts'

const id = datasetId('a')

/** A store that tells what was made durable. */
function watched(): { store: ObjectStore; durable: string[] } {
  const durable: string[] = []
  const store = openMemoryStore()
  const makeDurable = async (prefix: string): Promise<void> => void durable.push(prefix)
  return { store: { ...store, makeDurable }, durable }
}

async function grown() {
  const { store, durable } = watched()
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  const announcements = openLocalAnnouncements(silentLogger)
  const grow = async (sequence: number): Promise<void> => {
    await log.append(0, [writer.rows(id, [{ rows: 2 }]), writer.cut([{ dataset: id, sequence }])])
  }
  await log.append(0, [writer.create(id, 'acme/a')])
  await grow(3)
  await buildAll(log, store)
  return { log, store, durable, grow, announcements }
}

test('a catalog makes durable what it loads, and what it finds without being told', async () => {
  const { log, store, durable, grow, announcements } = await grown()
  const catalog = new Catalog({ store, announcements, logger: silentLogger })
  durable.length = 0
  const chain = must(await catalog.byAlias('acme/a'), 'a dataset')
  expect(durable).toContain(commitsPrefix(id))
  durable.length = 0
  await catalog.refresh(chain)
  expect(durable).toEqual([])
  await grow(4)
  await buildAll(log, store)
  durable.length = 0
  const seen: string[][] = []
  catalog.onAdvance(() => void seen.push([...durable]))
  await catalog.refresh(chain)
  expect([chain.headSequence, seen]).toEqual([4, [[commitsPrefix(id)]]])
})

test('a catalog that is told of a commit need not make it durable', async () => {
  const { log, store, durable, grow, announcements } = await grown()
  const catalog = new Catalog({ store, announcements, logger: silentLogger })
  const chain = must(await catalog.byAlias('acme/a'), 'a dataset')
  await grow(4)
  durable.length = 0
  await buildAll(log, store, { announcements })
  await expect.poll(() => chain.headSequence).toBe(4)
  catalog.close()
  expect(durable).toEqual([])
})

test('who follows a stale hint makes durable the commits after it', async () => {
  const { log, store, durable, grow } = await grown()
  const stale = must(await store.get(`datasets/${id.slice('did:odf:'.length)}/refs/head`), 'a hint')
  await grow(4)
  await buildAll(log, store)
  durable.length = 0
  expect((await readHead(store, id))?.sequence).toBe(4)
  expect(durable).toEqual([])
  await store.replace(`datasets/${id.slice('did:odf:'.length)}/refs/head`, stale)
  expect((await readHead(store, id))?.sequence).toBe(4)
  expect(durable).toEqual([commitsPrefix(id)])
})
