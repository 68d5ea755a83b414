// NDJSON and JSON bodies: values, faults with their places, hostile input.

import { describe, expect, it } from 'vitest'
import type { DataType } from '../../../src/libraries/model/schema.ts'
import { failure, faults, kinds, optionalField, read, readerOptions, rowsOf } from './reading.ts'

const fields = [
  optionalField('device', { kind: 'String' }),
  optionalField('temp', { kind: 'Float64' }),
  optionalField('n', { kind: 'Int64' }),
  optionalField('ok', { kind: 'Bool' }),
]
const options = readerOptions(fields)
const rows = (text: string): unknown[][] => rowsOf(read('ndjson', text, options))

function single(type: DataType, json: string): unknown {
  const [row] = rowsOf(read('ndjson', `{"v":${json}}`, readerOptions([optionalField('v', type)])))
  return row?.[1]
}

function fault(type: DataType, json: string): string | undefined {
  return faults('ndjson', `{"v":${json}}`, readerOptions([optionalField('v', type)]))[0]?.kind
}

describe('values from JSON', () => {
  it('matches keys in any order and ASCII case, and leaves what is missing null', () => {
    const text = '{"device":"a","temp":1.5,"n":7,"ok":true}\n{"N":8,"DEVICE":"b"}\n{}\n{"temp":null,"ok":false}\n'
    expect(rows(text)).toEqual([
      [null, 'a', 1.5, 7n, true],
      [null, 'b', null, 8n, null],
      [null, null, null, null, null],
      [null, null, null, null, false],
    ])
  })

  it.each([
    [{ kind: 'Int64' }, '9007199254740993', 9007199254740993n],
    [{ kind: 'Int64' }, '-9223372036854775808', -(2n ** 63n)],
    [{ kind: 'Int64' }, '1.0', 1n],
    [{ kind: 'Int64' }, '1e3', 1000n],
    [{ kind: 'Int64' }, '-0', 0n],
    [{ kind: 'UInt64' }, '18446744073709551615', 2n ** 64n - 1n],
    [{ kind: 'Int8' }, '-128', -128],
    [{ kind: 'UInt32' }, '4294967295', 4294967295],
    [{ kind: 'Float64' }, '-0.0', -0],
    [{ kind: 'Float64' }, '1.7976931348623157e308', Number.MAX_VALUE],
    [{ kind: 'Float32' }, '0.1', Math.fround(0.1)],
    [{ kind: 'Decimal', precision: 18, scale: 4 }, '-12345678901234.5678', -123456789012345678n],
    [{ kind: 'Decimal', precision: 18, scale: 4 }, '1.50000', 15000n],
    [{ kind: 'String' }, '"\\u00e9\\ud83d\\ude00\\n"', 'é😀\n'],
    [{ kind: 'String' }, '""', ''],
    [{ kind: 'String' }, '1.50', '1.50'],
    [{ kind: 'String' }, 'true', 'true'],
    [{ kind: 'String' }, '{"b": [1.0, "\\u0041"]}', '{"b": [1.0, "\\u0041"]}'],
    [{ kind: 'Date' }, '"2024-02-29"', 19782],
    [{ kind: 'Timestamp' }, '"1969-12-31T23:59:59.9999Z"', -1n],
    [{ kind: 'Timestamp', unit: 'Microsecond' }, '"2024-01-01T00:00:00.1234569+01:00"', 1704063600123456n],
    [{ kind: 'Timestamp', unit: 'Microsecond' }, '"9999-12-31T23:59:59.999999Z"', 253402300799999999n],
    [{ kind: 'Time', unit: 'Microsecond' }, '"12:30:00.000001"', 45000000001n],
    [{ kind: 'Binary' }, '"00fFa1"', '00ffa1'],
    [{ kind: 'List', itemType: { kind: 'Int64' } }, '[1, 2e0 ,3]', [1n, 2n, 3n]],
    [{ kind: 'List', itemType: { kind: 'Option', inner: { kind: 'String' } } }, '["a",null,[]]', ['a', null, '[]']],
    [{ kind: 'List', itemType: { kind: 'Int64' } }, '[]', []],
  ] as [DataType, string, unknown][])('reads %o from %s', (type, json, expected) => {
    expect(single(type, json)).toEqual(expected)
  })

  it.each([
    [{ kind: 'Int64' }, '1.5', 'WrongType'],
    [{ kind: 'Int64' }, '"1"', 'WrongType'],
    [{ kind: 'Int64' }, '9223372036854775808', 'OutOfRange'],
    [{ kind: 'Int64' }, '1e400', 'OutOfRange'],
    [{ kind: 'UInt64' }, '-1', 'OutOfRange'],
    [{ kind: 'UInt64' }, '18446744073709551616', 'OutOfRange'],
    [{ kind: 'Int8' }, '128', 'OutOfRange'],
    [{ kind: 'Float64' }, '1e400', 'OutOfRange'],
    [{ kind: 'Float32' }, '3.5e38', 'OutOfRange'],
    [{ kind: 'Float64' }, 'NaN', 'MalformedRecord'],
    [{ kind: 'Float64' }, '-Infinity', 'MalformedRecord'],
    [{ kind: 'Float64' }, '01', 'MalformedRecord'],
    [{ kind: 'Float64' }, '1.', 'MalformedRecord'],
    [{ kind: 'Float64' }, 'true', 'WrongType'],
    [{ kind: 'Float64' }, '[1]', 'WrongType'],
    [{ kind: 'Bool' }, '"true"', 'WrongType'],
    [{ kind: 'Bool' }, '1', 'WrongType'],
    [{ kind: 'Decimal', precision: 5, scale: 2 }, '1.005', 'WrongType'],
    [{ kind: 'Decimal', precision: 5, scale: 2 }, '1000', 'OutOfRange'],
    [{ kind: 'Timestamp' }, '"2024-02-30T00:00:00Z"', 'BadTimestamp'],
    [{ kind: 'Timestamp' }, '"2024-02-03T00:00:00"', 'BadTimestamp'],
    [{ kind: 'Timestamp' }, '1704067200', 'WrongType'],
    [{ kind: 'Date' }, '"2024-02-30"', 'BadDate'],
    [{ kind: 'Date' }, '"2024-02-03T00:00:00Z"', 'BadDate'],
    [{ kind: 'String' }, '"\\ud800"', 'InvalidUtf8'],
    [{ kind: 'String' }, '"\\udc00\\ud800"', 'InvalidUtf8'],
    [{ kind: 'String' }, '"\\x41"', 'MalformedRecord'],
    [{ kind: 'String' }, '"\\u12g4"', 'MalformedRecord'],
    [{ kind: 'String' }, '"a\tb"', 'MalformedRecord'],
    [{ kind: 'String' }, '{"a":1,"a":2}', 'DuplicateField'],
    [{ kind: 'String' }, '["\\ud800"]', 'InvalidUtf8'],
    [{ kind: 'String' }, '[1,]', 'MalformedRecord'],
    [{ kind: 'List', itemType: { kind: 'Int64' } }, '[1,null]', 'MissingRequired'],
    [{ kind: 'Binary' }, '"abc"', 'WrongType'],
  ] as [DataType, string, string][])('refuses for %o the value %s: %s', (type, json, kind) => {
    expect(fault(type, json)).toBe(kind)
  })

  it('reads event times as text, as epochs when told so, and as dates', () => {
    const text = '{"event_time":"2024-01-01T00:00:00.9999Z"}'
    expect(rowsOf(read('ndjson', text, options))[0]?.[0]).toBe(1704067200999n)
    const epoch = readerOptions(fields, { eventTimeUnit: 's' })
    expect(rowsOf(read('ndjson', '{"event_time":1704067200.9999}', epoch))[0]?.[0]).toBe(1704067200999n)
    expect(rowsOf(read('ndjson', text, epoch))[0]?.[0]).toBe(1704067200999n)
    const nanos = readerOptions(fields, { eventTimeUnit: 'ns' })
    expect(rowsOf(read('ndjson', '{"event_time":1704067200999999999}', nanos))[0]?.[0]).toBe(1704067200999n)
    const dates = readerOptions(fields, { eventTimeType: { kind: 'Date' } })
    expect(rowsOf(read('ndjson', '{"event_time":"2024-01-01"}', dates))[0]?.[0]).toBe(19723)
    const [bad] = faults('ndjson', '{"event_time":1704067200}', options)
    expect(bad).toMatchObject({ kind: 'WrongType', pointer: '/event_time', column: 'event_time' })
    expect(bad?.message).toContain('eventTimeUnit')
  })
})

