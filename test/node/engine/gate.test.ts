// The gate against every known way out of the sandbox, both bypasses of earlier gates, and honest statements.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { escapeAttempts, hiddenPlaces } from './escape-attempts.ts'
import { ask, type AskOptions, refusal, schemaOf, systemColumns, useBench, writeSlice } from './helpers.ts'

const bench = useBench()
let slice: string
let options: AskOptions
let sliceHash: string

beforeAll(async () => {
  slice = await writeSlice(
    bench,
    'slice',
    `SELECT ${systemColumns('i')}, i::BIGINT AS k, 'n' || i AS note FROM range(10) r(i)`,
  )
  sliceHash = sha3Hash(readFileSync(slice))
  const schema = schemaOf({ name: 'k', type: { kind: 'Int64' } }, { name: 'note', type: { kind: 'String' } })
  options = { tables: { 'acme/trips': { files: [slice], schema }, 'acme/empty': { files: [], schema } } }
})

const refusals = new Set(['QueryNotAllowed', 'SqlSyntax', 'SqlUnknownName', 'DatasetNotFound'])

describe('ways out', () => {
  test('none of the known attempts gets past the gate, and none leaves a trace', async () => {
    const passed: string[] = []
    const leaks: string[] = []
    for (const [what, template] of escapeAttempts) {
      const sql = template
        .replaceAll('$SLICE', slice)
        .replaceAll('$ROOT', bench.root)
        .replaceAll('$OTHER', '/tmp/elsewhere')
      const error = await refusal(ask(bench.engine, sql, options))
      if (!refusals.has(error.kind)) passed.push(`${what}: ${error.kind}`)
      const told = `${error.message} ${JSON.stringify(error.details)}`
      if (told.includes(bench.root) && !sql.includes(bench.root)) leaks.push(what)
    }
    // The cast echoes the caller's own text.
    expect(passed).toEqual(['path in a cast error: SqlValue'])
    expect(leaks).toEqual([])
    expect(escapeAttempts).toHaveLength(206)
    expect(readdirSync(bench.root)).toEqual(['slice'])
    expect(sha3Hash(readFileSync(slice))).toBe(sliceHash)
    expect(existsSync('.tmp')).toBe(false)
    expect(await ask(bench.engine, 'SELECT count(*) FROM "acme/trips"', options)).toBe('[[10]]')
  })

  test('a forbidden call is found in every place where an expression can hide', async () => {
    for (const place of hiddenPlaces) {
      const error = await refusal(
        ask(bench.engine, place.replace(/\bF\b/g, "current_setting('allowed_directories')"), options),
      )
      expect.soft(error.kind, place).toBe('QueryNotAllowed')
      expect.soft(error.message, place).toContain('current_setting')
    }
  })

  test.each([
    ["SELECT * FROM read_csv('/etc/passwd')", 'the table function read_csv', 14],
    ["COPY (SELECT 1) TO 'x'", 'COPY', 0],
    ["ATTACH 'x'", 'ATTACH', 0],
    ['PRAGMA database_list', 'PRAGMA', 0],
    ["  select * from enable_logging('QueryLog')", 'the table function enable_logging', 16],
    ['select 1; select 2', 'more than one statement', 10],
    ['select 1; drop table x', 'DROP', 10],
    ["select 'é', version()", 'the function version', 13],
    ['select * from "acme/trips" at (version => 1)', 'AT (time travel)', 14],
    ['select a::"VARIANT" from (select 1 as a)', 'the type VARIANT', 8],
    ["select json_transform('[1]', 'x' || 'y')", 'json_transform with anything but a structure', 7],
    ['from (show tables)', 'SHOW', undefined],
  ])('%s is refused as %s at byte %s', async (sql, construct, offset) => {
    const error = await refusal(ask(bench.engine, sql, options))
    expect(error.kind).toBe('QueryNotAllowed')
    expect(error.message).toContain(construct)
    expect(error.details.position?.offset).toBe(offset)
  })

  test('nesting has an end, and what is refused for it costs little', async () => {
    const deep = await refusal(ask(bench.engine, `SELECT 1${' + 1'.repeat(5000)}`))
    expect([deep.kind, deep.message]).toEqual(['QueryNotAllowed', 'The statement nests deeper than 1,000 levels.'])
    const many = Array.from({ length: 101 }, (_, i) => `c${i} AS (SELECT 1)`).join(', ')
    expect((await refusal(ask(bench.engine, `WITH ${many} SELECT 1`))).message).toContain('more than 100 common')
  })

  test('names fold as in the engine: a CTE named with the Kelvin sign does not hide a catalogue view', async () => {
    const error = await refusal(
      ask(bench.engine, 'WITH duc\u212Adb_views AS (SELECT 1) SELECT * FROM duckdb_views', options),
    )
    expect(error.kind).toBe('DatasetNotFound')
    const fine = await ask(bench.engine, 'WITH ABC AS (SELECT 1) SELECT * FROM abc', options)
    expect(fine).toBe('[[1]]')
  })

  test('the anchor of a recursive CTE does not see the CTE', async () => {
    const sql =
      'WITH RECURSIVE duckdb_views AS (SELECT sql FROM duckdb_views UNION SELECT sql FROM duckdb_views) SELECT * FROM duckdb_views'
    expect((await refusal(ask(bench.engine, sql, options))).kind).toBe('DatasetNotFound')
  })

  test('a CTE does not see itself, nor one that comes later, and never explains a qualified name', async () => {
    for (const sql of [
      'WITH duckdb_views AS (SELECT * FROM duckdb_views) SELECT 1',
      'WITH a AS (SELECT * FROM duckdb_views), duckdb_views AS (SELECT 1) SELECT * FROM a',
      'WITH duckdb_views AS (SELECT 1) SELECT * FROM main.duckdb_views',
      'SELECT * FROM (WITH duckdb_views AS (SELECT 1) SELECT 1) x, duckdb_views',
      'WITH sqlite_master AS (SELECT 1) SELECT * FROM temp.sqlite_master',
    ]) {
      expect.soft((await refusal(ask(bench.engine, sql, options))).kind, sql).toBe('DatasetNotFound')
    }
  })

  test('an aggregate named by text must be an allowed one, written out', async () => {
    expect(await ask(bench.engine, "SELECT list_aggr([1, 2], 'sum')")).toBe('[[3]]')
    for (const name of ["'stats'", "'su' || 'm'", "(SELECT 'sum')"]) {
      expect((await refusal(ask(bench.engine, `SELECT list_aggr([1, 2], ${name})`))).kind).toBe('QueryNotAllowed')
    }
  })

  test('names of the session are refused unless a column or alias has the name', async () => {
    for (const name of ['user', 'current_schema', 'session_user', 'current_catalog', 'CURRENT_USER']) {
      expect((await refusal(ask(bench.engine, `SELECT ${name} FROM "acme/trips"`, options))).kind).toBe(
        'QueryNotAllowed',
      )
    }
    expect(await ask(bench.engine, "SELECT user FROM (SELECT 'u' AS user)")).toBe('[["u"]]')
    for (const name of ['user', 'current_user', 'session_user', 'current_role', 'current_schema', 'current_catalog']) {
      for (const sql of [
        `SELECT ${name}, 1 AS ${name}`,
        `SELECT ${name} FROM (SELECT a FROM (SELECT 1 AS a, 2 AS ${name}))`,
        `WITH x(${name}) AS (SELECT 1) SELECT ${name} FROM "acme/trips"`,
        `SELECT (SELECT ${name} FROM "acme/trips" LIMIT 1) FROM (SELECT 1 AS "x") AS ${name}`,
      ]) {
        const end = await ask(bench.engine, sql, options).catch((error: unknown) => error)
        // The engine refuses to look forward, in its own words.
        const kind = sql.startsWith(`SELECT ${name},`) ? 'SqlSyntax' : 'QueryNotAllowed'
        expect.soft(end, sql).toMatchObject({ kind, message: expect.stringContaining(name) })
      }
    }
    const schema = schemaOf({ name: 'user', type: { kind: 'String' } })
    expect(await ask(bench.engine, 'SELECT user FROM "a/b"', { tables: { 'a/b': { files: [], schema } } })).toBe('[]')
  })
})

