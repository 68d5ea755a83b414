// Files of other writers through the engine: what their footers say of values is never the answer. Each aggregate and each
// condition, alone over one file, is held against the same over a table of its values; numbers also against hyparquet.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { zstdDecompressSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import type { DataSchema } from '../../../src/libraries/model/schema.ts'
import { ask, useBench } from './helpers.ts'

const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url))
const bench = useBench({ dataRoots: [fixtures] })

/** Slices of other nodes, and a file of each writer. */
const files = [
  ...['odf-chain', 'odf-datasets'].flatMap((folder) =>
    readdirSync(join(fixtures, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.includes('/data/f1620'))
      .map((path) => join(fixtures, folder, path)),
  ),
  ...readdirSync(join(fixtures, 'parquet'))
    .filter((name) => /^(writer-.*-zstd|writer-pandas|nulls)\.parquet$/.test(name))
    .map((name) => join(fixtures, 'parquet', name)),
]

/** `$` is a column, `@` the file. */
const aggregates = `
  min($); max($); min($) IS NULL; count($); count(*); count(DISTINCT $); any_value($); first($); last($); mode($)
  list($)[1:3]; arg_min($, $); arg_max($, $); max($, 2); approx_count_distinct($)
  bool_and($ IS NULL); bool_or($ IS NULL); count_if($ IS NOT NULL)`
const aggregatesOfNumbers = `
  sum($); avg($); count_if(isnan($::DOUBLE)); max(abs($::DOUBLE)); min(-($::DOUBLE))`
const conditions = `
  $ IS NULL; $ IS NOT NULL; $ IS NOT DISTINCT FROM NULL; $ IN (SELECT $ FROM @)
  $ = (SELECT max($) FROM @); $ >= (SELECT min($) FROM @); $ <> (SELECT any_value($) FROM @)`
const listed = (text: string): string[] => text.trim().split(/[;\n]\s*/)
const isFloat = (type: string): boolean => /^(?:FLOAT|DOUBLE)$/.test(type)
const isNumber = (type: string): boolean => isFloat(type) || /^(?:U?[A-Z]*INT(?:EGER)?|DECIMAL.*)$/.test(type)
const isNested = (type: string): boolean => /^(?:STRUCT|MAP)|\]$/.test(type)

test.each(files.map((path) => [relative(fixtures, path), path] as const))('%s', async (_, path) => {
  const { trusted } = bench
  const described = await (await trusted.run(`DESCRIBE SELECT * FROM read_parquet('${path}')`)).getRows()
  const columns = described.map(([name, type]) => ({ name: String(name), type: String(type) }))
  await trusted.run(`CREATE OR REPLACE TABLE held AS SELECT * FROM read_parquet('${path}')`)
  const fields = columns.map(({ name }) => ({ name, type: { kind: 'Unknown' } }))
  const tables = { 'a/b': { files: [path], schema: { fields } as unknown as DataSchema } }
  const answers: unknown[] = []
  const wanted: unknown[] = []
  for (const { name, type } of columns.filter((column) => !isNested(column.type))) {
    const items = listed(isNumber(type) ? aggregates + aggregatesOfNumbers : aggregates)
    const statements = [
      ...items.map((text) => `SELECT (${text})::VARCHAR FROM @`),
      ...listed(conditions).map((text) => `SELECT count(*)::VARCHAR FROM @ WHERE ${text}`),
    ]
    for (const statement of statements) {
      const over = (source: string): string => statement.replaceAll('$', `"${name}"`).replaceAll('@', source)
      const rows = await (await trusted.run(over('held'))).getRows()
      wanted.push([name, statement, rows])
      answers.push([name, statement, JSON.parse(await ask(bench.engine, over('"a/b"'), { tables }))])
    }
  }
  expect(answers).toEqual(wanted)

  const decoded = await parquetReadObjects({
    file: new Uint8Array(readFileSync(path)).buffer,
    compressors: { ZSTD: (bytes) => new Uint8Array(zstdDecompressSync(bytes)) },
  })
  for (const { name } of columns.filter(({ type }) => isFloat(type))) {
    const values = decoded.map((row) => row[name] as number | null).filter((value) => value !== null)
    // NaN is the greatest.
    const sorted = values.toSorted((a, b) => Number(Number.isNaN(a)) - Number(Number.isNaN(b)) || a - b)
    const extremes = `SELECT min("${name}")::DOUBLE::VARCHAR, max("${name}")::DOUBLE::VARCHAR, count("${name}") FROM "a/b"`
    const [[least, greatest, count]] = JSON.parse(await ask(bench.engine, extremes, { tables }))
    const numberOf = (text: string | null): number | undefined =>
      text === null ? undefined : Number(text.replace('nan', 'NaN'))
    expect([numberOf(least), numberOf(greatest), count]).toEqual([sorted[0], sorted.at(-1), values.length])
  }
})
