// The compiled reader of CSV and TSV against the one beside it: bodies with odd cells give the same columns, byte for byte, the
// same warnings and the same faults as in pieces that are too small for the compiled one.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { defined } from '../../../src/libraries/base/collections.ts'
import { tablePlan } from '../../../src/libraries/formats/column-plan.ts'
import { CompiledLines } from '../../../src/libraries/formats/compiled/lines.ts'
import { patternRecord } from '../../../src/libraries/formats/compiled/patterns.ts'
import { datePattern } from '../../../src/libraries/formats/dialect/date-pattern.ts'
import { dialectOf } from '../../../src/libraries/formats/dialect/dialect.ts'
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
} from './compiled-model.ts'
import { optionalField, readerOptions } from './reading.ts'

const names = ['event_time', ...fields.map(({ name }) => name)]
const texts = [optionalField('text', { kind: 'String' }), optionalField('flag', { kind: 'String' })]
/** How a body is read; `head`: the names of its cells. */
interface Variant {
  readonly more: Partial<ReaderOptions>
  readonly head: readonly string[]
}
const variants: readonly Variant[] = [
  { more: {}, head: names },
  { more: { timeZone: 'UTC', integers: 'float64' }, head: names.toReversed() },
  { more: { eventTimeUnit: 'ms' }, head: names.map((name) => name.toUpperCase()) },
  { more: { eventTimeUnit: 's', demandsEventTime: true }, head: ['text', 'event_time', 'fine'] },
  { more: { eventTimeUnit: 'ns', unknownFields: 'ignore' }, head: ['text', 'other', 'int64', 'more', 'event_time'] },
  { more: { valueless: ['other'], csvHeader: 'present' }, head: ['int64', 'other', 'text'] },
  { more: { fields: [...fields, { name: 'must', type: { kind: 'Int64' } }] }, head: ['text', 'must', 'flag'] },
  { more: { fields: [...fields, { name: 'must', type: { kind: 'Int64' } }] }, head: ['text', 'flag'] },
  { more: { fields: texts, csvHeader: 'absent' }, head: ['text', 'flag'] },
  { more: { csvHeader: 'absent' }, head: fields.map(({ name }) => name) },
  { more: { csvHeader: 'present' }, head: ['int8'] },
  { more: {}, head: ['int8'] },
  { more: { csvHeader: 'present', unknownFields: 'ignore' }, head: ['int64', 'text', ''] },
  {
    more: { fields: [optionalField('true', { kind: 'Bool' }), optionalField('-1', { kind: 'Int8' })] },
    head: ['true', '-1'],
  },
]

