// The engine as the replica uses it: names, views over growing slices, errors with places, limits.
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ask, askWhole, type AskOptions, useBench, refusal, schemaOf, systemColumns, writeSlice } from './helpers.ts'

const bench = useBench()
let options: AskOptions

const schema = schemaOf(
  { name: 'k', type: { kind: 'Int64' } },
  { name: 'note', type: { kind: 'Option', inner: { kind: 'String' } } },
)

beforeAll(async () => {
  const select = `SELECT ${systemColumns('i')}, i AS k, 'n' || i AS note FROM range(10) r(i)`
  const slice = await writeSlice(bench, 'ten', select)
  const table = { files: [slice], schema }
  const did = `did:odf:fed01${'0'.repeat(64)}`
  options = {
    tables: { 'acme/trips': table, 'acme/com.example.trips': table, 'Acme/Trips': table, [did]: table, tail: table },
  }
})

describe('identity', () => {
  test('names the engine, its version and the normaliser in the dialect', () => {
    expect(bench.engine).toMatchObject({
      name: 'duckdb',
      version: '1.5.6',
      normalizerVersion: 3,
      dialect: 'SqlDuckDb/1.5.6-3',
    })
  })
})

describe('names', () => {
  test.each([
    'SELECT count(*) FROM "acme/trips"',
    'SELECT count("acme/trips".k) FROM "acme/trips"',
    'SELECT count(*) FROM acme.trips',
    'SELECT count(trips.k) FROM acme.trips',
    'SELECT count(acme.trips.k) FROM acme.trips',
    'SELECT count(*) FROM ACME.Trips',
    'SELECT count(*) FROM acme."com.example.trips"',
    'SELECT count(*) FROM "acme"."com.example.trips" t WHERE t.k >= 0',
    `SELECT count(*) FROM "did:odf:fed01${'0'.repeat(64)}"`,
    'SELECT count(*) FROM "ACME/TRIPS"',
    'SELECT count(*) FROM "tail"',
    'SELECT count(*) FROM (SELECT k FROM "acme/trips" UNION SELECT k FROM acme.trips)',
  ])('%s', async (sql) => {
    expect(await ask(bench.engine, sql, options)).toBe('[[10]]')
  })

  test('an analysis lists each spelling once, as written, with its first place', async () => {
    const sql = 'WITH x AS (SELECT 1) SELECT * FROM "acme/trips" a, x, acme.trips b, "acme/trips" c, Acme.Trips d'
    expect((await bench.engine.analyze(sql)).tables).toEqual([
      { parts: ['acme/trips'], text: 'acme/trips', position: { offset: 35, line: 1, column: 36 } },
      { parts: ['acme', 'trips'], text: 'acme.trips', position: { offset: 54, line: 1, column: 55 } },
      { parts: ['Acme', 'Trips'], text: 'Acme.Trips', position: { offset: 84, line: 1, column: 85 } },
    ])
  })

  test('names of three parts cannot be a dataset', async () => {
    const error = await refusal(bench.engine.analyze('SELECT * FROM com.example.trips'))
    expect(error.kind).toBe('DatasetNotFound')
    expect(error.details.position?.offset).toBe(14)
    expect(error.details.hint).toContain('"account/dataset"')
  })

  test('a name that is bound anew reads the new files', async () => {
    const select = `SELECT ${systemColumns('i')}, i AS k, NULL::VARCHAR AS note FROM range(3) r(i)`
    const other = await writeSlice(bench, 'other', select)
    const rebound = { tables: { 'acme/trips': { files: [other], schema } } }
    expect(await ask(bench.engine, 'SELECT count(*) FROM "acme/trips"', rebound)).toBe('[[3]]')
    expect(await ask(bench.engine, 'SELECT count(*) FROM "acme/trips"', options)).toBe('[[10]]')
  })

  test('more names than are kept still work', async () => {
    const tables = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`a/d${i}`, { files: [], schema }]))
    for (let i = 0; i < 70; i++)
      expect(await ask(bench.engine, `SELECT count(*) FROM a.d${i}`, { tables })).toBe('[[0]]')
    expect(await ask(bench.engine, 'SELECT count(*) FROM "acme/trips"', options)).toBe('[[10]]')
  })
})

