// What goes out as a file comes in again as the same rows: dataset → file → another dataset of the same schema.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const fields = [
  { name: 'text', type: 'String?' },
  { name: 'flag', type: 'Bool?' },
  { name: 'small', type: 'Int8?' },
  { name: 'large', type: 'Int64?' },
  { name: 'natural', type: 'UInt64?' },
  { name: 'single', type: 'Float32?' },
  { name: 'double', type: 'Float64?' },
  { name: 'price', type: 'Decimal(20,4)?' },
  { name: 'day', type: 'Date?' },
  { name: 'at', type: 'Timestamp?' },
  { name: 'exact', type: 'Timestamp(Microsecond)?' },
  { name: 'bytes', type: 'Binary?' },
]

const arbText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom(
    '',
    '\u0000',
    'a\u0000,b',
    ' ',
    '"',
    ',',
    '\n',
    '\r\n',
    '=1+1',
    '\ufeff',
    'null',
    '\u2028',
    "'",
    '1',
    'true',
    '😀',
  ),
)
const arbTime = (digits: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), fc.nat(999))
    .map(([date, rest]) => {
      const more = digits === 3 ? '' : String(rest).padStart(3, '0')
      return date.toISOString().replace('Z', `${more}Z`)
    })
const token = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> => value.map((one) => JSON.stringify(one))
/** True for numbers that JavaScript does not print as integers of other value: such tokens are refused. */
const isPlain = (value: number): boolean =>
  !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21
/** JSON tokens of a row, so that integers are exact. */
const arbRow = fc.record(
  {
    text: token(arbText),
    flag: token(fc.boolean()),
    small: token(fc.integer({ min: -128, max: 127 })),
    large: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    natural: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    single: token(fc.float({ noNaN: true, noDefaultInfinity: true }).filter(isPlain)),
    double: token(fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isPlain)),
    price: fc.bigInt({ min: -(10n ** 16n) + 1n, max: 10n ** 16n - 1n }).map((value) => `${value}.25`),
    day: token(arbTime(3).map((text) => text.slice(0, 10))),
    at: token(arbTime(3)),
    exact: token(arbTime(6)),
    bytes: token(fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('hex'))),
    event_time: token(arbTime(3)),
  },
  { requiredKeys: ['event_time'] },
)

let made = 0

async function create(columns: typeof fields): Promise<string> {
  const alias = `acme/trip-${++made}`
  expect((await live.call(`/${alias}`, { method: 'PUT', json: { schema: { fields: columns } } })).status).toBe(201)
  return alias
}

async function post(alias: string, body: string | Uint8Array, type: string): Promise<void> {
  const headers = { 'content-type': type, prefer: 'wait=20' }
  const answer = await live.call(`/${alias}/ingest`, { method: 'POST', headers, body })
  expect([answer.status, answer.at('message')]).toEqual([200, undefined])
}

const lines = async (alias: string): Promise<string> =>
  (await live.call(`/${alias}/export?format=NdJson&system=false`)).text

/** Sends a dataset's file to a new one of the same columns; both as lines. */
async function roundTrip(alias: string, columns: typeof fields, format: string): Promise<[string, string]> {
  const file = await live.call(`/${alias}/export?format=${format}&system=false`)
  const copy = await create(columns)
  await post(copy, file.bytes, must(file.headers['content-type'], 'a media type'))
  return [await lines(alias), await lines(copy)]
}

