// Answers that are signed must come out again: the same rows in 1, 10 or 100 slices give the same bytes, and what
// changes from run to run is refused with its place.
import { beforeAll, describe, expect, test } from 'vitest'
import { ask, type AskOptions, useBench, refusal, schemaOf, systemColumns, writeSlice } from './helpers.ts'

const rows = 20_000
const bench = useBench({ queryMs: 60_000 })
const layouts: AskOptions[] = []

const schema = schemaOf(
  { name: 'k', type: { kind: 'Int64' } },
  { name: 'g', type: { kind: 'String' } },
  { name: 'x', type: { kind: 'Float64' } },
  { name: 'l', type: { kind: 'List', itemType: { kind: 'Int64' } } },
)

beforeAll(async () => {
  for (const count of [1, 10, 100]) {
    const files: string[] = []
    const size = rows / count
    for (let i = 0; i < count; i++) {
      const range = `range(${i * size}, ${(i + 1) * size}) r(i)`
      const columns = `(i * 7919) % 1000 AS k, 'g' || (i % 17) AS g, i / 3.0::DOUBLE AS x, [i % 3, i % 5] AS l`
      files.push(await writeSlice(bench, `s${count}-${i}`, `SELECT ${systemColumns('i')}, ${columns} FROM ${range}`))
    }
    const table = { files, schema }
    layouts.push({ tables: { 'a/t': table, 'a/u': table }, reproducible: true, ascii: true, limit: 500 })
  }
})

describe('the same rows in another number of slices', () => {
  test.each([
    'SELECT * FROM "a/t"',
    'SELECT offset, k FROM "a/t" WHERE k < 100',
    "SELECT k + 1, upper(g) FROM \"a/t\" WHERE g IN ('g1', 'g2') LIMIT 50 OFFSET 10",
    'SELECT k, count(*), sum(x), avg(x) FROM "a/t" GROUP BY k',
    'SELECT g, k % 7, max(offset) FROM "a/t" GROUP BY ALL LIMIT 30',
    'SELECT DISTINCT k FROM "a/t"',
    'SELECT DISTINCT ON (g) k, g FROM "a/t"',
    'SELECT k FROM "a/t" ORDER BY g LIMIT 100',
    'SELECT k, g FROM "a/t" ORDER BY k DESC NULLS FIRST',
    'SELECT * FROM "a/t" ORDER BY g, k % 3 LIMIT 200',
    'SELECT t.k, u.g FROM "a/t" t JOIN "a/u" u USING (k) WHERE t.k < 5',
    'SELECT t.k FROM "a/t" t JOIN "a/u" u ON t.offset = u.offset LIMIT 20',
    'SELECT k FROM "a/t" UNION SELECT offset FROM "a/u"',
    'SELECT offset FROM "a/t" EXCEPT SELECT k FROM "a/u" ORDER BY 1 DESC',
    'WITH c AS (SELECT k, g FROM "a/t" WHERE k > 900) SELECT g, count(*) FROM c GROUP BY g',
    'SELECT g, row_number() OVER (PARTITION BY g ORDER BY offset) FROM "a/t" WHERE k < 20',
    'SELECT g, list(k ORDER BY offset) FROM "a/t" WHERE k < 10 GROUP BY g',
    'SELECT l, count(*) FROM "a/t" GROUP BY l',
    'SELECT k, unnest(l) FROM "a/t" WHERE k < 9',
    'PIVOT (SELECT g, k % 2 AS p FROM "a/t") ON p IN (0, 1) USING count(*)',
    'FROM "a/t" SELECT COLUMNS(\'k|g\') ORDER BY ALL DESC LIMIT 5',
    "SELECT {'g': g, 'n': count(*)} FROM \"a/t\" GROUP BY g",
    'SELECT 1',
    'VALUES (2), (1)',
  ])('%s gives the same bytes', async (sql) => {
    const answers: string[] = []
    for (const layout of layouts) for (let run = 0; run < 2; run++) answers.push(await ask(bench.engine, sql, layout))
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]?.length).toBeGreaterThan(4)
  })
})

describe('order', () => {
  const small = { tables: { 'a/t': { files: [], schema } }, reproducible: true }
  const values = "(VALUES (2, 'b'), (1, 'z'), (2, 'a'), (1, 'a')) v(a, b)"

  test.each([
    ['SELECT offset FROM "a/t" WHERE offset IN (7, 3, 5000)', '[[3],[7],[5000]]'],
    ['SELECT -offset AS o FROM "a/t" LIMIT 3', '[[0],[-1],[-2]]'],
    ['SELECT nullif(-offset, -1) FROM "a/t" LIMIT 3', '[[0],[null],[-2]]'],
    ['SELECT wavg(offset, 1) FROM "a/t" WHERE offset < 3', '[[1.0]]'],
  ])('a scan of one dataset keeps the order of offsets: %s', async (sql, data) => {
    expect(await ask(bench.engine, sql, layouts[2])).toBe(data)
  })

  test.each([
    [`SELECT * FROM ${values}`, '[[1,"a"],[1,"z"],[2,"a"],[2,"b"]]'],
    [`SELECT * FROM ${values} LIMIT 2`, '[[1,"a"],[1,"z"]]'],
    [`SELECT * FROM ${values} ORDER BY a DESC`, '[[2,"a"],[2,"b"],[1,"a"],[1,"z"]]'],
    [`SELECT b FROM ${values} GROUP BY b ORDER BY count(*)`, '[["b"],["z"],["a"]]'],
    [`SELECT a FROM ${values} UNION ALL SELECT 1 ORDER BY a DESC LIMIT 4`, '[[2],[2],[1],[1]]'],
    [`SELECT a, b FROM ${values} ORDER BY ALL DESC`, '[[2,"b"],[2,"a"],[1,"z"],[1,"a"]]'],
  ])('all columns order the rows, and break the ties of an ORDER BY from the left: %s', async (sql, data) => {
    expect(await ask(bench.engine, sql, small)).toBe(data)
  })

  test('large constants and odd names survive the rewriting', async () => {
    const sql = `SELECT 9223372036854775808 AS "a""b", 170141183460469231731687303715884105 AS "é", 'it''s' AS "--" FROM range(2)`
    const row = '{"--":"it\'s","a\\"b":9223372036854775808,"é":170141183460469231731687303715884105}'
    expect(await ask(bench.engine, sql, { ...small, dataFormat: 'JsonAos' })).toBe(`[${row},${row}]`)
  })
})

