// Values of every type that an expression can make, in the three layouts, and their Arrow schema.
import { describe, expect, test } from 'vitest'
import type { EngineAnswer } from '../../../src/node/engine/messages.ts'
import { schemaBytes } from '../../../src/libraries/odf/schema-formats.ts'
import { ask, askWhole, openBench, refusal, useBench, schemaOf } from './helpers.ts'

const bench = useBench()

/** Expression, token, Arrow type. */
const values: readonly (readonly [string, string, unknown])[] = [
  ['true', 'true', 'Boolean'],
  ['(-1)::TINYINT', '-1', 'Int8'],
  ['(-1)::SMALLINT', '-1', 'Int16'],
  ['-1', '-1', 'Int32'],
  ['9223372036854775807', '9223372036854775807', 'Int64'],
  ['1::UTINYINT', '1', 'UInt8'],
  ['1::USMALLINT', '1', 'UInt16'],
  ['1::UINTEGER', '1', 'UInt32'],
  ['18446744073709551615::UBIGINT', '18446744073709551615', 'UInt64'],
  ['sum(9223372036854775807)', '9223372036854775807', { Decimal128: [38, 0] }],
  ['9223372036854775808', '9223372036854775808', { Decimal128: [38, 0] }],
  [
    '99999999999999999999999999999999999999::HUGEINT',
    '99999999999999999999999999999999999999',
    { Decimal128: [38, 0] },
  ],
  ['7::UHUGEINT', '7', { Decimal128: [38, 0] }],
  ['0.1::FLOAT', '0.1', 'Float32'],
  ['1::DOUBLE', '1.0', 'Float64'],
  ['1e21::DOUBLE', '1e+21', 'Float64'],
  ["'nan'::DOUBLE", 'null', 'Float64'],
  ["'-inf'::FLOAT", 'null', 'Float32'],
  ['1.50', '"1.50"', { Decimal128: [3, 2] }],
  ['(-0.05)::DECIMAL(18,4)', '"-0.0500"', { Decimal128: [18, 4] }],
  ['12345678901234567890.123456789::DECIMAL(38,9)', '"12345678901234567890.123456789"', { Decimal128: [38, 9] }],
  ["'x\"é'", '"x\\"é"', 'Utf8'],
  ["''", '""', 'Utf8'],
  ['\'{"a":1}\'::JSON', '"{\\"a\\":1}"', 'Utf8'],
  ["'\\x00\\xFF'::BLOB", '"00ff"', 'Binary'],
  ["''::BLOB", '""', 'Binary'],
  ["'10101'::BIT", '"10101"', 'Utf8'],
  ["'550e8400-e29b-41d4-a716-446655440000'::UUID", '"550e8400-e29b-41d4-a716-446655440000"', 'Utf8'],
  ["'b'::ENUM('a', 'b')", '"b"', 'Utf8'],
  ["'123456789012345678901234567890123456789012'::BIGNUM", '"123456789012345678901234567890123456789012"', 'Utf8'],
  ["DATE '2024-09-02'", '"2024-09-02"', 'Date32'],
  ["'infinity'::DATE", 'null', 'Date32'],
  ["TIME '21:50:00.000001'", '"21:50:00.000001"', { Time64: 'Microsecond' }],
  ["'21:50:00.000000001'::TIME_NS", '"21:50:00.000000001"', { Time64: 'Nanosecond' }],
  ["'21:50:00+02'::TIMETZ", '"21:50:00+02"', 'Utf8'],
  ["TIMESTAMPTZ '2024-09-02 21:50:00.12+02'", '"2024-09-02T19:50:00.120Z"', { Timestamp: ['Microsecond', 'UTC'] }],
  ["TIMESTAMP '2024-09-02 21:50:00'", '"2024-09-02T21:50:00"', { Timestamp: ['Microsecond', null] }],
  ["'2024-09-02 21:50:00'::TIMESTAMP_S", '"2024-09-02T21:50:00"', { Timestamp: ['Second', null] }],
  ["'2024-09-02 21:50:00.12'::TIMESTAMP_MS", '"2024-09-02T21:50:00.120"', { Timestamp: ['Millisecond', null] }],
  [
    "'2024-09-02 21:50:00.000000001'::TIMESTAMP_NS",
    '"2024-09-02T21:50:00.000000001"',
    { Timestamp: ['Nanosecond', null] },
  ],
  ["'infinity'::TIMESTAMPTZ", 'null', { Timestamp: ['Microsecond', 'UTC'] }],
  ["'-infinity'::TIMESTAMP", 'null', { Timestamp: ['Microsecond', null] }],
  ["TIMESTAMP '0001-01-01 00:00:00'", '"0001-01-01T00:00:00"', { Timestamp: ['Microsecond', null] }],
  ["TIMESTAMP '10000-01-01 00:00:00'", '"+10000-01-01T00:00:00"', { Timestamp: ['Microsecond', null] }],
  ["INTERVAL '14 months 3 days 4 hours 5 minutes 6.789 seconds'", '"P14M3DT4H5M6.789S"', 'Utf8'],
  ['NULL', 'null', 'Int32'],
  ['[1, NULL]', '[1,null]', { List: expect.objectContaining({ name: 'item', data_type: 'Int32', nullable: true }) }],
  ['[1, 2]::INT[2]', '[1,2]', { FixedSizeList: [expect.objectContaining({ data_type: 'Int32' }), 2] }],
  ['[[1.5], []]', '[["1.5"],[]]', expect.anything()],
  [
    "MAP {'k': 1, 'j': NULL}",
    '[{"key":"k","value":1},{"key":"j","value":null}]',
    expect.objectContaining({ Map: expect.anything() }),
  ],
  ['union_value(n := 1)', '{"tag":"n","value":1}', expect.objectContaining({ Union: expect.anything() })],
  ["{'z': 1, 'a': 'x'}", '[1,"x"]', expect.objectContaining({ Struct: expect.anything() })],
]