const oddTexts = [
  ...'|""|"a""b"|""""|"a"b|a"b|"a|a\rb|\r|"\r"|"a\nb"|"a\r\nb"|"a\tb"|a\tb|a,b|\0|"\0"|a\0| a |"a" | "a"|\\"a"|"\\"a"'.split(
    '|',
  ),
  ...'\u{7f}\u{1f600}é|"\u{1f600}é"|\ufefftext'.split('|'),
  ...[15, 16, 31].flatMap((length) =>
    ['', '"', '""y"', '\u{1}'].map((end) => `${end.slice(0, 1)}${'x'.repeat(length)}${end}`),
  ),
]
const oddWords = [
  ...'true TRUE False true1 tru fals1 "true" "FALSE" nan -inf +5 .5 5. 007 -007 1e5 1E5 1e+5 1e-5 1.5e5 - -- 1,5 0x1'.split(
    ' ',
  ),
  ...' 5|5 |\t5|"5"|"-1.5"|" 5"|"5" |"5"x|""5|5\r|  |"  "|"5|5"|"5x|"truex|"2024-01-01x|"2024-01-01"|"2024-01-01T00:00:00Z"|2024-01-01x'.split(
    '|',
  ),
  ...'2024-01-01T00:00:00Z |2024-01-01T00:00:00ZZ|"2024-01-01T00:00:00.1234Z"|2024-01-01T00:00:00.1234Z\r'.split('|'),
]
const oddCells = [...oddNumbers, ...oddTexts, ...oddWords, ...oddTimeTexts]

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((value) => `"${value.replaceAll('"', '""')}"`),
  fc.string({ maxLength: 40 }).map((value) => value.replaceAll(/["\n,\t]/g, '')),
  fc.constantFrom(...oddTexts),
)
const time = fc.oneof(
  plainTime,
  fc.tuple(plainTime, digits(9)).map(([value, part]) => `${value.slice(0, 19)}.${part}+05:30`),
  fc
    .tuple(plainTime, fc.constantFrom('', 'Z', '-23:59', '+24:00', '+0100', '-02', 'z', 'Z '))
    .map(([value, zone]) => `${value.slice(0, 19)}${zone}`),
  plainTime.map((value) => `${value.slice(0, 10)} ${value.slice(11)}`),
  fc.constantFrom(...oddTimeTexts, ...oddNumbers),
)
const anything = fc.constantFrom(...oddCells)

/** A cell that its column probably takes. */
function cellFor(name: string): fc.Arbitrary<string> {
  const folded = name.toLowerCase()
  if (folded === 'event_time' || folded === 'fine') return time
  if (folded === 'flag' || folded === 'true') return fc.constantFrom('true', 'false', 'True', 'FALSE', '"true"')
  if (folded === 'day') return plainTime.map((value) => value.slice(0, 10))
  if (folded.startsWith('float') || folded === 'price') return number
  return folded.includes('int') || folded === 'must' || folded === '-1' ? integer : text
}

/** What every column takes, as rows are that follow one another. */
const plainCells: Readonly<Record<string, string>> = {
  event_time: '2024-02-29T12:34:56.789Z',
  fine: '2024-02-29 12:34:56.789123+02:00',
  flag: 'true',
  true: 'false',
  other: '',
  day: '2024-02-29',
  price: '',
  text: 'some text',
  'a name that is longer than a word': '"a ""quoted"" text"',
}
const plainCell = (name: string): string => plainCells[name.toLowerCase()] ?? '7'

/** How lines are written. */
interface Written {
  readonly format: 'csv' | 'tsv'
  readonly end: string
}
const written = fc.record({ format: fc.constantFrom('csv', 'csv', 'tsv'), end: fc.constantFrom('\n', '\n', '\r\n') })

const lineOf = (cells: readonly string[], { format, end }: Written): string =>
  cells.join(format === 'csv' ? ',' : '\t') + end
const headOf = ({ head, more }: Variant, how: Written): string => (more.csvHeader === 'absent' ? '' : lineOf(head, how))
const manyPlain = ({ head }: Variant, how: Written, rows = 40): string => lineOf(head.map(plainCell), how).repeat(rows)

/** A row with a cell that is odd, one that has no value, or too many or too few of them. */
function oddRow({ head }: Variant): fc.Arbitrary<readonly string[]> {
  const odd = fc.nat(head.length - 1).chain((at) =>
    fc.record({
      at: fc.constant(at),
      cell: fc.oneof({ weight: 6, arbitrary: cellFor(head[at] ?? '') }, fc.constantFrom('', '', '""'), anything),
    }),
  )
  const emptied = fc.subarray([...head.keys()])
  const rows = fc.tuple(fc.array(odd, { maxLength: 2 }), fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, emptied))
  const row = rows.map(([odds, empty]) => {
    const cells = head.map(plainCell)
    for (const at of empty) cells[at] = ''
    for (const { at, cell } of odds) cells[at] = cell
    return cells
  })
  return fc.oneof(
    { weight: 16, arbitrary: row },
    row.map((cells) => [...cells, '']),
    row.map((cells) => cells.slice(1)),
    fc.constantFrom([''], [...head], head.map((name) => ` ${name.toUpperCase()}`).toReversed(), [
      `\ufeff${head[0]}`,
      ...head.slice(1),
    ]),
  )
}

const bodies = fc.tuple(fc.constantFrom(...variants), written).chain(([variant, how]) =>
  fc.record({
    variant: fc.constant(variant),
    how: fc.constant(how),
    lines: fc.array(
      fc
        .tuple(oddRow(variant), fc.constantFrom(how.end, how.end, '\n', '\r\n', '\r\r\n', '\r'))
        .map(([cells, end]) => lineOf(cells, { ...how, end })),
      { minLength: 1, maxLength: 4 },
    ),
  }),
)

const optionsOf = ({ more }: Variant): ReaderOptions => readerOptions(more.fields ?? fields, more)
const csv: Written = { format: 'csv', end: '\n' }
const first: Variant = { more: {}, head: names }

/** Patterns that the compiled reader takes, those that it leaves, and those that fit no column. */
const patterns =
  "dd.MM.yyyy HH:mm|d.M.yyyy H:mm|MM/dd/yyyy HH:mm:ss.SSS|yyyyMMddHHmmss|yyyy-MM-dd'T'HH:mm:ss|iso|dd.MM.yyyy HH:mm".split(
    '|',
  )
const leftPatterns =
  "M/d/yyyy h:mm a|dd.MM.yy HH:mm|d MMM yyyy HH:mm|yyyy-MM-dd HH:mmXXX|dd.MM.yyyy HH:mm' '|dd.MM.yyyy,HH:mm|dd.MM.yyyy|HH:mm".split(
    '|',
  )
const zones = ['Europe/Berlin', 'America/New_York', 'Pacific/Apia', 'Africa/Monrovia', 'UTC', '+05:30', undefined]
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** Around changes of clocks, and far from them. */
const localTimes = fc.oneof(
  fc
    .tuple(fc.constantFrom('2025-03-30T02', '2025-10-26T02', '2025-11-02T01', '2011-12-30T10'), fc.nat(600))
    .map(([hour, minutes]) => new Date(Date.parse(`${hour}:00Z`) + (minutes - 300) * 60_000)),
  { weight: 6, arbitrary: fc.nat(400_000).map((at) => new Date(Date.UTC(2025, 5) + at * 1001)) },
  fc.date({ min: new Date('0001-01-01'), max: new Date('9998-01-01'), noInvalidDate: true }),
)

function spelt(pattern: string, time: Date): string {
  const text = time.toISOString()
  const hour = Number(text.slice(11, 13))
  const two = [text.slice(5, 7), text.slice(8, 10), text.slice(11, 13), `${hour % 12 || 12}`.padStart(2, '0')]
  const [month = '', day = '', whole = '', half = ''] = two
  const texts: Record<string, string> = { MM: month, dd: day, HH: whole, hh: half, mm: text.slice(14, 16) }
  Object.assign(texts, { M: month, d: day, H: whole, h: half, yyyy: text.slice(0, 4), yy: text.slice(2, 4) })
  for (const letter of 'MdHh') texts[letter] = `${Number(texts[letter])}`
  Object.assign(texts, {
    ss: text.slice(17, 19),
    SSS: text.slice(20, 23),
    MMM: months[Number(month) - 1],
    XXX: '+01:00',
  })
  texts['a'] = hour < 12 ? 'AM' : 'PM'
  const form = pattern === 'iso' ? "yyyy-MM-dd'T'HH:mm:ss.SSS" : pattern
  return form.replaceAll("'", '').replaceAll(/([A-Za-z])\1*/g, (letters) => texts[letters] ?? letters)
}

const datedBodies = fc
  .record({
    pattern: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...patterns) }, fc.constantFrom(...leftPatterns)),
    own: fc.constantFrom('dd.MM.yyyy', 'd/M/yyyy', 'iso', undefined),
    timeZone: fc.constantFrom(...zones),
    ambiguous: fc.constantFrom('earlier', 'later', 'ordered', undefined),
    unit: fc.constantFrom(undefined, undefined, 's'),
    times: fc.array(localTimes, { minLength: 1, maxLength: 40 }),
    odd: fc.tuple(fc.nat(3), fc.nat(), fc.constantFrom('0', '9', ':', '.', ' ', ',', 'x', '\0', '"', '')),
  })
  .map(({ pattern, own = pattern, timeZone, ambiguous, unit, times, odd: [kind, place, sign] }) => {
    const rows = times.map((time) => {
      const cells = [spelt(pattern, time), spelt(own, time), spelt(pattern, time)]
      return `${cells.map((cell) => ((cell.includes(',') && kind !== 2) || kind === 1 ? `"${cell}"` : cell)).join()},1\n`
    })
    const body = rows.join('').repeat(Math.ceil(1500 / rows.join('').length))
    const at = place % body.length
    const text = kind === 0 ? body.slice(0, at) + sign + body.slice(at + 1) : body
    const parameters = { dateFormat: pattern, 'dateFormat.day': own, pivotYear: '1970' }
    const more = { timeZone, ambiguous, eventTimeUnit: unit, dialect: dialectOf(parameters) }
    return { text: `event_time,day,fine,int8\n${text}`, options: readerOptions(fields, defined(more)) }
  })

