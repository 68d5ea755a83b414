// Geometries at odd places: longitudes counted from 0 or on over the antimeridian, geometries without a position. Every way
// to ask for a box finds the same features, and every format out holds what came in.

import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { describe, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

async function post(alias: string, geometries: readonly unknown[]): Promise<void> {
  const features = geometries.map((geometry, i) => ({ type: 'Feature', geometry, properties: { i, name: `n${i}` } }))
  const answer = await live.call(`/${alias}/ingest?create=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/geo+json', prefer: 'wait=20' },
    body: JSON.stringify({ type: 'FeatureCollection', features }),
  })
  expect(answer.at('status')).toBe('committed')
}

const longitudes = [200, -160, 181, 350, 0, 179.5, -179.5, 180, -180, 360, -360, -200, 10, -190, 190]
const square = (west: number, east: number): object => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, -1],
      [east, -1],
      [east, 1],
      [west, 1],
      [west, -1],
    ],
  ],
})
await post(
  'acme/points',
  longitudes.map((x, i) => ({ type: 'Point', coordinates: [x, i / 2] })),
)
await post('acme/areas', [square(170, 190), square(-190, -170), square(10, 20), square(350, 370 - 10)])

const boxes = [
  [-165, -155],
  [195, 205],
  [170, -170],
  [170, 190],
  [-190, -170],
  [-180, 180],
  [0, 360],
  [345, 355],
  [-15, -5],
  [350, 10],
  [180, 180],
  [-200, 200],
  [-1000, 1000],
  [5, -5],
  [20, 30],
] as const

/** Whether a longitude lies in a box, by a definition of its own: some turns further east of its west, and not beyond. */
function isIn(x: number, [west, east]: readonly [number, number]): boolean {
  const turn = (number: number): number => ((number % 360) + 360) % 360
  const width = west <= east ? east - west : turn(east - west)
  return turn(x - west) <= width
}

async function offsetsIn(alias: string, [west, east]: readonly [number, number]): Promise<readonly number[][]> {
  const bbox = `${west},-10,${east},10`
  const items = `/ogc/collections/${alias.replace('/', ':')}/items?limit=100`
  const byBox = await live.call(`${items}&bbox=${bbox}`)
  const byFilter = await live.call(`${items}&filter=${encodeURIComponent(`S_INTERSECTS(geometry, BBOX(${bbox}))`)}`)
  const exported = await live.call(`/${alias}/export?format=GeoJson&bbox=${bbox}`)
  return [byBox, byFilter, exported].map(({ json }) => {
    return Object(json).features.map(({ properties }: { properties: { i: number } }) => properties.i)
  })
}

describe('a box', () => {
  test.each(boxes)('from %d to %d finds points however their longitudes are counted', async (...box) => {
    const expected = longitudes.flatMap((x, i) => (isIn(x, box) ? [i] : []))
    expect(await offsetsIn('acme/points', box)).toEqual([expected, expected, expected])
  })

  test.each([
    [-175, -172, [0, 1]],
    [172, 175, [0, 1]],
    [175, -175, [0, 1]],
    [-9, -5, [3]],
    [12, 13, [2]],
    [372, 373, [2]],
    [30, 40, []],
  ] as const)('from %d to %d finds areas over the antimeridian', async (west, east, expected) => {
    expect(await offsetsIn('acme/areas', [west, east])).toEqual([expected, expected, expected])
  })

  test('of numbers that are no longitudes is answered', async () => {
    for (const west of ['1e300', '-1e300', '1e15']) {
      const { status } = await live.call(`/ogc/collections/acme:points/items?bbox=${west},0,1,1`)
      expect([west, status]).toEqual([west, 200])
    }
    const filter = encodeURIComponent('S_INTERSECTS(geometry, POINT(1e999 0))')
    const { refusal } = await live.call(`/ogc/collections/acme:points/items?filter=${filter}`)
    expect(refusal).toBe('400 InvalidParameter')
  })
})

interface Drawn {
  readonly x: number
  readonly properties: Readonly<Record<string, unknown>>
}

async function drawn(collection: string, [z, x, y]: readonly [number, number, number]): Promise<readonly Drawn[]> {
  const answer = await live.call(`/ogc/collections/${collection}/tiles/${z}/${x}/${y}.mvt`)
  if (answer.status === 204) return []
  const layer = new VectorTile(new PbfReader(answer.bytes)).layers['features']
  return Array.from({ length: layer?.length ?? 0 }, (_, index) => {
    const feature = layer?.feature(index)
    const { geometry, properties } = feature?.toGeoJSON(x, y, z) ?? {}
    const first = geometry?.type === 'Point' ? geometry.coordinates[0] : undefined
    return { x: Math.round(first ?? Number.NaN), properties: { ...properties } }
  })
}

test('a tile draws points where they are, with number and name', async () => {
  const found = await drawn('acme:points', [1, 0, 0])
  expect(found.map(({ properties }) => properties['offset'])).toEqual(expect.arrayContaining([0, 1, 2, 3, 6, 14]))
  expect(found.find(({ properties }) => properties['offset'] === 0)).toMatchObject({
    x: -160,
    properties: { offset: 0, name: 'n0' },
  })
  expect(found.find(({ properties }) => properties['offset'] === 12)).toBeUndefined()
})

test('a tile draws areas on both sides of the antimeridian, with number and name', async () => {
  const sides = await Promise.all([drawn('acme:areas', [3, 0, 3]), drawn('acme:areas', [3, 7, 3])])
  for (const side of sides) {
    const numbers = new Set(side.map(({ properties }) => properties['name']))
    expect(numbers).toEqual(new Set(['n0', 'n1']))
  }
})

const empties = [
  { type: 'Point', coordinates: [1, 2] },
  { type: 'Point', coordinates: [] },
  { type: 'MultiPoint', coordinates: [] },
  { type: 'LineString', coordinates: [] },
  { type: 'MultiLineString', coordinates: [] },
  { type: 'Polygon', coordinates: [] },
  { type: 'MultiPolygon', coordinates: [] },
  { type: 'GeometryCollection', geometries: [] },
  { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [] }] },
  {
    type: 'GeometryCollection',
    geometries: [
      { type: 'Point', coordinates: [] },
      { type: 'Point', coordinates: [3, 4, 5] },
    ],
  },
  null,
]

describe('geometries without a position', async () => {
  await post('acme/empty', empties)

  test.each([
    ['Parquet', 'application/vnd.apache.parquet'],
    ['Arrow', 'application/vnd.apache.arrow.stream'],
    ['GeoJson', 'application/geo+json'],
    ['NdGeoJson', 'application/geo+json-seq'],
    ['Csv', 'text/csv'],
    ['NdJson', 'application/x-ndjson'],
  ])('leave as %s and come back', async (format, mediaType) => {
    const { bytes } = await live.call(`/acme/empty/export?format=${format}&system=false`)
    const back = `acme/back-${format.toLowerCase()}`
    const answer = await live.call(`/${back}/ingest?create=true`, {
      method: 'POST',
      headers: { 'content-type': mediaType, prefer: 'wait=20' },
      body: bytes,
    })
    expect(answer.at('status')).toBe('committed')
    const { json } = await live.query(`select geometry from "${back}" order by i`)
    const found = Object(json).output.data.map(([text]: readonly [string | null]) => JSON.parse(text ?? 'null'))
    expect(found).toEqual(empties)
  })

  test('are features without a place on maps', async () => {
    const items = await live.call('/ogc/collections/acme:empty/items?limit=100')
    expect(Object(items.json).features.map(({ geometry }: { geometry: unknown }) => geometry)).toEqual(empties)
    expect((await live.call('/ogc/collections/acme:empty')).at('extent.spatial.bbox.0')).toEqual([1, 2, 3, 4])
    expect((await drawn('acme:empty', [0, 0, 0])).map(({ properties }) => properties['offset'])).toEqual([0, 9])
    expect(await offsetsIn('acme/empty', [-180, 180])).toEqual([
      [0, 9],
      [0, 9],
      [0, 9],
    ])
  })
})