describe('honest statements', () => {
  test.each([
    [
      'WITH a AS (SELECT k FROM "acme/trips"), b AS (SELECT k FROM a WHERE k < 2) SELECT * FROM b ORDER BY k',
      '[[0],[1]]',
    ],
    ['WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r', '[[1],[2],[3]]'],
    [
      'WITH RECURSIVE t(a, b) USING KEY (a) AS (SELECT 1, 1 UNION SELECT a, b + 1 FROM t WHERE b < 3) SELECT * FROM t',
      '[[1,3]]',
    ],
    ['SELECT a.k FROM "acme/trips" a ASOF JOIN "acme/trips" b ON a.k >= b.k ORDER BY 1 LIMIT 1', '[[0]]'],
    ['SELECT count(*) FROM "acme/trips" a POSITIONAL JOIN "acme/trips" b', '[[10]]'],
    ['PIVOT (SELECT k % 2 AS p, k FROM "acme/trips") ON p IN (0, 1) USING sum(k)', '[[20,25]]'],
    ['FROM (SELECT 1 AS a, 2 AS b) UNPIVOT (v FOR n IN (a, b))', '[["a",1],["b",2]]'],
    ['SELECT list_transform([1, 2], lambda x: x + 1)', '[[[2,3]]]'],
    ['SELECT [x * 2 FOR x IN [1, 2] IF x > 1]', '[[[4]]]'],
    ['SELECT COLUMNS(\'k|op\') FROM "acme/trips" LIMIT 1', '[[0,0]]'],
    ['SELECT * EXCLUDE (system_time, event_time) REPLACE (k + 1 AS k) FROM "acme/trips" LIMIT 1', '[[0,0,1,"n0"]]'],
    ['SELECT * RENAME (k AS z) FROM "acme/empty"', '[]'],
    [
      'SELECT k % 2, count(*), grouping(k % 2) FROM "acme/trips" GROUP BY ROLLUP (k % 2) ORDER BY ALL',
      '[[0,5,0],[1,5,0],[null,10,1]]',
    ],
    [
      'SELECT sum(k) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM "acme/trips" LIMIT 2',
      '[[null],[0]]',
    ],
    ['SELECT k FROM "acme/trips" QUALIFY row_number() OVER (ORDER BY k DESC) = 1', '[[9]]'],
    ['SELECT DISTINCT ON (k % 2) k FROM "acme/trips" ORDER BY k % 2, k', '[[0],[1]]'],
    ['FROM "acme/trips" SELECT max(k)', '[[9]]'],
    ['FROM "acme/empty"', '[]'],
    ["VALUES (1, 'a'), (2, 'b')", '[[1,"a"],[2,"b"]]'],
    ['SELECT 1 UNION SELECT 2 EXCEPT SELECT 2', '[[1]]'],
    ["SELECT TIMESTAMP '2024-01-01 00:00:00' AT TIME ZONE 'Europe/Berlin'", '[["2023-12-31T23:00:00Z"]]'],
    ['SELECT k FROM "acme/trips" WHERE k IN (SELECT max(k) FROM "acme/trips")', '[[9]]'],
    ['SELECT t.note.upper() FROM "acme/trips" t WHERE t.k = 1', '[["N1"]]'],
    ["SELECT ('abc').upper()", '[["ABC"]]'],
    ["SELECT ('{\"a\": [1, 2]}'::JSON -> 'a')::VARCHAR, '{\"a\": 1}' ->> '$.a'", '[["[1,2]","1"]]'],
    ['SELECT x FROM generate_series(1, 3) t(x), unnest([7]) u(y)', '[[1],[2],[3]]'],
    ["SELECT nullif(1, 1), split_part('a-b', '-', 2), ifnull(NULL, 3), if(true, 1, 2)", '[[null,"b",3,1]]'],
    [
      'SELECT count(*) FILTER (WHERE k > 4), string_agg(note, \',\' ORDER BY k DESC) FROM "acme/trips" WHERE k > 7',
      '[[2,"n9,n8"]]',
    ],
    ["SELECT INTERVAL 3 DAY, DATE '2024-02-29' + INTERVAL 1 YEAR", '[["P3D","2025-02-28T00:00:00"]]'],
    ["SELECT TRY(CAST('x' AS INT)), TRY_CAST('1' AS INT)", '[[null,1]]'],
    ['SELECT #1 FROM (SELECT 5 AS a)', '[[5]]'],
    ["SELECT 'a' COLLATE nocase = 'A'", '[[true]]'],
    ['(SELECT 1) ORDER BY 1;', '[[1]]'],
    ['TABLE "acme/empty"', '[]'],
    ['SELECT unnest([1, 2])', '[[1],[2]]'],
    ['SELECT (SELECT count(*) FROM "acme/trips" i WHERE i.k < o.k) FROM "acme/trips" o WHERE o.k = 4', '[[4]]'],
    ['-- a comment\nSELECT /* another */ 1', '[[1]]'],
  ])('%s runs', async (sql, data) => {
    expect(await ask(bench.engine, sql, options)).toBe(data)
  })
})
