// Times of the years 0000 to 9999 are stored, others refused: in every format, unit and time column, as numbers and as
// text. What lies beyond has no text that every reader takes.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EpochUnit, ReaderOptions } from '../../../src/libraries/formats/format.ts'
import { readControls } from '../../../src/node/gateway/controls.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import type { DataType } from '../../../src/libraries/model/schema.ts'
import { failure, faults, optionalField, read, readerOptions } from './reading.ts'

const formats = ['csv', 'json', 'ndjson', 'geojson', 'ndgeojson'] as const
const units: Readonly<Record<EpochUnit, bigint>> = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n }
const first = -62_167_219_200n
const end = 253_402_300_800n
const types: readonly DataType[] = [
  { kind: 'Timestamp', unit: 'Millisecond' },
  { kind: 'Timestamp', unit: 'Microsecond' },
]

/** A body of one record whose column `name` holds `token` as it stands. */
function body(format: (typeof formats)[number], name: string, token: string): string {
  if (format === 'csv') return `${name}\n${token}\n`
  if (format === 'json' || format === 'ndjson') return `{"${name}":${token}}`
  const feature = `{"type":"Feature","geometry":null,"properties":{"${name}":${token}}}`
  return format === 'ndgeojson' ? feature : `{"type":"FeatureCollection","features":[${feature}]}`
}

const fields = [...types.map((type, i) => optionalField(`t${i}`, type)), optionalField('geometry', { kind: 'String' })]
const anyFormat = fc.constantFrom(...formats)
/** Whole seconds around both edges, and anywhere. */
const seconds = fc.oneof(
  fc.bigInt({ min: first - 3n, max: first + 3n }),
  fc.bigInt({ min: end - 3n, max: end + 3n }),
  fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
)
const expected = (at: bigint): string => (at >= first && at < end ? 'stored' : 'OutOfRange')

/** `stored`, or the kind of the first fault. */
function outcome(format: (typeof formats)[number], text: string, options: ReaderOptions): string {
  try {
    return read(format, text, options).records === 1 ? 'stored' : 'nothing'
  } catch (error) {
    if (error instanceof NodeError) return error.details.errors?.[0]?.kind ?? error.kind
    throw error
  }
}

describe('a time', () => {
  test('that is a number lies in the years 0000 to 9999, in any unit', () => {
    const unit = fc.constantFrom<EpochUnit>('s', 'ms', 'us', 'ns')
    const eventType = fc.constantFrom(...types)
    fc.assert(
      fc.property(
        anyFormat,
        seconds,
        unit,
        eventType,
        fc.boolean(),
        (format, at, eventTimeUnit, eventTimeType, last) => {
          const per = units[eventTimeUnit]
          const value = at * per + (last ? per - 1n : 0n)
          const options = readerOptions(fields, { eventTimeUnit, eventTimeType })
          expect(outcome(format, body(format, 'event_time', String(value)), options)).toBe(expected(at))
        },
      ),
      { numRuns: 400 },
    )
  })

  test('that is text does not leave them by its zone, in any column', () => {
    const zone = fc.tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    const local = fc.constantFrom('0000-01-01T', '9999-12-31T')
    const column = fc.constantFrom('event_time', 't0', 't1')
    fc.assert(
      fc.property(anyFormat, local, fc.nat(86_399), zone, column, (format, day, secondOfDay, [sign, h, m], name) => {
        const two = (value: number): string => String(value).padStart(2, '0')
        const clock = [secondOfDay / 3600, (secondOfDay / 60) % 60, secondOfDay % 60].map((x) => two(Math.floor(x)))
        const text = `${day}${clock.join(':')}.999${sign}${two(h)}:${two(m)}`
        const start = day.startsWith('0000') ? first : end - 86_400n
        const at = start + BigInt(secondOfDay) - BigInt((sign === '-' ? -1 : 1) * (h * 3600 + m * 60))
        const whole = body(format, name, format === 'csv' ? text : `"${text}"`)
        expect(outcome(format, whole, readerOptions(fields))).toBe(expected(at))
      }),
      { numRuns: 400 },
    )
  })

  test('that is a number says so in its fault, with the unit that was asked for', () => {
    const options = readerOptions(fields, { eventTimeUnit: 's' })
    const [fault] = faults('csv', 'event_time\n1704067200000000\n', options)
    expect(fault?.message).toContain('eventTimeUnit=s')
  })

  test('for records that have none does not leave them either', () => {
    const given = (text: string) => readControls({ 'odf-event-time': text }, {}).eventTimeMs
    expect(given('0000-01-01T00:00:00Z')).toBe(Number(first) * 1000)
    expect(given('9999-12-31T23:59:59Z')).toBe(Number(end) * 1000 - 1000)
    for (const text of ['0000-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00']) {
      expect(failure(() => given(text)).kind).toBe('InvalidParameter')
    }
  })
})
