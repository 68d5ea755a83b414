// Parameters of statements in the engine: constants of a known type, wherever an expression may stand and nowhere else.
import { BIGINT, BOOLEAN, DOUBLE, HUGEINT, VARCHAR } from '@duckdb/node-api'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import { type Parameter, readParameters } from '../../../src/libraries/model/parameters.ts'
import { ask, askWhole, type AskOptions, useBench, refusal, schemaOf, systemColumns, writeSlice } from './helpers.ts'

const bench = useBench()
let tables: NonNullable<AskOptions['tables']>

beforeAll(async () => {
  const select = `SELECT ${systemColumns('i')}, i AS k, 'n' || i AS note, i / 2 AS half FROM range(10) r(i)`
  const schema = schemaOf(
    { name: 'k', type: { kind: 'Int64' } },
    { name: 'note', type: { kind: 'String' } },
    { name: 'half', type: { kind: 'Float64' } },
  )
  tables = { 'acme/trips': { files: [await writeSlice(bench, 'ten', select)], schema } }
})

/** Parameters as JSON text has them. */
const given = (json: string): readonly Parameter[] => readParameters(parseJson(json)).values

const run = async (sql: string, parameters: string, more: AskOptions = {}): Promise<string> =>
  await ask(bench.engine, sql, { tables, parameters: given(parameters), ...more })

