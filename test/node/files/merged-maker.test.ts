// Who waits for merged files gets them without the rests between them.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { type DatasetView, viewOf } from '../../../src/node/catalog/dataset-chain.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { MergedFiles } from '../../../src/node/files/merged-files.ts'
import { MergedMaker } from '../../../src/node/files/merged-maker.ts'
import { dataKey, headKey, packableOf } from '../../../src/node/store/layout.ts'
import { runJob } from '../../../src/node/machine/work/jobs.ts'
import type { WorkPool } from '../../../src/node/machine/work/work-pool.ts'
import { SliceFiles } from '../../../src/node/files/slice-files.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { datasetId } from '../builder/support.ts'
import { chainObjects, nameObject } from '../../helpers/long-chain.ts'
import { smallSlice } from '../../helpers/small-slice.ts'

const dir = mkdtempSync(join(tmpdir(), 'proofstream-maker-'))
afterAll(() => rmSync(dir, { recursive: true }))

const alias = 'acme/stream'
const id = datasetId(alias)
const rests = 1000

/** Its long sleeps, rests after a file, end only when they are aborted. */
const restless: Clock = {
  ...systemClock,
  sleep: (ms, signal) =>
    ms < rests
      ? systemClock.sleep(ms, signal)
      : new Promise((resolve) => signal?.addEventListener('abort', () => resolve())),
}
// Making a file seems to take a second, and so the rest after it is a long one.
let nowMs = 0
const clock: Clock = { ...restless, monotonicMs: () => (nowMs += rests) }

async function chainOf(blocks: number): Promise<{
  readonly catalog: Catalog
  readonly maker: MergedMaker
  readonly merged: MergedFiles
  readonly view: DatasetView
}> {
  const store = openMemoryStore()
  let head = ''
  const sliceOf = (number: number): ReturnType<typeof smallSlice>['about'] => {
    const { bytes, about } = smallSlice(number, 2)
    void store.put(dataKey(id, about.physicalHash), bytes)
    return about
  }
  for (const { key, bytes } of [...chainObjects({ dataset: id, blocks, sliceOf }), nameObject(id, alias)]) {
    const asked = packableOf(key)
    if (asked?.kind === 'blocks') head = asked.hash
    await store.put(key, bytes)
  }
  await store.replace(headKey(id), utf8(head))
  const announcements = openLocalAnnouncements(silentLogger)
  const catalog = new Catalog({ store, announcements, logger: silentLogger })
  const merged = new MergedFiles({
    dir: join(dir, 'merged'),
    mostBytes: 2 ** 30,
    graceMs: 0,
    clock,
    logger: silentLogger,
  })
  const work = { run: (kind, pieces, { settings }) => runJob(kind, pieces, settings), begin: () => [] } satisfies Pick<
    WorkPool,
    'run' | 'begin'
  >
  const maker = new MergedMaker({
    catalog,
    store,
    files: new SliceFiles({ store, dir: join(dir, 'slices'), mostBytes: 2 ** 30, clock }),
    merged,
    work: work as unknown as WorkPool,
    clock,
    logger: silentLogger,
  })
  const view = viewOf(must(await catalog.byAlias(alias), 'the dataset'))
  return { catalog, maker, merged, view }
}

test('of a chain that was only read no file is made, until a statement wants them', async () => {
  const { catalog, maker, view } = await chainOf(300)
  const { signal } = new AbortController()
  // It waits while anything is being made.
  expect([await maker.catchUp(view, 255, signal), maker.made]).toEqual([true, 0])
  maker.wanted(view)
  expect([await maker.catchUp(view, 255, signal), maker.made]).toEqual([true, 1])
  await maker.close()
  catalog.close()
})

test('files that are waited for are made one after the other, and others with a rest', async () => {
  const { catalog, maker, merged, view } = await chainOf(800)
  const signal = new AbortController()
  maker.wanted(view)
  await expect.poll(() => maker.made).toBe(1)
  await systemClock.sleep(200)
  expect([maker.made, merged.slicesBeside(view)]).toEqual([1, 544])
  expect(await maker.catchUp(view, 300, signal.signal)).toBe(true)
  expect(merged.slicesBeside(view)).toBeLessThanOrEqual(300)
  // Fewer cannot be had than those behind the last full window.
  expect(await maker.catchUp(view, 0, signal.signal)).toBe(true)
  expect([maker.made, merged.slicesBeside(view)]).toEqual([3, 32])
  await maker.close()
  catalog.close()
})

test('who has left waits no longer', async () => {
  const { catalog, maker, view } = await chainOf(300)
  maker.wanted(view)
  expect(await maker.catchUp(view, 0, AbortSignal.abort())).toBe(false)
  await maker.close()
  catalog.close()
})
