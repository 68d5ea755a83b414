// Every job of the pool, run by a thread and run here, with inputs above the size up to which the pool works here: both give the
// same, the pieces are gone as the port says, and nothing in the settings is.

import { zstdCompressSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { concatBytes, utf8 } from '../../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../../src/libraries/base/clock.ts'
import { sha3Hash } from '../../../../src/libraries/base/ids/identifiers.ts'
import { createLogicalHash } from '../../../../src/libraries/columnar/arrow/logical-hash.ts'
import { int64RangeColumn, makeColumn } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { encodeSlice } from '../../../../src/libraries/columnar/parquet/write-slice.ts'
import { defaultVocabulary, type Field } from '../../../../src/libraries/model/schema.ts'
import { type JobKind, type JobSettings, runJob } from '../../../../src/node/machine/work/jobs.ts'
import { inlineBytes, inlineSliceBytes, ThreadPool } from '../../../../src/node/machine/work/thread-pool.ts'
import { goldenDialects, goldenProofs } from '../../../helpers/golden-proofs.ts'

const pool = new ThreadPool({ clock: systemClock, jobs: 1, queueLimit: 2, tasks: 1, heapMiB: 256 })
afterAll(() => pool.close())

const rows = 6_000
const points = Array.from({ length: rows }, (_, row) => {
  const at = (factor: number): number => ((row * factor) % 99_991) / 1_000 - 50
  return `{"type":"Point","coordinates":[${at(7_919)},${at(104_729)}]}`
})

const fields: Field[] = [
  { name: 'n', type: { kind: 'Int64' } },
  { name: 'place', type: { kind: 'String' } },
]
const texts = points.map(utf8)
const offsets = new Int32Array(rows + 1)
for (const [row, text] of texts.entries()) offsets[row + 1] = (offsets[row] ?? 0) + text.length
const place = { name: 'place', type: { kind: 'String' }, nullable: false, rows, nullCount: 0 } as const
const batch = {
  rows,
  columns: [int64RangeColumn('n', 0, rows), makeColumn({ ...place, offsets, values: concatBytes(texts) })],
}
const slice = concatBytes(encodeSlice({ fields, compress: (bytes) => zstdCompressSync(bytes) }, [batch]))
const logical = createLogicalHash(fields)
logical.update(batch)
const about = { logicalHash: logical.digest(), physicalHash: sha3Hash(slice) }
const features = utf8(JSON.stringify(points.map((point, row) => [row, point])))
const values = { name: 'jsonValues', value: 1_000_000 }
const [proof = ''] = goldenDialects().flatMap((dialect) => goldenProofs(dialect).map(({ text }) => text))

/** A row for every job: what is in the types of `JobKind` and not here does not compile. */
const inputs: { readonly [K in JobKind]: { readonly bytes: Uint8Array; readonly settings: JobSettings<K> } } = {
  json: { bytes: features, settings: values },
  tokens: { bytes: features, settings: values },
  proof: { bytes: utf8(proof.padStart(2 * inlineBytes)), settings: { values, sqlBytes: 10_000 } },
  hash: { bytes: features, settings: undefined },
  features: { bytes: features, settings: { names: ['n', 'place'], id: 'n', place: { geometry: 'place' }, hidden: [] } },
  tile: {
    bytes: features,
    settings: {
      tile: { z: 0, x: 0, y: 0 },
      columns: ['n'],
      kinds: 'i',
      points: new Map([[1, { type: 'Point', coordinates: [1, 2] }]]),
    },
  },
  offers: {
    bytes: utf8(`a;b\n${'1,5;x\n'.repeat(inlineBytes / 4)}`),
    settings: {
      vocabulary: defaultVocabulary,
      format: 'csv',
      given: {},
      isWhole: true,
      limits: { recordBytes: 1_000_000, columns: 2000 },
    },
  },
  spatialIndex: { bytes: slice, settings: { place: { geometry: 'place' }, time: 'n' } },
  slice: {
    bytes: slice,
    settings: {
      at: 'block 3',
      slice: { ...about, offsetInterval: { start: 0, end: rows - 1 }, size: slice.length },
      vocabulary: defaultVocabulary,
    },
  },
  rowLeaves: { bytes: slice, settings: { secret: new Uint8Array(32).fill(7), start: 5, wanted: 300 } },
  merge: {
    bytes: concatBytes([slice, slice]),
    settings: {
      parts: [1, 2].map(() => ({ sizeBytes: slice.length, hash: about.physicalHash, schema: 0 })),
      slices: [1, 2].map(() => ({ rows, logicalHash: about.logicalHash, schema: 0 })),
      schemas: [fields],
    },
  },
}

test.each(Object.keys(inputs) as JobKind[])(
  'the job %s is done by a thread as here, and keeps its settings',
  async (kind) => {
    const { bytes, settings } = inputs[kind]
    expect(bytes.length).toBeGreaterThan(Math.max(inlineBytes, inlineSliceBytes))
    const before = structuredClone(settings)
    const here = await runJob(kind, [bytes], settings)
    for (const _ of [1, 2]) {
      const pieces = [bytes.slice(0, 100), bytes.slice(100)]
      const there = await pool.run(kind, pieces, { settings })
      expect(there).toEqual(here)
      expect(pieces.map(({ length }) => length)).toEqual([0, 0])
      expect(settings).toEqual(before)
    }
    // What is up to the size is done at once, and its pieces stay.
    const few = [bytes.slice(0, 100)]
    await pool.run(kind, few, { settings }).catch(() => undefined)
    expect(few[0]).toHaveLength(100)
  },
)
