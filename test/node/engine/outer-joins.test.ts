// Rows that come first with NULLS FIRST behind an outer join: those of the whole answer, however the files of the other side
// lie. And what the engine may answer in one order or another, which has no proof.

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

  it('is refused where no key can stand before', async () => {
    const union = 'select t.k from t right join u using (d) union all select k from u order by 1 nulls first'
    for (const sql of [union, 'select t.k from t right join u using (d) order by all nulls first']) {
      const refused = await ask(bench.engine, sql, options()).catch((error: NodeError) => error.kind)
      expect([sql, refused]).toEqual([sql, 'QueryNotAllowed'])
    }
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
