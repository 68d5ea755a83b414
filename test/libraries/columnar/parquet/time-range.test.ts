// The bounds of times that a footer tells, of files written by DuckDB and by ourselves.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { concatBytes } from '../../../../src/libraries/base/bytes.ts'
import { timestampMs } from '../../../../src/libraries/model/schema.ts'
import { footerBytes, groupTimes } from '../../../../src/libraries/columnar/parquet/time-range.ts'
import { encodeSlice } from '../../../../src/libraries/columnar/parquet/write-slice.ts'

const root = mkdtempSync(join(tmpdir(), 'proofstream-times-'))
afterAll(() => rmSync(root, { recursive: true }))
const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()
await connection.run("SET TimeZone = 'UTC'")

/** The end of a file with the rows of a SELECT. */
async function written(select: string, options = ''): Promise<Uint8Array> {
  const path = join(root, 'file')
  await connection.run(`COPY (${select}) TO '${path}' (FORMAT parquet${options})`)
  const bytes = readFileSync(path)
  return bytes.subarray(bytes.length - footerBytes(bytes))
}

/** The bounds over all row groups. */
function timeRange(end: Uint8Array): { readonly min: number; readonly max: number } {
  const groups = groupTimes(end, 't')
  return { min: Math.min(...groups.map(({ min }) => min)), max: Math.max(...groups.map(({ max }) => max)) }
}

const unknown = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY }
const ms = Date.parse

it.each([
  ["TIMESTAMPTZ '2026-01-01 00:00:00' + to_seconds(i)", ms('2026-01-01T00:00:00Z'), ms('2026-01-01T01:23:19Z')],
  [
    "TIMESTAMP '1900-01-01 00:00:00.000500' + to_seconds(i)",
    ms('1900-01-01T00:00:00Z'),
    ms('1900-01-01T01:23:19.001Z'),
  ],
  ["(TIMESTAMP '2026-01-01' + to_seconds(i))::TIMESTAMP_MS", ms('2026-01-01T00:00:00Z'), ms('2026-01-01T01:23:19Z')],
  ["(TIMESTAMP '2026-01-01' + to_seconds(i))::TIMESTAMP_NS", ms('2026-01-01T00:00:00Z'), ms('2026-01-01T01:23:19Z')],
  ["DATE '2026-01-01' - (i // 2500)::INT", ms('2025-12-31T00:00:00Z'), ms('2026-01-01T00:00:00Z')],
])('%s', async (time, min, max) => {
  const rows = `SELECT {'a': i, 'b': [i]} AS s, i AS k, ${time} AS t FROM range(5000) r(i)`
  const end = await written(rows, ', ROW_GROUP_SIZE 2048')
  expect(timeRange(end)).toEqual({ min, max })
  expect(groupTimes(end, 't').map((group) => group.rows)).toEqual([2048, 2048, 904])
})

it.each([
  ['nulls', "SELECT CASE WHEN i = 7 THEN NULL ELSE TIMESTAMPTZ '2026-01-01' END AS t FROM range(10) r(i)"],
  ['no such column', 'SELECT 1 AS k'],
  ['no times', 'SELECT 1::BIGINT AS t'],
  ['a time inside a struct', "SELECT {'t': TIMESTAMPTZ '2026-01-01'} AS s"],
])('says nothing of %s', async (_, select) => {
  expect(timeRange(await written(select))).toEqual(unknown)
})

it('are those of our own slices', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1e14, max: 1e14 }), { minLength: 1, maxLength: 20 }), (times) => {
      const field = { name: 't', type: timestampMs }
      const values = new Uint8Array(BigInt64Array.from(times, BigInt).buffer)
      const column = { name: 't', type: timestampMs, nullable: false, rows: times.length, nullCount: 0, values }
      const slice = concatBytes(encodeSlice({ fields: [field] }, [{ rows: times.length, columns: [column] }]))
      expect(timeRange(slice)).toEqual({ min: Math.min(...times), max: Math.max(...times) })
    }),
  )
})
