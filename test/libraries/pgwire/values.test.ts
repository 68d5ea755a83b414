// Values that a client binds, in both forms, as constants of the engine. The bytes are those that PostgreSQL's send functions write.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PostgresFault } from '../../../src/libraries/pgwire/report.ts'
import { withConstants } from '../../../src/libraries/pgwire/constants.ts'
import { parameterOf } from '../../../src/libraries/pgwire/values.ts'

const oids = { bool: 16, bytea: 17, int8: 20, int2: 21, int4: 23, text: 25, oid: 26, float4: 700, float8: 701 } as const
const more = {
  date: 1082,
  time: 1083,
  timestamp: 1114,
  timestamptz: 1184,
  interval: 1186,
  numeric: 1700,
  uuid: 2950,
  jsonb: 3802,
  'int4[]': 1007,
  'text[]': 1009,
  'date[]': 1182,
  'numeric[]': 1231,
} as const
const types = { none: 0, json: 114, varchar: 1043, ...oids, ...more } as const
type Type = keyof typeof types

/** `BIGINT 5`, or the state of the refusal. */
function taken(type: Type, format: number, bytes: Uint8Array): string {
  try {
    const value = parameterOf(1, types[type], format, bytes)
    expect(value.name).toBe('1')
    return `${value.type} ${value.text}`
  } catch (error) {
    return error instanceof PostgresFault ? error.state : String(error)
  }
}
const text = (type: Type, value: string): string => taken(type, 0, new Uint8Array(Buffer.from(value)))
const binary = (type: Type, hex: string): string =>
  taken(type, 1, new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex')))

describe('as text', () => {
  test.each<[type: Type, value: string, says: string]>([
    ['int4', '5', 'BIGINT 5'],
    ['int4', ' -5 ', 'BIGINT -5'],
    ['int8', '+007', 'BIGINT 7'],
    ['int8', '9223372036854775807', 'BIGINT 9223372036854775807'],
    ['int8', '-9223372036854775808', 'BIGINT -9223372036854775808'],
    ['int8', '9223372036854775808', '22003'],
    ['int2', 'five', '22P02'],
    ['int4', '', '22P02'],
    ['int4', '1.5', '22P02'],
    ['int4', '0x10', '22P02'],
    ['oid', '4294967295', 'BIGINT 4294967295'],
    ['float8', '1.5', 'DOUBLE 1.5'],
    ['float8', ' .5e-3 ', 'DOUBLE 0.0005'],
    ['float8', '-0', 'DOUBLE -0.0'],
    ['float8', 'NaN', 'VARCHAR NaN'],
    ['float8', '-Infinity', 'VARCHAR -Infinity'],
    ['float8', 'inf', 'VARCHAR inf'],
    ['float8', '1,5', '22P02'],
    ['float4', '', '22P02'],
    ['float4', '0.1', 'DOUBLE 0.10000000149011612'],
    ['float4', '1e39', '22003'],
    ['float4', '1e-50', '22003'],
    ['bool', 't', 'BOOLEAN true'],
    ['bool', ' YES ', 'BOOLEAN true'],
    ['bool', 'of', 'BOOLEAN false'],
    ['bool', '0', 'BOOLEAN false'],
    ['bool', 'o', '22P02'],
    ['bool', '2', '22P02'],
    ['bytea', String.raw`\x00fF`, String.raw`VARCHAR \x00\xFF`],
    ['bytea', String.raw`\x`, 'VARCHAR '],
    ['bytea', String.raw`\x0`, '22P02'],
    ['text', "it's 😀", "VARCHAR it's 😀"],
    ['none', '5', 'VARCHAR 5'],
    ['varchar', '', 'VARCHAR '],
    ['json', '{"a": 1}', 'VARCHAR {"a": 1}'],
    ['date', '2026-03-01', 'VARCHAR 2026-03-01'],
    ['numeric', '1.10', 'VARCHAR 1.10'],
    ['uuid', 'any', 'VARCHAR any'],
  ])('%s %j: %s', (type, value, says) => {
    expect(text(type, value)).toBe(says)
  })

  test('bytes that are no text', () => {
    for (const type of ['text', 'none', 'int4'] as const) {
      expect([taken(type, 0, Uint8Array.of(0xc3, 0x28)), taken(type, 0, Uint8Array.of(0x61, 0))]).toEqual([
        '22021',
        '22021',
      ])
    }
  })

  // PostgreSQL: "1e400" is out of range for type double precision.
  test.each<[type: Type, value: string]>([
    ['float8', '1e400'],
    ['float8', '-1e400'],
    ['float8', '1e-400'],
  ])('%s %s is out of range', (type, value) => {
    expect(text(type, value)).toBe('22003')
  })
})

describe('in binary form', () => {
  test.each<[type: Type, hex: string, says: string]>([
    ['bool', '01', 'BOOLEAN true'],
    ['bool', '00', 'BOOLEAN false'],
    ['int2', 'fffe', 'BIGINT -2'],
    ['int4', '80000000', 'BIGINT -2147483648'],
    ['int8', '7fffffffffffffff', 'BIGINT 9223372036854775807'],
    ['oid', 'ffffffff', 'BIGINT 4294967295'],
    ['float4', '3fc00000', 'DOUBLE 1.5'],
    ['float8', '3ff8000000000000', 'DOUBLE 1.5'],
    ['float8', '8000000000000000', 'DOUBLE -0.0'],
    ['float8', '7ff8000000000000', 'VARCHAR NaN'],
    ['float8', 'fff0000000000000', 'VARCHAR -Infinity'],
    ['bytea', '00ff5c27', String.raw`VARCHAR \x00\xFF\x5C\x27`],
    ['text', '6974', 'VARCHAR it'],
    ['none', '35', 'VARCHAR 5'],
    // 9,556 days behind 2000-01-01, and one before it.
    ['date', '00002554', 'VARCHAR 2026-03-01'],
    ['date', 'ffffffff', 'VARCHAR 1999-12-31'],
    // 10:00:00.000001, and the last microsecond of a day.
    ['time', '0000000861c46801', 'VARCHAR 10:00:00.000001'],
    ['time', '000000141dd75fff', 'VARCHAR 23:59:59.999999'],
    ['timestamp', '0000000000000000', 'VARCHAR 2000-01-01 00:00:00.000000'],
    ['timestamp', 'ffffffffffffffff', 'VARCHAR 1999-12-31 23:59:59.999999'],
    ['timestamptz', '0000000000000001', 'VARCHAR 2000-01-01 00:00:00.000001+00'],
    ['uuid', '00112233445566778899aabbccddeeff', 'VARCHAR 00112233-4455-6677-8899-aabbccddeeff'],
    ['jsonb', '01 7b7d', 'VARCHAR {}'],
    // The infinities of dates and times.
    ['date', '7fffffff', '22008'],
    ['timestamp', '7fffffffffffffff', '22008'],
    ['timestamptz', '8000000000000000', '22008'],
    ['bool', '', '22P03'],
    ['int2', '00', '22P03'],
    ['int4', '0000000000000001', '22P03'],
    ['int8', '00000001', '22P03'],
    ['float8', '00', '22P03'],
    ['date', '00', '22P03'],
    ['uuid', '00', '22P03'],
    ['text', 'c328', '22021'],
    ['interval', '000000036c8bc087 fffffffd 0000000e', 'VARCHAR 14 months -3 days 14706000007 microseconds'],
    ['interval', '00', '22P03'],
    ['numeric', '0000000000000000', 'VARCHAR 0'],
    ['numeric', '0001000000000000 0005', 'VARCHAR 5'],
    ['numeric', '0003000140000002 04d2162e2328', 'VARCHAR -12345678.90'],
    ['numeric', '0001ffff00000005 0001', 'VARCHAR 0.00010'],
    ['numeric', '0001000100000000 0001', 'VARCHAR 10000'],
    ['numeric', '0001000500000000 0001', 'VARCHAR 100000000000000000000'],
    ['numeric', '0009000700000001 000c0d801ed204d2162e23340d801ed21388', 'VARCHAR 123456789012345678901234567890.5'],
    ['numeric', '0001ffff40000002 01f4', 'VARCHAR -0.05'],
    ['numeric', '0002000000000002 00011388', 'VARCHAR 1.50'],
    ['numeric', '0004000100000008 04d200000000162e', 'VARCHAR 12340000.00005678'],
    ['numeric', '00000000c0000000', 'VARCHAR NaN'],
    ['numeric', '00000000f0000020', 'VARCHAR -Infinity'],
    ['numeric', '0002000000000000 0005', '22P03'],
    ['numeric', '0000005a00000000', '22003'],
    ['numeric', '00007fff0000ffff', '22003'],
    ['numeric', '0000000000000169', '22003'],
    ['numeric', '00', '22P03'],
    [
      'int4[]',
      '000000010000000100000017 0000000300000001 00000004 00000001 ffffffff 00000004 fffffffd',
      'VARCHAR {"1",NULL,"-3"}',
    ],
    [
      'text[]',
      '000000010000000100000019 0000000200000001 00000001 61 00000003 622263',
      String.raw`VARCHAR {"a","b\"c"}`,
    ],
    ['date[]', '00000001000000000000043a 0000000100000001 00000004 00002554', 'VARCHAR {"2026-03-01"}'],
    ['numeric[]', '0000000100000000000006a4 0000000100000001 0000000c 000200000000000200011388', 'VARCHAR {"1.50"}'],
    ['int4[]', '000000000000000000000017', 'VARCHAR {}'],
    ['int4[]', '000000020000000000000017 0000000200000001 0000000100000001 00000004 00000001', '0A000'],
    ['int4[]', '000000010000000000000017 7fffffff00000001 00000004 00000001', '22P03'],
    ['int4[]', '000000010000000000000017 0000000100000001 7fffffff 00000001', '22P03'],
    ['int4[]', '000000010000000000000017 0000000100000001 00000004 00000001 00', '22P03'],
    ['int4[]', '0000000100000000000003ef 0000000100000001 00000004 00000001', '22P03'],
    ['int4[]', '00', '22P03'],
  ])('%s %s: %s', (type, hex, says) => {
    expect(binary(type, hex)).toBe(says)
  })

  test('an array whose few bytes say much', () => {
    const head = '0000000100000000000006a4 00000400 00000001'
    expect(binary('numeric[]', head + '0000000a 00010059000000000001'.repeat(1024))).toBe('54000')
  })

  test('a text of many digits that is no number takes no time in their square', () => {
    expect(taken('float8', 0, Buffer.from(`${'1'.repeat(1_000_000)}x`))).toBe('22P02')
  })

  test('a form that is neither', () => {
    expect([taken('int4', 2, new Uint8Array(4)), taken('text', -1, new Uint8Array(4))]).toEqual(['08P01', '08P01'])
  })

  // PostgreSQL takes 24:00:00 as that, and refuses a clock beyond it.
  test.each([
    ['000000141dd76000', 'VARCHAR 24:00:00.000000'],
    ['000000141dd76001', '22008'],
    ['ffffffffffffffff', '22008'],
  ])('a time at or beyond the end of a day: %s', (hex, says) => {
    expect(binary('time', hex)).toBe(says)
  })

  // PostgreSQL: unsupported jsonb version number.
  test.each(['', '02 7b7d'])('json of another version: %j', (hex) => {
    expect(binary('jsonb', hex)).toMatch(/^22P03|^XX000|^0A000/)
  })

  test('any integer and any double are themselves', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.double(), (long, double) => {
        const bytes = Buffer.alloc(16)
        bytes.writeBigInt64BE(long, 0)
        bytes.writeDoubleBE(double, 8)
        expect(taken('int8', 1, bytes.subarray(0, 8))).toBe(`BIGINT ${long}`)
        const [, back] = taken('float8', 1, bytes.subarray(8)).split(' ')
        expect(Number(back)).toBe(double)
      }),
    )
  })
})