describe('columns of a view', () => {
  test('a column that slices got later is null in the older ones; one that none has is null everywhere', async () => {
    const grown = schemaOf(
      { name: 'k', type: { kind: 'Int64' } },
      { name: 'added', type: { kind: 'Option', inner: { kind: 'Float64' } } },
      { name: 'never', type: { kind: 'Option', inner: { kind: 'Decimal', precision: 18, scale: 4 } } },
    )
    const old = await writeSlice(bench, 'old', `SELECT ${systemColumns('i')}, i AS k FROM range(2) r(i)`)
    const young = await writeSlice(
      bench,
      'young',
      `SELECT ${systemColumns('i + 2')}, i + 2 AS k, 1.5::DOUBLE AS added FROM range(2) r(i)`,
    )
    const tables = { 'a/b': { files: [old, young], schema: grown } }
    const answer = await ask(bench.engine, 'SELECT offset, k, added, never FROM "a/b"', { tables })
    expect(answer).toBe('[[0,0,null,null],[1,1,null,null],[2,2,1.5,null],[3,3,1.5,null]]')
  })

  test('columns have the types of the schema, whatever the slice holds', async () => {
    const slice = await writeSlice(
      bench,
      'types',
      `SELECT ${systemColumns('i')}, i::INT AS k, 1725313800::BIGINT AS taken, 'x' AS other FROM range(1) r(i)`,
    )
    const typed = schemaOf(
      { name: 'k', type: { kind: 'Int64' } },
      { name: 'taken', type: { kind: 'Timestamp', unit: 'Second', timezone: 'UTC' } },
    )
    const tables = { 'a/b': { files: [slice], schema: typed } }
    expect(await ask(bench.engine, 'SELECT typeof(k), taken FROM "a/b"', { tables })).toBe(
      '[["BIGINT","2024-09-02T21:50:00Z"]]',
    )
    expect((await refusal(ask(bench.engine, 'SELECT other FROM "a/b"', { tables }))).kind).toBe('SqlUnknownName')
  })

  test('names of columns may hold quotes and anything else', async () => {
    const odd = 'a"b\'c;é'
    const select = `SELECT ${systemColumns('i')}, 7::BIGINT AS "a""b'c;é" FROM range(1) r(i)`
    const path = await writeSlice(bench, 'odd', select)
    const tables = { 'a/b': { files: [path], schema: schemaOf({ name: odd, type: { kind: 'Int64' } }) } }
    expect(await ask(bench.engine, 'SELECT "a""b\'c;é" FROM "a/b"', { tables })).toBe('[[7]]')
  })
})

describe('rows', () => {
  test.each([
    [' ORDER BY k DESC LIMIT 8', { skip: 2, limit: 3 }, '[[7],[6],[5]]', true],
    [' ORDER BY k DESC LIMIT 8', { skip: 5, limit: 3 }, '[[4],[3],[2]]', false],
    ['', { skip: 100, limit: 0 }, '[]', false],
  ])('skip and limit apply outside the statement%s: %o', async (end, window, text, truncated) => {
    const { data, rows, ...rest } = await askWhole(bench.engine, `SELECT k FROM "acme/trips"${end}`, {
      ...options,
      ...window,
    })
    expect([Buffer.from(data).toString(), rows, rest.truncated]).toEqual([text, window.limit, truncated])
  })
})

