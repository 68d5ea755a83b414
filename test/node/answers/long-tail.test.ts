// What a chain of many small blocks costs who reads its tail: bytes that are kept of each block, and reads of files.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tailTable, tailWindow } from '../../../src/node/answers/tail.ts'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { viewOf } from '../../../src/node/catalog/dataset-chain.ts'
import { Objects } from '../../../src/node/catalog/objects.ts'
import { Files } from '../../../src/node/files/files.ts'
import { SliceFiles } from '../../../src/node/files/slice-files.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { dataKey, headKey, packableOf } from '../../../src/node/store/layout.ts'
import { openDirectoryStore } from '../../../src/node/store/directory/directory-store.ts'
import { datasetId } from '../builder/support.ts'
import { chainObjects, nameObject } from '../../helpers/long-chain.ts'
import { smallSlice } from '../../helpers/small-slice.ts'

const [alias, blocks] = ['acme/long', 600]
const id = datasetId(alias)
const most = { keptBytesOfBlock: 250, readsOfBlock: 2, readsBesides: 20 }

test('a tail reads the slices that it shows once, and a chain two small files of each block', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'proofstream-tail-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const directory = await openDirectoryStore(join(dir, 'store'))
  let head = ''
  const slices = Array.from({ length: blocks }, (_, number) => smallSlice(number, 1))
  const sliceOf = (number: number): (typeof slices)[number]['about'] => must(slices[number], 'a slice').about
  const objects = [...chainObjects({ dataset: id, blocks, sliceOf }), nameObject(id, alias)]
  for (const { key } of objects) {
    const asked = packableOf(key)
    if (asked?.kind === 'blocks') head = asked.hash
  }
  await directory.replace(headKey(id), utf8(head))
  const stored = slices.map(({ bytes, about }) => ({ key: dataKey(id, about.physicalHash), bytes }))
  await Promise.all([...objects, ...stored].map(({ key, bytes }) => directory.put(key, bytes)))
  let read: string[] = []
  const store = {
    ...directory,
    get: (key: string) => {
      read.push(key)
      return directory.get(key)
    },
  }
  const announcements = openLocalAnnouncements(silentLogger)
  const catalog = new Catalog({ store, announcements, logger: silentLogger })
  onTestFinished(() => catalog.close())
  const view = viewOf(must(await catalog.byAlias(alias), 'the dataset'))
  expect(view.slices).toHaveLength(blocks)
  expect(catalog.bytes / blocks).toBeLessThan(most.keptBytesOfBlock)
  expect(read.length).toBeLessThan(most.readsOfBlock * blocks + most.readsBesides)
  const files = new Files({
    objects: new Objects(store),
    slices: new SliceFiles({ store, dir: join(dir, 'slices'), mostBytes: 2 ** 20, clock: systemClock }),
    limits: { queryMs: 1_000 },
  })
  const window = tailWindow(view, { skip: 0, limit: 100 })
  for (const reads of [100, 0]) {
    read = []
    const table = await tailTable(files, view, window)
    expect([table.rows, read.length, new Set(read).size]).toEqual([100, reads, reads])
  }
})
