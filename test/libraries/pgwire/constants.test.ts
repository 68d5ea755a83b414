// Types that a statement says of its parameters, and arrays as constants of the engine.

import { describe, expect, test } from 'vitest'
import { typesOf, withConstants, withLists } from '../../../src/libraries/pgwire/constants.ts'

const varchar = (name: string, text: string) => ({ name, type: 'VARCHAR', text }) as const

test.each<[sql: string, types: readonly number[]]>([
  ['select $1::date, $2 :: timestamp with time zone, $3::double precision', [1082, 1184, 701]],
  ['select $1::text[], $2::int [], $3::numeric(9, 2)[], $4::varchar(3)', [1009, 1007, 1231, 1043]],
  ['select $1::blob, $2::decimal(5,2), $3::int8', [17, 1700, 20]],
  ['select 1 where a = any ( $1 ) and b <> ALL($2) and c = some($3)', [1009, 1009, 1009]],
  ['select \'$1::int\', "$2::int" /* $3::int */ -- $4::int', []],
  ['select $1, $2::hugeint, $3::nothing, a > any($4), f($5), any($6)', [0, 0, 0, 0, 0, 0]],
  ['select $1, $1::date, $3', [1082, 0, 0]],
])('types that a statement says: %s', (sql, types) => {
  expect(typesOf(sql, [])).toEqual(types)
})

test('types that a client says stay', () => {
  expect(typesOf('select $1::date, $2::date', [25])).toEqual([25, 1082])
  expect(typesOf('select 1', [25])).toEqual([25])
  expect(() => typesOf('select $1001', [])).toThrow('1000 parameters')
})

describe('arrays', () => {
  test.each<[sql: string, types: readonly number[], written: string]>([
    ['select a=any($1)', [1009], "select a IN ('x', 'it''s', NULL)"],
    ['select a = /* so */ any ( $1 ) or b', [1016], "select a IN ('x', 'it''s', NULL ) or b"],
    ['select a <> all($1), $1', [1009], `select a NOT IN ('x', 'it''s', NULL), CAST('["x","it''s",NULL]' AS text[])`],
    ['select unnest($1::int[])', [1007], `select unnest(CAST('["x","it''s",NULL]' AS integer[])::int[])`],
    ['select a > any($1)', [1009], `select a > any(CAST('["x","it''s",NULL]' AS text[]))`],
    ['select a = any($1)', [25], "select a = any('{x,it''s,NULL}')"],
  ])('as values: %s', (sql, types, written) => {
    expect(withConstants(sql, [varchar('1', "{x,it's,NULL}")], types)).toBe(written)
  })

  test.each<[type: number, value: string, one: string, member?: string]>([
    [1700, '10.5', "CAST('10.5' AS DECIMAL(3,1))"],
    [1700, '-0012e3', "CAST('-0012e3' AS DECIMAL(5,0))"],
    [1700, '1E-3', "CAST('1E-3' AS DECIMAL(4,3))"],
    [1700, '0.05', "CAST('0.05' AS DECIMAL(3,2))"],
    [1700, 'NaN', "'NaN'"],
    [1700, '1'.repeat(39), `'${'1'.repeat(39)}'`],
    [17, String.raw`\x01\xFF`, String.raw`CAST('\x01\xFF' AS BLOB)`],
    [1186, '1 day', "CAST('1 day' AS INTERVAL)"],
    [1231, '{1.5,0.0001,NULL}', `CAST('["1.5","0.0001",NULL]' AS DECIMAL(5,4)[])`],
    [1001, String.raw`{"\\x01ff",NULL}`, String.raw`CAST('["\\x01\\xFF",NULL]' AS bytea[])`],
  ])('the type of a value is written where a text would mean another: %i %s', (type, value, written) => {
    expect(withConstants('select $1', [varchar('1', value)], [type])).toBe(`select ${written}`)
  })

  test('members that are no integers have their type', () => {
    const written = (type: number, value: string): string =>
      withConstants('select n = any($1)', [varchar('1', value)], [type])
    expect(written(1231, '{10.4}')).toBe("select n IN (CAST('10.4' AS DECIMAL(3,1)))")
    expect(written(1022, '{10.4}')).toBe("select n IN (CAST('10.4' AS DOUBLE))")
    expect(written(1021, '{10.4}')).toBe("select n IN (CAST('10.4' AS FLOAT))")
    expect(written(1001, String.raw`{"\\x01ff"}`)).toBe(String.raw`select n IN (CAST('\x01\xFF' AS BLOB))`)
  })

  test('a number of many digits takes no time in their square', () => {
    for (const digit of ['0', '1', ' '])
      expect(withConstants('$1', [varchar('1', `${digit.repeat(1_000_000)}x`)], [1700]).length).toBe(1_000_003)
  })

  test('of none, and those that are none', () => {
    expect(withConstants('select a = any($1)', [varchar('1', '{}')], [1009])).toBe(
      'select a IN (SELECT NULL WHERE false)',
    )
    expect(() => withConstants('select $1', [varchar('1', '{{a}}')], [1009])).toThrow('malformed array literal')
  })

  test.each<[sql: string, written: string]>([
    ["select '{a,b}'::text[]", `select '["a","b"]'::text[]`],
    ["select x = ANY ('{1,2}'::integer[])", `select x = ANY ('["1","2"]'::integer[])`],
    ["select '{it''s}'::character varying[], 1", `select '["it''s"]'::character varying[], 1`],
    [
      "select '{a}'::json, '{a}', '{a}'::text, '{{a}}'::text[]",
      "select '{a}'::json, '{a}', '{a}'::text, '{{a}}'::text[]",
    ],
  ])('in the text: %s', (sql, written) => {
    expect(withLists(sql)).toBe(written)
  })
})
