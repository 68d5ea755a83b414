// What is read from a statement of the rows that it needs: only what is sure, and nothing where a row left out could show.

import { describe, expect, it } from 'vitest'
import { gateStatement } from '../../../src/libraries/sql/gate.ts'
import type { Narrowing } from '../../../src/libraries/sql/statement.ts'
import { columnsOf, narrowingOf } from '../../../src/libraries/sql/narrowing.ts'
import { quoteOffsetWord } from '../../../src/libraries/sql/offset-word.ts'
import { topNodeOf, usePlainEngine } from './helpers.ts'
import { pinnedStatements } from './statement-corpus.ts'

const scalar = usePlainEngine()

async function narrowing(sql: string): Promise<Narrowing | undefined> {
  const node = await topNodeOf(scalar, quoteOffsetWord(sql).text)
  return narrowingOf(node, gateStatement(node).aliases)
}

/** As a line: conditions, the first rows where there are none or a LIMIT. */
async function told(sql: string): Promise<string> {
  const found = await narrowing(sql)
  if (found === undefined) return 'nothing'
  const { conditions, first, inProofs } = found
  const parts = conditions.map(({ column, is, value }) => `${column} ${is} ${value.kind} ${value.text}`)
  if (first !== undefined && (conditions.length === 0 || first.limit !== undefined)) {
    const { column = 'as they lie', descending, limit, skip } = first
    parts.push(`${column}${descending ? ' down' : ''} ${limit?.text ?? 'all'}${skip ? ` after ${skip.text}` : ''}`)
  }
  return `${parts.join('; ')}${inProofs ? '' : ' (no proof)'}`
}

describe('conditions', () => {
  it.each([
    ['select * from "a/t" where offset >= 10', 'offset >= number 10'],
    [
      'select k from "a/t" where 10 > offset and event_time > \'2026-01-01\'',
      'offset < number 10; event_time > text 2026-01-01',
    ],
    ['select k from a.t where t.offset between 3 and $1', 'offset >= number 3; offset <= parameter 1'],
    [
      'select k from "a/t" x where x.EVENT_TIME = timestamp \'2026-01-01 10:00:00\'',
      'event_time = time 2026-01-01 10:00:00',
    ],
    [
      "select k from \"a/t\" where event_time < date '2026-01-01' and (k = 3 or g = 'x')",
      'event_time < day 2026-01-01',
    ],
    [
      'select k from "a/t" where offset > 1 and k in (1, 2) and g is not null and not b = true and k <> 4',
      'offset > number 1',
    ],
    ['select k from "a/t" where offset < 5 and 1 = 1 and (2 <> 2.5 or k = 3)', 'offset < number 5'],
    // Which columns choose slices, the replica knows.
    ['select * from "a/t" where k = 3', 'k = number 3'],
    ['select count(*), max(k) from "a/t" where offset < 5', 'offset < number 5'],
    ['select k from "a/t" where not (offset < 5)', 'offset >= number 5'],
    ['select k from "a/t" where offset < 5 and not (k > 1 and (g is null or k in (3)))', 'offset < number 5'],
    ['select sum(x) from "a/t" where offset < 5', 'offset < number 5 (no proof)'],
    ['select k, count(*) from "a/t" where offset < 5 group by k', 'offset < number 5 (no proof)'],
    ['select upper(g) from "a/t" where offset < 5 order by g limit 3', 'offset < number 5'],
    ['select k, row_number() over () from "a/t" where offset < 5', 'offset < number 5 (no proof)'],
    ['select distinct k from "a/t" where offset < 5', 'offset < number 5'],
    ['select distinct on (k) k from "a/t" where offset < 5', 'offset < number 5 (no proof)'],
  ])('%s', async (sql, expected) => {
    expect(await told(sql)).toBe(expected)
  })

  it.each([
    'select * from "a/t"  where offset >= 10 or k = 1',
    'select * from "a/t" where k in (1, 2) order by offset limit 3',
    'select * from "a/t" where 1 = 1',
    'select * from "a/t" where offset >= 10 and 1 + 1 = 2',
    'select * from "a/t" where offset + 0 >= 10',
    'select * from "a/t" where offset >= k',
    'select * from "a/t" where offset >= 5 and cast(g as int) > 3',
    'select * from "a/t" where offset >= 5 and k % 0 = 1',
    'select * from "a/t" where offset >= 5 and k = cast(\'x\' as int)',
    'select * from "a/t" where offset >= 5 and k = null',
    'select * from "a/t" where offset >= (select max(offset) from "a/t")',
    'select (select count(*) from "a/t") from "a/t" where offset >= 5',
    'select * from "a/t" where offset >= 5 and exists (select 1)',
    'select * from "a/t" where offset >= 5 union all select * from "a/t"',
    'with c as (select 1) select * from "a/t" where offset >= 5',
    'select * from (select * from "a/t") where offset >= 5',
    'select * from "a/t" t, "a/t" u where t.offset >= 5',
    'select -k as offset from "a/t" where offset >= 5',
    'select * from "a/t" as x(event_time, offset) where offset >= 5',
    'select * from "a/t" tablesample 10% where offset >= 5',
    'select * from "a/t" where u.offset >= 5',
    'select * from "a/t" where offset.x >= 5',
    'select * from "a/t" where offset not between 5 and 6',
    'select * from "a/t" where event_time > try_cast(\'x\' as timestamp)',
    'select 1 where 1 = 2',
  ])('nothing is said of %s', async (sql) => {
    expect(await told(sql)).toBe('nothing')
  })
})

