// The compiled reader of NDJSON against the one beside it: bodies of odd records give the same columns, byte for byte, the same
// warnings and the same faults as in pieces that are too small for the compiled one.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Column } from '../../../src/libraries/model/schema.ts'
import { CompiledLines, leastCompiled } from '../../../src/node/formats/compiled/lines.ts'
import { tablePlan } from '../../../src/node/formats/column-plan.ts'
import type { ReaderOptions } from '../../../src/node/formats/format.ts'
import { TypedColumns } from '../../../src/node/formats/typed-columns.ts'
import { failure, optionalField, readBytes, readerOptions } from './reading.ts'

const numeric = [
  'Int8',
  'UInt8',
  'Int16',
  'UInt16',
  'Int32',
  'UInt32',
  'Int64',
  'UInt64',
  'Float32',
  'Float64',
] as const
const fields = [
  ...numeric.map((kind) => optionalField(kind.toLowerCase(), { kind })),
  optionalField('text', { kind: 'String' }),
  optionalField('a name that is longer than a word', { kind: 'String' }),
  optionalField('flag', { kind: 'Bool' }),
  optionalField('day', { kind: 'Date' }),
  optionalField('fine', { kind: 'Timestamp', unit: 'Microsecond' }),
  optionalField('price', { kind: 'Decimal', precision: 18, scale: 4 }),
]
const variants: readonly Partial<ReaderOptions>[] = [
  {},
  { timeZone: 'UTC', integers: 'float64', unknownFields: 'ignore' },
  { eventTimeUnit: 'ms' },
  { eventTimeUnit: 's', demandsEventTime: true },
  { eventTimeUnit: 'ns' },
  { fields: [...fields, { name: 'must', type: { kind: 'Int64' } }] },
  { eventTime: { kind: 'name', name: 'fine' }, fields: fields.filter(({ name }) => name !== 'fine') },
]

const oddNumbers = [
  ...'0 -0 127 128 -128 -129 255 256 -1 32767 -32769 65535 65536 2147483647 2147483648 -2147483648 4294967295'.split(
    ' ',
  ),
  ...'4294967296 9007199254740993 999999999999999999 9223372036854775807 18446744073709551615 16777217'.split(' '),
  ...'01 - -a 1. .5 1e 1e5 1E+05 2.5e-3 -0.0 1e0005 1.0 9007199254740993.0 3.4e38 3.5e38 5e-324 1e400 0.1 1.23456'.split(
    ' ',
  ),
  ...'1700000000 1700000000000 1000 253402300800 253402300799999 -5 2678399 2678400'.split(' '),
]
const oddTexts = [
  '"\\u00e9\\n\\/\\u20AC\\b\\f\\r\\t\\\\\\""',
  '"\\ud83d\\ude00"',
  '"\\ud83d"',
  '"\\udc00"',
  '"\\x"',
  '"\\u12"',
  '"a',
  '"\t"',
  '"\u{1f}"',
  '"\u{7f}\u{1f600}é"',
  '""',
  '"a\\"',
]
const oddTimes = [
  ...'0000-01-01T00:00:00+01:00 9999-12-31T23:59:59-00:01 0000-01-01T00:00:00Z 9999-12-31T23:59:59.999Z'.split(' '),
  ...'2023-02-29T00:00:00Z 2024-02-29T00:00:00Z 1900-02-29T00:00:00Z 2000-02-29T00:00:00Z 1970-01-01T00:00:00Z'.split(
    ' ',
  ),
  ...'2024-01-01T24:00:00Z 2024-01-01T00:60:00Z 2024-01-01T00:00:60Z 2024-04-31T00:00:00Z 2024-13-01T00:00:00Z'.split(
    ' ',
  ),
  ...'2024-01-01T00:00:00.Z 2024-01-01T00:00:00,5Z 2024-01-01T00:00:00.123456789Z 2024-01-01T00:00:00.1230Z'.split(' '),
  ...'2024-01-01 2024-1-1 2024-00-01 2024-01-00 1700000000000 1969-12-31T23:59:59.9Z 2024-01-01t00:00:00z'.split(' '),
  ...'2024-01-01T00:00:00-02 2024-01-01T00:00:00+0100 2024-01-01T00:00:00+24:00 2024-01-01T00:00Z'.split(' '),
].map((time) => `"${time}"`)
const oddValues = [
  ...oddNumbers,
  ...oddTexts,
  ...oddTimes,
  ...'null true false nul tru fals falsy [1] {"a":1} NaN'.split(' '),
  '',
]

const digits = (most: number): fc.Arbitrary<string> =>
  fc.array(fc.nat(9), { minLength: 1, maxLength: most }).map((all) => all.join(''))
