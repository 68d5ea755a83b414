// Bodies that are something else than they were sent as: the refusal says what they are and what to do; maps that came
// as plain JSON are refused, unless the dataset has columns for them.

import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lookAlikeHint, mapDocumentOf } from '../../../src/libraries/formats/look-alike.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

const feature = { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] }, properties: { name: 'a' } }
const many = Array.from({ length: 200 }, () => feature)
const json = 'application/json'
const ndjson = 'application/x-ndjson'
const csv = 'text/csv'

const post = (alias: string, type: string, body: string | Uint8Array, query = '?create=true') =>
  live.call(`/${alias}/ingest${query}`, { method: 'POST', body, headers: { 'content-type': type, prefer: 'wait=20' } })

describe('a map sent as application/json', () => {
  const maps: readonly (readonly [string, string, string])[] = [
    ['a FeatureCollection', JSON.stringify({ type: 'FeatureCollection', features: [feature] }), 'application/geo+json'],
    [
      'one with its features first',
      JSON.stringify({ features: many, type: 'FeatureCollection' }),
      'application/geo+json',
    ],
    [
      'one with other members first',
      JSON.stringify({ metadata: { type: 'x', features: 1 }, type: 'FeatureCollection', features: [] }),
      'application/geo+json',
    ],
    [
      'a pretty one after a byte order mark',
      `\ufeff${JSON.stringify({ type: 'FeatureCollection', features: many }, null, 2)}`,
      'application/geo+json',
    ],
    [
      'one whose members are sorted, after a long feature',
      JSON.stringify({
        features: [
          { geometry: { coordinates: Array.from({ length: 9_000 }, (_, i) => [i / 1e4, 1]), type: 'LineString' } },
        ],
        type: 'FeatureCollection',
      }),
      'application/geo+json',
    ],
    [
      'one with long properties before the rest',
      JSON.stringify({
        features: [{ id: 'x'.repeat(9_000), properties: { t: 'x'.repeat(9_000) } }],
        type: 'FeatureCollection',
      }),
      'application/geo+json',
    ],
    ['a Feature', JSON.stringify(feature), 'application/geo+json'],
    [
      'Esri JSON',
      JSON.stringify({
        geometryType: 'esriGeometryPoint',
        features: [{ attributes: { a: 1 }, geometry: { x: 1, y: 2 } }],
      }),
      'f=geojson',
    ],
    [
      'Esri JSON without its head',
      JSON.stringify({ features: [{ attributes: { a: 1 }, geometry: { x: 1 } }] }),
      'ogr2ogr',
    ],
    ['TopoJSON', JSON.stringify({ type: 'Topology', objects: {}, arcs: [] }), 'topo2geo'],
  ]

  test.each(maps)('%s is refused with what to send', async (_, body, hint) => {
    for (const [alias, query] of [
      ['maps/new', '?create=true'],
      ['maps/new', '?create=true&dryRun=true'],
    ] as const) {
      const answer = await post(alias, json, body, query)
      expect([answer.status, answer.at('error.kind'), answer.at('errors.0.kind')]).toEqual([
        422,
        'RecordsDoNotFit',
        'MalformedRecord',
      ])
      expect(answer.at('hint')).toContain(hint)
    }
    expect((await live.call('/maps/new/tail')).status).toBe(404)
  })

  test('is refused as NDJSON too', async () => {
    for (const body of [feature, { type: 'FeatureCollection', features: [feature] }]) {
      const answer = await post('maps/new', ndjson, `${JSON.stringify(body)}\n`)
      expect([answer.status, answer.at('hint')]).toEqual([422, expect.stringContaining('application/geo+json')])
    }
  })

  test('also by a dataset that would only ignore its members, and beyond the size of a record', async () => {
    await live.call('/maps/plain', { method: 'PUT', json: { schema: { fields: [{ name: 'n', type: 'Int64?' }] } } })
    const body = JSON.stringify({ type: 'FeatureCollection', features: [feature] })
    for (const query of ['', '?unknownFields=ignore', '?unknownFields=add']) {
      const answer = await post('maps/plain', json, body, query)
      expect([answer.status, answer.at('hint')]).toEqual([422, expect.stringContaining('application/geo+json')])
    }
    const long = `{"type":"FeatureCollection","features":[${Array.from({ length: 180_000 }, () => JSON.stringify(feature)).join()}]}`
    const answer = await post('maps/plain', json, long, '')
    expect([answer.status, answer.at('hint')]).toEqual([422, expect.stringContaining('application/geo+json')])
  })

  test('is taken where the dataset has the columns, and as geo+json', async () => {
    const fields = ['type', 'features'].map((name) => ({ name, type: 'String?' }))
    await live.call('/maps/held', { method: 'PUT', json: { schema: { fields } } })
    const body = JSON.stringify({ type: 'FeatureCollection', features: [feature] })
    expect((await post('maps/held', json, body, '')).status).toBe(200)
    expect((await post('maps/geo', 'application/geo+json', body)).status).toBe(200)
  })

  test('is nothing that only resembles one', () => {
    const resembles = [
      '[{"type":"FeatureCollection","features":[]}]',
      '{"kind":{"type":"FeatureCollection","features":[]}}',
      '{"type":"Topology"}',
      '{"type":"featurecollection","features":1}',
      '{"features":["wifi","gps"],"n":1}',
      '{"features":[{"type":"Feature"}],"type":"car"}',
      '{"a":"\\"type\\":\\"FeatureCollection\\""}',
      '{"a":"{","b":"\\\\","type":"x"}',
    ]
    for (const body of resembles) expect(mapDocumentOf(utf8(body))).toBeUndefined()
    fc.assert(
      fc.property(fc.json(), fc.nat(200), (text, cut) => {
        expect(mapDocumentOf(utf8(text).subarray(0, cut))).toBeUndefined()
      }),
    )
  })
})

