// What a constant is held against is compared as it is written: generated comparisons of every type against the engine without its
// optimizers, and the faults that they found. Last, what the engine does by itself: when that is right, libraries/sql/optimizers.ts
// need not leave out `expression_rewriter`.

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DataType } from '../../../src/libraries/model/schema.ts'
import { Choice } from './generated.ts'
import { ask, type AskOptions, schemaOf, systemColumns, useBench, usePlainEngine, writeSlice } from './helpers.ts'

const bench = useBench({ queryMs: 60_000 })
const plain = usePlainEngine()
let plainest: DuckDBConnection
let tables: NonNullable<AskOptions['tables']> = {}

/** Columns of each type, with values at its ends. */
const columns: Readonly<Record<string, readonly [string, DataType, readonly string[]]>> = {
  i: ['TINYINT', { kind: 'Int8' }, ['0', '1', '-1', '127', '-128']],
  n: ['BIGINT', { kind: 'Int64' }, ['0', '9007199254740993', '9223372036854775807', '-9223372036854775808']],
  u: ['UBIGINT', { kind: 'UInt64' }, ['0', '1', '18446744073709551615']],
  m: ['DECIMAL(18,6)', { kind: 'Decimal', precision: 18, scale: 6 }, ['0.1', '-1.5', '999999999999.999999']],
  f: ['DOUBLE', { kind: 'Float64' }, ['0.1', '2.5', "'nan'", "'inf'", '1e300']],
  s: ['VARCHAR', { kind: 'String' }, ["''", "'a'", "'01'", "'1'", "'2020-02-29'", "'2020'", "'ä'", "'zz'"]],
  d: ['DATE', { kind: 'Date' }, ["'2020-02-29'", "'1969-12-31'", "'9999-12-31'", "'infinity'"]],
  t: [
    'TIMESTAMP WITH TIME ZONE',
    { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' },
    ["'2020-02-29 00:00:00+00'", "'2020-02-29 12:00:00.5+00'", "'1969-12-31 23:59:59.999999+00'"],
  ],
  b: ['BOOLEAN', { kind: 'Bool' }, ['true', 'false']],
}
const names = Object.keys(columns)

beforeAll(async () => {
  const choice = new Choice(99)
  const value = (name: string): string => {
    const [type = '', , values = []] = columns[name] ?? []
    return `CAST(${choice.next(6) === 0 ? 'NULL' : values[choice.next(values.length)]} AS ${type}) AS ${name}`
  }
  const rows = Array.from({ length: 60 }, (_, id) => `SELECT ${id} AS id, ${names.map(value).join(', ')}`)
  const all = `SELECT ${systemColumns('id')}, * FROM (${rows.join(' UNION ALL ')})`
  const fields = names.map((name) => ({ name, type: columns[name]?.[1] ?? { kind: 'Null' } }))
  const path = await writeSlice(bench, 'e', all)
  tables = { e: { files: [path], schema: schemaOf({ name: 'id', type: { kind: 'Int32' } }, ...fields) } }
  plainest = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  for (const sql of [
    "SET TimeZone = 'UTC'",
    `CREATE TABLE e AS FROM read_parquet('${path}')`,
    'PRAGMA disable_optimizer',
  ])
    await plainest.run(sql)
})
afterAll(() => plainest.closeSync())

/** What a condition is for each row. */
async function ofRows(condition: string): Promise<readonly unknown[]> {
  const sql = `SELECT id, ${condition} AS p FROM e ORDER BY id`
  const found = await ask(bench.engine, sql, { tables, limit: 1000 })
  return (JSON.parse(found) as unknown[][]).map(([, p]) => p)
}

async function idsWhere(condition: string): Promise<readonly unknown[]> {
  const sql = `SELECT id FROM e WHERE ${condition} ORDER BY id`
  return (JSON.parse(await ask(bench.engine, sql, { tables, limit: 1000 })) as unknown[][]).flat()
}

function comparison(choice: Choice): string {
  const name = (): string => choice.pick('id', ...names)
  const constant = (): string => {
    const [type = 'INTEGER', , values = ['1', '7']] = columns[name()] ?? []
    return choice.pick(
      `CAST(${choice.pick('NULL', ...values)} AS ${type})`,
      `'${choice.word('2020|2020-02-29|2020-2-29|2020-02-29 00:00:00+00|1|01|1.0|true|A|')}'`,
      choice.word('1|0.1|-0.5|128|9223372036854775808|2.5e0|NULL'),
      `${choice.word('DATE|TIMESTAMP')} '${choice.word('2020-02-01|2020-02-15|2020-02-29|9999-12-31')}'`,
    )
  }
  const part = choice.word('day|month|year|hour|week|second|quarter|decade')
  const operand = (): string =>
    choice.pick(
      name(),
      `${name()}::VARCHAR`,
      `${name()}::${choice.word('INTEGER|DOUBLE|DECIMAL(9,2)|DATE|TIMESTAMP|BOOLEAN|TINYINT')}`,
      `TRY_CAST(${name()} AS ${choice.word('INTEGER|DOUBLE|DATE|TIMESTAMP|TINYINT|BOOLEAN')})`,
      `date_trunc('${part}', ${choice.word('d|t')})`,
      `(${choice.word('d|t')} ${choice.word('+|-')} INTERVAL ${choice.next(40)} ${part})`,
      `(${choice.word('i|id')} ${choice.word('+|-|*')} ${choice.next(5)})`,
      `${choice.word('year|month|dayofweek|epoch')}(${choice.word('d|t')})`,
      `${choice.word('lower|trim|reverse')}(s)`,
      `coalesce(date_trunc('${part}', d))`,
    )
  const compare = choice.word('=|<>|<|<=|>|>=|IS DISTINCT FROM|IS NOT DISTINCT FROM')
  return choice.pick(
    `${operand()} ${compare} ${constant()}`,
    `${operand()} ${compare} ${constant()}`,
    `${constant()} ${compare} ${operand()}`,
    `${operand()} ${compare} ${operand()}`,
    `${operand()} BETWEEN ${constant()} AND ${constant()}`,
    `${operand()} ${choice.word('IN|NOT IN')} (${constant()}, ${constant()})`,
    `${name()}::VARCHAR ${choice.word('LIKE|NOT LIKE')} '${choice.word('2020|2020%|a|%a|_|')}'`,
    `regexp_matches(${name()}::VARCHAR, '${choice.word('^2020$|a|^a')}')`,
  )
}

describe('generated comparisons', () => {
  const count = Number(process.env['STATEMENTS'] ?? 150)

  it(
    'are what the engine without its optimizers says, wherever they stand',
    async () => {
      const choice = new Choice(Number(process.env['SEED'] ?? 7))
      for (let made = 0; made < count; made++) {
        const condition = comparison(choice)
        const rows = await plainest.run(`SELECT ${condition} FROM e ORDER BY id`).then(
          async (result) => (await result.getRows()).flat(),
          () => undefined,
        )
        // Where the engine fails by itself, an optimizer may spare it that.
        if (rows === undefined) continue
        expect([condition, await ofRows(condition)]).toEqual([condition, rows])
        const passing = rows.flatMap((one, id) => (one === true ? [id] : []))
        expect([condition, await idsWhere(condition)]).toEqual([condition, passing])
        const others = rows.flatMap((one, id) => (one === false ? [id] : []))
        expect([condition, await idsWhere(`NOT (${condition})`)]).toEqual([condition, others])
      }
    },
    60_000 + 100 * count,
  )
})

const few = "(values (date '2020-02-29', timestamptz '2020-02-29 00:00:00+00', 1), (null, null, 2)) v(d, t, k)"

describe('the engine by itself is still wrong', () => {
  it.each([
    ["date_trunc('month', d) <> date '2020-02-15'", [true, null]],
    ["date_trunc('hour', d) > date '2020-02-29'", [false, null]],
    ["datetrunc('hour', d) = date '2020-02-29'", [true, null]],
    ["t::varchar > '2020'", [true, null]],
    ["t::text not like '2020'", [true, null]],
    ["t::varchar is distinct from '2020'", [true, true]],
    ["regexp_matches(t::varchar, '^2020$')", [false, null]],
    ["t::varchar between '2020' and '2021'", [true, null]],
    ['try_cast(k as date) is not distinct from null', [true, true]],
    ["coalesce(date_trunc('month', d)) <> date '2020-02-15'", [true, null]],
  ])('%s', async (condition, right) => {
    expect(JSON.parse(await plain(`select to_json(list(${condition} order by k)) from ${few}`))).not.toEqual(right)
    const answers = [
      `select ${condition} from ${few} order by k`,
      `with v as (select * from ${few}) select p from (select k, ${condition} as p from v) z order by k`,
    ]
    const expected = JSON.stringify(right.map((one) => [one]))
    for (const sql of answers) expect(await ask(bench.engine, sql)).toBe(expected)
  })

  it('where the operand has another name in the same SELECT', async () => {
    const named = `select k, date_trunc('month', d) as "M" from ${few} where m <> date '2020-02-15'`
    expect(await plain(`select count(*) from (${named})`)).toBe('2')
    expect(await ask(bench.engine, named)).toBe('[[1,"2020-02-01T00:00:00"]]')
    const grouped = `select t::varchar as v from ${few} group by all having v >= '2020'`
    expect(await plain(`select count(*) from (${grouped})`)).toBe('0')
    expect(await ask(bench.engine, grouped)).toBe('[["2020-02-29 00:00:00+00"]]')
  })
})
