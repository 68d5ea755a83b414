// A footer without the bounds of times in milliseconds, of files of several writers, as DuckDB reads it: the same rows, and the
// same of all other columns.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, expect, it } from 'vitest'
import { concatBytes } from '../../../../src/libraries/base/bytes.ts'
import { editedEnd } from '../../../../src/libraries/columnar/parquet/edit-footer.ts'

const root = mkdtempSync(join(tmpdir(), 'proofstream-footers-'))
afterAll(() => rmSync(root, { recursive: true }))
const connection = await (await DuckDBInstance.create(':memory:')).connect()
const ask = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  (await connection.runAndReadAll(sql)).getRowObjectsJson()

const fixtures = new URL('../../../fixtures/odf-datasets/', import.meta.url).pathname
const slices = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\/data\/f1620/.test(path))
  .map((path) => join(fixtures, path))
const ours = join(root, 'duckdb')
const time = "(TIMESTAMP '2026-01-01' + to_seconds(i % 10))"
await connection.run(
  `COPY (SELECT i, ${time}::TIMESTAMP_MS AS t, {'a': ${time}::TIMESTAMP_MS, 'b': [i]} AS s FROM range(9000) r(i))
   TO '${ours}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
)

it.each([ours, ...slices])('of %s', async (path) => {
  const bytes = readFileSync(path)
  const { replacedBytes, end } = editedEnd(bytes)
  const edited = join(root, 'edited.parquet')
  writeFileSync(edited, concatBytes([bytes.subarray(0, bytes.length - replacedBytes), end]))
  const rows = (file: string): string => `SELECT * FROM read_parquet('${file}')`
  expect(await ask(rows(edited))).toEqual(await ask(rows(path)))

  const kinds = await ask(
    `SELECT logical_type, converted_type FROM parquet_schema('${path}') WHERE num_children IS NULL`,
  )
  const isTime = kinds.map((kind) => /MILLIS/.test(`${String(kind['logical_type'])} ${String(kind['converted_type'])}`))
  expect(isTime).toContain(true)
  const facts = (file: string): string =>
    `SELECT * EXCLUDE (file_name) FROM parquet_metadata('${file}') ORDER BY row_group_id, column_id`
  const [before, after] = [await ask(facts(path)), await ask(facts(edited))]
  expect(after).toHaveLength(before.length)
  const bounds: unknown[] = []
  const encodings: unknown[] = []
  for (const [at, chunk] of after.entries()) {
    const isEdited = isTime[Number(chunk['column_id'])] === true
    const edits = Object.keys(chunk).filter((name) => isEdited && /^(?:stats_|bloom_|encodings|min_|max_)/.test(name))
    bounds.push(...edits.filter((name) => /^stats_(?:min|max)/.test(name)).map((name) => chunk[name]))
    if (isEdited) encodings.push(chunk['encodings'])
    const cleared = Object.fromEntries(edits.map((name) => [name, undefined]))
    expect({ ...chunk, ...cleared }).toEqual({ ...before[at], ...cleared })
  }
  expect(new Set(bounds)).toEqual(new Set([null]))
  expect(encodings.filter((text) => !/\bPLAIN\b/.test(String(text)))).toEqual([])
})
