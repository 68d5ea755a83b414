// A tail reads the row groups that it shows and no others, wherever their slices are, and so do first rows by event time.
// All others of the same files are overwritten before the engine opens them: the rows are those of the dataset all the same.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { tailRows } from '../../../src/node/answers/tail.ts'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { type DatasetView, viewOf } from '../../../src/node/catalog/dataset-chain.ts'
import { Objects } from '../../../src/node/catalog/objects.ts'
import type { Engine } from '../../../src/node/engine/engine.ts'
import type { EngineAnswer, EngineJob, EngineTable } from '../../../src/node/engine/messages.ts'
import { Files } from '../../../src/node/files/files.ts'
import { SliceFiles } from '../../../src/node/files/slice-files.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { readFooter } from '../../../src/libraries/columnar/parquet/footer.ts'
import { rowGroupRows } from '../../../src/libraries/columnar/parquet/write-slice.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { openStore } from '../../../src/app/open-storage.ts'
import { dataKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { putLog } from '../../../src/node/store/records.ts'
import { markSwept, sweepChain } from '../../../src/node/store/sweep.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { chainObjects, type StoredObject } from '../../helpers/long-chain.ts'
import { smallSlice } from '../../helpers/small-slice.ts'
import { asking, useBench } from '../engine/helpers.ts'
import { baseMs } from '../builder/support.ts'
import { dataset, putAll } from '../store/packed-chain.ts'

/** Two blocks of three row groups, and as many of a row that they are in a pack. */
const [large, small] = [2 * rowGroupRows + 1_000, 260]
const rows = 2 * large + small
const firstOf = (number: number): number => (number < 2 ? number * large : 2 * large + number - 2)
const bench = useBench({ queryMs: 60_000 })
const stored: StoredObject[] = []

beforeAll(() => {
  const numbers = Array.from({ length: 2 + small }, (_, number) => number)
  const slices = numbers.map((number) => (number < 2 ? smallSlice(number, large) : smallSlice(firstOf(number), 1)))
  const sliceOf = (number: number): (typeof slices)[number]['about'] => must(slices[number], 'a slice').about
  stored.push(...chainObjects({ dataset, blocks: slices.length, sliceOf }))
  stored.push(...slices.map(({ bytes, about }) => ({ key: dataKey(dataset, about.physicalHash), bytes })))
})

/** Overwrites the row groups of the file that hold none of the rows [from, to) of it; how many there are. */
async function damage(path: string, from: number, to: number): Promise<number> {
  const bytes = await readFile(path)
  const footerAt = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8)
  const footer = readFooter(bytes.subarray(footerAt, -8), { rowGroups: 99, schemaElements: 99 }, [])
  const groups = Array.from({ length: footer.rowGroups }, (_, at) => ({
    at: at * rowGroupRows,
    ...footer.rowGroup(at),
  }))
  const others = groups.filter((group) => group.at >= to || group.at + group.rows <= from)
  for (const { start, storedBytes } of others.flatMap(({ chunks }) => chunks))
    bytes.fill(0xff, start, start + storedBytes)
  await writeFile(path, bytes)
  return others.length
}

/** The engine over files of which all but the rows [start, end) of the dataset is overwritten while it reads them. */
function engineOver(start: number, end: number, damaged: number[]): Engine {
  const over = async (
    { tables: [table] }: Pick<EngineJob, 'tables'>,
    run: (tables: readonly EngineTable[]) => Promise<EngineAnswer>,
  ): Promise<EngineAnswer> => {
    const files = must(await table?.files.open?.(asking().signal), 'slices are opened')
    const before = new Map<string, Uint8Array>()
    for (const number of files.only ?? []) {
      const path = files.path(number)
      before.set(path, await readFile(path))
      damaged.push(await damage(path, start - firstOf(number), end - firstOf(number)))
    }
    try {
      return await run([{ ...must(table, 'the job has one table'), files }])
    } finally {
      for (const [path, bytes] of before) await writeFile(path, bytes)
      files.close('done')
    }
  }
  const { engine } = bench
  return {
    ...engine,
    run: (job, by) => over(job, (tables) => engine.run({ ...job, tables }, by)),
    runOwn: (sql, job, by) => over(job, (tables) => engine.runOwn(sql, { ...job, tables }, by)),
  }
}

