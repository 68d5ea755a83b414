// Logs that were given up for others, checked: a chain changes its log only where a record says so.

import { beforeEach, expect, test } from 'vitest'
import { adoptLog } from '../../../src/node/builder/adopt-log.ts'
import type { AdoptionRecord } from '../../../src/libraries/odf/chain/records.ts'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import type { StoreReport } from '../../../src/node/upkeep/report.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { adoptionKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { putAdoption, readAdoption } from '../../../src/node/store/records.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
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

/** Puts another record in the place of the one of log `old`. */
async function change(members: Partial<AdoptionRecord>): Promise<void> {
  const record = must(await readAdoption(store, 'old'), 'a record')
  if (members.old === undefined) await store.delete(adoptionKey('old'))
  await putAdoption(store, { ...record, ...members })
}

test.each<[string, () => Promise<unknown>, string[]]>([
  ['is sound', async () => {}, []],
  ['is not without the record', () => store.delete(adoptionKey('old')), ['CommitsDisagree']],
  ['is not where the record leads elsewhere', () => change({ new: 'third' }), ['RecordDisagrees', 'CommitsDisagree']],
  ['is not where the record has other partitions than the logs', () => change({ begin: [0, 0] }), ['RecordDisagrees']],
  [
    'is not where the record is damaged',
    () => store.replace(adoptionKey('old'), utf8('{}')),
    ['Malformed', 'CommitsDisagree'],
  ],
  [
    'is not where records lead in a circle',
    () => change({ old: 'new', new: 'old' }),
    ['Malformed', 'Malformed', 'CommitsDisagree'],
  ],
])('a chain of two logs %s', async (_, harm, kinds) => {
  await harm()
  expect(found(await fsck(store))).toEqual(kinds)
})
