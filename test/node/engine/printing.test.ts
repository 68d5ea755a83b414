// What runs is what was asked: the engine's printer may not change a number, a type or a name on the way from the
// caller's text to the rewritten one. Our answers against the engine's own on the caller's text.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { firstDifference, jsonCheckStatement, printable } from '../../../src/libraries/sql/printable.ts'
import { objects } from '../../../src/libraries/sql/tree.ts'
import { jsonText } from '../../../src/libraries/base/json/json.ts'
import {
  ask,
  askWhole,
  refusal,
  schemaOf,
  systemColumns,
  topNodeOf,
  treeOf,
  useBench,
  usePlainEngine,
  writeSlice,
} from './helpers.ts'
import { statements } from './statements.ts'

const bench = useBench()
const scalar = usePlainEngine()

/** The values of a statement as text, and their types, with and without our rewriting. */
async function both(columns: readonly string[]): Promise<{ ours: string; own: string }> {
  const sql = `SELECT [${columns.map((text) => `(${text})::VARCHAR || ' ' || typeof(${text})`).join(', ')}]::VARCHAR`
  const own = JSON.stringify([[await scalar(sql)]])
  const [plain, proven] = [await ask(bench.engine, sql), await ask(bench.engine, sql, { reproducible: true })]
  expect(proven).toBe(plain)
  return { ours: plain, own }
}

describe('the printed text', () => {
  test('says what its tree says, for everything in the corpus', async () => {
    const different: string[] = []
    const [check = new Map()] = objects(await topNodeOf(scalar, jsonCheckStatement), 'select_list')
    for (const sql of statements) {
      const tree = await treeOf(scalar, sql)
      const { node } = printable(tree, check)
      const printed = await scalar('SELECT json_deserialize_sql($1::VARCHAR)', jsonText(node))
      if (firstDifference(node, await treeOf(scalar, printed)) !== undefined) different.push(`${sql} => ${printed}`)
    }
    // The values of a PIVOT are no expressions, so they cannot be written as casts.
    expect(different.map((line) => line.replace(/ => .*/, ''))).toEqual([
      "FROM t PIVOT (sum(a) FOR b IN (1e3, -1.5, 'x'))",
      'PIVOT (SELECT 1 AS a) ON a IN (1e0, 1.) USING count(*)',
    ])
  })

  test('keeps cross joins inside of other joins', async () => {
    const [a, b, c] = ['(VALUES (1), (2)) a(x)', '(VALUES (3), (4), (5)) b(y)', '(VALUES (1), (5)) c(x)']
    const joins = [
      `${a} CROSS JOIN ${b} JOIN ${c} ON a.x = c.x`,
      `${a}, ${b} LEFT JOIN ${c} ON b.y = c.x`,
      `${c} LEFT JOIN (${a} CROSS JOIN ${b}) ON a.x = c.x`,
      `${a} CROSS JOIN (${b} CROSS JOIN ${c})`,
      `(${a} CROSS JOIN ${b} CROSS JOIN (VALUES (7), (8)) d(z)) RIGHT JOIN ${c} ON b.y = c.x`,
      `(${a} CROSS JOIN ${b}) JOIN (VALUES (7), (8)) d(z) ON true JOIN ${c} USING (x)`,
      `${a} CROSS JOIN ${b}, ${c}`,
    ]
    // A double is written as a cast, so that each is printed.
    const { ours, own } = await both(joins.map((join) => `(SELECT count(*) + sum(1e0) FROM ${join})`))
    expect(ours).toBe(own)
  })

  test('a tree that says something else is told from one that does not', async () => {
    for (const [one, other, same] of [
      ['SELECT 1e3', 'SELECT 1000.0', false],
      ['SELECT 1.', 'SELECT 1', false],
      ['SELECT a FROM t', 'SELECT  a  FROM t -- x', true],
      ['SELECT a FROM t', 'SELECT b FROM t', false],
      ['SELECT a GROUP BY CUBE (a, b), c', 'SELECT a GROUP BY GROUPING SETS ((c), (a, c), (a, b, c), (b, c))', true],
      ['SELECT a GROUP BY CUBE (a, b), c', 'SELECT a GROUP BY GROUPING SETS ((c), (a, c), (a, b, c), (b, a))', false],
      ['FROM (VALUES (1)) v', 'FROM (SELECT * FROM (VALUES (1)) valueslist) v', true],
      ['FROM (VALUES (1)) v', 'FROM (SELECT * FROM (VALUES (1)) valueslist LIMIT 1) v', false],
      ['FROM (VALUES (1)) v', 'FROM (SELECT * FROM (VALUES (2)) valueslist) v', false],
    ] as const) {
      const difference = firstDifference(await treeOf(scalar, one), await treeOf(scalar, other))
      expect.soft(difference === undefined, `${one} | ${other}`).toBe(same)
    }
  })

  test('a statement that runs as its text has the rows of the printed one, and its errors', async () => {
    const select = `SELECT ${systemColumns('i')}, (i * 7 % 10)::BIGINT AS k, 'n' || i AS note FROM range(10) r(i)`
    const fields = [
      { name: 'k', type: { kind: 'Int64' } } as const,
      { name: 'note', type: { kind: 'String' } } as const,
    ]
    const tables = { 'a/t': { files: [await writeSlice(bench, 'text', select)], schema: schemaOf(...fields) } }
    for (const [rest, at] of [
      ['FROM "a/t" LIMIT 7', 3],
      ['FROM "a/t" WHERE offset >= 2 ORDER BY offset LIMIT 5', 4],
      ['FROM "a/t" WHERE k > 2 AND note <> \'n4\' ORDER BY k DESC LIMIT 6 OFFSET 1; -- the end', 5],
    ] as const) {
      for (const items of ['*', 'k, note AS "Odd name", k', 'DISTINCT k % 3', 'sum(k) OVER (ORDER BY k) AS s, k']) {
        const sql = `SELECT ${items} ${rest}`
        const [whole, again] = [
          await askWhole(bench.engine, sql, { tables }),
          await askWhole(bench.engine, sql, { tables }),
        ]
        const rows = JSON.parse(Buffer.from(whole.data).toString()) as unknown[]
        const cut = await askWhole(bench.engine, sql, { tables, limit: Math.min(at, rows.length) - 1 })
        expect([sql, again]).toEqual([sql, whole])
        expect([sql, whole.truncated, cut.truncated]).toEqual([sql, false, true])
        expect([sql, JSON.parse(Buffer.from(cut.data).toString())]).toEqual([sql, rows.slice(0, cut.rows)])
      }
    }
    const failing = ask(bench.engine, 'SELECT (note || \'\')::INT FROM "a/t" LIMIT 3', { tables })
    expect((await refusal(failing)).kind).toBe('SqlValue')
    expect(await ask(bench.engine, 'SELECT k FROM "a/t" ORDER BY offset LIMIT 1', { tables })).toBe('[[0]]')
  })

  test('what cannot be printed faithfully is refused, with its place and what helps', async () => {
    const error = await refusal(ask(bench.engine, 'PIVOT (SELECT 1e0 AS a) ON a IN (1e0) USING count(*)'))
    expect([error.kind, error.details.hint]).toEqual(['QueryNotAllowed', expect.stringContaining('CAST')])
  })
})