describe('an object that has its rows inside', () => {
  test('is refused where there is nothing else in it', async () => {
    for (const type of [json, ndjson]) {
      const answer = await post('wrapped/alone', type, '{"da/ta":[{"a":1},{"a":2}]}')
      expect([answer.status, answer.at('error.kind')]).toEqual([422, 'RecordsDoNotFit'])
      expect(answer.at('hint')).toContain('records=/da~1ta')
    }
    const rows = await post('wrapped/rows', json, '{"da/ta":[{"a":1},{"a":2}]}', '?create=true&records=/da~1ta')
    expect(rows.at('records.received')).toBe(2)
  })

  test('is one row with a warning where there is', async () => {
    const page = '{"count":2,"next":null,"results":[{"a":1},{"a":2}]}'
    const answer = await post('wrapped/page', json, page)
    expect(answer.at('warnings')).toEqual([
      expect.stringContaining("'next' has no value"),
      expect.stringContaining('records=/results'),
    ])
    expect((await post('wrapped/page', json, page)).at('warnings')).toBeUndefined()
    const table = await post('wrapped/table', json, '{"a":[1,2],"b":{"0":3,"1":4}}')
    expect(table.at('warnings')).toEqual([expect.stringContaining('one row')])
    expect((await post('wrapped/list', json, '[{"a":1,"tags":[{"k":1}]},{"a":2}]')).at('warnings')).toBeUndefined()
    expect((await post('wrapped/tags', json, '{"a":1,"tags":["x"]}')).at('warnings')).toBeUndefined()
  })
})

