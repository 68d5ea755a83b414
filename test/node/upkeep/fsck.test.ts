import { describe, expect, test } from 'vitest'
import { constantColumn, int64RangeColumn } from '../../../src/libraries/columnar/arrow/columns.ts'
import { commitCodec } from '../../../src/libraries/odf/chain/records.ts'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import type { FsckProgress, ProblemKind } from '../../../src/node/upkeep/report.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import type { Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import type { AddData } from '../../../src/libraries/model/events.ts'
import { type Column, type RecordBatch, timestampMs } from '../../../src/libraries/model/schema.ts'
import { blockKey, commitKey, datasetKey, headKey, nameKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { readCommit } from '../../../src/node/store/records.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { kinds, type Lies, type Made, made, positionText } from '../store/make-store.ts'

describe('a sound store', () => {
  test('has no problems, and its chains are counted', async () => {
    const { store, good, other } = await made()
    const report = await fsck(store)
    expect(report).toMatchObject({ ok: true, problems: [], orphans: 0 })
    expect(report.datasets).toEqual(
      [good, other].map(({ id, hashes }, n) => ({
        id,
        bytes: expect.any(Number),
        alias: `Acme/set-${n}`,
        head: hashes[4],
        blocks: 5,
        slices: 3,
        packs: 0,
        rows: 15,
        ok: true,
        problems: [],
        notes: [],
        orphans: 0,
      })),
    )
    const sizes = await Promise.all(good.keys.filter((key) => !key.includes('/commits/')).map((key) => store.size(key)))
    expect(report.datasets[0]?.bytes).toBe(sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0))
  })

  test('may be empty', async () => {
    expect(await fsck(openMemoryStore())).toEqual({ ok: true, datasets: [], problems: [], orphans: 0 })
  })

  test('may hold what a process left that stopped in the middle of a creation', async () => {
    const { store, good, other } = await made()
    await store.delete(nameKey('acme/set-0'))
    await store.delete(headKey(good.id))
    for (const key of good.keys) if (key.includes('/commits/')) await store.delete(key)
    const report = await fsck(store)
    const left = report.datasets.find(({ id }) => id === good.id)
    expect(report.ok).toBe(true)
    expect(left).toMatchObject({ blocks: 0, problems: [] })
    expect(left?.notes).toEqual(['a creation that was not committed', 'no name leads to it'])
    expect(left?.orphans).toBe(good.keys.filter((key) => /[/](?:blocks|data|checkpoints)[/]/.test(key)).length)
    expect(report.datasets.find(({ id }) => id === other.id)?.orphans).toBe(0)
  })

  test('tells how far it is after each block', async () => {
    const { store, good } = await made()
    const seen: FsckProgress[] = []
    await fsck(store, { onProgress: (progress) => seen.push(progress) })
    const ofGood = seen.filter(({ id }) => id === good.id)
    expect(ofGood.map(({ blocksDone, blocks }) => [blocksDone, blocks])).toEqual([
      [0, 0],
      [1, 5],
      [2, 5],
      [3, 5],
      [4, 5],
      [5, 5],
    ])
    expect(ofGood.every((step) => step.datasets === 2 && step.alias === 'Acme/set-0')).toBe(true)
  })

  test('may hold orphans, which are counted', async () => {
    const { store, good } = await made()
    for (const folder of ['blocks', 'data', 'checkpoints']) {
      await store.put(`${datasetKey(good.id)}/${folder}/f1620${'00'.repeat(32)}`, utf8('left behind'))
    }
    expect(await fsck(store)).toMatchObject({ ok: true, orphans: 3 })
  })

  test('may have a hint that lags or is missing, and a chain without a name: notes, not faults', async () => {
    const { store, good, other } = await made()
    await store.replace(headKey(good.id), utf8(must(good.hashes[2], 'block 2')))
    await store.delete(headKey(other.id))
    await store.delete(nameKey('acme/set-1'))
    const report = await fsck(store)
    expect(report.ok).toBe(true)
    expect(report.datasets.map(({ notes }) => notes)).toEqual([
      ['refs/head is 2 blocks behind'],
      ['refs/head is missing or names no block', 'no name leads to it'],
    ])
  })
})

