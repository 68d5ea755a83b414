// The compiled reader of NDJSON against the one beside it: bodies of odd records give the same columns, byte for byte, the same
// warnings and the same faults as in pieces that are too small for the compiled one.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CompiledLines } from '../../../src/libraries/formats/compiled/lines.ts'
import { tablePlan } from '../../../src/libraries/formats/column-plan.ts'
import type { ReaderOptions } from '../../../src/libraries/formats/format.ts'
import { TypedColumns } from '../../../src/libraries/formats/typed-columns.ts'
import {
  digits,
  expectSameOutcome,
  fields,
  integer,
  number,
  oddNumbers,
  oddTimeTexts,
  plainTime,
  readFields,
  unreadFields,
  unreadTypes,
} from './compiled-model.ts'
import { optionalField, readerOptions } from './reading.ts'

const variants: readonly Partial<ReaderOptions>[] = [
  {},
  { timeZone: 'UTC', integers: 'float64', unknownFields: 'ignore' },
  { eventTimeUnit: 'ms', timeZone: 'Europe/Berlin' },
  { eventTimeUnit: 's', demandsEventTime: true },
  { eventTimeUnit: 'ns' },
  { fields: [...fields, { name: 'must', type: { kind: 'Int64' } }] },
  { eventTime: { kind: 'name', name: 'fine' }, fields: fields.filter(({ name }) => name !== 'fine') },
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
const oddTimes = oddTimeTexts.map((time) => `"${time}"`)
const oddValues = [
  ...oddNumbers,
  ...oddTexts,
  ...oddTimes,
  ...'null true false nul tru fals falsy [1] {"a":1} NaN'.split(' '),
  '',
]

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }).map((value) => JSON.stringify(value)),
  fc.string({ maxLength: 20 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(...oddTexts),
)
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

const optionsOf = fc.constantFrom(...variants.map((more) => readerOptions(fields, more)))

const expectSame = (bytes: Uint8Array, options: ReaderOptions, chunk?: number): void =>
  expectSameOutcome('ndjson', bytes, options, chunk)

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

  it('leaves columns of other types to the reader beside it, and nothing of other bodies where they are null', () => {
    const members = (value: (i: number) => string): string =>
      readFields.map(({ name }, i) => `"${name}":${value(i)}`).join()
    const ofNumbers = `{${members((i) => `${i}.5`)}}\n`.repeat(200)
    const few = `{${members(() => 'null')},"n":1}\n{"n":2}\n`.repeat(100)
    const odd = `{${members((i) => unreadTypes[i]?.[1] ?? '')},"n":3}\n`
    const n = optionalField('n', { kind: 'Int64' })
    for (const body of [few, odd + few, few + odd + few + odd]) {
      expectSame(Buffer.from(ofNumbers), readerOptions([...readFields, n]))
      expectSame(Buffer.from(body), readerOptions([...unreadFields, n]))
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
