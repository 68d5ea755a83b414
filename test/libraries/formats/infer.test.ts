// Inference: each rule of the contract, and that what was inferred from a body reads that body.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InferOptions } from '../../../src/libraries/formats/format.ts'
import { type DataType, innerType } from '../../../src/libraries/model/schema.ts'
import { sample } from '../../helpers/samples.ts'
import { failure, infer, isPlain, optionalField, read, readerOptions, rowsOf } from './reading.ts'

const short = ({ kind, ...rest }: DataType): string =>
  'unit' in rest && rest.unit === 'Microsecond' ? `${kind}(us)` : kind

function types(inferred: ReturnType<typeof infer>): Record<string, string> {
  for (const { type } of inferred.fields) expect(type.kind).toBe('Option')
  return Object.fromEntries(inferred.fields.map(({ name, type }) => [name, short(innerType(type))]))
}

const json = (values: readonly unknown[], more: Partial<InferOptions> = {}): string | undefined =>
  types(infer('ndjson', values.map((v) => `{"v":${typeof v === 'string' ? v : JSON.stringify(v)}}`).join('\n'), more))[
    'v'
  ]

const csv = (...cells: string[]): string | undefined =>
  types(infer('csv', ['v,w', ...cells.map((v) => `${v},`)].join('\n')))['v']

describe('types from JSON', () => {
  it.each([
    [['true', 'null', 'false'], 'Bool'],
    [['1', '2'], 'Int64'],
    [['1', '2.5'], 'Float64'],
    [['1.0'], 'Float64'],
    [['9007199254740992'], 'Int64'],
    [['9007199254740993'], 'Int64'],
    [['-9007199254740993', '1'], 'Int64'],
    [['123456789012345678901234567890'], 'String'],
    [['9007199254740993', '0.5'], 'String'],
    [['"a"'], 'String'],
    [['"007"'], 'String'],
    [['"1"'], 'String'],
    [['""'], 'String'],
    [['"2024-02-29"'], 'Date'],
    [['"2024-02-30"'], 'String'],
    [['"\\u0032024-02-29"', '"2024\\u002d02-29"'], 'Date'],
    [['"2024-01-01T00:00:00Z"', '"2024-01-01 00:00:00.5+02"'], 'Timestamp(us)'],
    [['"2024-01-01T00:00:00"'], 'String'],
    [['"2024-01-01T00:00:00Z"', '"2024-01-01T00:00:00"'], 'String'],
    [['"2024-01-01T00:00:00Z"', '"2024-01-01"'], 'String'],
    [['1', '"a"'], 'String'],
    [['true', '1'], 'String'],
    [['{"a":1}'], 'String'],
    [['[1]', 'null'], 'String'],
    [['null'], undefined],
  ])('%j make %s', (values, expected) => {
    expect(json(values)).toBe(expected)
  })

  it('integers are Int64 unless floats are asked for', () => {
    expect(json(['1'], { integers: 'int64' })).toBe('Int64')
    expect(json(['9007199254740993'], { integers: 'float64' })).toBe('Float64')
    expect(json(['1', '1.5'], { integers: 'int64' })).toBe('Float64')
    expect(json(['1'], { integers: 'float64' })).toBe('Float64')
    expect(json(['1'], { integers: 'numbers' })).toBe('Float64')
    expect(json(['9007199254740992'], { integers: 'numbers' })).toBe('Float64')
    expect(json(['9007199254740993'], { integers: 'numbers' })).toBe('Int64')
  })

  it('integers that no number keeps are text, unless they are said to be Int64 or Float64', () => {
    const text = '{"v":18446744073709551617}'
    const texts = infer('ndjson', text)
    expect(texts.warnings).toEqual([expect.stringContaining("'v' is text")])
    expect(rowsOf(read('ndjson', text, readerOptions(texts.fields)))).toEqual([[null, '18446744073709551617']])
    const { fields, valueless } = infer('ndjson', text, { integers: 'int64' })
    const error = failure(() => read('ndjson', text, readerOptions(fields, { valueless })))
    expect(error.details).toMatchObject({ errors: [{ kind: 'OutOfRange', pointer: '/v' }] })
    expect(error.details.hint).toContain('integers=float64')
    const floats = infer('ndjson', text, { integers: 'float64' })
    const body = read('ndjson', text, readerOptions(floats.fields, { integers: 'float64' }))
    expect(rowsOf(body)).toEqual([[null, 2 ** 64]])
    expect(body.warnings).toEqual(["Integers of 'v' were rounded to Float64 (record 0)."])
  })

  it('zoneless times are times when they are said to be UTC', () => {
    expect(json(['"2024-01-01T00:00:00"', '"2024-01-01T00:00:00Z"'], { timeZone: 'UTC' })).toBe('Timestamp(us)')
  })
})

