// What the tests of the compiled readers share: columns of each kind, odd numbers and times, and that a body comes to the same as in
// pieces that are too small for a compiled reader.

import fc from 'fast-check'
import { expect } from 'vitest'
import type { Column, DataType } from '../../../src/libraries/model/schema.ts'
import { leastCompiled } from '../../../src/libraries/formats/compiled/lines.ts'
import type { ReaderOptions } from '../../../src/libraries/formats/format.ts'
import { failure, optionalField, readBytes } from './reading.ts'

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
export const fields = [
  ...numeric.map((kind) => optionalField(kind.toLowerCase(), { kind })),
  optionalField('text', { kind: 'String' }),
  optionalField('a name that is longer than a word', { kind: 'String' }),
  optionalField('flag', { kind: 'Bool' }),
  optionalField('day', { kind: 'Date' }),
  optionalField('fine', { kind: 'Timestamp', unit: 'Microsecond' }),
  optionalField('price', { kind: 'Decimal', precision: 18, scale: 4 }),
]

/** Columns of types that the compiled reader does not read, with a value of each in JSON. */
export const unreadTypes: readonly (readonly [type: DataType, value: string])[] = [
  [{ kind: 'Decimal', precision: 18, scale: 4 }, '1.25'],
  [{ kind: 'Decimal', precision: 38, scale: 0 }, '7'],
  [{ kind: 'Binary' }, '"/+8="'],
  [{ kind: 'List', itemType: { kind: 'Int64' } }, '[1,2]'],
  [{ kind: 'Time', unit: 'Millisecond' }, '"10:20:30"'],
  [{ kind: 'Timestamp', unit: 'Nanosecond', timezone: 'UTC' }, '"2026-01-02T03:04:05Z"'],
]
export const unreadFields = unreadTypes.map(([type], i) => optionalField(`u${i}`, type))
/** As many others, whose values lie where theirs would. */
export const readFields = unreadFields.map(({ name }) => optionalField(name, { kind: 'Float64' }))

export const oddNumbers = [
  ...'0 -0 127 128 -128 -129 255 256 -1 32767 -32769 65535 65536 2147483647 2147483648 -2147483648 4294967295'.split(
    ' ',
  ),
  ...'4294967296 9007199254740993 999999999999999999 9223372036854775807 18446744073709551615 16777217'.split(' '),
  ...'01 - -a 1. .5 1e 1e5 1E+05 2.5e-3 -0.0 1e0005 1.0 9007199254740993.0 3.4e38 3.5e38 5e-324 1e400 0.1 1.23456'.split(
    ' ',
  ),
  ...'1700000000 1700000000000 1000 253402300800 253402300799999 -5 2678399 2678400'.split(' '),
]
export const oddTimeTexts = [
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
]

export const digits = (most: number): fc.Arbitrary<string> =>
  fc.array(fc.nat(9), { minLength: 1, maxLength: most }).map((all) => all.join(''))
export const integer = fc.oneof(
  fc.integer({ min: -140, max: 300 }).map(String),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.integer().map(String),
  fc.constantFrom(...oddNumbers),
)
export const number = fc.oneof(
  integer,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.double({ min: -200, max: 200, noNaN: true }).map((value) => JSON.stringify(value)),
  fc.tuple(fc.integer(), fc.integer({ min: 1, max: 99_999 })).map(([a, b]) => JSON.stringify(a / b)),
  fc.tuple(digits(4), digits(22)).map(([whole, part]) => `${Number(whole)}.${part}`),
  fc.tuple(digits(17), fc.integer({ min: -330, max: 330 })).map(([of, power]) => `${of[0]}.${of}e${power}`),
)
export const plainTime = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9998-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())

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
function outcome(format: string, bytes: Uint8Array, options: ReaderOptions, chunk?: number): unknown {
  try {
    const { batches, ...body } = readBytes(format, bytes, options, chunk)
    return { ...body, batches: batches.map(({ columns }) => columns.map(bytesOf)) }
  } catch (error) {
    const { kind, message, details } = failure(() => {
      throw error
    })
    return { kind, message, details }
  }
}

export function expectSameOutcome(format: string, bytes: Uint8Array, options: ReaderOptions, chunk?: number): void {
  expect(outcome(format, bytes, options, chunk)).toEqual(outcome(format, bytes, options, leastCompiled - 1))
}
