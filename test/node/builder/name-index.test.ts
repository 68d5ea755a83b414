// What a builder does for a change that another has committed and not finished, by the records of names alone.

import { expect, test } from 'vitest'
import { NameIndex } from '../../../src/node/builder/name-index.ts'
import type { NameRecord } from '../../../src/libraries/odf/chain/records.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import * as names from '../../../src/node/store/names.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { datasetId } from './support.ts'

const id = datasetId('renamed')
const first: NameRecord = { id, alias: 'acme/old', log: 'log-1', partition: 0, visibility: 'public' }

test('a rename whose committer stopped is finished by a builder that knows the old name alone', async () => {
  const store = openMemoryStore()
  await names.putName(store, first)
  const index = new NameIndex(store)
  expect(await index.aliasOf(id)).toBe('acme/old')
  // Another builder claims the new name, commits, and dies before the old name says so.
  await names.renameTo(store, first, {}, { alias: 'acme/new', sequence: 9 })
  const header = { kind: 'change', dataset: id, id: 'c', at: '2026-01-01T00:00:00.000Z', alias: 'acme/new' } as const
  const record = { log: 'log-1', partition: 0, next: 42 }
  await index.change(id, header as unknown as Parameters<typeof index.change>[1], {
    sequence: 9,
    timeMs: Date.parse(header.at),
    record: record as unknown as Parameters<typeof index.change>[2]['record'],
  })
  expect(await names.readAlias(store, 'acme/old')).toMatchObject({
    state: 'moved',
    to: 'acme/new',
    freedAt: { log: 'log-1', partition: 0, position: 41 },
  })
  expect(must(await names.readName(store, 'acme/new'), 'the new name').id).toBe(id)
  expect(await index.aliasOf(id)).toBe('acme/new')
})
