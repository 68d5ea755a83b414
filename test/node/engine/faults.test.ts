// What the engine answers wrongly, and what we do about it: generated statements against SQLite (by hand 10,000 of them, with
// STATEMENTS=10000 and SEED), what is refused with what to write instead, and the engine by itself. Where that is right, a newer
// engine has made something of ours needless: docs/engines.md says what.

import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, it } from 'vitest'
import { generatedPairs } from './generated-pairs.ts'
import { generatedStatements, literalRows } from './generated.ts'
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
const sqlite = new DatabaseSync(':memory:')
let tables: NonNullable<AskOptions['tables']> = {}

beforeAll(async () => {
  const fields = ['id', 'a', 'b', 'c', 'v'].map((name) => ({ name, type: { kind: 'Int32' as const } }))
  const schema = schemaOf(...fields, { name: 's', type: { kind: 'String' } })
  for (const [name, count, seed] of [
    ['t', 40, 1],
    ['u', 14, 2],
    ['w', 6, 3],
  ] as const) {
    const rows = literalRows(count, seed)
    sqlite.exec(
      `create table ${name}(id integer, a integer, b integer, c integer, v integer, s text); insert into ${name} values ${rows.join(', ')}`,
    )
    const types = [...fields.map((field) => `${field.name}::INT AS ${field.name}`), 's::VARCHAR AS s'].join(', ')
    const files = []
    for (let from = 0; from < count; from += 16) {
      const values = `(VALUES ${rows.slice(from, from + 16).join(', ')}) r(id, a, b, c, v, s)`
      files.push(await writeSlice(bench, `${name}${from}`, `SELECT ${systemColumns('id')}, ${types} FROM ${values}`))
    }
    tables = { ...tables, [name]: { files, schema } }
  }
})

const rowsOf = async (sql: string, reproducible = false): Promise<unknown[][]> =>
  JSON.parse(await ask(bench.engine, sql, { tables, limit: 1_000_000, reproducible })) as unknown[][]

/** As both have them: SQLite has no booleans. */
const sorted = (rows: readonly (readonly unknown[])[]): string[] =>
  rows.map((row) => JSON.stringify(row.map((cell) => (typeof cell === 'boolean' ? Number(cell) : cell)))).toSorted()

describe('generated statements', () => {
  const count = Number(process.env['STATEMENTS'] ?? 80)
  const seed = Number(process.env['SEED'] ?? 7)
  const alike = generatedStatements(count, seed).map((sql) => [sql, sql] as const)

  it.each([
    ['that SQLite reads alike', alike],
    ['of the engine alone', generatedPairs(count, seed)],
  ])(
    '%s give what SQLite gives',
    async (_, pairs) => {
      for (const [ours, theirs] of pairs) {
        const query = sqlite.prepare(theirs)
        query.setReturnArrays(true)
        const expected = query.all() as unknown as unknown[][]
        expect([ours, sorted(await rowsOf(ours))]).toEqual([ours, sorted(expected)])
      }
    },
    60_000 + 100 * count,
  )
})

const asofRows = `l as (select * from (values (1, null, 5), (2, 1, 5)) l(id, a, t)),
  r as (select * from (values (10, null, 3), (11, 1, 4)) r(id, a, t))`

describe('refused', () => {
  it.each([
    ['l asof join r on l.a is not distinct from r.a and l.t >= r.t', 'IS [NOT] DISTINCT FROM in an ASOF JOIN'],
    ['l asof left join r on not (l.a is distinct from r.a) and l.t >= r.t', 'IS [NOT] DISTINCT FROM in an ASOF JOIN'],
    ['l, (select * from r x asof join r y on x.t >= y.t) z', 'an ASOF JOIN in a subquery or on the right of a join'],
    [
      'l where exists (select 1 from r x asof join r y on x.t >= y.t)',
      'an ASOF JOIN in a subquery or on the right of a join',
    ],
  ])('%s', async (from, construct) => {
    const { kind, message, details } = await refusal(rowsOf(`with ${asofRows} select * from ${from}`))
    expect([kind, message]).toEqual(['QueryNotAllowed', `Queries may not use ${construct}.`])
    expect(details.hint).toMatch(/^(?:Write|Put)/)
  })

  it('is what the hints say instead', async () => {
    const same = '(l.a = r.a or (l.a is null and r.a is null))'
    const joined = `with ${asofRows}, z as (select l.id as i, r.id as j from l asof join r on ${same} and l.t >= r.t)`
    expect(await rowsOf(`${joined} select * from z order by all`)).toEqual([
      [1, 10],
      [2, 11],
    ])
    expect(await rowsOf(`${joined} select id from l where id in (select i from z) order by all`)).toEqual([[1], [2]])
  })
})

describe('the engine by itself is still wrong', () => {
  const around = `with t(id, views, likes) as (values (1, 100, 10), (2, 150, 20), (3, null, 5), (4, 7, 30)) select count(*) from t x
    where exists (select 1 from (select x.id as c, y.views as d from t y where x.likes > y.likes) z where z.d <> x.likes)`
  const of = (asof: string): string => `(select * from l where l.a is not distinct from o.a) ${asof}`

  it('where a correlated subquery compares with anything but =', async () => {
    expect([await plain(around), await rowsOf(around)]).toEqual(['0', [[2]]])
    const equal = around.replace('z.d <> x.likes', 'z.d = 100').replace('x.likes > y.likes', 'x.id = y.id')
    expect([await plain(equal), await rowsOf(equal)]).toEqual(['1', [[1]]])
  })

  it('where only the condition of an ASOF JOIN names a column', async () => {
    const joined = `with ${asofRows} select l.id from l asof left join r on l.t >= r.t and l.a = r.a and l.id <> r.id`
    await expect(plain(joined.replace('select l.id', 'select l.t, r.t'))).rejects.toThrow('Failed to bind column')
    expect(await rowsOf(`${joined.replace('select l.id', 'select l.id, r.t')} order by all`)).toEqual([
      [1, null],
      [2, 4],
    ])
  })

  it('where an ASOF JOIN meets NULL', async () => {
    const on = (same: string): string => `with ${asofRows} select count(*) from l asof join r on ${same} and l.t >= r.t`
    expect(await plain(on('l.a is not distinct from r.a'))).toBe('1')
    expect(await plain(on('(l.a = r.a or (l.a is null and r.a is null))'))).toBe('2')
    const inner = `(select count(*) from ${of('x')} asof join ${of('y')} on x.t >= y.t)`
    expect(await plain(`with ${asofRows} select sum(${inner}) from l o`)).toBe('1')
  })
})