describe('the compiled reader of cells', () => {
  it('gives what the other one gives, of days and times by a pattern and in a zone', () => {
    const check = ({ text, options }: { text: string; options: ReaderOptions }): void =>
      expectSameOutcome('csv', Buffer.from(text), options)
    fc.assert(fc.property(datedBodies, check), { numRuns: 3000 })
  })

  it('leaves no row by a pattern to the other one, but where clocks change', () => {
    const dialect = dialectOf({ delimiter: ';', decimal: ',', dateFormat: 'd.M.yyyy HH:mm' })
    const options = readerOptions(fields, { timeZone: 'Europe/Berlin', ...defined({ dialect }) })
    const plan = tablePlan(options)
    const found = datePattern('d.M.yyyy HH:mm')
    const compiled = CompiledLines.ofCells(plan, options, {
      separator: 0x3b,
      decimal: 0x2c,
      columns: [0, plan.byName.get('float64') ?? -1],
      patterns: 'fields' in found ? [patternRecord(found, 0x3b, must(plan.columns[0], 'a column'))] : [],
    })
    const lines = Array.from({ length: 3000 }, (_, at) => {
      const time = new Date(Date.UTC(2025, 0, 1, 0, 30) + at * 3 * 3_600_000)
      return `${spelt('d.M.yyyy HH:mm', time)};1,5\n`
    })
    const bytes = Buffer.from(lines.join(''))
    expect(compiled?.read(bytes, 0, new TypedColumns(plan, options))).toBe(bytes.length)
  })

  it('gives what the other one gives, of rows as they may be sent', () => {
    fc.assert(
      fc.property(bodies, ({ variant, how, lines }) => {
        const plain = manyPlain(variant, how, Math.ceil(2000 / manyPlain(variant, how, 1).length))
        const body = headOf(variant, how) + plain + lines.join('') + plain
        expectSameOutcome(how.format, Buffer.from(body), optionsOf(variant))
      }),
      { numRuns: 3000 },
    )
  })

  it('gives what the other one gives, of each odd cell in each column', () => {
    for (const [at, variant] of variants.entries()) {
      const some = at === 0 ? names : variant.head.slice(0, 2)
      const before = headOf(variant, csv) + manyPlain(variant, csv, 17)
      const after = manyPlain(variant, csv, Math.ceil(1024 / manyPlain(variant, csv, 1).length))
      for (const odd of oddCells) {
        for (const name of some) {
          const row = lineOf(
            variant.head.map((other) => (other === name ? odd : plainCell(other))),
            csv,
          )
          expectSameOutcome('csv', Buffer.from(before + row + after), optionsOf(variant))
        }
      }
    }
  })

  it('gives what the other one gives, of bytes that are damaged', () => {
    const bytes = fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('",\n\r\t 0e.-')))
    fc.assert(
      fc.property(
        fc.constantFrom(...variants),
        written,
        fc.nat(),
        bytes,
        fc.nat(3),
        (variant, how, place, byte, cut) => {
          const head = headOf(variant, how)
          const whole = Buffer.from(head + manyPlain(variant, how, Math.ceil(2000 / manyPlain(variant, how, 1).length)))
          const at = head.length + (place % (whole.length - head.length))
          const damaged = Buffer.concat([whole.subarray(0, at), Buffer.from([byte]), whole.subarray(at + cut)])
          expectSameOutcome(how.format, damaged, optionsOf(variant))
        },
      ),
      { numRuns: 2500 },
    )
  })

  it('gives what the other one gives, wherever a body is cut in two', () => {
    const plainRow = names.map(plainCell)
    const quoted = lineOf(
      plainRow.map((cell) => (cell.startsWith('"') ? cell : `"${cell}"`)),
      { format: 'csv', end: '\r\n' },
    )
    const tails = [
      quoted,
      `${quoted}\r\n${quoted}`,
      lineOf(plainRow, { format: 'csv', end: '' }),
      `${quoted}"a\n\n"\n`,
      'é\n',
    ]
    for (const tail of tails) {
      const bytes = Buffer.from(headOf(first, csv) + manyPlain(first, csv) + tail)
      for (let cut = 0; cut <= Buffer.byteLength(tail) + 4; cut++) {
        expectSameOutcome('csv', bytes, optionsOf(first), bytes.length - cut)
      }
    }
  })

  it('gives what the other one gives, of the header once more', () => {
    for (const variant of variants) {
      const { head } = variant
      const plain = manyPlain(variant, csv, Math.ceil(2000 / manyPlain(variant, csv, 1).length))
      const upper = head.map((name) => name.toUpperCase())
      for (const again of [head, head.toReversed(), upper, head.map((name) => `"${name}"`)]) {
        expectSameOutcome(
          'csv',
          Buffer.from(headOf(variant, csv) + plain + lineOf(again, csv) + plain),
          optionsOf(variant),
        )
      }
    }
  })

  it('reads rows that are alike at once, and stops at one that it does not understand', () => {
    const options = readerOptions(fields)
    const plan = tablePlan(options)
    const columnsOf = ['text', 'int64', 'flag'].map((name) => plan.byName.get(name) ?? -1)
    const compiled = CompiledLines.ofCells(plan, options, {
      separator: 0x2c,
      decimal: 0x2e,
      columns: [...columnsOf, -1],
      patterns: [],
    })
    const alike = 'a,1,,ignored\r\n"b",-2,true,"igno,red"\n'.repeat(50)
    const bytes = Buffer.from(`${alike}a,+1,true,\n${alike}`)
    const columns = new TypedColumns(plan, options)
    expect(compiled?.read(bytes, 0, columns)).toBe(alike.length)
    expect(compiled?.rows).toBe(100)
    expect(columns.finish()[0]?.rows).toBe(100)
  })

  it('reads long bodies in pieces of any size, with a quote now and then', () => {
    const line = (i: number): string => lineOf([`${i}`, i % 700 === 0 ? '"a\nb"' : `t${i}`, `${i / 8}`], csv)
    const head = lineOf(['int64', 'text', 'float64'], csv)
    const body = Buffer.from(head + Array.from({ length: 9000 }, (_, i) => line(i)).join(''))
    for (const chunk of [1500, 65_536, 100_000, body.length])
      expectSameOutcome('csv', body, readerOptions(fields), chunk)
    const long = Buffer.from(head + `1,${'x'.repeat(70_000)},2\n`.repeat(3) + line(1).repeat(100))
    expectSameOutcome('csv', long, readerOptions(fields))
    const ignored = Buffer.from(`int64,other,text\n${`1,${'ignored '.repeat(20)},a\n`.repeat(2000)}`)
    expectSameOutcome('csv', ignored, readerOptions(fields, { unknownFields: 'ignore' }))
  })

  it('leaves columns of other types to the reader beside it, and nothing of other bodies where they are null', () => {
    const head = `n,${readFields.map(({ name }) => name).join()}\n`
    const empty = `1${','.repeat(readFields.length)}\n`
    const n = optionalField('n', { kind: 'Int64' })
    for (const rows of [
      empty.repeat(200),
      `${empty.repeat(100)}2,1.25,7,/+8=,,10:20:30,2026-01-02T03:04:05Z\n${empty}`,
    ]) {
      expectSameOutcome('csv', Buffer.from(head + `1${',0.5'.repeat(readFields.length)}\n`.repeat(200)), {
        ...readerOptions([n, ...readFields]),
      })
      expectSameOutcome('csv', Buffer.from(head + rows), readerOptions([n, ...unreadFields]))
    }
  })
})