describe('the first rows', () => {
  it.each([
    ['select * from "a/t" order by offset desc limit 100', 'offset down 100'],
    ['select k, g as name from "a/t" t order by t.offset desc, k limit $1 offset 7', 'offset down 1 after 7'],
    ['select * from "a/t" order by event_time', 'event_time all'],
    ['select * from "a/t" limit 10', 'as they lie 10'],
    ['select * from "a/t" where k = 3 order by offset desc limit 4', 'k = number 3; offset down 4'],
    ['from "a/t"', 'as they lie all'],
    ['select left(g, 41), offset, cast(k as varchar), left(k::text, 3) as x from "a/t" limit 5', 'as they lie 5'],
    ['select * from "a/t" where k in (1, 2) order by offset desc limit 4', 'offset down 4'],
    ['select * from "a/t" where 1 = 1 or k = 5 order by offset desc limit 4', 'offset down 4'],
    ['select * from "a/t" where offset >= 5 order by offset limit 4', 'offset >= number 5; offset 4'],
    [
      'select k from "a/t" where offset > 5 and offset < 9 limit 4',
      'offset > number 5; offset < number 9; as they lie 4',
    ],
    // More than comparisons with constants: the rows that meet it are told from the end alone.
    ['select k from "a/t" where offset > 5 and k <> 3 limit 4', 'offset > number 5'],
    [
      'select k from "a/t" where offset > 5 and k <> 3 order by offset desc limit 4',
      'offset > number 5; offset down 4',
    ],
  ])('%s', async (sql, expected) => {
    expect(await told(sql)).toBe(expected)
  })

  it.each([
    'select * from "a/t" where k = 1 or true order by offset desc limit 5',
    'select cast(g as int) from "a/t" order by offset desc limit 5',
    'select k + 1 from "a/t" order by offset desc limit 5',
    'select left(g, k) from "a/t" order by offset desc limit 5',
    'select left(g, -3) from "a/t" order by offset desc limit 5',
    'select left(upper(g), 3) from "a/t" order by offset desc limit 5',
    'select cast(k + 1 as text) from "a/t" order by offset desc limit 5',
    'select * replace (k + 1 as k) from "a/t" order by offset desc limit 5',
    'select columns(\'k\') from "a/t" order by offset desc limit 5',
    'select distinct k from "a/t" order by offset desc limit 5',
    'select count(*) from "a/t" order by offset desc limit 5',
    'select k from "a/t" group by k, offset order by offset desc limit 5',
    'select k from "a/t" qualify row_number() over () = 1 order by offset desc limit 5',
    'select -offset as offset from "a/t" order by offset desc limit 5',
    'select k, k as event_time from "a/t" order by event_time desc limit 5',
    'select * from "a/t" order by offset desc limit 5%',
    'select * from "a/t" order by offset desc limit 2 + 3',
    'select * from "a/t" order by -offset limit 5',
    'select * from "a/t" order by offset desc, cast(g as int) limit 5',
    'select * from "a/t" order by 1 desc limit 5',
    'select * from "a/t" order by all desc limit 5',
    'select * from "a/t" t join "a/t" u using (k) order by t.offset desc limit 5',
    'select * from range(10) order by 1 limit 5',
  ])('nothing is said of %s', async (sql) => {
    expect((await narrowing(sql))?.first).toBeUndefined()
  })
})

