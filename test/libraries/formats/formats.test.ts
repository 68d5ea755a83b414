// The door: media types, one meaning of the same rows in every format, batches, the event time made whole.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { libraryFormats } from '../../../src/libraries/formats/registry.ts'
import { fillEventTime } from '../../../src/libraries/columnar/arrow/event-time.ts'
import type { Field } from '../../../src/libraries/model/schema.ts'
import { failure, isPlain, optionalField, read, readerOptions, rowsOf, streamFormat, valueAt } from './reading.ts'

describe('a media type', () => {
  it.each([
    ['text/csv', 'csv', undefined],
    ['Text/CSV; charset=UTF-8; header=present', 'csv', 'present'],
    ['text/csv;header="absent"', 'csv', 'absent'],
    ['application/json', 'json', undefined],
    ['application/json; charset=utf-8; header=absent', 'json', undefined],
    ['application/x-ndjson', 'ndjson', undefined],
    ['application/jsonl', 'ndjson', undefined],
    ['application/ndjson ; x=y', 'ndjson', undefined],
  ])('reads %s', (text, format, csvHeader) => {
    expect(libraryFormats.of(text)).toMatchObject({ format: { name: format }, csvHeader })
  })

  it.each([
    undefined,
    '',
    'text/plain',
    'application/xml',
    'text/csv; charset=latin1',
    'text/csv; header=yes',
    'application',
  ])('refuses %s', (text) => {
    const error = failure(() => libraryFormats.of(text))
    expect(error.kind).toBe('UnsupportedMediaType')
    expect(error.details.hint ?? error.message).not.toBe('')
  })

  it('says what curl -d does', () => {
    expect(failure(() => libraryFormats.of('application/x-www-form-urlencoded')).details.hint).toContain('curl -d')
  })
})

describe('the same rows in every format', () => {
  const fields: readonly Field[] = [
    optionalField('s', { kind: 'String' }),
    optionalField('i', { kind: 'Int64' }),
    optionalField('d', { kind: 'Float64' }),
    optionalField('b', { kind: 'Bool' }),
    optionalField('t', { kind: 'Timestamp', unit: 'Microsecond' }),
    optionalField('day', { kind: 'Date' }),
  ]
  const options = readerOptions(fields)
  const time = fc
    .date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString())
  const row = fc.record(
    {
      s: fc.string({ minLength: 1, unit: fc.constantFrom('a', '"', ',', '\n', 'é', '\\') }),
      i: fc.maxSafeInteger(),
      d: fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .filter(isPlain)
        .map((value) => value + 0),
      b: fc.boolean(),
      t: time,
      day: time.map((text) => text.slice(0, 10)),
      event_time: time,
    },
    { requiredKeys: [] },
  )
  const names = ['event_time', ...fields.map(({ name }) => name)]
  const csvCell = (value: string | number | boolean | undefined): string =>
    value === undefined ? '' : `"${String(value).replaceAll('"', '""')}"`

  it('makes the same columns, byte for byte', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
        const lines = rows.map((cells) =>
          names.map((name) => csvCell(new Map(Object.entries(cells)).get(name))).join(','),
        )
        const csv = read('csv', [names.join(','), ...lines].join('\n'), options, 13)
        const ndjson = read('ndjson', rows.map((cells) => JSON.stringify(cells)).join('\n'), options, 17)
        const json = read('json', JSON.stringify(rows), options)
        expect(ndjson.batches).toEqual(json.batches)
        expect(csv.batches).toEqual(json.batches)
      }),
      { numRuns: 150 },
    )
  })
})

describe('batches', () => {
  const options = readerOptions([optionalField('v', { kind: 'String' })])

  it('hold at most 16,384 rows, and about a mebibyte of input, wherever chunks are cut', () => {
    const rows = '{"v":"x"}\n'.repeat(40_000)
    for (const chunk of [1000, 65_536]) {
      expect(read('ndjson', rows, options, chunk).batches.map((batch) => batch.rows)).toEqual([16_384, 16_384, 7232])
    }
    const wide = `{"v":"${'x'.repeat(1000)}"}\n`.repeat(3000)
    for (const chunk of [1000, 65_536]) {
      expect(read('ndjson', wide, options, chunk).batches.map((batch) => batch.rows)).toEqual([1041, 1041, 918])
    }
  })

  it('can be taken while the body is read', () => {
    const reader = streamFormat('ndjson').createReader(options)
    const sizes: number[] = []
    for (let i = 0; i < 5; i++) {
      reader.push(Buffer.from('{"v":"x"}\n'.repeat(10_000)))
      sizes.push(...reader.take().map((batch) => batch.rows))
    }
    const rest = reader.finish()
    expect(rest.records).toBe(50_000)
    expect([...sizes, ...rest.batches.map((batch) => batch.rows)]).toEqual([16_384, 16_384, 16_384, 848])
  })

  it('are none for an empty body', () => {
    for (const format of ['csv', 'ndjson', 'json'] as const)
      expect(read(format, '', options)).toMatchObject({ records: 0, batches: [] })
  })
})

describe('fillEventTime', () => {
  it('gives the fallback to rows without event time and shares the other columns', () => {
    const options = readerOptions([optionalField('v', { kind: 'Int64' })])
    const [batch] = read('ndjson', '{"v":1}\n{"event_time":"2024-01-01T00:00:00Z"}\n{"v":2}', options).batches
    const filled = fillEventTime(batch!, 1_700_000_000_123)
    expect(filled.columns[0]).toMatchObject({ nullable: false, nullCount: 0 })
    expect(filled.columns[0]).not.toHaveProperty('validity')
    expect([0, 1, 2].map((r) => valueAt(filled.columns[0]!, r))).toEqual([
      1700000000123n,
      1704067200000n,
      1700000000123n,
    ])
    expect(filled.columns[1]).toBe(batch!.columns[1])
    expect(rowsOf({ records: 3, batches: [batch!] })[0]?.[0]).toBeNull()
  })

  it('gives its day to a Date column', () => {
    const options = readerOptions([], { eventTimeType: { kind: 'Date' } })
    const [batch] = read('ndjson', '{}\n{"event_time":"2024-01-01"}', options).batches
    const filled = fillEventTime(batch!, -1)
    expect([0, 1].map((r) => valueAt(filled.columns[0]!, r))).toEqual([-1, 19723])
  })
})
