// A sweep removes what creations left that nobody can find, and nothing else: not what is young, not rows, nothing from
// a store in which something is wrong. Stopped anywhere, it leaves a sound store for the next one.

import { expect, test } from 'vitest'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import { sweep, sweepable, sweptAgeMs } from '../../../src/node/upkeep/sweep.ts'
import { datasetIdFromKey, sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { encodeBlock } from '../../../src/libraries/odf/block.ts'
import { blockKey, nameKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { baseMs, buildAll, datasetId, TestWriter } from '../builder/support.ts'

const [kept, lost] = [datasetId('kept'), datasetId('lost')]
const later = baseMs + sweptAgeMs + 60_000

/** A dataset with rows, and a creation whose name was taken away again. */
async function madeStore(rows = 0): Promise<ObjectStore> {
  const [log, store] = [openMemoryLog(), openMemoryStore()]
  const writer = new TestWriter('w')
  await log.append(0, [
    writer.create(kept, 'acme/kept'),
    writer.create(lost, 'acme/lost'),
    writer.rows(kept, [{ rows: 3 }]),
    writer.cut([{ dataset: kept, sequence: 3 }]),
    ...(rows === 0 ? [] : [writer.rows(lost, [{ rows }]), writer.cut([{ dataset: lost, sequence: 3 }])]),
  ])
  await buildAll(log, store)
  await store.delete(nameKey('acme/lost'))
  return store
}

async function swept(store: ObjectStore, nowMs = later): Promise<readonly string[]> {
  return (await sweepable(store, await fsck(store), nowMs)).map(({ id }) => id)
}

test('a day-old chain without name and rows goes; its store is sound and holds nothing of it', async () => {
  const store = await madeStore()
  expect(await swept(store, baseMs + 60_000)).toEqual([])
  expect(await swept(store)).toEqual([lost])
  await sweep(store, lost)
  const report = await fsck(store)
  expect(report).toMatchObject({ ok: true, orphans: 0 })
  expect(report.datasets.map(({ id }) => id)).toEqual([kept])
  expect(await swept(store)).toEqual([])
})

test('a chain with rows stays, whatever became of its name', async () => {
  expect(await swept(await madeStore(2))).toEqual([])
})

test('a creation that was never committed goes too', async () => {
  const store = await madeStore()
  const id = datasetIdFromKey(new Uint8Array(32).fill(9))
  const event = { kind: 'Seed', datasetId: id, datasetKind: 'Root' } as const
  const bytes = encodeBlock({ systemTime: '2026-03-01T00:00:00Z', sequenceNumber: 0, event })
  await store.put(blockKey(id, sha3Hash(bytes)), bytes)
  expect(new Set(await swept(store))).toEqual(new Set([lost, id]))
})

test('nothing goes from a store with a problem', async () => {
  const store = await madeStore()
  await store.replace(nameKey('acme/kept'), utf8('damaged'))
  const report = await fsck(store)
  expect(report.ok).toBe(false)
  expect(await sweepable(store, report, later)).toEqual([])
})

test('a sweep that is stopped anywhere leaves a sound store, and the next one ends it', async () => {
  for (let most = 0; ; most++) {
    const store = await madeStore()
    let left = most
    const failing: ObjectStore = {
      ...store,
      delete: async (key) => {
        if (left-- === 0) throw new RangeError('stopped')
        await store.delete(key)
      },
    }
    const isDone = await sweep(failing, lost).then(
      () => true,
      () => false,
    )
    expect((await fsck(store)).ok).toBe(true)
    for (const id of await swept(store)) await sweep(store, must(id, 'an id'))
    expect((await fsck(store)).datasets.map(({ id }) => id)).toEqual([kept])
    if (isDone) break
  }
})