describe('the type of a value', () => {
  test.each([
    ['1', 'BIGINT', '1'],
    ['-9223372036854775808', 'BIGINT', '-9223372036854775808'],
    ['9223372036854775807', 'BIGINT', '9223372036854775807'],
    ['9223372036854775808', 'HUGEINT', '9223372036854775808'],
    ['-0', 'BIGINT', '0'],
    ['1.0', 'DOUBLE', '1.0'],
    ['1E2', 'DOUBLE', '100.0'],
    ['1e+2', 'DOUBLE', '100.0'],
    ['0.1', 'DOUBLE', '0.1'],
    ['5e-324', 'DOUBLE', '5e-324'],
    ['1.7976931348623157e308', 'DOUBLE', '1.7976931348623157e+308'],
    ['""', 'VARCHAR', '""'],
    [String.raw`"it's \"\n\t\\ é😀"`, 'VARCHAR', String.raw`"it's \"\n\t\\ é😀"`],
    ['"1; drop table x -- $2"', 'VARCHAR', '"1; drop table x -- $2"'],
    ['true', 'BOOLEAN', 'true'],
    ['false', 'BOOLEAN', 'false'],
    ['null', '"NULL"', 'null'],
  ])('%s is %s', async (json, type, printed) => {
    expect(await run('select $1, typeof($1)', `[${json}]`)).toBe(
      `[[${printed},"${type.replaceAll('"', String.raw`\"`)}"]]`,
    )
  })
})

describe('a parameter stands where a constant does', () => {
  test.each([
    ['select note from "acme/trips" where k = $1', '[3]', '[["n3"]]'],
    ['select note from "acme/trips" where k = $k and note = $n', '{"n": "n3", "k": 3}', '[["n3"]]'],
    ['select note from "acme/trips" where k = $K', '{"k": 3}', '[["n3"]]'],
    ['select k from "acme/trips" order by offset limit $1 offset $2', '[2, 3]', '[[3],[4]]'],
    ['select k from "acme/trips" where offset = $offset order by offset', '{"offset": 4}', '[[4]]'],
    ['select k from "acme/trips" where k < $limit order by offset', '{"limit": 2}', '[[0],[1]]'],
    ['select k + ? from "acme/trips" where k = ?', '[10, 2]', '[[12]]'],
    ['select count(*) from "acme/trips" where system_time >= $since', '{"since": "2024-01-01T00:00:07Z"}', '[[3]]'],
    ['select count(*) from "acme/trips" where k = $k', '{"k": "7"}', '[[1]]'],
    ['select x from range($1) t(x) where x in ($2, $3)', '[5, 2, 4]', '[[2],[4]]'],
    ["select strftime(date '2024-05-06', $1)", '["%d/%m"]', '[["06/05"]]'],
    ['select quantile_disc(k, $1) from "acme/trips"', '[0.5]', '[[4]]'],
    ['select sum(k) filter (k > $1) over () from "acme/trips" limit 1', '[7]', '[[17]]'],
    ['with w as (select $1 as v) select v, (select max(k) from "acme/trips" where k < $1) from w', '[4]', '[[4,3]]'],
    ['select columns($1) from "acme/trips" where k = 1', '["^k$"]', '[[1]]'],
    ['select list_transform([1, 2], x -> x + $1)', '[1]', '[[[2,3]]]'],
    ['select unnest(from_json($1, \'["BIGINT"]\')) as x order by x', '["[3, 1]"]', '[[1],[3]]'],
    ['select case when $1 then $2 else $3 end', '[true, "a", "b"]', '[["a"]]'],
    ['select $1 is null, coalesce($1, $2)', '[null, 5]', '[[true,5]]'],
    ["select 'the $1', $$ $1 $$, $1 -- $2", '[1]', '[["the $1"," $1 ",1]]'],
    ['select * from (values ($1), ($2)) v(x)', '[1, 2]', '[[1],[2]]'],
  ])('%s %s', async (sql, parameters, expected) => {
    expect(await run(sql, parameters)).toBe(expected)
    expect(await run(sql, parameters, { reproducible: true, ascii: true })).toBe(expected)
  })

  test('and its columns keep the names that the engine gives them', async () => {
    const sql = 'select $1, k + $2, $3 as named, (select $1) from "acme/trips" limit 1'
    expect(await run(sql, '[1, 2, "x"]', { dataFormat: 'JsonAos', keyOrder: 'column' })).toBe(
      '[{"$1":1,"(k + $2)":2,"named":"x","(SELECT $1)":1}]',
    )
    const starred =
      'select * exclude (op, system_time, event_time, note, half) replace (k + $1 as k) from "acme/trips" limit 1'
    expect(await run(starred, '[5]', { dataFormat: 'JsonAos', keyOrder: 'column' })).toBe('[{"offset":0,"k":5}]')
  })

  test('of any text, which stays a text', async () => {
    const texts = [
      "'",
      "''",
      '"',
      '; select 1',
      "' || 'x",
      '--',
      '/*',
      '$1',
      '$$',
      '\\',
      '\u0001',
      '\u2028',
      '\ufeff',
      'ß',
      '{{',
      '%s',
      'NULL',
    ]
    const sql = `select ${texts.map((_, index) => `$${index + 1}`).join(', ')}`
    expect(JSON.parse(await run(sql, JSON.stringify(texts)))).toEqual([texts])
  })
})

describe('values of any kind', () => {
  const bits = (count: bigint): [bigint, bigint] => [-(2n ** (count - 1n)), 2n ** (count - 1n) - 1n]
  const [least, most] = bits(64n)
  const double = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0))
  const value = fc.oneof(
    fc.bigInt(...bits(128n)).map((integer) => ({
      json: String(integer),
      bound: integer,
      type: integer < least || integer > most ? HUGEINT : BIGINT,
    })),
    fc.bigInt(least, most).map((integer) => ({ json: String(integer), bound: integer, type: BIGINT })),
    double.map((number) => ({ json: number.toExponential(), bound: number, type: DOUBLE })),
    fc.boolean().map((flag) => ({ json: String(flag), bound: flag, type: BOOLEAN })),
    fc
      .string({ unit: 'binary' })
      .filter((text) => !text.includes('\0'))
      .map((text) => ({ json: JSON.stringify(text), bound: text, type: VARCHAR })),
  )

  test('are to the engine what it is bound to by its own means', async () => {
    const sql =
      'select typeof($1), $1::VARCHAR, hash($1)::VARCHAR, $1 = $1, list_value($1)::VARCHAR, [$1 for x in [1, 2]]::VARCHAR'
    await fc.assert(
      fc.asyncProperty(value, async ({ json, bound, type }) => {
        const own = JSON.parse(await run(sql, `[${json}]`))
        const theirs = await bench.trusted.run(sql, [bound], [type])
        expect(own).toEqual(await theirs.getRows())
      }),
      { numRuns: 150 },
    )
  })
})

describe('a parameter is never', () => {
  test.each([
    ['a table', 'select * from $1', 'SqlSyntax'],
    ['a table', 'select * from query_table($1)', 'QueryNotAllowed'],
    ['a file', 'select * from read_csv($1)', 'QueryNotAllowed'],
    ['the name of an aggregate', 'select list_aggr([1], $1)', 'QueryNotAllowed'],
    ['the description of a structure', "select from_json('{}', $1)", 'QueryNotAllowed'],
    ['a sample', 'select * from "acme/trips" using sample $1', 'SqlSyntax'],
    ['a type', 'select cast(1 as $1)', 'SqlSyntax'],
    ['one of two kinds', 'select $1, $name', 'QueryNotAllowed'],
  ])('%s: %s', async (_, sql, kind) => {
    const error = await refusal(bench.engine.analyze(sql))
    expect(error.kind).toBe(kind)
  })
})

describe('an analysis', () => {
  test('lists each parameter once, with its first place', async () => {
    const sql = 'select \'$no\', $b, $a, $B from "acme/trips" /* $c */ where k = $a'
    expect((await bench.engine.analyze(sql)).parameters).toEqual([
      { name: 'b', position: { offset: 14, line: 1, column: 15 } },
      { name: 'a', position: { offset: 18, line: 1, column: 19 } },
    ])
  })

  test('numbers question marks', async () => {
    const { parameters } = await bench.engine.analyze('select ?, ?')
    expect(parameters.map(({ name, position }) => [name, position?.offset])).toEqual([
      ['1', 7],
      ['2', 10],
    ])
  })
})

describe('errors', () => {
  test('of a statement with parameters have their place', async () => {
    const error = await refusal(run('select $1, nosuch from "acme/trips"', '[1]'))
    expect([error.kind, error.details.position?.offset]).toEqual(['SqlUnknownName', 11])
  })

  test('of types speak of the type that the value has', async () => {
    const error = await refusal(run('select $1 + 1', '[true]'))
    expect([error.kind, error.message]).toEqual(['SqlValue', expect.stringContaining('BOOLEAN')])
    const castError = await refusal(run('select k from "acme/trips" where k = $1', '["seven"]'))
    expect(castError.kind).toBe('SqlValue')
  })

  test('* and COLUMNS() in an expression with one would get another name', async () => {
    const error = await refusal(run('select columns(*) > $1 from "acme/trips"', '[1]'))
    expect([error.kind, error.message]).toEqual([
      'QueryNotAllowed',
      expect.stringContaining('COLUMNS() with a parameter'),
    ])
  })
})

describe('the class of a statement', () => {
  test.each([
    ['select sum(k + $1) from "acme/trips"', '[1]', 'exact'],
    ['select sum(k + $1) from "acme/trips"', '[1.5]', 'pinned'],
    ['select note from "acme/trips" where k > $1 limit $2', '[1, 2]', 'exact'],
    ['select string_agg(note, $1) from "acme/trips"', '[","]', 'pinned'],
  ])('%s %s', async (sql, parameters, stability) => {
    const answer = await askWhole(bench.engine, sql, { tables, parameters: given(parameters), reproducible: true })
    expect(answer.stability).toBe(stability)
  })
})
