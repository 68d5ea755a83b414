// What vector tiles say of features: which columns, of which types, to the last digit, and what is left out of a tile that is
// too large. Read by Mapbox's decoder, and by GDAL where it is installed.

import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { describe, expect, test } from 'vitest'
import { mostColumnBytes } from '../../../src/libraries/geo/tile.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

type Properties = Readonly<Record<string, unknown>>

async function tileAt(alias: string, query: string, address = '0/0/0'): Promise<Awaited<ReturnType<typeof live.call>>> {
  return await live.call(`/ogc/collections/${alias.replace('/', ':')}/tiles/${address}.mvt${query}`)
}

/** Properties of the features of a tile, by id. */
function read(bytes: Uint8Array): ReadonlyMap<number | undefined, Properties> {
  const layer = new VectorTile(new PbfReader(bytes)).layers['features']
  const features = Array.from({ length: layer?.length ?? 0 }, (_, at) => layer?.feature(at))
  return new Map(features.map((feature) => [feature?.id, feature?.properties ?? {}]))
}

async function namesIn(alias: string, query: string): Promise<readonly string[]> {
  const { status, bytes } = await tileAt(alias, query)
  expect([query, status]).toEqual([query, 200])
  const all = [...read(bytes).values()].flatMap((properties) => Object.keys(properties))
  return [...new Set(all)]
}

