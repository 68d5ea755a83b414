// The compiled reader of line protocol against the one beside it: bodies with odd points give the same columns, byte for byte,
// the same warnings, faults and misfits as in pieces that are too small for the compiled one.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tablePlan } from '../../../src/libraries/formats/column-plan.ts'
import { CompiledLines } from '../../../src/libraries/formats/compiled/lines.ts'
import type { ReaderOptions } from '../../../src/libraries/formats/format.ts'
import { TypedColumns } from '../../../src/libraries/formats/typed-columns.ts'
import {
  digits,
  expectSameOutcome,
  fields as kindFields,
  integer,
  number,
  oddNumbers,
  unreadFields,
} from './compiled-model.ts'
import { optionalField, readerOptions } from './reading.ts'

const measurement = optionalField('_measurement', { kind: 'String' })
const tag = optionalField('device', { kind: 'String' })
const fields = [measurement, tag, ...kindFields, optionalField('long_name_of_a_tag', { kind: 'String' })]
const key = (name: string): string => name.replaceAll(/([ ,=])/g, '\\$1')

const variants: readonly Partial<ReaderOptions>[] = [
  {},
  { eventTimeUnit: 's' },
  { eventTimeUnit: 'ms', leavesOutMisfits: true },
  { eventTimeUnit: 'us', unknownFields: 'ignore' },
  { eventTimeUnit: 'us', eventTimeType: { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' } },
  { eventTimeType: { kind: 'Timestamp', unit: 'Nanosecond', timezone: 'UTC' } },
  { demandsEventTime: true, integers: 'float64', leavesOutMisfits: true },
  { fields: [measurement, tag, { name: 'int64', type: { kind: 'Int64' } }, optionalField('flag', { kind: 'Bool' })] },
  { fields: [tag, optionalField('int64', { kind: 'Int64' })], unknownFields: 'ignore' },
  { fields: [measurement, tag, ...unreadFields], valueless: ['other'] },
]
const optionsOf = (more: Partial<ReaderOptions>): ReaderOptions => readerOptions(more.fields ?? fields, more)

const oddValues = [
  ...'1i -1i 0i -0i 1u -1u 01i 007 +5 +5i .5 5. 1e5 1e5i 1E+05 -1.5e-3 1.5i 1i2 1ii 0x1 nan - -i i u'.split(' '),
  ...'t T true True TRUE tRUE truE t1 trueX f F false False FALSE fALSE falsE falseX fals tr'.split(' '),
  ...'""|"a"|"a b"|"a,b=c"|"a\\"b"|"a\\\\b"|"a\\b"|"a|a"|"a"b|"é\u{1f600}"|"a\tb"|"a\rb"|"\0"|\'a\'|"a\nb"|a\\ b|\\'.split(
    '|',
  ),
  ...[15, 16, 31].flatMap((length) => ['', '"', '\\', '\u{1}'].map((end) => `"${'x'.repeat(length)}${end}"`)),
  ...oddNumbers,
]
const oddTimes = [
  ...'0 1 -1 01 1700000000 1700000000000 1700000000000000 1700000000000000000 1700000000123456789'.split(' '),
  ...'9223372036854775807 9223372036854775808 18446744073709551616 253402300799 253402300800 2678399 2678400'.split(
    ' ',
  ),
  ...'1700000000000000001 0001700000000000000000 1.5 1e9 1700000000i x "1"'.split(' '),
]
const oddNames =
  'm|a\\ b|a\\,b|a=b|a"b|"ab"|\\|a\\|#a|é|x\ty|\u{1}|aaaaaaaaaaaaaaaa|aaaaaaaaaaaaaaa,|_measurement'.split('|')

const plainField: Readonly<Record<string, string>> = {
  flag: 'true',
  text: '"some text"',
}
/** Columns whose values line protocol can bring. */
const valued = kindFields.map(({ name }) => name).filter((name) => !['day', 'fine', 'price'].includes(name))

function fieldValue(name: string): fc.Arbitrary<string> {
  const odd = fc.constantFrom(...oddValues)
  const text = fc.string({ maxLength: 40 }).map((value) => `"${value.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`)
  const probable = name.startsWith('float')
    ? number
    : name.includes('int')
      ? fc.tuple(integer, fc.constantFrom('i', 'i', 'u', '')).map(([value, suffix]) => value + suffix)
      : name === 'flag'
        ? fc.constantFrom('t', 'F', 'true', 'FALSE')
        : text
  return fc.oneof({ weight: 5, arbitrary: probable }, odd)
}

const tagText = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40 }).map((value) => value.replaceAll(/[,= \\\n"]/g, '_')),
  fc.constantFrom(...oddNames),
)
const field = fc.constantFrom(...valued).chain((name) => fieldValue(name).map((value) => `${key(name)}=${value}`))
const point = fc.record({
  name: fc.oneof({ weight: 4, arbitrary: fc.constant('m') }, tagText),
  tags: fc.array(
    fc.oneof(
      tagText.map((value) => `device=${value}`),
      tagText.map((value) => `long_name_of_a_tag=${value}`),
      fc.constantFrom(
        'device=',
        'DEVICE=d',
        'other=1',
        'text=t',
        'int64=5',
        'event_time=1',
        'offset=1',
        '=x',
        'device',
      ),
    ),
    { maxLength: 2 },
  ),
  fields: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: field },
      fc.constantFrom('other=1', 'device="d"', 'INT64=7i', '', 'a', ' int8=1i'),
    ),
    { minLength: 1, maxLength: 3 },
  ),
  time: fc.oneof(
    fc.constant(''),
    digits(19).map((value) => ` ${value}`),
    fc.integer({ min: 1_600_000_000, max: 1_900_000_000 }).map((value) => ` ${value}`),
    fc.constantFrom(...oddTimes).map((value) => ` ${value}`),
  ),
  end: fc.constantFrom('\n', '\n', '\n', '\r\n', ' \n', '  ', '\n\n', '\n#comment\n', '\n # x\n', ',\n'),
})
const lineOf = ({ name, tags, fields, time, end }: typeof point extends fc.Arbitrary<infer T> ? T : never): string =>
  [name, ...tags].join(',') + ' ' + fields.join(',') + time + end

