// Windows of one SELECT are each computed over their own partitions, whatever the engine holds for the same keys: over generated
// pairs, against SQLite and against the window by itself. Last, what the engine does by itself: when that is right, libraries/sql/windows.ts
// is no longer needed.

import { beforeAll, describe, expect, it } from 'vitest'
import { numbers } from './generated.ts'
import {
  ask,
  type AskOptions,
  refusal,
  schemaOf,
  systemColumns,
  useBench,
  usePlainEngine,
  writeSlice,
} from './helpers.ts'

const bench = useBench({ queryMs: 60_000 })
const plain = usePlainEngine()
const int = (name: string): { name: string; type: { kind: 'Int32' } } => ({ name, type: { kind: 'Int32' } })
const schema = schemaOf(...['a', 'b', 'c', 'v'].map(int))
let tables: NonNullable<AskOptions['tables']> = {}

beforeAll(async () => {
  const rows = (count: number): string =>
    `SELECT ${systemColumns('i')}, nullif(i % 3, 2)::INT AS a, (i % 4)::INT AS b, (i % 5)::INT AS c, i::INT AS v FROM range(${count}) r(i)`
  tables = {
    t: { files: [await writeSlice(bench, 't', rows(60))], schema },
    u: { files: [await writeSlice(bench, 'u', rows(5))], schema },
  }
})

/** FROM clauses, with keys that may be the same there. */
const places: readonly [string, readonly string[]][] = [
  ['t', ['a', 't.a', 'A', 'a + 0', 'a::int', 'lower(a::text)', '1', '2 - 1', 'b', 'c', 'b % 2']],
  ['t where a = c', ['a', 'c', 't.c', 'b', '1']],
  ['t join u on t.a = u.a', ['t.a', 'u.a', 't.b', 'u.b', 't.c']],
  ['t join u using (a)', ['a', 't.a', 'u.a', 't.b', 't.c']],
  ['t, u where t.a = u.a and t.b = u.c', ['t.a', 'u.a', 't.b', 'u.c', 't.c']],
  ['t left join u on t.a = u.a', ['t.a', 'u.a', 't.b', 't.c']],
  ['t semi join u using (a)', ['t.a', 'a', 'b', 'c']],
  ['(select *, a as d from t) t', ['a', 'd', 'b', 'c']],
]

/** Rows of the answer, with a proof or without one. */
async function rowsOf(sql: string, how: AskOptions = {}): Promise<unknown[][]> {
  const text = await ask(bench.engine, sql, { tables, limit: 5000, reproducible: true, ...how })
  return JSON.parse(text) as unknown[][]
}

describe('two windows of one SELECT', () => {
  const next = numbers(1)
  const pick = (keys: readonly string[]): string =>
    Array.from({ length: 2 + next(2) }, () => keys[next(keys.length)]).join(', ')
  const cases = Array.from({ length: 25 }, () => {
    const [from, keys] = places[next(places.length)] ?? ['t', []]
    return [from, pick(keys), pick(keys)] as const
  })

  it('are each what it is by itself', async () => {
    for (const [from, one, other] of cases) {
      const windows = [`sum(t.v) over (partition by ${one})`, `count(*) over (partition by ${other})`]
      const sql = (columns: string): string => `select t.v, ${columns} from ${from} order by all`
      const both = await rowsOf(sql(windows.join(', ')))
      const [first = [], second = []] = await Promise.all(windows.map(async (window) => await rowsOf(sql(window))))
      const expected = first.map(([v, sum], at) => [v, sum, second[at]?.[1]])
      expect([from, one, other, both]).toEqual([from, one, other, expected])
      expect(await rowsOf(sql(windows.join(', ')), { reproducible: false })).toEqual(both)
    }
  }, 60_000)

  const sum = 'sum(v) over (partition by a, a)'
  const count = 'count(*) over (partition by a, b)'
  const named = 'sum(v) over s, count(*) over c from t window s as (partition by a, a), c as (partition by a, b)'
  const inside = (from: string): string => `select x, y from (${from}) z order by all`
  const whole = inside(`select sum(v) over (partition by a) as x, count(*) over (partition by a, b) as y from t`)

  it.each([
    inside(`select ${sum} as x, ${count} as y from t`),
    inside(`select ${count} as y, ${sum} as x from t`),
    `select ${named} order by all`,
    inside(`select ${sum} as x, y from (select *, ${count} as y from t) t`),
    `with c as (select ${sum} as x, ${count} as y from t) select * from c order by all`,
    inside(`select ${sum} as x, ${count} as y from t union all select 1, 1 where false`),
    inside(`select ${sum} as x, ${count} as y from t qualify ${count} > 0 and ${sum} >= 0`),
    inside(`select a as e, sum(v) over (partition by e, a) as x, ${count} as y from t`),
    inside(`select ${sum} + 0 as x, ${count} as y from t order by sum(v) over (partition by b, b)`),
  ])('%s', async (sql) => expect(await rowsOf(sql)).toEqual(await rowsOf(whole)))

  it('keep their names', async () => {
    const options = { tables, dataFormat: 'JsonAos', limit: 1 } as const
    const own = 'sum(v) OVER (PARTITION BY a, a)'
    for (const reproducible of [true, false]) {
      const answer = await ask(bench.engine, `select ${sum}, ${count} from t`, { ...options, reproducible })
      expect(Object.keys((JSON.parse(answer) as object[])[0] ?? {})).toContain(own)
      const inner = `select "${own}" from (select ${sum}, ${count} from t)`
      expect(await ask(bench.engine, inner, { ...options, reproducible })).toContain(own)
    }
  })

  it('have one key each in a subquery that the row around it decides', async () => {
    const columns = (a: string): string => `sum(v) over (partition by ${a}) as x, count(*) over (partition by b) as y`
    const lateral = (a: string): string =>
      `select u.v, x, y from u, lateral (select ${columns(a)} from t where t.a = u.a) order by all`
    expect(await rowsOf(lateral('a'))).toEqual(await rowsOf(lateral("a, 'other'")))
    const scalar = (a: string): string =>
      `select v, (select list([x, y] order by x, y) from (select ${columns(a)} from t where t.a = u.a)) from u order by all`
    expect(await rowsOf(scalar('a'))).toEqual(await rowsOf(scalar("a, 'other'")))
  })

  it('have their columns written out, and are not too many', async () => {
    const many = await refusal(rowsOf("select sum(v) over (partition by columns('a|b'), a) from t"))
    expect([many.kind, many.message]).toEqual(['QueryNotAllowed', 'Queries may not use COLUMNS() in PARTITION BY.'])
    const windows = (count: number): string =>
      Array.from({ length: count }, (_, at) => `max(v) over (partition by a, ${at})`).join(', ')
    expect((await refusal(rowsOf(`select ${windows(200)} from u`))).kind).toBe('QueryNotAllowed')
    expect((await rowsOf(`select ${windows(60)} from u`))[0]?.length).toBe(60)
  })
})

describe('the engine by itself', () => {
  const src = '(values (1, 1, 10), (1, 2, 20)) s(a, b, v)'

  it.each([
    `select sum(v) over (partition by a, a), sum(v) over (partition by a, b) from ${src} order by b limit 1`,
    `select 30, sum(v) over (partition by s.a, b) from ${src} join (select 1 as a) r on r.a = s.a
      qualify sum(v) over (partition by s.a, r.a) > 0 order by b limit 1`,
  ])('is still wrong: %s', async (sql) => {
    expect(await plain(`select list(row(*columns(*)))::varchar from (${sql})`)).toBe('[(30, 30)]')
    expect(await rowsOf(sql)).toEqual([[30, 10]])
  })
})
