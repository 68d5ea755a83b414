// Two datasets that took each other's name while a process did not look: it finds both, each by its new name.

import { expect, test } from 'vitest'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { buildAll, datasetId, TestWriter } from '../builder/support.ts'

test('two datasets that took each other’s name are found by the new ones', async () => {
  const [one, two] = [datasetId('one'), datasetId('two')]
  const writer = new TestWriter('w')
  const log = openMemoryLog({ id: '0'.repeat(32) })
  const store = openMemoryStore()
  const run = async (...all: readonly Uint8Array[]): Promise<void> => {
    // A name is free once the change before it is committed.
    for (const bytes of all) {
      await log.append(0, [bytes])
      await buildAll(log, store)
    }
  }
  await run(writer.create(one, 'acme/x'), writer.create(two, 'acme/y'))
  const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
  expect((await catalog.names()).map(({ id, alias }) => [alias, id])).toEqual([
    ['acme/x', one],
    ['acme/y', two],
  ])
  await run(writer.change(one, { alias: 'acme/z' }), writer.change(two, { alias: 'acme/x' }))
  await run(writer.change(one, { alias: 'acme/y' }))
  expect((await catalog.rereadName('acme/x'))?.id).toBe(two)
  expect((await catalog.names()).map(({ id, alias }) => [alias, id])).toEqual([
    ['acme/x', two],
    ['acme/y', one],
  ])
})