const kinds = {
  i64: 'Int64',
  u64: 'UInt64',
  i8: 'Int8',
  f64: 'Float64',
  f32: 'Float32',
  ok: 'Bool',
  day: 'Date',
  text: 'String',
  constructor: 'String',
} as const
const records = [
  '{"event_time":"2026-01-01T00:00:00Z","lat":1.5,"lon":2.5,"i64":9223372036854775807,"u64":18446744073709551615,"i8":-128,"f64":2,"f32":0.1,"ok":true,"day":"2026-02-03","text":"東京 \\"1\\"","constructor":"made","cost":"12.50","many":[1,2]}',
  '{"event_time":"2026-01-01T00:00:01Z","lat":-1.5,"lon":2.5,"i64":-9223372036854775808,"u64":0,"i8":0,"f64":1e300,"f32":-2.5,"ok":false,"day":"1899-12-31","text":"","constructor":null,"cost":"-0.01","many":[]}',
  '{"event_time":"2026-01-01T00:00:02Z","lat":1.5,"lon":-92.5,"i64":9007199254740993,"u64":127,"i8":127,"f64":-0.1,"f32":null,"ok":null,"day":null,"text":null,"constructor":null,"cost":null,"many":null}',
]
const optional = (type: object): object => ({ kind: 'Option', inner: type })
await live.call('/acme/kinds', {
  method: 'PUT',
  json: {
    schema: {
      fields: [
        ...['lat', 'lon'].map((name) => ({ name, type: { kind: 'Float64' } })),
        ...Object.entries(kinds).map(([name, kind]) => ({ name, type: optional({ kind }) })),
        { name: 'cost', type: optional({ kind: 'Decimal', precision: 9, scale: 2 }) },
        { name: 'many', type: optional({ kind: 'List', itemType: { kind: 'Int64' } }) },
      ],
    },
  },
})
const ndjson = { 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
await live.call('/acme/kinds/ingest', { method: 'POST', headers: ndjson, body: records.join('\n') })
const named = `?properties=${[...Object.keys(kinds), 'cost', 'many', 'EVENT_TIME'].join(',')}`

describe('the columns of a tile', () => {
  test('keep their types, and nulls are not there', async () => {
    const { bytes } = await tileAt('acme/kinds', named)
    const found = read(bytes)
    expect(found.get(0)).toEqual({
      offset: 0,
      i64: 2 ** 63,
      u64: 2 ** 64,
      i8: -128,
      f64: 2,
      f32: 0.1,
      ok: true,
      day: '2026-02-03',
      text: '東京 "1"',
      constructor: 'made',
      cost: '12.50',
      many: '[1,2]',
      event_time: '2026-01-01T00:00:00Z',
    })
    expect(found.get(1)).toMatchObject({ f64: 1e300, f32: -2.5, ok: false, text: '', cost: '-0.01' })
    expect(Object.keys(found.get(2) ?? {})).toEqual(['offset', 'i64', 'u64', 'i8', 'f64', 'event_time'])
  })

  test('are those that are named, in any case and once; none for an empty name', async () => {
    expect(await namesIn('acme/kinds', '?properties=')).toEqual(['offset'])
    expect(await namesIn('acme/kinds', '?properties=,')).toEqual(['offset'])
    expect(await namesIn('acme/kinds', '?properties=Text, ok,TEXT,lat'.replace(' ', '%20'))).toEqual([
      'offset',
      'text',
      'ok',
      'lat',
    ])
    for (const name of ['none', 'offset', 'system_time', 'ok;lat']) {
      const answer = await tileAt('acme/kinds', `?properties=ok,${encodeURIComponent(name)}`)
      expect([name, answer.refusal, answer.text.includes(`there is no column '${name}'`)]).toEqual([
        name,
        '400 InvalidParameter',
        true,
      ])
    }
    expect((await tileAt('acme/kinds', '?property=ok')).refusal).toBe('400 InvalidParameter')
  })

  test('are the first eight scalar ones unless they are named, `name` before all others', async () => {
    const wide = Array.from({ length: 9 }, (_, i) => [`c${i}`, i])
    const record = { lat: 1.5, lon: 2.5, ...Object.fromEntries(wide), NAME: 'x' }
    await live.ingest('acme/wide', [record], '?create=true')
    expect(await namesIn('acme/wide', '')).toEqual([
      'offset',
      'NAME',
      'event_time',
      'lat',
      'lon',
      'c0',
      'c1',
      'c2',
      'c3',
    ])
    const types = {
      tags: { kind: 'List', itemType: { kind: 'Int64' } },
      geometry: { kind: 'String' },
      a: { kind: 'String' },
    }
    const fields = Object.entries({ ...types, name: { kind: 'Int64' } }).map(([name, type]) => ({ name, type }))
    await live.call('/acme/few', { method: 'PUT', json: { schema: { fields } } })
    await live.ingest('acme/few', [{ tags: [1], geometry: '{"type":"Point","coordinates":[1,2]}', a: 'x', name: 7 }])
    expect(new Set(await namesIn('acme/few', ''))).toEqual(new Set(['offset', 'name', 'event_time', 'a']))
  })

  test('make another tag', async () => {
    const tags = await Promise.all(
      ['', '?properties=', '?properties=ok', '?properties=OK'].map(async (query) => {
        const { headers } = await tileAt('acme/kinds', query)
        return headers.etag
      }),
    )
    expect([new Set(tags).size, tags[2] === tags[3]]).toEqual([3, true])
    const again = await live.call('/ogc/collections/acme:kinds/tiles/0/0/0.mvt?properties=ok', {
      headers: { 'if-none-match': tags[2] ?? '' },
    })
    expect(again.status).toBe(304)
  })

  test('are told of in both descriptions', async () => {
    const { json } = await live.call('/ogc/api')
    const { paths, components } = json as { paths: Record<string, unknown>; components: { parameters: Properties } }
    expect(JSON.stringify(paths['/collections/{collectionId}/tiles/{z}/{x}/{y}.mvt'])).toContain(
      'parameters/properties',
    )
    expect(components.parameters['properties']).toMatchObject({ name: 'properties', in: 'query', explode: false })
  })
})

describe('a tile of areas', () => {
  test('has the properties of each, whatever its shape', async () => {
    const ring = (size: number): number[][] => [
      [0, 0],
      [size, 0],
      [size, size],
      [0, 0],
    ]
    const shapes = [
      { type: 'Polygon', coordinates: [ring(40)] },
      { type: 'MultiPolygon', coordinates: [[ring(30)], [ring(-20)]] },
      {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [10, 10],
          [20, 0],
        ],
      },
      {
        type: 'MultiPoint',
        coordinates: [
          [5, 5],
          [6, 6],
        ],
      },
    ]
    const rows = shapes.map((geometry, n) => ({ geometry: JSON.stringify(geometry), n, half: n / 2 }))
    await live.ingest('acme/shapes', rows, '?create=true')
    const found = read((await tileAt('acme/shapes', '?properties=n,half')).bytes)
    expect([...found]).toEqual(shapes.map((_, n) => [n, { offset: n, n, half: n / 2 }]))
    const layer = new VectorTile(new PbfReader((await tileAt('acme/shapes', '')).bytes)).layers['features']
    const types = Array.from({ length: 4 }, (_, at) => layer?.feature(at).toGeoJSON(0, 0, 0).geometry.type)
    expect(types).toEqual(shapes.map(({ type }) => type))
  })
})