describe('a file that goes out', () => {
  it.each(['Csv', 'NdJson', 'Arrow', 'Parquet'])('as %s comes in as the same rows', async (format) => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbRow, { minLength: 1, maxLength: 60 }), async (rows) => {
        const alias = await create(fields)
        const body = rows.map(
          (row) =>
            `{${Object.entries(row)
              .map(([name, text]) => `"${name}":${text}`)
              .join(',')}}\n`,
        )
        await post(alias, body.join(''), 'application/x-ndjson')
        const [before, after] = await roundTrip(alias, fields, format)
        expect(after).toBe(before)
        expect(before.split('\n')).toHaveLength(rows.length + 1)
      }),
      { numRuns: 4 },
    )
  })

  it.each(['Csv', 'Arrow', 'Parquet', 'NdJson'])(
    'as %s holds floats that are no numbers, and bytes of length zero, or null as the page on values says',
    async (format) => {
      const columns = [
        { name: 'n', type: 'Int64?' },
        { name: 'single', type: 'Float32?' },
        { name: 'double', type: 'Float64?' },
        { name: 'bytes', type: 'Binary?' },
        { name: 'text', type: 'String?' },
      ]
      const alias = await create(columns)
      const cells = ['1,NaN,nan,"",""', '2,inf,Infinity,,', '3,-inf,-Inf,00ff,NaN', '4,-0.0,1e-320,"",inf', '5,,,,']
      await post(alias, `n,single,double,bytes,text\n${cells.join('\n')}\n`, 'text/csv; header=present')
      const copy = await create(columns)
      const file = await live.call(`/${alias}/export?format=${format}&system=false`)
      await post(copy, file.bytes, must(file.headers['content-type'], 'a media type'))
      // Texts, since JSON has no NaN.
      const values = async (one: string): Promise<unknown> => {
        const select = 'n, single::varchar, double::varchar, bytes::varchar, length(hex(bytes)), text'
        return (await live.query(`select ${select} from "${one}" order by n`)).at('output.data')
      }
      const known = await values(alias)
      expect(known).toEqual([
        [1, 'nan', 'nan', '', 0, ''],
        [2, 'inf', 'inf', null, null, null],
        [3, '-inf', '-inf', expect.any(String), 4, 'NaN'],
        [4, '-0.0', expect.stringContaining('e-3'), '', 0, 'inf'],
        [5, null, null, null, null, null],
      ])
      const isFinite = (value: unknown): boolean => !['nan', 'inf', '-inf'].includes(String(value))
      const withoutWords = (known as unknown[][]).map(([n, single, double, ...rest]) => [
        n,
        ...[single, double].map((value) => (format !== 'NdJson' || isFinite(value) ? value : null)),
        ...rest,
      ])
      expect(await values(copy)).toEqual(withoutWords)
    },
  )

  it('as GeoJson holds values that are no text in a column of texts, and tells of those that it cannot keep apart', async () => {
    const properties = { tags: { surface: 'gravel', lanes: [1, 2] }, looks: '{"a":1}', mixed: 1, n: null }
    const features = [properties, { ...properties, mixed: 'x' }, { tags: '{}' }].map((one) => {
      return {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [1, 2] },
        properties: one,
        note: { 'properties"': [] },
      }
    })
    const body = JSON.stringify({ type: 'FeatureCollection', features })
    const headers = { 'content-type': 'application/geo+json', prefer: 'wait=20' }
    const answer = await live.call('/acme/properties/ingest?create=true', { method: 'POST', headers, body })
    expect([answer.status, answer.at('warnings')]).toEqual([200, [expect.stringContaining("'n' has no value")]])
    const sent = features.map((one) => one.properties)
    for (const path of ['/acme/properties/export?format=GeoJson', '/ogc/collections/acme:properties/items']) {
      const out = await live.call(path)
      for (const [at, one] of sent.entries()) {
        const { n: _, ...others } = { n: null, ...one }
        expect(out.at(`features.${at}.properties`)).toMatchObject(others)
      }
    }
    const out = await live.call('/acme/properties/export?format=GeoJson')
    expect(out.at('features.0.note')).toEqual({ 'properties"': [] })
    expect(out.text).not.toContain('"properties":["')

    const fields = ['geometry', 'tags', 'looks', 'mixed'].map((name) => ({ name, type: 'String?' }))
    const alias = await create(fields)
    const told = await live.call(`/${alias}/ingest`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...features[0], note: undefined, properties: { ...properties, n: undefined } }),
    })
    const note = 'holds texts; what is none is stored as its JSON text, and goes out as a text'
    expect(told.at('warnings')).toEqual(
      expect.arrayContaining([`Column 'tags' ${note} (record 0).`, `Column 'mixed' ${note} (record 0).`]),
    )
    expect(told.text).not.toContain("'looks'")
    const asText = await live.call(`/${alias}/export?format=GeoJson`)
    expect(asText.at('features.0.properties')).toMatchObject({ tags: JSON.stringify(properties.tags), mixed: '1' })
  })

  it('as Csv of one column keeps nulls, empty texts and blank lines apart', async () => {
    const columns = [{ name: 'only', type: 'String?' }]
    const alias = await create(columns)
    await post(
      alias,
      '{"only":null}\n{"only":""}\n{"only":"a"}\n{"only":null}\n{"only":"\\n"}\n',
      'application/x-ndjson',
    )
    const file = await live.call(`/${alias}/export?format=Csv&columns=only`)
    expect(file.text).toBe('only\r\n\r\n""\r\na\r\n\r\n"\n"\r\n')
    const copy = await create(columns)
    await post(copy, file.bytes, must(file.headers['content-type'], 'a media type'))
    const values = async (one: string): Promise<unknown> =>
      (await live.query(`select "only" from "${one}" order by offset`)).at('output.data')
    expect(await values(copy)).toEqual([[null], [''], ['a'], [null], ['\n']])
  })

  it.each(['GeoJson', 'NdGeoJson'])('as %s comes in as the same features', async (format) => {
    const number = fc.constantFrom('0', '-0.0', '1.50', '1e1', '12.345678901234567', '-89.99')
    const any = fc.constantFrom('{"a" : [1.0, {}]}', '[]', '"[]"', '"1"', '1.50', 'true', '"é"', 'null')
    const point = fc.tuple(number, number).map(([x, y]) => `{"type":"Point","coordinates":[${x}, ${y}]}`)
    const feature = fc
      .record(
        {
          geometry: fc.oneof(point, fc.constant('null')),
          properties: fc
            .tuple(token(arbText), token(fc.integer()), fc.boolean(), any)
            .map(([text, count, has, more]) =>
              has ? `{"name":${text},"count":${count},"offset":${count},"more":${more}}` : 'null',
            ),
          id: fc.oneof(fc.constantFrom('7', '1.0', '-3e2'), fc.constantFrom('"x"', '"a b"', '"7"', '"-1.5e3"', '"é"')),
          bbox: fc.constant('[0,0.0,1,1]'),
          note: fc.constantFrom('{"a" : [1 ,2]}', '"text"', 'null'),
        },
        { requiredKeys: ['geometry', 'properties'] },
      )
      .map(
        (members) =>
          `{"type":"Feature",${Object.entries(members)
            .map(([name, text]) => `"${name}":${text}`)
            .join(',')}}`,
      )
    const columns = [
      { name: 'geometry', type: 'String?' },
      { name: 'name', type: 'String?' },
      { name: 'count', type: 'Int64?' },
      { name: 'property_offset', type: 'Int64?' },
      { name: 'more', type: 'String?' },
      { name: 'feature_id', type: 'String?' },
      { name: 'feature_extra', type: 'String?' },
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(feature, { minLength: 1, maxLength: 20 }), async (features) => {
        const alias = await create(columns)
        await post(alias, features.map((one) => `${one}\n`).join(''), 'application/geo+json-seq')
        const [before, after] = await roundTrip(alias, columns, format)
        expect(after).toBe(before)
        const out = (await live.call(`/${alias}/export?format=NdGeoJson&where=true`)).text.split('\u001e').slice(1)
        for (const [at, text] of out.entries()) {
          const sent: Record<string, unknown> = JSON.parse(must(features[at], 'a feature'))
          const { event_time: _, ...properties } = JSON.parse(text).properties
          const wanted = { name: null, count: null, offset: null, more: null, ...Object(sent['properties']) }
          expect({ ...JSON.parse(text), properties }).toEqual({ ...sent, properties: wanted })
        }
      }),
      { numRuns: 4 },
    )
  })

  it('as GeoParquet comes in as the same geometries', async () => {
    const columns = [
      { name: 'geometry', type: 'String?' },
      { name: 'name', type: 'String?' },
    ]
    const alias = await create(columns)
    const points = ['[1,2]', '[-0.5,3.25]', '[12.345678901234567,-89.99]']
    const features = points.map((point, at) => {
      return `{"type":"Feature","geometry":{"type":"Point","coordinates":${point}},"properties":{"name":"${at}"}}\n`
    })
    await post(alias, features.join(''), 'application/geo+json-seq')
    const [before, after] = await roundTrip(alias, columns, 'Parquet')
    expect(after).toBe(before)
  })
})