/** The schema of an answer as ArrowJson. */
function schemaText({ schema }: EngineAnswer): string {
  return Buffer.from(schemaBytes(schema ?? { fields: [] }, 'ArrowJson')).toString()
}

interface Schema {
  fields: { name: string; data_type: unknown; nullable: boolean }[]
}

test.each(values)('%s prints as %s', async (expression, token, type) => {
  const answer = await askWhole(bench.engine, `SELECT ${expression} AS a`, { wantSchema: true })
  expect(Buffer.from(answer.data).toString()).toBe(`[[${token}]]`)
  const schema: Schema = JSON.parse(schemaText(answer))
  expect(schema.fields[0]).toMatchObject({ name: 'a', data_type: type, nullable: true })
})

test('keys of a schema are sorted, and its text is ASCII', async () => {
  const answer = await askWhole(bench.engine, 'SELECT 1 AS "é"', { wantSchema: true })
  expect(schemaText(answer)).toBe(
    '{"fields":[{"data_type":"Int32","dict_id":0,"dict_is_ordered":false,"metadata":{},"name":"\\u00e9","nullable":true}],"metadata":{}}',
  )
})

describe('layouts', () => {
  const sql = "SELECT * FROM (VALUES (1, 'x', {'z': 1, 'a': [2]}), (NULL, NULL, NULL)) v(b, a, c)"

  const none = 'SELECT 1 AS a WHERE false'
  const names = 'SELECT 1 AS "😀", 2 AS "ﾞ", 3 AS "Z", 4 AS "a"'

  test.each<[string, string, Parameters<typeof ask>[2], string]>([
    ['rows are arrays, in the order of columns', sql, {}, '[[1,"x",[1,[2]]],[null,null,null]]'],
    [
      'rows are objects, keys sorted',
      sql,
      { dataFormat: 'JsonAos' },
      '[{"a":"x","b":1,"c":{"a":[2],"z":1}},{"a":null,"b":null,"c":null}]',
    ],
    [
      'rows are objects as the columns stand',
      sql,
      { dataFormat: 'JsonAos', keyOrder: 'column' },
      '[{"b":1,"a":"x","c":{"a":[2],"z":1}},{"b":null,"a":null,"c":null}]',
    ],
    ['columns are arrays', sql, { dataFormat: 'JsonSoa' }, '{"a":["x",null],"b":[1,null],"c":[{"a":[2],"z":1},null]}'],
    ['keys sort by UTF-8 bytes', names, { dataFormat: 'JsonAos' }, '[{"Z":3,"a":4,"ﾞ":2,"😀":1}]'],
    ['zero rows are []', none, {}, '[]'],
    ['zero rows are [] of objects too', none, { dataFormat: 'JsonAos' }, '[]'],
    ['zero rows are {}', none, { dataFormat: 'JsonSoa' }, '{}'],
    ['zero rows wanted are {}', 'SELECT 1 AS a', { dataFormat: 'JsonSoa', limit: 0 }, '{}'],
    [
      'beyond ASCII everything is escaped where the answer is canonical',
      `SELECT 'é😀\u007f' AS "ü"`,
      { dataFormat: 'JsonAos', ascii: true },
      '[{"\\u00fc":"\\u00e9\\ud83d\\ude00\\u007f"}]',
    ],
  ])('%s', async (_, statement, options, text) => {
    expect(await ask(bench.engine, statement, options)).toBe(text)
  })

  test('a dataset without data has its columns and no rows', async () => {
    const answer = await askWhole(bench.engine, 'SELECT * FROM "a/b"', {
      wantSchema: true,
      tables: {
        'a/b': { files: [], schema: schemaOf({ name: 'x', type: { kind: 'Option', inner: { kind: 'Date' } } }) },
      },
    })
    expect(Buffer.from(answer.data).toString()).toBe('[]')
    const schema: Schema = JSON.parse(schemaText(answer))
    expect(schema.fields.map((field) => [field.name, field.data_type])).toEqual([
      ['offset', 'Int64'],
      ['op', 'Int32'],
      ['system_time', { Timestamp: ['Microsecond', 'UTC'] }],
      ['event_time', { Timestamp: ['Microsecond', 'UTC'] }],
      ['x', 'Date32'],
    ])
    const bare = await askWhole(bench.engine, 'SELECT * FROM a.b', {
      tables: { 'a/b': { files: [], schema: undefined } },
      dataFormat: 'JsonSoa',
    })
    expect(Buffer.from(bare.data).toString()).toBe('{}')
  })

  test('an answer of many messages arrives whole, with rows larger than one', async () => {
    const sql = "SELECT i, repeat('é', CASE i WHEN 1 THEN 2000000 ELSE 100 END) AS s FROM range(10000) t(i)"
    for (const dataFormat of ['JsonAoa', 'JsonSoa'] as const) {
      const value: unknown = JSON.parse(await ask(bench.engine, sql, { limit: 10_000, dataFormat }))
      const texts: string[] = dataFormat === 'JsonSoa' ? Object(value).s : Object(value).map((row: string[]) => row[1])
      expect(texts).toHaveLength(10_000)
      expect(texts.every((text, i) => text === 'é'.repeat(i === 1 ? 2_000_000 : 100))).toBe(true)
    }
  })

  test('rows over many chunks are joined as one text', async () => {
    const text = await ask(bench.engine, 'SELECT i, i::VARCHAR AS s FROM range(5000) t(i)', { limit: 100_000 })
    const rows: unknown = JSON.parse(text)
    expect(rows).toEqual(Array.from({ length: 5000 }, (_, i) => [i, String(i)]))
    const columns: unknown = JSON.parse(
      await ask(bench.engine, 'SELECT i FROM range(5000) t(i)', { limit: 100_000, dataFormat: 'JsonSoa' }),
    )
    expect(columns).toEqual({ i: Array.from({ length: 5000 }, (_, i) => i) })
  })
})