describe('a tile of real size', () => {
  /** Points in rows of a grid that a tile tells apart, with a text of `chars` characters, all different. */
  async function texts(alias: string, chars: number): Promise<void> {
    const count = 10_000
    const lines = Array.from({ length: count }, (_, i) => {
      const [lat, lon] = [((i / 100) | 0) * 1.6 - 80, (i % 100) * 3.5 - 175]
      return JSON.stringify({ lat, lon, few: i % 7, long: String(i).padStart(chars, 'x'), last: i % 2 === 0 })
    })
    const body = lines.join('\n')
    const answer = await live.call(`/${alias}/ingest?create=true`, { method: 'POST', headers: ndjson, body })
    expect(answer.at('status')).toBe('committed')
  }

  test('leaves out whole columns, the last first, and says how many', async () => {
    // What a value of the long column takes, with its framing, is the bound by its 10,000 values.
    const most = Math.floor(mostColumnBytes / 10_000)
    await texts('acme/fits', most - 25)
    await texts('acme/over', most)
    const query = '?properties=few,long,last'
    const fits = await tileAt('acme/fits', query)
    const over = await tileAt('acme/over', query)
    const bare = await tileAt('acme/over', '?properties=')
    expect([fits.headers['properties-left-out'], over.headers['properties-left-out']]).toEqual([undefined, '2'])
    expect(read(fits.bytes).get(9_999)).toEqual({
      offset: 9_999,
      few: 3,
      long: '9999'.padStart(most - 25, 'x'),
      last: false,
    })
    expect(read(over.bytes).get(9_999)).toEqual({ offset: 9_999, few: 3 })
    expect(read(over.bytes).size).toBe(10_000)
    for (const { bytes } of [fits, over]) expect(bytes.length).toBeLessThan(bare.bytes.length + mostColumnBytes)
    // The order of the parameter decides.
    const other = await tileAt('acme/over', '?properties=last,few,long')
    expect([other.headers['properties-left-out'], read(other.bytes).get(2)]).toEqual([
      '1',
      { offset: 2, last: true, few: 2 },
    ])
    expect((await tileAt('acme/over', '?properties=long')).headers['properties-left-out']).toBe('1')
  })

  test('is compressed for who takes that', async () => {
    const plain = await tileAt('acme/fits', '?properties=few')
    const packed = await live.call('/ogc/collections/acme:fits/tiles/0/0/0.mvt?properties=few', {
      headers: { 'accept-encoding': 'gzip' },
    })
    expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, 'gzip'])
  })
})

const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['-c', 'import pyogrio']).status === 0)
if (python === undefined) console.warn('NOT RUN: tiles are not read by GDAL: pip install pyogrio')

describe.skipIf(python === undefined)('GDAL', () => {
  test('reads 64-bit integers to the last digit, and each type', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'proofstream-tile-'))
    try {
      const path = join(folder, '0.mvt')
      writeFileSync(path, (await tileAt('acme/kinds', named)).bytes)
      const program = `import json, sys, pyogrio
meta, _, _, columns = pyogrio.raw.read(sys.argv[1], layer='features', read_geometry=False)
rows = [[None if v is None or v != v else str(v) for v in c] for c in columns]
print(json.dumps({n: [str(t), r] for n, t, r in zip(meta['fields'], meta['dtypes'], rows)}))`
      const { stdout } = await promisify(execFile)(python ?? '', ['-c', program, path])
      const found = JSON.parse(stdout) as Record<string, [string, (string | null)[]]>
      // GDAL has no column of unsigned integers.
      expect(found).toMatchObject({
        i64: ['int64', ['9223372036854775807', '-9223372036854775808', '9007199254740993']],
        i8: ['int32', ['-128', '0', '127']],
        f64: ['float64', ['2.0', '1e+300', '-0.1']],
        f32: ['float64', ['0.1', '-2.5', null]],
        ok: ['bool', ['1.0', '0.0', null]],
        day: ['object', ['2026-02-03', '1899-12-31', null]],
        text: ['object', ['東京 "1"', '', null]],
        constructor: ['object', ['made', null, null]],
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