describe('faults of NDJSON', () => {
  it('judges every line and names each place', () => {
    const text = '{"temp":"x"}\n\n  \r\n{"n":1,"N":2}\n{bad\n{"q":{"~/":1}}\n{"a/b":1}\n{"temp":1} x\n[1]\n"s"\n'
    expect(faults('ndjson', text, options)).toMatchObject([
      { record: 0, line: 1, byteOffset: 8, column: 'temp', pointer: '/temp', kind: 'WrongType', excerpt: '"x"' },
      { record: 1, line: 4, byteOffset: 25, pointer: '/N', kind: 'DuplicateField', excerpt: '"N"' },
      { record: 2, line: 5, byteOffset: 33, kind: 'MalformedRecord' },
      { record: 3, line: 6, byteOffset: 38, pointer: '/q', kind: 'UnknownField' },
      { record: 4, line: 7, pointer: '/a~1b', kind: 'UnknownField' },
      { record: 5, line: 8, kind: 'MalformedRecord', excerpt: 'x' },
      { record: 6, line: 9, kind: 'MalformedRecord', excerpt: '[1]' },
      { record: 7, line: 10, kind: 'MalformedRecord' },
    ])
  })

  it('collects a hundred faults and counts all', () => {
    const error = failure(() => read('ndjson', '{"temp":"x"}\n'.repeat(250), options))
    expect(error.kind).toBe('RecordsDoNotFit')
    expect(error.details.errors).toHaveLength(100)
    expect(error.details.errorsTotal).toBe(250)
  })

  it('reads a record no further than its hundredth fault, and goes on with the next', () => {
    const twice = `{"n":1${',"n":1'.repeat(5000)}}`
    const items = readerOptions([optionalField('v', { kind: 'List', itemType: { kind: 'Int64' } })])
    const nulls = `{"v":[${'null,'.repeat(5000)}1]}`
    for (const [text, settings] of [
      [twice, options],
      [nulls, items],
    ] as const) {
      const error = failure(() => read('json', `[${text},{"x":1}]`, settings))
      expect(error.details.errorsTotal).toBe(101)
    }
    const ignoring = readerOptions(fields, { unknownFields: 'ignore' })
    const many = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',')}}`
    expect(read('ndjson', many(16_384), ignoring).records).toBe(1)
    expect(kinds('ndjson', many(16_385), ignoring)).toEqual(['TooManyFields@0'])
  })

  it('refuses names that are no text', () => {
    const [bad, ...rest] = faults('json', '[{"\\ud800":1},{"n":"x"}]', options)
    expect(bad).toMatchObject({ record: 0, byteOffset: 2, kind: 'InvalidUtf8' })
    expect(bad).not.toHaveProperty('pointer')
    expect(rest).toMatchObject([{ record: 1, kind: 'WrongType' }])
    expect(kinds('ndjson', '{"a\\q":1}\n{"a\tb":1}\n{"n":1', options)).toEqual([
      'MalformedRecord@0',
      'MalformedRecord@1',
      'MalformedRecord@2',
    ])
  })

  it('takes __proto__, constructor and the like for names like any other', () => {
    expect(kinds('ndjson', '{"__proto__":1}\n{"constructor":{}}\n{"toString":"x"}', options)).toEqual([
      'UnknownField@0',
      'UnknownField@1',
      'UnknownField@2',
    ])
    const own = readerOptions([optionalField('__proto__', { kind: 'Int64' })])
    expect(rowsOf(read('ndjson', '{"__proto__":5}', own))).toEqual([[null, 5n]])
  })

  it('lets an unknown name without a value pass, and any when told to ignore', () => {
    expect(rows('{"q":null,"n":1}')).toEqual([[null, null, null, 1n, null]])
    const ignoring = readerOptions(fields, { unknownFields: 'ignore' })
    expect(rowsOf(read('ndjson', '{"q":[{"a":"]"}],"n":1}', ignoring))).toEqual([[null, null, null, 1n, null]])
    expect(kinds('ndjson', '{"q":1,"q":2}', ignoring)).toEqual(['DuplicateField@0'])
    expect(kinds('ndjson', '{"q":{"a":1,"a":2}}', ignoring)).toEqual(['DuplicateField@0'])
    expect(kinds('ndjson', '{"offset":1}\n{"OP":null}\n{"system_time":"x"}', ignoring)).toEqual([
      'ReservedColumn@0',
      'ReservedColumn@1',
      'ReservedColumn@2',
    ])
  })

  it('names required columns without value', () => {
    const required = readerOptions([{ name: 'a', type: { kind: 'Int64' } }])
    const [missing, none] = faults('ndjson', '{}\n{"a":null}', required)
    expect(missing).toMatchObject({ record: 0, kind: 'MissingRequired', column: 'a' })
    expect(none).toMatchObject({ record: 1, kind: 'MissingRequired', column: 'a', pointer: '/a' })
  })

  it('takes 64 levels and refuses 65, and a million', () => {
    const text = readerOptions([optionalField('v', { kind: 'String' })])
    const nested = (levels: number): string => `{"v":${'['.repeat(levels)}${']'.repeat(levels)}}`
    expect(rowsOf(read('ndjson', nested(63), text))[0]?.[1]).toBe('['.repeat(63) + ']'.repeat(63))
    expect(kinds('ndjson', `${nested(64)}\n${nested(70)}\n{"v":${'['.repeat(1e6)}\n`, text)).toEqual([
      'TooDeep@0',
      'TooDeep@1',
      'TooDeep@2',
    ])
    expect(kinds('json', `[${nested(70)},{"v":"x"}]`, text)).toEqual(['TooDeep@0'])
  })

  it('points at invalid UTF-8, wherever the chunks are cut', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"device":"é"}\n{"device":"'),
      Buffer.from([0xe2, 0x82]),
      Buffer.from('"}\n'),
    ])
    for (let chunk = 1; chunk <= bytes.length; chunk++) {
      expect(faults('ndjson', bytes, options, chunk)).toMatchObject([
        { record: 1, line: 2, byteOffset: 27, kind: 'InvalidUtf8' },
      ])
    }
    for (const tail of [[0xc3], [0xf0, 0x9f, 0x98], [0x80], [0xff], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
      expect(kinds('ndjson', Buffer.concat([Buffer.from('{}\n{}'), Buffer.from(tail)]), options)).toEqual([
        'InvalidUtf8@1',
      ])
    }
  })

  it('escapes control characters in excerpts and keeps them short', () => {
    const [fault] = faults('ndjson', `{"temp":"\\u0000${'x'.repeat(200)}"}`, options)
    expect(fault?.excerpt?.length).toBe(80)
    const [raw] = faults('ndjson', '{"temp":"\u0001\u009b"}', options)
    expect(raw?.excerpt).toBe('\\u0001')
  })

  it('skips a record over the cap without keeping it, and judges the others', () => {
    const capped = readerOptions(fields, { recordBytes: 32 })
    const long = `{"device":"${'x'.repeat(100)}"}`
    const text = `{"n":1}\n${long}\n{"n":"x"}`
    for (const chunk of [1, 7, 1000]) {
      expect(faults('ndjson', text, capped, chunk)).toMatchObject([
        { record: 1, line: 2, byteOffset: 8, kind: 'RecordTooLarge' },
        { record: 2, line: 3, kind: 'WrongType' },
      ])
    }
    const edge = (bytes: number): string => `{"device":"${'x'.repeat(bytes - 13)}"}`
    expect(rowsOf(read('ndjson', edge(32), capped, 5))).toHaveLength(1)
    expect(kinds('ndjson', edge(33), capped)).toEqual(['RecordTooLarge@0'])
  })
})

describe('JSON bodies', () => {
  it('are an array of objects or one object, or nothing', () => {
    expect(rowsOf(read('json', ' [ {"n":1} ,\n {"n":2}] \n', options)).map((row) => row[3])).toEqual([1n, 2n])
    expect(rowsOf(read('json', '\ufeff{"device":"}]\\"","n":1}\n', options))[0]?.[1]).toBe('}]"')
    for (const text of ['', '  \n', '[]', ' [ ]\n'])
      expect(read('json', text, options)).toEqual({ records: 0, batches: [] })
  })

  it.each(['x', '"a"', '12', 'null', ']', ',', '﻿\u0000'])('that begin with %j are no body of records', (text) => {
    expect(failure(() => read('json', text, options)).kind).toBe('MalformedBody')
  })

  it.each([
    ['[{"n":1}', 'MalformedRecord', 1, 8],
    ['[{"n":1},', 'MalformedRecord', 1, 9],
    ['[', 'MalformedRecord', 0, 1],
    ['[{"n":1},]', 'MalformedRecord', 1, 9],
    ['[,{"n":1}]', 'MalformedRecord', 0, 1],
    ['[{"n":1}{"n":2}]', 'MalformedRecord', 1, 8],
    ['[{"n":1}]x', 'MalformedRecord', 1, 9],
    ['[{"n":1},{"n":2]', 'MalformedRecord', 1, 15],
    ['[{"n":1},{"n":2', 'MalformedRecord', 1, 15],
    ['[{"n":1},{"device":"x]', 'MalformedRecord', 1, 19],
    ['{"n":1}\n{"n":2}', 'MalformedRecord', 1, 8],
    ['{"n":1},', 'MalformedRecord', 1, 7],
    ['{"n":1', 'MalformedRecord', 0, 6],
  ])('broken as %s name the record at or after which they broke', (text, kind, record, byteOffset) => {
    for (let chunk = 1; chunk <= text.length; chunk++) {
      expect(faults('json', text, options, chunk)).toMatchObject([{ kind, record, byteOffset }])
    }
  })

  it('count lines inside and between records', () => {
    const text = '[\n {\n  "n": 1\n },\n {\n  "n": "x",\n  "temp":\n    "y"\n }\n]'
    expect(faults('json', text, options).map(({ record, line }) => [record, line])).toEqual([
      [1, 6],
      [1, 8],
    ])
  })

  it('go on after an element that is no object', () => {
    expect(kinds('json', '[1, "x", null, [2, {}], {"n":1}, true, {"n":"x"}]', options)).toEqual([
      'MalformedRecord@0',
      'MalformedRecord@1',
      'MalformedRecord@2',
      'MalformedRecord@3',
      'MalformedRecord@5',
      'WrongType@6',
    ])
  })
})