describe('errors', () => {
  test.each([
    ["SELECT 'é' AS x, selec FROM t t t", 'SqlSyntax', { offset: 33, line: 1, column: 33 }],
    ['SELECT\n  1 +\n', 'SqlSyntax', { offset: 13, line: 3, column: 1 }],
    ['', 'SqlSyntax', { offset: 0, line: 1, column: 1 }],
    ['SELECT 1 \0 + 1', 'SqlSyntax', { offset: 9, line: 1, column: 10 }],
    [' -- nothing', 'SqlSyntax', { offset: 0, line: 1, column: 1 }],
    ['SELECT offset,\n  nope FROM "acme/trips"', 'SqlUnknownName', { offset: 17, line: 2, column: 3 }],
    ['SELECT \'é\', nope FROM "acme/trips"', 'SqlUnknownName', { offset: 13, line: 1, column: 13 }],
    ['SELECT t.nope FROM "acme/trips" t', 'SqlUnknownName', { offset: 7, line: 1, column: 8 }],
    ['SELECT z.k FROM "acme/trips" t', 'SqlUnknownName', { offset: 7, line: 1, column: 8 }],
    ['SELECT uper(note) FROM "acme/trips"', 'SqlUnknownName', { offset: 7, line: 1, column: 8 }],
    ["SELECT 'x'::nosuchtype", 'SqlUnknownName', { offset: 12, line: 1, column: 13 }],
    ['SELECT sum(note) FROM "acme/trips"', 'SqlValue', { offset: 7, line: 1, column: 8 }],
    ['SELECT k, sum(op) FROM "acme/trips"', 'SqlSyntax', { offset: 7, line: 1, column: 8 }],
    ['SELECT CAST(note AS INT) FROM "acme/trips"', 'SqlValue', undefined],
    ['SELECT 9223372036854775807 + k FROM "acme/trips"', 'SqlValue', undefined],
    ["SELECT strptime('x', '%Y')", 'SqlValue', undefined],
    ['PIVOT "acme/trips" ON k USING sum(op)', 'QueryNotAllowed', undefined],
  ])('%s is %s', async (sql, kind, position) => {
    const error = await refusal(ask(bench.engine, sql, options))
    expect([error.kind, error.message]).toEqual([kind, expect.any(String)])
    expect(error.details.position).toEqual(position)
    expect(error.message).not.toMatch(/exception_type|LINE \d|Candidate/)
  })

  test.each([
    'SELECT k, nope FROM "acme/trips" LIMIT 3',
    'SELECT sum(note) FROM "acme/trips" LIMIT 3',
    'SELECT k, sum(op) FROM "acme/trips" LIMIT 3',
    'SELECT CAST(note AS INT) FROM "acme/trips" LIMIT 3',
    'SELECT CAST(note AS INT) AS x, k AS x FROM "acme/trips" LIMIT 3',
    'SELECT k, k FROM "acme/trips" ORDER BY k LIMIT 3',
    'SELECT 9223372036854775807 + k FROM "acme/trips" ORDER BY k LIMIT 3',
    "SELECT strptime('x', '%Y') FROM \"acme/trips\" LIMIT 3",
  ])('%s fails the same as it is written and rewritten', async (sql) => {
    const errorOf = async (limit: number): Promise<unknown> => {
      const asked = { ...options, dataFormat: 'JsonAoo', limit }
      const { kind, message, details } = await refusal(ask(bench.engine, sql, asked))
      return { kind, message, details }
    }
    // A window of fewer rows than its own LIMIT is written around it.
    expect(await errorOf(3)).toEqual(await errorOf(2))
    expect(await errorOf(3)).toEqual(await errorOf(1))
  })

  test('a misspelt column or function comes with candidates', async () => {
    const column = await refusal(ask(bench.engine, 'SELECT nots FROM "acme/trips"', options))
    expect(column.details.candidates).toContain('note')
    const call = await refusal(ask(bench.engine, 'SELECT uper(note) FROM "acme/trips"', options))
    expect(call.details.candidates).toContain('upper')
  })

  test("a missing or damaged slice is the node's failure: no path is told, and the engine goes on", async () => {
    const damaged = await writeSlice(bench, 'damaged', `SELECT ${systemColumns('i')}, i AS k FROM range(10) r(i)`)
    truncateSync(damaged, 100)
    const missing = join(bench.root, 'missing')
    const garbage = join(bench.root, 'garbage')
    writeFileSync(garbage, 'PAR1 no')
    for (const file of [damaged, missing, garbage]) {
      const tables = { 'a/b': { files: [file], schema } }
      const error = await refusal(ask(bench.engine, 'SELECT * FROM "a/b"', { tables }))
      expect(error.kind).toBe('Internal')
      expect(error.message).not.toContain(bench.root)
      expect(await ask(bench.engine, 'SELECT 1')).toBe('[[1]]')
    }
  })

  test('a slice outside the granted directories cannot be read', async () => {
    const tables = { 'a/b': { files: ['/etc/passwd'], schema } }
    expect((await refusal(ask(bench.engine, 'SELECT * FROM "a/b"', { tables }))).kind).toBe('Internal')
  })
})
