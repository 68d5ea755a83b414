// Every type of the engine as a file: what leaves as NDJSON and CSV is the text of the JSON layouts, value by value, and
// what leaves as Parquet and Arrow is read back by others as the same values.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { tableFromIPC } from 'apache-arrow'
import { parseString } from 'fast-csv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keepByteOrderMarks } from '../../../src/node/engine/duckdb/open.ts'
import { renderResult } from '../../../src/node/engine/duckdb/results.ts'
import { streamResult } from '../../../src/node/engine/duckdb/stream.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { concatBytes } from '../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'

type Connection = Awaited<ReturnType<DuckDBInstance['connect']>>

let connection: Connection
let directory: string

beforeAll(async () => {
  keepByteOrderMarks()
  directory = mkdtempSync(join(tmpdir(), 'proofstream-types-'))
  connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  await connection.run("SET TimeZone = 'UTC'")
})
afterAll(() => {
  connection.closeSync()
  rmSync(directory, { recursive: true })
})

async function namesOf(sql: string): Promise<string[]> {
  const prepared = await connection.prepare(sql)
  return Array.from({ length: prepared.columnCount }, (_, at) => prepared.columnName(at))
}

/** The rows of a statement in a file format. */
async function streamed(format: string, sql: string, limit?: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  const sink = { sentBytes: 0, write: async (bytes: Uint8Array) => void parts.push(bytes) }
  await streamResult(connection, sql, sink, {
    format,
    options: { escapeFormulas: false, geometry: undefined },
    names: await namesOf(sql),
    limit,
    isKept: false,
    exportBytes: 1e9,
    rowBytes: 1e9,
  })
  return concatBytes(parts)
}

async function lines(sql: string): Promise<string> {
  const options = { dataFormat: 'JsonAos', keyOrder: 'column', ascii: false, limit: 1e6, resultBytes: 1e9 } as const
  const { pieces } = must(
    await renderResult(await connection.run(sql), { ...options, names: await namesOf(sql) }),
    'it runs to its end',
  )
  return Buffer.from(concatBytes(pieces)).toString()
}

/** The kind of a refusal, or the answer. */
async function orKind<T>(make: () => Promise<T>): Promise<T | string> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof NodeError) return error.kind
    throw error
  }
}

describe('every type of the engine', async () => {
  const own = await (await DuckDBInstance.create(':memory:')).connect()
  const names = (await own.runAndReadAll('SELECT * FROM test_all_types()')).columnNames()
  own.closeSync()

  test.each(names)('%s leaves as NDJSON with the tokens of JSON', async (name) => {
    for (const row of [0, 1, 2]) {
      const sql = `SELECT "${name}" AS a FROM test_all_types() LIMIT 1 OFFSET ${row}`
      const expected = await orKind(() => lines(sql))
      const found = await orKind(async () => Buffer.from(await streamed('NdJson', sql)).toString())
      expect(found).toBe(expected.startsWith('[') ? `${expected.slice(1, -1)}\n` : expected)
    }
  })

  test.each(names)('%s leaves as CSV with the same text', async (name) => {
    const sql = `SELECT 1 AS b, "${name}" AS a FROM test_all_types()`
    const found = await orKind(async () => await cellsOf(await streamed('Csv', sql)))
    const json = await orKind(() => lines(sql))
    const rows = json.slice(1, -1).split(/(?<=\}),(?=\{"b")/)
    const cells = rows.map((row) => ['1', plainText(row.slice('{"b":1,"a":'.length, -1))])
    expect(found).toEqual(json.startsWith('[') ? [['b', 'a'], ...cells] : json)
  })

  test.each(names)('%s leaves as Parquet that the engine reads back', async (name) => {
    const sql = `SELECT "${name}" AS a FROM test_all_types()`
    const json = await orKind(() => lines(sql))
    const bytes = await orKind(() => streamed('Parquet', sql))
    const path = join(directory, `${name}.parquet`)
    if (typeof bytes !== 'string') writeFileSync(path, bytes)
    const back = typeof bytes === 'string' ? bytes : await lines(`SELECT a FROM '${path}'`)
    expect(back).toBe(json.startsWith('[') ? textOf(name, json) : json)
  })
})

/** The lines of JSON that a value has as Parquet says it: nested values as their text. */
function textOf(name: string, rows: string): string {
  const isText = /struct|map|union|interval|uuid|enum|bit|bignum|time_tz|timetz/.test(name)
  if (!isText) return rows
  const values: { a: unknown }[] = JSON.parse(rows)
  const texts = values.map(({ a }) => (a === null || typeof a === 'string' ? a : JSON.stringify(a)))
  return JSON.stringify(texts.map((a) => ({ a })))
}