/** Points that are alike, in this unit of time. */
function plainPoints({ eventTimeUnit = 'ns', fields: own }: Partial<ReaderOptions>, points: number): string {
  const time = 1_767_225_600n * { s: 1n, ms: 1000n, us: 1_000_000n, ns: 1_000_000_000n }[eventTimeUnit]
  // A name with an escape is not read compiled, and nothing after it for a while.
  const names = (own ?? fields).map(({ name }) => name).filter((name) => valued.includes(name) && key(name) === name)
  const values = names.map((name) => `${key(name)}=${plainField[name] ?? (name.startsWith('float') ? '1.5' : '7i')}`)
  const some = values.length === 0 ? 'other=1' : values.join(',')
  return Array.from({ length: points }, (_, i) => `m,device=d${i % 3} ${some} ${time + BigInt(i)}\n`).join('')
}

describe('the compiled reader of points', () => {
  it('gives what the other one gives, of points as they may be sent', () => {
    fc.assert(
      fc.property(fc.constantFrom(...variants), fc.array(point, { minLength: 1, maxLength: 4 }), (variant, points) => {
        const plain = plainPoints(variant, 20)
        const body = plain + points.map(lineOf).join('') + plain
        expectSameOutcome('line-protocol', Buffer.from(body), optionsOf(variant))
      }),
      { numRuns: 3000 },
    )
  })

  it('gives what the other one gives, of each odd value of each field, each odd time and name', () => {
    for (const variant of variants) {
      const plain = plainPoints(variant, 20)
      const odd = [
        ...oddValues.flatMap((value) => valued.map((name) => `m,device=d ${key(name)}=${value} 1700000000\n`)),
        ...oddTimes.map((time) => `m int64=5i ${time}\n`),
        'm int64=5i,int64=6i\n',
        'm,device=a,device=b int64=5i\n',
        'm,device=a device="a",int64=5i\n',
        ',device=a int64=5i\n',
        'm,device= int64=5i\n',
        'm\n',
        'm,device=a\n',
        'm,device=a 1700000000\n',
        'm int64=5i 1700000000 1700000000\n',
        ...oddNames.flatMap((name) => [`${name} int64=5i\n`, `m,device=${name} int64=5i\n`, `m ${name}=5i\n`]),
      ]
      const [most] = variant === variants[0] ? [odd.length] : [60]
      for (const line of odd.slice(-most)) {
        expectSameOutcome('line-protocol', Buffer.from(plain + line + plain), optionsOf(variant))
      }
    }
  })

  it('gives what the other one gives, of bytes that are damaged', () => {
    const bytes = fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('",=\\\n\r\t #it0e.-')))
    fc.assert(
      fc.property(fc.constantFrom(...variants), fc.nat(), bytes, fc.nat(3), (variant, place, byte, cut) => {
        const whole = Buffer.from(plainPoints(variant, 25))
        const at = place % whole.length
        const damaged = Buffer.concat([whole.subarray(0, at), Buffer.from([byte]), whole.subarray(at + cut)])
        expectSameOutcome('line-protocol', damaged, optionsOf(variant))
      }),
      { numRuns: 2500 },
    )
  })

  it('gives what the other one gives, wherever a body is cut in two', () => {
    const plain = plainPoints({}, 40)
    for (const tail of ['m,device=é text="a\nb",flag=t 1700000000000000000\n', 'm int64=5i', 'm int64=5i 17\r\n#x']) {
      const bytes = Buffer.from(plain + tail)
      for (let cut = 0; cut <= Buffer.byteLength(tail) + 4; cut++) {
        expectSameOutcome('line-protocol', bytes, optionsOf({}), bytes.length - cut)
      }
    }
  })

  it('reads points that are alike at once, and stops at one that it does not understand', () => {
    const options = readerOptions(fields, { eventTimeUnit: 'ns' })
    const plan = tablePlan(options)
    const compiled = CompiledLines.ofPoints(plan, options, measurement.name)
    const alike = 'm,device=a int64=1i,flag=T 1700000000000000000\r\nm text="b",float64=-2.5\nn flag=f 1700000000\n'
    const bytes = Buffer.from(`${alike.repeat(50).replaceAll(' 1700000000\n', '\n')}m int64=+1i\n${alike}`)
    const columns = new TypedColumns(plan, options)
    const end = compiled?.read(bytes, 0, columns) ?? 0
    expect(bytes.subarray(end, end + 12).toString()).toBe('m int64=+1i\n')
    expect(compiled?.rows).toBe(150)
    expect(columns.finish()[0]?.rows).toBe(150)
  })
})
