// `proofstream fsck --pack` over a data directory with a long chain, as an operator runs it.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { openStore } from '../../src/app/open-storage.ts'
import { dataPaths, datasetKey, packFileKey } from '../../src/node/store/layout.ts'
import { listPacks } from '../../src/node/store/packs.ts'
import { deleteName, putName } from '../../src/node/store/names.ts'
import { putLog } from '../../src/node/store/records.ts'
import { datasetId } from '../node/builder/support.ts'
import { runCommand } from '../helpers/run-node.ts'
import { dataset, objectsOfChain, putAll } from '../node/store/packed-chain.ts'

let data = ''
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'proofstream-pack-'))
  const store = await openStore(dataPaths(data).store, 'write')
  await putLog(store, { id: 'log', kind: 'file', partitions: 1 })
  await putAll(store, objectsOfChain(520))
  await store.close()
})
afterAll(() => rm(data, { recursive: true, force: true }))

test('packs what is full, once, and tells of each dataset', async () => {
  const first = await runCommand(['fsck', data, '--pack'])
  expect(first).toMatchObject({ code: 0, stdout: '{"dataset":"acme/long","packs":2,"swept":0}\n' })
  const again = await runCommand(['fsck', data, '--pack', '--dataset', 'acme/long'])
  expect(again).toMatchObject({ code: 0, stdout: '{"dataset":"acme/long","packs":0,"swept":0}\n' })
  const folder = join(dataPaths(data).store, datasetKey(dataset))
  expect(await readdir(join(folder, 'packs', '0'))).toEqual(['0', '1'])
  // Slices of these chains are no Parquet files, so only the packs are asked for here.
  const checked = await runCommand(['fsck', data])
  expect(JSON.parse(checked.stdout)).toMatchObject({ dataset: 'acme/long', packs: 2, blocks: 523 })
  expect(checked.stderr).not.toMatch(/pack/i)
})

test('goes on over names that a rename or a deletion has left free', async () => {
  const store = await openStore(dataPaths(data).store, 'write')
  const place = { log: 'log', partition: 0, visibility: 'public' as const }
  const left = { id: datasetId('gone'), alias: 'acme/a-gone', ...place }
  await putName(store, left)
  const times = { at: '2026-01-01T00:00:00.000Z', until: '2026-01-08T00:00:00.000Z' }
  await deleteName(store, { ...left, sequence: 3 }, times, { log: 'log', partition: 0, position: 9 })
  await store.close()
  const packed = await runCommand(['fsck', data, '--pack'])
  expect(packed).toMatchObject({ code: 0, stdout: '{"dataset":"acme/long","packs":0,"swept":0}\n' })
  expect((await runCommand(['fsck', data, '--pack', '--dataset', 'acme/a-gone'])).code).toBe(3)
})

test('says which dataset is damaged, and that there is none of a name', async () => {
  expect((await runCommand(['fsck', data, '--pack', '--dataset', 'acme/none'])).code).toBe(3)
  const store = await openStore(dataPaths(data).store, 'write')
  const [pack] = await listPacks(store, dataset)
  await store.delete(packFileKey(dataset, must(pack, 'a pack').record.hash))
  await store.close()
  const checked = await runCommand(['fsck', data])
  expect(checked.code).toBe(10)
  expect(checked.stderr).toContain('ObjectMissing')
})