describe('types from CSV', () => {
  it.each([
    [['1', '', '-2'], 'Int64'],
    [['1', '2.5'], 'Float64'],
    [['1e3'], 'String'],
    [['1.0e3', '1e-05', '2E+16'], 'Float64'],
    [['.5', '+1.5'], 'Float64'],
    [['007', '1'], 'String'],
    [['-007'], 'String'],
    [['+14155550123'], 'String'],
    [['1', '+1'], 'String'],
    [['5.'], 'String'],
    [['0x1F', '1_000', "1'000"], 'String'],
    [['0', '-0'], 'Float64'],
    [['9223372036854775807', '-9223372036854775808'], 'Int64'],
    [['9223372036854775808'], 'Float64'],
    [['1', '9223372036854775809'], 'String'],
    [['1.5', '9007199254740993'], 'String'],
    [['1.5', '9007199254740994'], 'Float64'],
    [['0.5'], 'Float64'],
    [[' 5 '], 'Int64'],
    [['TRUE', 'false'], 'Bool'],
    [['yes'], 'String'],
    [['2024-02-29'], 'Date'],
    [['2024-02-29 10:00Z'], 'Timestamp(us)'],
    [['"1"', '""'], 'Int64'],
    [['""'], 'String'],
    [['NaN'], 'String'],
    [['NaN', '1', '-inf'], 'Float64'],
    [['NaN', 'x'], 'String'],
    [['', ''], undefined],
  ])('%j make %s', (cells, expected) => {
    expect(csv(...cells)).toBe(expected)
  })

  it('take the first record as the header, and refuse one that reads as values', () => {
    expect(infer('csv', 'a,b\n1,x\n')).toMatchObject({ records: 1, csvHeader: 'present' })
    for (const first of [
      '1,b',
      'a,,b',
      'a,a',
      '007,b',
      '+1,b',
      'a,A',
      'a,true',
      'a,2024-01-01',
      'a,2024-01-01 10:00:00',
      '"a","1.5"',
    ]) {
      const error = failure(() => infer('csv', `${first}\n1,2\n`))
      expect([first, error.kind]).toEqual([first, 'RecordsDoNotFit'])
      expect(error.details.errors).toMatchObject([{ kind: 'MalformedRecord', line: 1 }])
      expect(error.details.hint).toContain('header=')
    }
  })

  it('name columns by number without a header, and keep empty ones for their place', () => {
    const inferred = infer('csv', '1,,x\n2,,y\n', { csvHeader: 'absent' })
    expect(types(inferred)).toEqual({ column_1: 'Int64', column_2: 'String', column_3: 'String' })
    expect(inferred).toMatchObject({ records: 2, csvHeader: 'absent', valueless: [] })
  })

  it('may have a header of digits when it is said to be one', () => {
    expect(types(infer('csv', '2023,2024\n1,x\n', { csvHeader: 'present' }))).toEqual({ 2023: 'Int64', 2024: 'String' })
  })
})

describe('columns', () => {
  it('stand in order of first appearance; the event time apart', () => {
    const inferred = infer(
      'ndjson',
      '{"z":1,"event_time":"2024-01-01T00:00:00Z"}\n{"a":"x","z":2,"m":null}\n{"b":true}',
    )
    expect(inferred.fields.map(({ name }) => name)).toEqual(['z', 'a', 'b'])
    expect(inferred.valueless).toEqual(['m'])
    expect(inferred.eventTimeType).toEqual({ kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' })
    expect(infer('ndjson', '{"event_time":"2024-01-01"}').eventTimeType).toEqual({ kind: 'Date' })
    expect(infer('ndjson', '{"event_time":1704067200}').eventTimeType.kind).toBe('Timestamp')
  })

  it('add to those that the dataset has, and leave these alone', () => {
    const known = [optionalField('a', { kind: 'String' })]
    const inferred = infer('ndjson', '{"A":1,"new":true,"op":3}', { known, eventTimeType: { kind: 'Date' } })
    expect(types(inferred)).toEqual({ a: 'String', new: 'Bool' })
    expect(inferred.added).toEqual([optionalField('new', { kind: 'Bool' })])
    expect(inferred.eventTimeType).toEqual({ kind: 'Date' })
    expect(infer('csv', 'a,new\n1,2\n', { known, csvHeader: 'present' }).added).toHaveLength(1)
    expect(infer('csv', 'a,new\n1,2\n', { known })).toMatchObject({ csvHeader: 'present', added: [{ name: 'new' }] })
  })

  it('have names that a column may have', () => {
    for (const text of ['{"":1}', '{"a\\u0000":1}', '{"\\u009b":1}', `{"${'é'.repeat(128)}":1}`]) {
      expect(failure(() => infer('ndjson', text)).kind).toBe('InvalidColumnName')
    }
    expect(failure(() => infer('csv', 'a,b\u0001\n1,2\n', { csvHeader: 'present' })).kind).toBe('InvalidColumnName')
    expect(types(infer('ndjson', `{"${'x'.repeat(255)}":1,"__proto__":2}`))).toHaveProperty('x'.repeat(255))
  })

  it('are at most as many as allowed', () => {
    const record = (count: number): string =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, 1])))
    expect(infer('ndjson', record(2000)).fields).toHaveLength(2000)
    const error = failure(() => infer('ndjson', record(2001)))
    expect(error.details.limit).toEqual({ name: 'columns', value: 2000, unit: 'columns' })
  })
})