const rows = '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n'
const table = 'a,b\n1,x\n2,y\n'
const latin1 = Buffer.from('name,n\nMünchen,1\n', 'latin1')
const longHeader = [...Array.from({ length: 600 }, (_, n) => `c${n}`), 'c0'].join(',')
const wrong: readonly (readonly [string, string, string | Uint8Array, string])[] = [
  ['gzip without its header', csv, gzipSync(table), 'Content-Encoding: gzip'],
  ['gzip of JSON', json, gzipSync(rows), 'Content-Encoding: gzip'],
  ['zstd without its header', ndjson, zstdCompressSync(Buffer.from(rows)), 'Content-Encoding: zstd'],
  ['a zip archive', csv, Buffer.from('504b030414000000080000002100', 'hex'), 'Unpack'],
  ['a Parquet file', json, Buffer.from('50415231150415301534', 'hex'), 'Parquet'],
  ['carriage returns alone', csv, 'station,celsius\rs1,21.5\rs2,22.5\r', "tr '\\r' '\\n'"],
  ['carriage returns between objects', ndjson, '{"a":1}\r{"a":2}\r', "tr '\\r' '\\n'"],
  ['carriage returns in a long body', csv, `a,b\r${'1,2\r'.repeat(20_000)}`, "tr '\\r' '\\n'"],
  ['one line', csv, 'a,b1,23,4', 'no line end'],
  ['a long header with a name twice', csv, `${longHeader}\n${'1,'.repeat(600)}1\n`, "'c0' twice"],
  ['a name that is there twice', csv, 'id,name,value,Value,\n1,a,2,3,4\n', "'Value' twice"],
  ['Latin-1', csv, latin1, 'charset=windows-1252'],
  ['Latin-1 in JSON', json, Buffer.from('[{"name":"Zürich"}]', 'latin1'), 'charset=windows-1252'],
  ['semicolons', csv, 'a;b\n1,5;x\n', 'delimiter=%3B'],
  ['tabs', csv, 'a\tb\n1,5\tx\n', 'delimiter=tab'],
  ['an array sent as CSV', csv, '[{"a":1,"b":2},\n{"a":2,"b":3}]', 'application/json'],
  ['lines of JSON sent as CSV', csv, rows, 'application/x-ndjson'],
  ['a JSON document sent as CSV', csv, '{\n "a": 1,\n "b": 2\n}', 'application/json'],
  ['CSV sent as JSON', json, table, 'text/csv'],
  ['CSV sent as NDJSON', ndjson, table, 'text/csv'],
  ['an array sent as NDJSON', ndjson, '[\n{"a":1}\n]', 'application/json'],
  ['a pretty object sent as NDJSON', ndjson, '{\n "a": 1\n}', 'application/json'],
  ['lines sent as JSON', json, rows, 'application/x-ndjson'],
  ['an HTML page', csv, '<!DOCTYPE html>\n<html><body>"no,</body></html>\n,,"', 'HTML'],
  ['CSV without line ends', csv, 'a,b1,23,4', '--data-binary'],
  ['TSV without line ends', 'text/tab-separated-values', 'a\tb1\t23\t4', '--data-binary'],
  ['NDJSON without line ends', ndjson, '{"a":1}{"a":2}', '--data-binary'],
  ['XML', json, '<?xml version="1.0"?><rows/>', 'XML'],
  ['a GeoPackage', json, Buffer.from('SQLite format 3\0\x10\0'), 'ogr2ogr -f GeoJSONSeq'],
  ['FlatGeobuf', ndjson, Buffer.from('6667620366676201', 'hex'), 'ogr2ogr -f GeoJSONSeq'],
  ['KML', csv, '<?xml version="1.0"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"/>', 'in.kml'],
  ['GML', json, '<a:FeatureCollection xmlns:gml="http://www.opengis.net/gml/3.2"/>', 'in.gml'],
  ['GML with its head', json, '<?xml version="1.0"?><F xmlns:gml="http://www.opengis.net/gml/3.2"/>', 'in.gml'],
  ['an xlsx workbook', csv, Buffer.from('PK\x03\x04\x14\0\x06\0[Content_Types].xml'), 'officedocument'],
  ['an xls workbook', csv, Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'save it as .xlsx'],
]

test.each([
  ['application/geopackage+sqlite3', 'ogr2ogr -f GeoJSONSeq'],
  ['application/vnd.google-earth.kml+xml', 'ogr2ogr -f GeoJSONSeq'],
  ['application/gml+xml; version=3.2', 'ogr2ogr -f GeoJSONSeq'],
  ['application/flatgeobuf', 'ogr2ogr -f GeoJSONSeq'],
  ['application/vnd.ms-excel', 'save it as .xlsx'],
  ['application/x-other', 'Use '],
])('a body of %s is refused with what to do', async (type, hint) => {
  const answer = await post('test/other', type, 'x')
  expect([answer.refusal, answer.at('hint')]).toEqual(['415 UnsupportedMediaType', expect.stringContaining(hint)])
})