it('no statement that is called pinned is narrowed for a proof', async () => {
  for (const sql of pinnedStatements) {
    const narrowed = [sql, `${sql} where offset >= 5`, sql.replace(/ where /i, ' where offset >= 5 and ')]
    for (const text of narrowed) {
      const found = await narrowing(text).catch(() => undefined)
      expect([text, found?.inProofs ?? false]).toEqual([text, false])
    }
  }
})

describe('the columns that are read', () => {
  it.each([
    ['select count(*) from "a/t"', []],
    ['select 1 from "a/t" limit 3', []],
    ['select max(offset) - min(t.offset) from a.t where offset between 3 and $1', ['offset']],
    ['select count(*), K // 2 from "a/t" where g is null group by k // 2 order by offset', ['offset', 'k', 'g']],
    ['select * from "a/t"', undefined],
    ['select count(t) from "a/t" t', undefined],
    ['select count(columns(*)) from "a/t"', undefined],
    ['select count(t.*) from "a/t" t', []],
    ['select t.* from "a/t" t', undefined],
    ['select k from "a/t" order by 1', ['k']],
    ['select k from "a/t" order by all', undefined],
    ['select distinct on (#1) offset from "a/t"', undefined],
    ['select row_number() over () from "a/t"', undefined],
    ['select count(*) as offset from "a/t" order by offset', undefined],
    ['select offset from "a/t" as x(event_time, offset)', undefined],
    ['select count(*) from "a/t" where offset in (select k from "a/t")', undefined],
    ['select count(*) from "a/t", "a/t"', undefined],
    ['with c as (select 1) select count(*) from "a/t"', undefined],
    ['select count(*) from "a/t" tablesample 10%', undefined],
    ['select count(*) from "a/t" union all select 1', undefined],
  ] as const)('%s', async (sql, columns) => {
    const node = await topNodeOf(scalar, quoteOffsetWord(sql).text)
    expect(columnsOf(node, gateStatement(node).aliases)).toEqual(columns)
  })
})

describe('a comparison that is called safe', () => {
  const integers = (['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT'] as const).map((type, index) => {
    const most = 2n ** BigInt(8 * 2 ** index - 1) - 1n
    return [type, [String(-most - 1n), '0', String(most)]] as const
  })
  const naturals = (['UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT'] as const).map((type, index) => {
    return [type, ['0', String(2n ** BigInt(8 * 2 ** index) - 1n)]] as const
  })
  const floats = (['FLOAT', 'DOUBLE'] as const).map((type) => [type, ["'-inf'", '-0.0', "'nan'", '3e38']] as const)
  const numbers = [
    '-5',
    '0',
    '300',
    '4294967296',
    '9223372036854775807',
    '-9223372036854775808',
    '0.5',
    '-12345678.1234567',
  ]
  const parameters = [
    '1e300::DOUBLE',
    "'-inf'::DOUBLE",
    '170141183460469231731687303715884105727::HUGEINT',
    '-7::BIGINT',
  ]
  const times = [
    "'2026-01-01'",
    "'2026-01-01 10:00:00'",
    "'2026-01-01T10:00:00Z'",
    "'2026-01-01 10:00:00.123456+00:00'",
  ]
  const typed = times.flatMap((time) => [`TIMESTAMP ${time}`, `TIMESTAMPTZ ${time}`])

  it.each([
    ...[...integers, ...naturals, ...floats].map(
      ([type, values]) => [type, values, [...numbers, ...parameters]] as const,
    ),
    [
      'TIMESTAMPTZ',
      ["'infinity'", "'-infinity'", "'290309-12-22 (BC) 00:00:00+00'", "'294247-01-10 04:00:00+00'"],
      [...times, ...typed, "DATE '2026-01-01'"],
    ],
    ['DATE', ["'infinity'", "'5877642-06-25 (BC)'", "'5881580-07-10'"], ["'2026-01-01'", "DATE '2026-01-01'"]],
    ['VARCHAR', ["''", "'x'"], ["'2026-01-01'", "'5'"]],
  ] as const)('of %s fails for no value', async (type, values, constants) => {
    for (const value of values) {
      for (const constant of constants) {
        for (const is of ['<', '=', '<>', '>=']) {
          // Rows of a table: nothing is known of them when the statement is planned.
          const rows = `(SELECT CAST(CASE WHEN i < 9 THEN ${value} END AS ${type}) AS c FROM range(9) r(i))`
          const sql = `SELECT count(*) FILTER (WHERE c ${is} ${constant} OR c IN (${constant})) FROM ${rows}`
          expect([sql, await scalar(sql)]).toEqual([sql, expect.stringMatching(/^[09]$/)])
        }
      }
    }
  })
})
