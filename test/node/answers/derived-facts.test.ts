// What is derived of a dataset holds for the facts that it was found under: of a dataset whose event time is another column
// from some block on, files are chosen by the column of the block that is asked for.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { DatasetView } from '../../../src/node/catalog/dataset-chain.ts'
import type { Objects } from '../../../src/node/catalog/objects.ts'
import { sha256 } from '../../../src/libraries/base/ids/native-crypto.ts'
import { concatBytes, toHex } from '../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { timestampMs } from '../../../src/libraries/model/schema.ts'
import { encodeSlice } from '../../../src/libraries/columnar/parquet/write-slice.ts'
import { MergedFiles } from '../../../src/node/files/merged-files.ts'
import { SliceTimes } from '../../../src/node/files/slice-times.ts'
import { schemaOf } from '../engine/helpers.ts'
import { sliceView } from '../../helpers/slice-chain.ts'

const dir = mkdtempSync(join(tmpdir(), 'proofstream-derived-'))
afterAll(() => rmSync(dir, { recursive: true }))

const columnOf = (name: string, ms: number) => ({
  name,
  type: timestampMs,
  nullable: false,
  rows: 1,
  nullCount: 0,
  values: new Uint8Array(BigInt64Array.of(BigInt(ms)).buffer),
})
const columns = [columnOf('event_time', 1_000), columnOf('seen', 9_000)]
const file = concatBytes(encodeSlice({ fields: columns }, [{ rows: 1, columns }]))

const sliced = sliceView(schemaOf({ name: 'seen', type: timestampMs }), [1])
const seen = { ...sliced.vocabulary, eventTimeColumn: 'seen' }
const { slices } = sliced
const sliceAt = slices.at.bind(slices)
const atSize: DatasetView['slices']['at'] = (at) => {
  const slice = sliceAt(at)
  return slice && { ...slice, sizeBytes: file.length }
}
Object.defineProperty(slices, 'at', { value: atSize })
const later: DatasetView = { ...sliced, vocabulary: seen }

it('the times of slices', async () => {
  const reading = { read: async () => file, close: () => {} }
  const objects = { checkSlices: async () => {} } as unknown as Objects // nothing else of it is used
  const times = new SliceTimes({ reading: async () => reading }, objects)
  const firstOf = async (view: DatasetView): Promise<number | undefined> =>
    (await times.of(view, [{ from: 0, to: 1 }]))?.(0).min
  expect([await firstOf(sliced), await firstOf(later), await firstOf(sliced)]).toEqual([1_000, 9_000, 1_000])
})

it('the row groups of merged files', async () => {
  const merged = new MergedFiles({
    dir,
    mostBytes: 10 * file.length,
    graceMs: 0,
    clock: systemClock,
    logger: silentLogger,
  })
  const view: DatasetView = { ...sliced, id: `did:odf:fed01${'a'.repeat(64)}` }
  await merged.makeRoom(view.id, file.length)
  await merged.keep(view, { from: 0, to: 1 }, { file, hash: toHex(sha256(file)) })
  const firstOf = async (of: DatasetView): Promise<number | undefined> => (await merged.of(of))[0]?.groups[0]?.min
  const moved = { ...view, vocabulary: seen }
  expect([await firstOf(view), await firstOf(moved), await firstOf(view)]).toEqual([1_000, 9_000, 1_000])
  merged.close()
})