describe('refusals', () => {
  test.each([
    ["'1'::VARIANT", 'QueryNotAllowed'],
    ["'POINT(1 2)'::GEOMETRY", 'QueryNotAllowed'],
    ["[{'a': 'POINT(1 2)'::GEOMETRY}]", 'QueryNotAllowed'],
    ['row(1, 2)', 'QueryNotAllowed'],
    ['170141183460469231731687303715884105727::HUGEINT', 'SqlValue'],
    // The engine adds decimals as integers of 128 bits, of a type that does not hold them.
    ['(SELECT sum(6e37::DECIMAL(38,0)) FROM range(2))', 'SqlValue'],
    ['(SELECT -sum(6e37::DECIMAL(38,0)) FROM range(2))', 'SqlValue'],
    ["(SELECT {'a': [sum(6e27::DECIMAL(38,10))]} FROM range(2))", 'SqlValue'],
  ])('%s is refused as %s', async (expression, kind) => {
    expect((await refusal(ask(bench.engine, `SELECT ${expression} AS a`))).kind).toBe(kind)
  })

  test('two columns of one name stand in rows as arrays and are refused where names are keys', async () => {
    const sql = 'SELECT a.*, b.* FROM (SELECT 1 AS k, 2 AS "K") a, (SELECT 3 AS k) b'
    expect(await ask(bench.engine, sql)).toBe('[[1,2,3]]')
    for (const dataFormat of ['JsonAos', 'JsonSoa'] as const) {
      const error = await refusal(ask(bench.engine, sql, { dataFormat }))
      expect(error.kind).toBe('DuplicateColumn')
      expect(error.details.candidates).toEqual(['k'])
    }
    expect(await ask(bench.engine, 'SELECT 1 AS k, 2 AS "K"', { dataFormat: 'JsonAos' })).toBe('[{"K":2,"k":1}]')
  })

  test('an answer over its bytes is refused in each layout', async () => {
    const small = await openBench({ resultBytes: 1000 })
    for (const dataFormat of ['JsonAoa', 'JsonAos', 'JsonSoa'] as const) {
      const error = await refusal(ask(small.engine, "SELECT repeat('x', 100) AS a FROM range(20)", { dataFormat }))
      expect(error.kind).toBe('ResultTooLarge')
      expect(error.details.limit).toEqual({ name: 'resultBytes', value: 1000, unit: 'bytes' })
    }
    expect(await ask(small.engine, 'SELECT 1')).toBe('[[1]]')
    await small.close()
  })
})