/** What a CSV cell says of a JSON token. */
function plainText(token: string): string {
  if (token === 'null') return ''
  return token.startsWith('"') ? JSON.parse(token) : token
}

/** By fast-csv. */
function cellsOf(bytes: Uint8Array): Promise<string[][]> {
  return new Promise((resolve, reject) => {
    const rows: string[][] = []
    parseString(Buffer.from(bytes).toString(), { headers: false })
      .on('data', (row: string[]) => void rows.push(row))
      .on('end', () => resolve(rows))
      .on('error', reject)
  })
}

test('a chunk boundary, nulls and long texts change nothing', async () => {
  const sql = `SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE repeat('é', (i % 40)::INT) || i END AS s,
    [i, NULL, i + 1] AS l, CASE WHEN i % 5 = 0 THEN NULL ELSE i / 8 END AS x, i % 3 = 0 AS b, (i % 9)::DECIMAL(9, 2) AS d
    FROM range(10000) r(i)`
  const expected = JSON.parse(await lines(sql))
  const ndjson = Buffer.from(await streamed('NdJson', sql))
    .toString()
    .trimEnd()
    .split('\n')
  expect(ndjson.map((line) => JSON.parse(line))).toEqual(expected)
  const path = join(directory, 'many.parquet')
  writeFileSync(path, await streamed('Parquet', sql))
  expect(JSON.parse(await lines(`SELECT * FROM '${path}'`))).toEqual(expected)
  const table = tableFromIPC(await streamed('Arrow', sql))
  expect(table.numRows).toBe(10_000)
  for (const at of [0, 1, 2047, 2048, 9999]) {
    const row = table.get(at)?.toJSON()
    expect({
      ...row,
      i: Number(row?.['i']),
      l: JSON.parse(JSON.stringify(row?.['l'], (_, one: unknown) => (typeof one === 'bigint' ? Number(one) : one))),
    }).toMatchObject({
      i: at,
      s: expected[at].s,
      l: expected[at].l,
      x: expected[at].x,
      b: expected[at].b,
    })
  }
})

test('infinite times are null, and so is every number that JSON lacks', async () => {
  const kinds = ['DATE', 'TIMESTAMP', 'TIMESTAMPTZ', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'FLOAT', 'DOUBLE']
  const cells = kinds.map((kind, at) => `t::${kind} AS c${at}`).join(', ')
  const sql = `SELECT ${cells} FROM (VALUES ('infinity'), (NULL), ('-infinity')) v(t)`
  const nothing = `${JSON.stringify(Object.fromEntries(kinds.map((_, at) => [`c${at}`, null])))}\n`
  expect(Buffer.from(await streamed('NdJson', sql)).toString()).toBe(nothing.repeat(3))
  const path = join(directory, 'infinite.parquet')
  writeFileSync(path, await streamed('Parquet', sql))
  const read = (
    await connection.runAndReadAll(
      `SELECT count(c0), count(c1), count(c5), c7 FROM '${path}' GROUP BY ALL ORDER BY ALL`,
    )
  ).getRowsJson()
  expect(read).toEqual([
    ['0', '0', '0', '-Infinity'],
    ['0', '0', '0', 'Infinity'],
    ['0', '0', '0', null],
  ])
})

test('what is no UTF-8 of a text is U+FFFD, as in JSON answers', async () => {
  const sql = String.raw`SELECT regexp_extract(t, '\C') AS a, t FROM (VALUES ('é'), ('a'), (NULL), ('€x')) v(t)`
  const rows = ['{"a":"\ufffd","t":"é"}', '{"a":"a","t":"a"}', '{"a":null,"t":null}', '{"a":"\ufffd","t":"€x"}']
  expect(await lines(sql)).toBe(`[${rows.join(',')}]`)
  expect(Buffer.from(await streamed('NdJson', sql)).toString('latin1')).toBe(
    Buffer.from(rows.map((row) => `${row}\n`).join('')).toString('latin1'),
  )
  expect([...(tableFromIPC(await streamed('Arrow', sql)).getChild('a') ?? [])]).toEqual(['\ufffd', 'a', null, '\ufffd'])
})

test('a row behind the limit is not looked at', async () => {
  const sql = `SELECT CASE WHEN i < 5 THEN i ELSE 170141183460469231731687303715884105727 END AS h FROM range(6) r(i)`
  expect(Buffer.from(await streamed('Csv', sql, 5)).toString()).toBe('h\r\n0\r\n1\r\n2\r\n3\r\n4\r\n')
  await expect(streamed('Csv', sql, 6)).rejects.toMatchObject({ kind: 'SqlValue' })
})

test('a limit cuts inside a chunk, and says that there was more', async () => {
  const text = Buffer.from(await streamed('Csv', 'SELECT i FROM range(3000) r(i)', 2500)).toString()
  expect(text.split('\r\n')).toHaveLength(2502)
})
