// Logs that were given up for others, checked: a chain changes its log only where a record says so.

import { beforeEach, describe, expect, test } from 'vitest'
import { adoptLog } from '../../src/builder/adopt-log.ts'
import { fsck } from '../../src/fsck/fsck.ts'
import type { StoreReport } from '../../src/fsck/report.ts'
import { must } from '../../src/lib/assert.ts'
import { utf8 } from '../../src/lib/bytes.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { openLocalAnnouncements } from '../../src/log/announcements.ts'
import { adoptionKey } from '../../src/store/layout.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { putAdoption, readAdoption } from '../../src/store/records.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { buildAll, compressor, datasetId, fastClock, TestWriter } from '../builder/support.ts'

const id = datasetId('a')
let store: ObjectStore

/** A chain with a block of each of two logs. */
beforeEach(async () => {
  store = openMemoryStore()
  const writer = new TestWriter('w')
  const [old, next] = [openMemoryLog({ id: 'old' }), openMemoryLog({ id: 'new' })]
  await old.append(0, [writer.create(id, 'acme/a'), writer.rows(id, [{}]), writer.cut([{ dataset: id, sequence: 3 }])])
  await buildAll(old, store)
  const { signal } = new AbortController()
  const announcements = openLocalAnnouncements(silentLogger)
  const deps = { store, announcements, clock: fastClock(500), logger: silentLogger, compressor, signal }
  await adoptLog(deps, { old, next, acceptLoss: false })
  await next.append(0, [writer.rows(id, [{}]), writer.cut([{ dataset: id, sequence: 4 }])])
  await buildAll(next, store)
})

function found({ problems, datasets }: StoreReport): string[] {
  return [...problems, ...datasets.flatMap((dataset) => dataset.problems)].map(({ kind }) => kind)
}

describe('a chain of two logs', () => {
  test('is sound', async () => {
    expect(found(await fsck(store))).toEqual([])
  })

  test('is not without the record', async () => {
    await store.delete(adoptionKey('old'))
    expect(found(await fsck(store))).toEqual(['CommitsDisagree'])
  })

  test('is not where the record leads elsewhere', async () => {
    const record = must(await readAdoption(store, 'old'), 'a record')
    await store.delete(adoptionKey('old'))
    await putAdoption(store, { ...record, new: 'third' })
    expect(found(await fsck(store))).toEqual(['RecordDisagrees', 'CommitsDisagree'])
  })
})

describe('the record', () => {
  test('has as many partitions as the logs', async () => {
    const record = must(await readAdoption(store, 'old'), 'a record')
    await store.delete(adoptionKey('old'))
    await putAdoption(store, { ...record, begin: [0, 0] })
    expect(found(await fsck(store))).toEqual(['RecordDisagrees'])
  })

  test('is whole', async () => {
    await store.delete(adoptionKey('old'))
    await store.put(adoptionKey('old'), utf8('{}'))
    expect(found(await fsck(store))).toContain('Malformed')
  })

  test('leads nowhere in a circle', async () => {
    const record = must(await readAdoption(store, 'old'), 'a record')
    await putAdoption(store, { ...record, old: 'new', new: 'old' })
    expect(found(await fsck(store))).toEqual(expect.arrayContaining(['Malformed', 'Malformed']))
  })
})
