// The rows that come first in an order are those of the whole answer, however the files lie: with NULLS FIRST behind an outer join,
// over another LIMIT, over DISTINCT ON. And what the engine may answer in one order or another, which has no proof.

import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { NodeError } from '../../../src/libraries/base/errors.ts'
import { ask, type AskOptions, schemaOf, systemColumns, useBench } from './helpers.ts'

const bench = useBench({ queryMs: 60_000 })
const schema = schemaOf({ name: 'k', type: { kind: 'Int32' } }, { name: 'd', type: { kind: 'Int32' } })
let tables: NonNullable<AskOptions['tables']> = {}

async function written(name: string, rows: string): Promise<string> {
  const path = join(bench.root, name)
  await bench.trusted.run(`COPY (${rows}) TO '${path}' (FORMAT parquet)`)
  return path
}

beforeAll(async () => {
  const columns = systemColumns('i')
  const many = `SELECT ${columns}, CASE WHEN i % 50 > 0 THEN -2 END AS k, i::INT AS d FROM range(3000) r(i)`
  const few = Array.from({ length: 12 }, (_, at) => {
    const from = 3000 + 8 * at
    return `SELECT ${columns}, 7 AS k, i::INT AS d FROM range(${from}, ${from + 8}) r(i)`
  })
  const files = await Promise.all([many, ...few].map((rows, at) => written(`t${at}`, rows)))
  const other = `SELECT ${columns}, (i % 5)::INT AS k, (i * 3)::INT AS d FROM range(1033) r(i)`
  tables = {
    t: { files, schema, rows: 3096 },
    u: { files: [await written('u', other)], schema, rows: 1033 },
  }
})

const options = (): AskOptions => ({ tables, reproducible: true, ascii: true })

/** With any LIMIT they are those of the whole answer. */
async function expectFirst(sql: string, how: AskOptions = {}): Promise<void> {
  const asked = { ...options(), ...how }
  const whole = JSON.parse(await ask(bench.engine, sql, { ...asked, limit: 10_000 })) as unknown[]
  for (const limit of [1, 40, 150, 400]) {
    const found = JSON.parse(await ask(bench.engine, sql, { ...asked, limit })) as unknown[]
    expect([sql, limit, found]).toEqual([sql, limit, whole.slice(0, limit)])
  }
}

describe('NULLS FIRST behind an outer join', () => {
  const joins = ['t right join u on t.d = u.d', 'u left join t on t.d = u.d', 't full join u on t.d = u.d']
  const orders = ['t.k nulls first', '1 nulls first, 2 desc', 'n desc nulls first', 't.k + 1 nulls first', 't.k']
  const cases = joins.flatMap((from) => orders.map((order) => [from, order] as const))

  it.each(cases)('%s order by %s', async (from, order) => {
    const sql = `select t.k as n, u.d from ${from} order by ${order}`
    const whole = JSON.parse(await ask(bench.engine, sql, { ...options(), limit: 10_000 })) as unknown[]
    for (const limit of [1, 40, 150, 400]) {
      const found = JSON.parse(await ask(bench.engine, sql, { ...options(), limit })) as unknown[]
      expect(found).toEqual(whole.slice(0, limit))
      const own = JSON.parse(await ask(bench.engine, `${sql} limit ${limit}`, { ...options(), limit: 10_000 }))
      expect(own).toEqual(found)
    }
  })

  const others = [
    'select t.k, t.d from t right join u on t.d = u.d union all select k, d from u order by 1 nulls first',
    'select t.k, t.d from t right join u on t.d = u.d order by all nulls first',
  ]
  it.each(others)('%s', async (sql) => await expectFirst(sql))
})

describe('the first rows of those that a statement chooses', () => {
  const chosen = [
    '(select * from t order by "offset" limit 1900)',
    '(select * from t order by d desc limit 200)',
    '(select distinct on (d % 3) * from t order by d % 3, "offset")',
  ]
  const orders = ['k', 'k desc', '2', '2 desc', 'all', 'd, k']
  const cases = chosen.flatMap((from) => orders.map((order) => [from, order] as const))

  it.each(cases)('%s order by %s', async (from, order) => {
    // Where the order of parts might decide there is no proof; here it does not.
    const how = { reproducible: false, ordered: true }
    await expectFirst(`select k, d from t union all select k, d from ${from} c order by ${order}`, how)
    await expectFirst(`select k, d from ${from} c order by ${order}`, how)
    const named = `with c as not materialized ${from} select k, d from u union all select k, d from c order by ${order}`
    await expectFirst(named, how)
  })

  it('are told where their order is not asked for, too, and others after them are planned as before', async () => {
    const sql = `select k, d from t union all select k, d from ${chosen[1]} c order by d desc`
    await expectFirst(sql, { reproducible: false })
    expect(await ask(bench.engine, 'select d from u order by d limit 2', options())).toBe('[[0],[3]]')
  })
})

describe('parts of a UNION', () => {
  const union = '(select * from t where k < 2 union all select * from t where k > 3)'
  const asked = async (sql: string, reproducible: boolean): Promise<string> =>
    await ask(bench.engine, sql, { ...options(), reproducible }).catch((error: NodeError) => error.kind)

  it('have no proof where their order decides the answer', async () => {
    for (const sql of [
      `select list(z.k) from ${union} z where z.k > (select min(k) from t)`,
      `select row_number() over (order by z.k) from ${union} z join u using (d)`,
      'with a as (select * from t) select list(o) from (select k as o from a union all select -k from a)',
      'select list(o) from (select k as o from t group by k union all select -k from t group by k)',
      `select list(k) from ${union}`,
    ]) {
      expect([sql, await asked(sql, true)]).toEqual([sql, 'NotReproducible'])
      expect(await asked(sql, false)).toMatch(/^\[/)
    }
  })

  it('have one where it does not', async () => {
    expect(await asked(`select count(*) from ${union} z where z.k > (select min(k) from t)`, true)).toMatch(/^\[\[/)
  })
})