const integer = fc.oneof(
  fc.integer({ min: -140, max: 300 }).map(String),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.integer().map(String),
  fc.constantFrom(...oddNumbers),
)
const number = fc.oneof(
  integer,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.double({ min: -200, max: 200, noNaN: true }).map((value) => JSON.stringify(value)),
  fc.tuple(fc.integer(), fc.integer({ min: 1, max: 99_999 })).map(([a, b]) => JSON.stringify(a / b)),
  fc.tuple(digits(4), digits(22)).map(([whole, part]) => `${Number(whole)}.${part}`),
  fc.tuple(digits(17), fc.integer({ min: -330, max: 330 })).map(([of, power]) => `${of[0]}.${of}e${power}`),
)
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }).map((value) => JSON.stringify(value)),
  fc.string({ maxLength: 20 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(...oddTexts),
)
const plainTime = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9998-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const time = fc.oneof(
  plainTime.map((value) => `"${value}"`),
  plainTime.map((value) => `"${value.slice(0, 19)}Z"`),
  fc.tuple(plainTime, digits(9)).map(([value, part]) => `"${value.slice(0, 19)}.${part}+05:30"`),
  fc
    .tuple(plainTime, fc.constantFrom('', '-23:59', '+24:00', '+0100', '-02', 'z', 'Z '))
    .map(([value, zone]) => `"${value.slice(0, 19)}${zone}"`),
  plainTime.map((value) => `"${value.slice(0, 10)} ${value.slice(11)}"`),
  plainTime.map((value) => `"${value.slice(0, 16)}Z"`),
  fc.constantFrom(...oddTimes, ...oddNumbers),
)
const day = fc.oneof(
  plainTime.map((value) => `"${value.slice(0, 10)}"`),
  fc.constantFrom(...oddTimes),
)
const anything = fc.constantFrom(...oddValues)

/** A value that its column probably takes. */
function valueFor(name: string): fc.Arbitrary<string> {
  if (name === 'event_time' || name === 'fine') return time
  if (name === 'flag') return fc.constantFrom('true', 'false')
  if (name === 'day') return day
  if (name.startsWith('float') || name === 'price') return number
  return name.includes('int') || name === 'must' ? integer : text
}

/** What every column takes, as records are that follow one another. */
const plainValues: Readonly<Record<string, string>> = {
  event_time: '"2024-02-29T12:34:56.789Z"',
  fine: '"2024-02-29 12:34:56.789123+02:00"',
  flag: 'true',
  day: '"2024-02-29"',
  price: '1.25',
  text: '"some text"',
  'a name that is longer than a word': '"\\"quoted\\""',
}

/** One value is odd, or its name, or the space around it; the members around it are as in other records. */
const names = ['event_time', 'must', ...fields.map(({ name }) => name)]
const oddMember = fc.constantFrom(...names).chain((name) =>
  fc.record({
    name: fc.oneof(
      { weight: 12, arbitrary: fc.constant(name) },
      fc.constantFrom(name.toUpperCase(), `${name}x`, 'te\\u0078t'),
    ),
    value: fc.oneof({ weight: 6, arbitrary: valueFor(name) }, fc.constant('null'), fc.constant('-0'), anything),
    space: fc.constantFrom('', '', '', '', ' ', '\t', ' \r'),
  }),
)
const plainMember = (name: string): string => `"${name}":${plainValues[name] ?? '7'}`
const others = fc
  .subarray(
    names.filter((name) => name !== 'must'),
    { maxLength: 4 },
  )
  .map((some) => some.map(plainMember))
const oddLine = fc.record({ before: others, odd: oddMember, after: others }).map(({ before, odd, after }) => {
  const { name, value, space } = odd
  return `{${[...before, `${space}"${name}"${space}:${space}${value}${space}`, ...after].join(',')}}\n`
})
const plainLine = others.map((members) => `{${members.join(',')}}\n`)
const oddRecords = fc.constantFrom(
  '\n',
  '{}\n',
  '[1]\n',
  '{"text":"a","text":"b"}\n',
  '{"text":"a","TEXT":"b"}\n',
  ' {"text":"a"}\n',
  '{"text":"a"} x\n',
  '{"text":"a"} \r\n',
  '{"text":"a"}{}\n',
  '{"text":1,}\n',
  '{"int8"\n',
  '{\n',
  '{"event_time":"2024-01-01T00:00:00.1234Z","text":[1]}\n',
  '{"event_time":"2024-01-01T00:00:00.1234Z"}\n',
  '{"fine":"2024-01-01T00:00:00.1234567Z","event_time":"2024-01-01T00:00:00.1234Z"}\n',
)
/** Records that go before the odd ones, so many that the compiled reader is asked. */
const manyPlain = (must: string): string =>
  `{${must}"text":"as before","float64":1.5,"event_time":"2024-01-01T00:00:00Z"}\n`.repeat(16)

const bytesOf = (column: Column): unknown => {
  const { offsets, validity, values, rows, nullCount } = column
  return [
    rows,
    nullCount,
    offsets?.join(),
    validity && Buffer.from(validity).toString('hex'),
    Buffer.from(values).toString('hex'),
  ]
}

/** All that a body comes to. */
function outcome(bytes: Uint8Array, options: ReaderOptions, chunk?: number): unknown {
  try {
    const { batches, ...body } = readBytes('ndjson', bytes, options, chunk)
    return { ...body, batches: batches.map(({ columns }) => columns.map(bytesOf)) }
  } catch (error) {
    const { kind, message, details } = failure(() => {
      throw error
    })
    return { kind, message, details }
  }
}

function expectSame(bytes: Uint8Array, options: ReaderOptions, chunk?: number): void {
  expect(outcome(bytes, options, chunk)).toEqual(outcome(bytes, options, leastCompiled - 1))
}

const optionsOf = fc.constantFrom(...variants.map((more) => readerOptions(fields, more)))

describe('the compiled reader of lines', () => {
  it('gives what the other one gives, of records as they may be sent', () => {
    const odd = fc.oneof({ weight: 12, arbitrary: oddLine }, { weight: 6, arbitrary: plainLine }, oddRecords)
    const body = fc.array(odd, { minLength: 1, maxLength: 4 }).map((lines) => lines.join(''))
    fc.assert(
      fc.property(body, optionsOf, fc.boolean(), (lines, options, hasMust) => {
        const must = options.fields.some(({ name }) => name === 'must') ? '"must":1,' : ''
        const plain = manyPlain(must)
        const sent = hasMust ? lines.replaceAll('{"', `{${must}"`) : lines
        expectSame(Buffer.from(plain + sent + plain), options)
      }),
      { numRuns: 5000 },
    )
  })

  it('gives what the other one gives, of each odd value in each column', () => {
    for (const [at, more] of variants.entries()) {
      const options = readerOptions(fields, more)
      const some = at === 0 ? names : ['event_time', 'fine']
      for (const value of oddValues) {
        for (const name of some) {
          const odd = `{"text":"a","${name}":${value},"flag":true}\n`
          expectSame(Buffer.from(manyPlain('') + odd + manyPlain('')), options)
        }
      }
    }
  })

  it('gives what the other one gives, of bytes that are damaged', () => {
    const record = `{${names
      .filter((name) => name !== 'must')
      .map(plainMember)
      .join(',')}}\n`
    const whole = Buffer.from(record.repeat(8))
    const bytes = fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"\\,:{}[]\n\r 0e.-')))
    fc.assert(
      fc.property(fc.nat(whole.length - 1), bytes, fc.nat(3), optionsOf, (at, byte, cut, options) => {
        const damaged = Buffer.concat([whole.subarray(0, at), Buffer.from([byte]), whole.subarray(at + cut)])
        expectSame(damaged, options)
      }),
      { numRuns: 2500 },
    )
  })

  it('reads records that are alike at once, and stops at one that it does not understand', () => {
    const options = readerOptions(fields)
    const plan = tablePlan(options)
    const compiled = CompiledLines.of(plan, options)
    const alike = '{"text":"a","INT64":1,"flag":null}\n'.repeat(100)
    const bytes = Buffer.from(`${alike}{"text":[1]}\n${alike}`)
    const columns = new TypedColumns(plan, options)
    expect(compiled?.read(bytes, 0, columns)).toBe(alike.length)
    expect(compiled?.rows).toBe(100)
    expect(columns.finish()[0]?.rows).toBe(100)
  })

  it('gives what the other one gives, wherever a body is cut in two', () => {
    const tails = ['{"text":"a"} x\n{"text":2}\n', '{"text":"a"}\n\n{"int8":999}\n', '{"text":"é","int8":12}']
    for (const tail of tails) {
      const bytes = Buffer.from(manyPlain('') + tail)
      for (let cut = 0; cut <= Buffer.byteLength(tail) + 4; cut++) {
        expectSame(bytes, readerOptions(fields), bytes.length - cut)
      }
    }
  })

  it('reads many bodies beside one another', () => {
    const line = (i: number): string => `{"text":"t${i}","float64":${i / 8},"int64":${i}}\n`
    const body = Buffer.from(Array.from({ length: 9000 }, (_, i) => line(i)).join(''))
    for (const chunk of [1500, 65_536, 100_000, body.length]) expectSame(body, readerOptions(fields), chunk)
    const long = Buffer.from(`{"text":"${'x'.repeat(70_000)}"}\n`.repeat(3) + line(1).repeat(100))
    expectSame(long, readerOptions(fields))
  })
})
