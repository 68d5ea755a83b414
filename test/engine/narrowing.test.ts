// What is read from a statement of the rows that it needs: only what is sure, and nothing where a row left out could show.

import { describe, expect, it } from 'vitest'
import { gateStatement } from '../../src/engine/gate.ts'
import type { Narrowing } from '../../src/engine/messages.ts'
import { narrowingOf } from '../../src/engine/narrowing.ts'
import { quoteOffsetWord } from '../../src/engine/sql-text.ts'
import { topNodeOf, usePlainEngine } from './helpers.ts'
import { pinnedStatements } from './statement-corpus.ts'

const scalar = usePlainEngine()

async function narrowing(sql: string): Promise<Narrowing | undefined> {
  const node = await topNodeOf(scalar, quoteOffsetWord(sql).text)
  return narrowingOf(node, gateStatement(node).aliases)
}

/** As a line: conditions, or the first rows. */
async function told(sql: string): Promise<string> {
  const found = await narrowing(sql)
  if (found === undefined) return 'nothing'
  const { conditions, first, inProofs } = found
  const parts = conditions.map(({ column, is, value }) => `${column} ${is} ${value.kind} ${value.text}`)
  if (first !== undefined) {
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
    ['from "a/t"', 'as they lie all'],
  ])('%s', async (sql, expected) => {
    expect(await told(sql)).toBe(expected)
  })

  it.each([
    'select * from "a/t" where k = 1 or true order by offset desc limit 5',
    'select cast(g as int) from "a/t" order by offset desc limit 5',
    'select k + 1 from "a/t" order by offset desc limit 5',
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