test('null is null in either form, of any type', () => {
  for (const format of [0, 1]) {
    expect(parameterOf(2, types.int4, format, undefined)).toEqual({ name: '2', type: 'NULL', text: 'null' })
  }
})

describe('a statement with its values written in', () => {
  const values = [
    parameterOf(1, types.text, 0, Buffer.from("it's $2")),
    parameterOf(2, types.int4, 0, Buffer.from('-5')),
    parameterOf(3, types.float8, 0, Buffer.from('1.5')),
    parameterOf(4, types.none, 0, undefined),
    parameterOf(5, types.bool, 0, Buffer.from('t')),
  ]
  test.each<[sql: string, written: string]>([
    ['select $1', "select 'it''s $2'"],
    ['select 1-$2', 'select 1-CAST(-5 AS BIGINT)'],
    ['select $3, $4, $5', 'select CAST(1.5 AS DOUBLE), NULL, true'],
    ['select $2+$2 -- $2', 'select CAST(-5 AS BIGINT)+CAST(-5 AS BIGINT) -- $2'],
    [`select '$1', "$1", $$ $1 $$, $10`, `select '$1', "$1", $$ $1 $$, $10`],
    ['select 1', 'select 1'],
  ])('%s', (sql, written) => {
    expect(withConstants(sql, values)).toBe(written)
  })
})