describe('volatile', () => {
  test.each([
    ['SELECT now()', 'now()', 7],
    ['SELECT 1, random()', 'random()', 10],
    ['SELECT offset, uuid() FROM "a/t"', 'uuid()', 15],
    ['SELECT current_date', 'current_date', 7],
    ['SELECT localtimestamp', 'localtimestamp', 7],
    ["SELECT age(TIMESTAMP '2020-01-01')", 'age()', 7],
    ['SELECT approx_count_distinct(k) FROM "a/t"', 'approx_count_distinct()', 7],
    ["SELECT list_aggr([1], 'approx_quantile')", 'approx_quantile()', 7],
    ['SELECT k FROM "a/t" USING SAMPLE 10', 'a sample', 20],
    ['SELECT * FROM (SELECT k FROM "a/t") TABLESAMPLE 10%', 'a sample', 36],
    ['SELECT k FROM "a/t" TABLESAMPLE 10%', 'a sample', 14],
    ['SELECT t.k FROM "a/t" t POSITIONAL JOIN "a/u" u', 'POSITIONAL JOIN', 24],
    ['SELECT k FROM "a/t" WHERE x > (SELECT random())', 'random()', 38],
    ['SELECT random(), now()', 'random()', 7],
  ])('%s cannot be proven, but runs without a proof', async (sql, construct, offset) => {
    const error = await refusal(ask(bench.engine, sql, layouts[0]))
    expect(error.kind).toBe('NotReproducible')
    expect(error.message).toContain(construct)
    expect(error.details.position?.offset).toBe(offset)
    if (!sql.includes('approx_quantile')) await ask(bench.engine, sql, { ...layouts[0], reproducible: false })
  })

  test('an aggregate of two arguments named like one of the clock is fine', async () => {
    const sql = "SELECT age(TIMESTAMP '2020-01-02', TIMESTAMP '2020-01-01')"
    expect(await ask(bench.engine, sql, { reproducible: true })).toBe('[["P1D"]]')
  })
})

describe('mathematics of the machine', () => {
  const plain =
    'acos asin atan atanh asinh cbrt cos cosh cot exp gamma lgamma ln log log10 log2 sin sinh tan tanh entropy geomean ' +
    'geometric_mean'
  const lists = 'list_entropy list_skewness list_kurtosis list_kurtosis_pop'

  test.each<[string, string]>([
    ...plain.split(' ').map((name): [string, string] => [`${name}(0.5)`, `${name}()`]),
    ...lists.split(' ').map((name): [string, string] => [`${name}([1, 2, 3, 4, 5])`, `${name}()`]),
    ['acosh(1.5)', 'acosh()'],
    ['skewness(k)', 'skewness()'],
    ['kurtosis(k)', 'kurtosis()'],
    ['kurtosis_pop(k) OVER (ORDER BY k)', 'kurtosis_pop()'],
    ['atan2(1, 2)', 'atan2()'],
    ['pow(2, 0.5)', 'pow()'],
    ['power(2, 0.5)', 'power()'],
    ['2 ** 0.5', 'the operator **'],
    ['2 ^ 0.5', 'the operator ^'],
    ["list_aggr([1, 2], 'entropy')", 'entropy()'],
    ['equi_width_bins(0.0, 1.0, 3, true)', 'equi_width_bins()'],
    ['list_transform([1], lambda x: SIN(x))', 'sin()'],
  ])('%s cannot be proven, but runs without a proof', async (expression, construct) => {
    const sql = `SELECT ${expression} FROM (VALUES (1), (2), (4), (9), (3)) v(k)`
    const error = await refusal(ask(bench.engine, sql, { reproducible: true }))
    expect([error.kind, error.message]).toEqual(['NotReproducible', expect.stringContaining(construct)])
    expect(error.details.position).toBeDefined()
    expect(error.details.hint).toContain('x * x')
    await ask(bench.engine, sql, { reproducible: false })
  })

  test('what is exact by IEEE 754, or whole, is proven', async () => {
    const sql =
      'SELECT sqrt(2), round(2.345, 2), round_even(2.5, 0), stddev(k), corr(k, k), k * k FROM "a/t" GROUP BY k'
    expect(await ask(bench.engine, sql, layouts[0])).toContain('1.4142135623730951')
  })
})