describe('a byte that changed', () => {
  test('in any block, slice, checkpoint or commit is found, and the other dataset stays sound', async () => {
    const { store, good, other } = await made()
    for (const key of good.keys) {
      const bytes = must(await store.get(key), key)
      for (const at of [0, Math.floor(bytes.length / 2), bytes.length - 1]) {
        const changed = bytes.slice()
        changed[at] = (changed[at] ?? 0) ^ 0x01
        await store.replace(key, changed)
        const report = await fsck(store)
        expect([key, at, report.datasets.map(({ id, ok }) => [id, ok])]).toEqual([
          key,
          at,
          [
            [good.id, false],
            [other.id, true],
          ],
        ])
      }
      await store.replace(key, bytes)
    }
    expect((await fsck(store)).ok).toBe(true)
  })

  test('at the end, cut off or added, is found', async () => {
    const { store, good } = await made()
    for (const key of good.keys) {
      const bytes = must(await store.get(key), key)
      for (const changed of [bytes.slice(0, -1), Uint8Array.of(...bytes, 0), new Uint8Array(0)]) {
        await store.replace(key, changed)
        expect([key, changed.length, (await fsck(store)).ok]).toEqual([key, changed.length, false])
      }
      await store.replace(key, bytes)
    }
  })
})

test('an object that is missing is found', async () => {
  const { store, good } = await made()
  for (const key of good.keys) {
    const bytes = must(await store.get(key), key)
    await store.delete(key)
    const report = await fsck(store)
    expect([key, report.ok, report.datasets.map(({ ok }) => ok)]).toEqual([key, false, [false, true]])
    await store.put(key, bytes)
  }
  expect((await fsck(store)).ok).toBe(true)
})

const wrongHash: Hash = `f1620${'0a'.repeat(32)}`
const withColumn =
  (at: number, column: (old: Column) => Column): NonNullable<Lies['rows']> =>
  (batch: RecordBatch) => ({
    ...batch,
    columns: batch.columns.map((old, i) => (i === at ? column(old) : old)),
  })

/** A block that says something else of its data, or of where it has read the log to. */
const saying = (changes: Partial<NonNullable<AddData['newData']>>): Lies => ({
  event: (event) => ({ ...event, newData: { ...must(event.newData, 'data'), ...changes } }),
})
const readingTo = (value: string): Lies => ({
  event: (event) => ({ ...event, newSourceState: { ...must(event.newSourceState, 'a state'), value } }),
})

describe('a block that lies, with all hashes made to fit,', () => {
  const lies: [string, Lies, ProblemKind[]][] = [
    [
      'about the number of its rows',
      saying({ offsetInterval: { start: 10, end: 15 } }),
      ['SliceDisagrees', 'CheckpointDisagrees'],
    ],
    ['about its logical hash', saying({ logicalHash: wrongHash }), ['HashMismatch']],
    ["about its slice's size", saying({ size: 1 }), ['SliceDisagrees']],
    ['about its slice', saying({ physicalHash: wrongHash }), ['ObjectMissing']],
    [
      "about its checkpoint's size",
      { event: (e) => ({ ...e, newCheckpoint: { ...must(e.newCheckpoint, 'checkpoint'), size: 1 } }) },
      ['CheckpointDisagrees'],
    ],
    [
      'about its checkpoint',
      { event: (e) => ({ ...e, newCheckpoint: { physicalHash: wrongHash, size: 1 } }) },
      ['ObjectMissing'],
    ],
    ['about its log position', readingTo(positionText(7)), ['CheckpointDisagrees', 'CommitsDisagree']],
    [
      'with a log position that goes back',
      readingTo(positionText(5)),
      ['ChainBroken', 'CheckpointDisagrees', 'CommitsDisagree'],
    ],
    ['with a log position that is none', readingTo('{}'), ['Malformed', 'CommitsDisagree']],
    [
      'by a watermark that goes back',
      { event: (e) => ({ ...e, newWatermark: '2025-01-01T00:00:00Z' }) },
      ['ChainBroken'],
    ],
    [
      'by offsets in its slice',
      { rows: withColumn(0, ({ rows }) => int64RangeColumn('offset', 11, rows)) },
      ['SliceDisagrees'],
    ],
    [
      'by an operation that does not exist',
      { rows: withColumn(1, ({ rows }) => constantColumn({ name: 'op', type: { kind: 'Int32' } }, 4, rows)) },
      ['SliceDisagrees'],
    ],
    [
      'by another system time in its slice',
      { rows: withColumn(2, ({ rows }) => constantColumn({ name: 'system_time', type: timestampMs }, 5, rows)) },
      ['SliceDisagrees'],
    ],
    [
      'by a column of another type',
      {
        fileSchema: {
          fields: [
            { name: 'offset', type: { kind: 'Int64' } },
            { name: 'op', type: { kind: 'Int32' } },
            { name: 'system_time', type: timestampMs },
            { name: 'event_time', type: timestampMs },
            { name: 'v', type: { kind: 'Option', inner: { kind: 'UInt64' } } },
          ],
        },
        rows: withColumn(4, (column) => ({ ...column, type: { kind: 'UInt64' } })),
      },
      ['SliceDisagrees'],
    ],
    [
      'by outcomes that leave a row out',
      { checkpoint: (c) => ({ ...c, outcomes: c.outcomes.slice(1) }) },
      ['CheckpointDisagrees'],
    ],
    [
      'by outcomes that count a row twice',
      { checkpoint: (c) => ({ ...c, outcomes: [...c.outcomes, ...c.outcomes] }) },
      ['CheckpointDisagrees'],
    ],
    ['by a checkpoint of another log', { checkpoint: (c) => ({ ...c, log: 'other' }) }, ['CheckpointDisagrees']],
  ]

  test.each(lies)('%s, is found', async (_, lie, expected) => {
    const { store } = await made({ block: 2, ...lie })
    expect(kinds(await fsck(store))).toEqual(expected)
  })
})