describe('a body that is something else', () => {
  test.each([
    ['a page', '<!DOCTYPE html>\n<html><body>Not found</body></html>\n', 'an HTML page'],
    ['a page without a type', '\ufeff\n<HTML lang=en>\n<body>Not found\n', 'an HTML page'],
    ['XML', "<?xml version='1.0'?>\n<a/>\n", 'XML'],
  ])('%s makes no dataset, although it reads as one column', async (_, body, what) => {
    const answer = await post('test/page', csv, body)
    expect([answer.status, answer.at('message')]).toEqual([422, `The body is ${what}, not rows. Nothing was stored.`])
  })

  test.each(wrong)('%s: the refusal says what to do', async (_, type, body, hint) => {
    const answer = await post('odd/body', type, body)
    expect([400, 422]).toContain(answer.status)
    expect(answer.at('hint')).toContain(hint)
    expect((await live.call('/odd/body/tail')).status).toBe(404)
  })

  test('a control that is misspelt is told before a dataset is missed', async () => {
    const answer = await post('odd/body', csv, 'a,b\n1,2\n', '?create=yes')
    expect([answer.status, answer.at('error.kind')]).toEqual([400, 'InvalidParameter'])
    expect((await post('odd/body', csv, 'a,b\n1,2\n', '?create=false')).status).toBe(404)
  })

  test.each([
    ['too many columns', (count: number) => Array.from({ length: 2 * count }, (_, n) => `c${n}`)],
    ['a name twice', (count: number) => [...Array.from({ length: count }, (_, n) => `c${n}`), 'c0']],
  ])('a long header line is not said to have no end: %s', async (_, named) => {
    for (const count of [100, 500, 2500]) {
      const header = named(count)
      const line = header.map((__, n) => String(n)).join(',')
      const answer = await post(
        'odd/long',
        csv,
        `${header.join(',')}\n${`${line}\n`.repeat(50)}`,
        '?create=true&dryRun=true',
      )
      expect(String(answer.at('hint'))).not.toContain('line end')
    }
  })

  test('names that differ in case alone are told so', async () => {
    expect((await post('odd/case', json, '{"id":1,"Id":2}')).at('errors.0.message')).toContain('letter case')
  })

  test('a fault of another kind keeps its own hint', async () => {
    const answer = await post('odd/body', ndjson, '{"a":1}\n{"a":"x"\n')
    expect(answer.at('hint')).toContain('inferred')
    const headers = { 'content-type': csv, 'content-encoding': 'gzip' }
    const cut = await live.call('/odd/body/ingest?create=true', {
      method: 'POST',
      body: gzipSync('a;b\n1;2\n').subarray(0, -3),
      headers,
    })
    expect([cut.status, cut.at('hint')]).toEqual([400, expect.stringContaining('Content-Encoding')])
  })

  test('never makes the look itself fail, or take long', () => {
    const formats = fc.constantFrom('csv', 'json', 'ndjson', 'geojson', 'ndgeojson')
    const startedMs = performance.now()
    for (const part of [' ', '\n', '{"', '{"a":"\\"', '}', '"a",', 'a ', '[', '{}\n', '\t;', '{"a":']) {
      for (const start of ['', '{', '{}', '{"\\', 'a,']) {
        const bytes = utf8((start + part.repeat(16_384)).slice(0, 16_383))
        for (const format of ['csv', 'json', 'ndjson'] as const) lookAlikeHint(bytes, format)
        mapDocumentOf(bytes)
        mapDocumentOf(utf8(`${start}${part.repeat(4_000)}\\`))
      }
    }
    expect(performance.now() - startedMs).toBeLessThan(5_000)
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.string({ unit: 'binary' }).map(utf8)), formats, (bytes, format) => {
        expect(['string', 'undefined']).toContain(typeof lookAlikeHint(bytes, format))
        mapDocumentOf(bytes)
      }),
    )
  })
})