/** The chain of a store, and its files. */
async function opened(
  store: ObjectStore,
  root: string,
): Promise<{ view: DatasetView; objects: Objects; files: Files }> {
  const announcements = openLocalAnnouncements(silentLogger)
  const catalog = new Catalog({ store, announcements, logger: silentLogger })
  onTestFinished(() => catalog.close())
  const objects = new Objects(store)
  const slices = new SliceFiles({ store, dir: join(root, 'slices'), mostBytes: 2 ** 30, clock: systemClock })
  const files = new Files({ objects, slices, limits: { queryMs: 60_000 } })
  return { view: viewOf(must(await catalog.byAlias('acme/long'), 'the dataset')), objects, files }
}

test.each([
  ['files', 'loose'],
  ['files', 'packed'],
  ['memory', 'loose'],
  ['memory', 'packed'],
])('a tail reads the row groups that it shows: in %s, %s', { timeout: 120_000 }, async (where, how) => {
  const root = join(bench.root, `${where}-${how}`)
  const store = where === 'files' ? await openStore(join(root, 'store'), 'write') : withPacks(openMemoryStore())
  onTestFinished(() => store.close())
  await putLog(store, { id: 'log', kind: 'file', partitions: 1 })
  await putAll(store, stored)
  if (how === 'packed') {
    await packChain(store, dataset, small + 4)
    await markSwept(store)
    await sweepChain(store, dataset, { beforeMs: Number.POSITIVE_INFINITY })
  }
  const { view, objects, files } = await opened(store, root)
  const tailOf = async (end: number, limit: number, damaged: number[], shown = limit): Promise<unknown> => {
    const window = { skip: rows - end, limit, dataFormat: 'JsonAos', asking: asking() }
    const engine = engineOver(end - shown, end, damaged)
    return JSON.parse(Buffer.from(await tailRows({ engine, objects, files }, view, window)).toString()) as unknown
  }
  // The row before which each ends, how many it has, and how many groups of its files it does not show.
  for (const [end, limit, others] of [
    [2 * large, 100, [2]],
    [2 * large - 950, 100, [1]],
    [large + 50, 100, [2, 2]],
    [large + rowGroupRows, 1, [2]],
    [2 * large + 1, 2, [2, 0]],
    [1, 1, [2]],
    [rows, 3, [0, 0, 0]],
  ] as const) {
    const damaged: number[] = []
    const expected = Array.from({ length: limit }, (_, at) => end - limit + at).map((offset) => {
      return expect.objectContaining({ offset, city: `city ${offset % 17}` }) as unknown
    })
    expect([await tailOf(end, limit, damaged), damaged]).toEqual([expected, others])
  }
  // What is overwritten cannot be read.
  await expect(tailOf(2 * large - 999, 10, [], 1)).rejects.toThrow('The query engine failed')
})

test('first rows by event time are read from the row groups that hold them', { timeout: 120_000 }, async () => {
  const root = join(bench.root, 'first')
  const store = await openStore(join(root, 'store'), 'write')
  onTestFinished(() => store.close())
  await putLog(store, { id: 'log', kind: 'file', partitions: 1 })
  await putAll(store, stored)
  const { view, files } = await opened(store, root)
  const time = new Date(baseMs + (large + 7) * 1000).toISOString()
  // What is asked for, the offsets of the answer, the rows that are read, and how many groups of their files are not.
  for (const [rest, first, [start, end], others] of [
    ['ORDER BY event_time DESC LIMIT 2', [rows - 1, rows - 2], [rows - 2, rows], [0, 0]],
    ['ORDER BY event_time LIMIT 2', [0, 1], [0, rowGroupRows], [2]],
    [
      `WHERE "offset" < ${2 * large} ORDER BY event_time DESC LIMIT 1`,
      [2 * large - 1],
      [2 * large - 1_000, rows],
      [2, 0],
    ],
    [`WHERE event_time > '${time}' ORDER BY event_time LIMIT 1`, [large + 8], [large, large + 2 * rowGroupRows], [1]],
  ] as const) {
    const analysis = await bench.engine.analyze(`SELECT "offset" FROM "acme/long" ${rest}`, asking())
    const wanted = { narrowing: must(analysis.narrowing, 'it says something'), parameters: [], skip: 0, limit: 100 }
    const how = { rows: wanted, mayMerge: false, offsetsAlone: false, isCounted: true }
    const { table } = await files.of(view, how, asking().signal)
    const form = { dataFormat: 'JsonAoa', wantSchema: false, keyOrder: 'column', ascii: false, skip: 0 } as const
    const tables = [{ parts: must(analysis.tables[0], 'a table').parts, ...table }]
    const damaged: number[] = []
    const job = { analysis, tables, reproducible: true, limit: 100, ...form }
    const { data } = await engineOver(start, end, damaged).run(job, asking())
    expect([rest, JSON.parse(Buffer.from(data).toString()), damaged]).toEqual([rest, first.map((row) => [row]), others])
  }
})