describe('the sample', () => {
  it('is the first 10,000 records', () => {
    const text = '{"v":1}\n'.repeat(9_999)
    expect(types(infer('ndjson', `${text}{"v":"x"}\n`))).toEqual({ v: 'String' })
    const inferred = infer('ndjson', `${text}{"v":2}\n{"v":"x","w":1}\n`)
    expect(inferred.records).toBe(10_000)
    expect(types(inferred)).toEqual({ v: 'Int64' })
    const error = failure(() =>
      read('ndjson', `${text}{"v":2}\n{"v":"x"}\n`, readerOptions(inferred.fields, { valueless: inferred.valueless })),
    )
    expect(error.details.errors).toMatchObject([{ record: 10_000, kind: 'WrongType' }])
    expect(error.details.hint).toMatch(/PUT first\.$/)
    const rounded = failure(() =>
      read(
        'json',
        '[{"v":9007199254740993}]',
        readerOptions([optionalField('v', { kind: 'Float64' })], { valueless: [] }),
      ),
    )
    expect(rounded.details.hint).toContain('integers=float64')
  })

  it('is not blamed for a time among the records that it read: those make no column of times', () => {
    const times = readerOptions([optionalField('t', { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' })], {
      valueless: [],
    })
    const error = failure(() => read('ndjson', '{"t":"soon"}\n', times))
    expect(error.details.errors).toMatchObject([{ record: 0, kind: 'BadTimestamp' }])
    expect(error.details.hint).toBeUndefined()
    const late = failure(() =>
      read('ndjson', `${'{"t":"2026-01-31T12:00:00Z"}\n'.repeat(10_000)}{"t":"soon"}\n`, times),
    )
    expect(late.details.hint).toMatch(/PUT first\.$/)
  })

  it('counts faulty records but learns nothing from them', () => {
    const inferred = infer('ndjson', '{bad\n{"v":1,"v":2}\n[1]\n{"w":1}\n')
    expect(inferred.records).toBe(4)
    expect(types(inferred)).toEqual({ w: 'Int64' })
    expect(infer('json', '{"a":1} x').records).toBeGreaterThan(0)
    expect(infer('json', 'nonsense').records).toBeGreaterThan(0)
  })

  it.each([
    ['[{"id":1,"v":NaN}]', 'MalformedRecord', 'NaN, Infinity and None are not: write null'],
    ['[{"id":1,"v":[1,-Infinity]}]', 'MalformedRecord', 'write null'],
    ['[{"id":1,"v":None}]', 'MalformedRecord', 'write null'],
    ['[{"id":1,"v":True}]', 'MalformedRecord', 'true and false are lower-case'],
    ['[{"id":1,"v":nowhere}]', 'MalformedRecord', 'Expected a JSON value.'],
    ['[{"id":null,"v":1,},{"w":1}]', 'MalformedRecord', 'member name'],
    ['[{"id":1,"v":1,"v":2}]', 'DuplicateField', "'v' occurs twice"],
  ])('blames %s for what is wrong with it, and for no name beside', (text, kind, message) => {
    const { fields, valueless } = infer('json', text)
    const error = failure(() => read('json', text, readerOptions(fields, { valueless })))
    expect(error.details.errors).toMatchObject([{ record: 0, kind }])
    expect(error.message).toContain(message)
    expect(error.message).not.toContain('Faults in all')
  })

  it('is empty for an empty body', () => {
    for (const format of ['csv', 'json', 'ndjson'] as const)
      expect(infer(format, '\n \n'.slice(0, format === 'csv' ? 1 : 3)).records).toBe(0)
    expect(infer('csv', 'a,b\n').records).toBe(0)
    expect(infer('json', '[]').records).toBe(0)
  })
})

describe('a schema inferred from a body', () => {
  it('reads that body', () => {
    const value = fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isPlain),
      fc.string(),
      fc.array(fc.integer(), { maxLength: 2 }),
    )
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, { maxKeys: 4 }), {
          minLength: 1,
          maxLength: 5,
        }),
        (records) => {
          const text = JSON.stringify(records)
          const { fields, valueless } = infer('json', text)
          expect(rowsOf(read('json', text, readerOptions(fields, { valueless })))).toHaveLength(records.length)
        },
      ),
      { numRuns: 300 },
    )
  })

  it.each([
    ['seattle-weather.csv', 'csv', 1461, 'Date'],
    ['penguins.json', 'json', 344, 'String'],
    ['flights-20k.json', 'json', 20_000, 'String'],
    ['us-employment.csv', 'csv', 120, 'Date'],
  ] as const)('reads %s', (file, format, count, first) => {
    const text = sample(file).toString('utf8')
    const { fields, valueless, csvHeader } = infer(format, text)
    const header = csvHeader === undefined ? {} : { csvHeader }
    const body = read(format, text, readerOptions(fields, { valueless, ...header }), 65_536)
    expect(body.records).toBe(count)
    expect(fields[0] && short(innerType(fields[0].type))).toBe(first)
  })
})