describe('numbers', () => {
  test.each([
    ['SELECT (0.1e0 + 0.2e0) = 0.3e0', '[[false]]'],
    ['SELECT 1e0 - 0.9e0', '[[0.09999999999999998]]'],
    [
      'SELECT typeof(1e3), typeof(-1e3), typeof(1.), typeof(-1.)',
      '[["DOUBLE","DOUBLE","DECIMAL(1,0)","DECIMAL(1,0)"]]',
    ],
    ['SELECT hash(1e0) = hash(1e0::DOUBLE), hash(1e0) = hash(1.0)', '[[true,false]]'],
    ['SELECT x FROM (SELECT 1e3 AS x UNION ALL SELECT 2e3) ORDER BY x DESC', '[[2000.0],[1000.0]]'],
    ['SELECT "1000.0" FROM (SELECT 1e3)', '[[1000.0]]'],
    ['SELECT "(a * 1.5)" FROM (SELECT a * 15e-1 FROM (SELECT 2e0 AS a))', '[[3.0]]'],
    ['SELECT 1e0 UNION BY NAME SELECT 1.0', '[[1.0]]'],
    ["SELECT {'a': 1e0, 'b': 1.}, [1e0], list_transform([1e0], lambda x: x + 1e0)", '[[[1.0,"1"],[1.0],[2.0]]]'],
    ['SELECT count(*) FROM range(10) LIMIT 1e1', '[[10]]'],
    ['SELECT range FROM range(10) LIMIT 2e1%', '[[0],[1]]'],
    ['SELECT true IS TRUE, NULL IS NOT TRUE, false IS UNKNOWN', '[[true,true,false]]'],
    ['SELECT * FROM (VALUES (1e0, 1.), (2e0, 2.)) v(a, b) WHERE a > 15e-1', '[[2.0,"2"]]'],
    [
      'SELECT a, b, c, count(*) FROM (SELECT 1 AS a, 2 AS b, 3 AS c) GROUP BY CUBE (a, b), c ORDER BY ALL LIMIT 1',
      '[[1,2,3,1]]',
    ],
  ])('%s', async (sql, data) => {
    expect(await ask(bench.engine, sql)).toBe(data)
    expect(await ask(bench.engine, sql, { reproducible: true })).toBe(data)
  })

  test('every numeric literal has the value and the type that the engine gives it', async () => {
    const digits = fc.stringMatching(/^[0-9]{1,12}$/)
    const whole = fc.oneof(digits, fc.stringMatching(/^(?:[0-9]{1,45}|[0-9]{1,3}(_[0-9]{1,3}){0,3})$/))
    const fraction = fc.oneof(
      fc.constantFrom('', '.'),
      digits.map((text) => `.${text}`),
    )
    const power = fc.oneof(
      fc.constantFrom('', 'E+2'),
      fc.integer({ min: -30, max: 30 }).map((value) => `e${value}`),
    )
    const literal = fc.tuple(fc.constantFrom('', '', '-', '- '), whole, fraction, power).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(fc.array(literal, { minLength: 1, maxLength: 12 }), async (columns) => {
        const { ours, own } = await both(columns)
        expect(ours).toBe(own)
      }),
      { numRuns: 60 },
    )
  })

  test('every double has the value that the engine gives it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }), async (all) => {
        const { ours, own } = await both(all.map((value) => value.toExponential()))
        expect(ours).toBe(own)
      }),
      { numRuns: 40 },
    )
  })
})