describe('commits', () => {
  test.each([
    [
      'another block',
      async ({ good }: Made, record: { blocks: readonly Hash[] }) => ({ ...record, blocks: [good.hashes[2] ?? ''] }),
    ],
    ['an earlier position', async (_: Made, record: { next: number }) => ({ ...record, next: 1 })],
    ['a later position', async (_: Made, record: { next: number }) => ({ ...record, next: 6 })],
    ['another log', async (_: Made, record: { log: string }) => ({ ...record, log: 'other' })],
    ['another partition', async (_: Made, record: { partition: number }) => ({ ...record, partition: 1 })],
    [
      'blocks of its successor',
      async ({ good }: Made, record: object) => ({ ...record, blocks: good.hashes.slice(3) }),
    ],
  ])('that name %s are found', async (_, change) => {
    const all = await made()
    const { store, good } = all
    const record = must(await readCommit(store, good.id, 3), 'commit')
    // Each change makes a commit record again.
    const changed = { ...record, ...(await change(all, record)) }
    await store.replace(commitKey(good.id, 3), commitCodec.encode(changed))
    expect((await fsck(store)).datasets.map(({ ok }) => ok)).toEqual([false, true])
  })

  test('that begin later in the log than they end are found', async () => {
    const { store, good } = await made()
    const record = must(await readCommit(store, good.id, 0), 'commit')
    await store.replace(commitKey(good.id, 0), commitCodec.encode({ ...record, next: 99 }))
    expect(kinds(await fsck(store))).toEqual(['CommitsDisagree'])
  })

  test('under a name that is no number are found', async () => {
    const { store, good } = await made()
    await store.put(`${datasetKey(good.id)}/commits/04`, utf8('x'))
    expect(kinds(await fsck(store))).toEqual(['UnknownObject'])
  })

  test('may be missing altogether only where that is allowed', async () => {
    const { store, good } = await made()
    for (const name of await store.list(`${datasetKey(good.id)}/commits`))
      await store.delete(`${datasetKey(good.id)}/commits/${name}`)
    expect((await fsck(store)).datasets[0]).toMatchObject({ ok: false, blocks: 0 })
    expect((await fsck(store, { commits: 'optional' })).datasets[0]).toMatchObject({ ok: true, blocks: 5, rows: 15 })
    await store.delete(blockKey(good.id, must(good.hashes[1], 'block 1')))
    expect((await fsck(store, { commits: 'optional' })).datasets[0]).toMatchObject({ ok: false })
  })
})

test('links that lead in a circle are found', async () => {
  const { store, good } = await made()
  const bytes = must(await store.get(blockKey(good.id, must(good.hashes[4], 'block 4'))), 'block 4')
  // Under the name of block 3, which block 4 links to: it links to itself.
  await store.replace(blockKey(good.id, must(good.hashes[3], 'block 3')), bytes)
  for (const name of await store.list(`${datasetKey(good.id)}/commits`)) {
    await store.delete(`${datasetKey(good.id)}/commits/${name}`)
  }
  const report = await fsck(store, { commits: 'optional' })
  expect(report.datasets[0]?.problems.map(({ kind }) => kind)).toContain('ChainBroken')
})

test('a chain under the id of another dataset is found', async () => {
  const { store, good } = await made()
  const stranger = datasetKey(good.id).replace(/01$/, '02')
  for (const key of [...good.keys, headKey(good.id)]) {
    await store.put(key.replace(datasetKey(good.id), stranger), must(await store.get(key), key))
  }
  const report = await fsck(store)
  expect(report.datasets.map(({ ok }) => ok)).toEqual([true, false, true])
  expect(kinds(report)).toEqual(['ChainBroken'])
})

test('a head that is in no commit is found', async () => {
  const { store, good } = await made()
  await store.delete(commitKey(good.id, 4))
  expect(kinds(await fsck(store))).toEqual(['CommitsDisagree'])
})

test('an error of the disk is no finding: it rejects', async () => {
  const { store } = await made()
  const broken: ObjectStore = { ...store, get: () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' })) }
  await expect(fsck(broken)).rejects.toThrow('EIO')
})
