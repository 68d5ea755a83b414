// Datasets whose places are two columns of numbers: collections of points, by box, filter and tile, and as GeoJSON files.

import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { describe, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

interface Feature {
  readonly id: number
  readonly geometry: { readonly type: string; readonly coordinates: readonly number[] } | null
  readonly properties: Readonly<Record<string, unknown>>
}

interface Page {
  readonly features: readonly Feature[]
  readonly links: readonly { readonly rel: string; readonly href: string }[]
  readonly numberMatched?: number
}

const csv = [
  'event_time,name,lat,lon',
  '2026-01-01T00:00:00Z,oslo,59.91,10.75',
  '2026-01-01T00:01:00Z,suva,-18.14,178.44',
  '2026-01-01T00:02:00Z,apia,-13.83,-171.76',
  '2026-01-01T00:03:00Z,half,5.5,',
  '2026-01-01T00:04:00Z,beyond,90.5,10.75',
  '2026-01-01T00:05:00Z,nan,NaN,10.75',
  '2026-01-01T00:06:00Z,edge,90,360',
  '2026-01-01T00:07:00Z,far,59.91,1000',
].join('\n')
const places = [[10.75, 59.91], [178.44, -18.14], [-171.76, -13.83], null, null, null, [360, 90], null]

async function post(alias: string, type: string, body: string): Promise<void> {
  const headers = { 'content-type': type, prefer: 'wait=20' }
  const answer = await live.call(`/${alias}/ingest?create=true`, { method: 'POST', headers, body })
  expect(answer.at('status')).toBe('committed')
}

await post('acme/stations', 'text/csv', csv)
await live.ingest('acme/two', [{ lat: 1.5, lon: 2.5, latitude: 3.5, longitude: 4.5 }], '?create=true')
await live.ingest('acme/texts', [{ lat: 'north', lon: 'east' }], '?create=true')
await live.ingest(
  'acme/both',
  [{ geometry: '{"type":"Point","coordinates":[1,2]}', lat: 50.5, lon: 60.5 }],
  '?create=true',
)
await live.ingest('acme/plain', [{ n: 1.5 }], '?create=true')

const base = '/ogc/collections/acme:stations'

async function page(query: string): Promise<Page> {
  const answer = await live.call(`${base}/items${query}`)
  expect([query, answer.status]).toEqual([query, 200])
  return answer.json as Page // the test looks at what it asserts
}

const namesOf = ({ features }: Page): unknown[] => features.map(({ properties }) => properties['name'])
const coordinates = (features: readonly Feature[]): unknown[] =>
  features.map(({ geometry }) => geometry?.coordinates ?? null)

describe('a dataset with a latitude and a longitude', () => {
  test('is a collection with its extent; one with two pairs, or with texts, is none', async () => {
    const { json } = await live.call('/ogc/collections')
    expect((json as { collections: { id: string }[] }).collections.map(({ id }) => id)).toEqual([
      'acme:both',
      'acme:stations',
    ])
    const one = await live.call(base)
    expect([one.at('extent.spatial.bbox.0'), one.at('extent.temporal.interval.0.1')]).toEqual([
      [-171.76, -18.14, 360, 90],
      '2026-01-01T00:07:00Z',
    ])
    for (const id of ['acme:two', 'acme:texts', 'acme:plain'])
      expect((await live.call(`/ogc/collections/${id}/items`)).refusal).toBe('404 DatasetNotFound')
  })

  test('tells that its geometries are points, and both columns', async () => {
    const answer = await live.call(`${base}/queryables`)
    expect([answer.at('properties.geometry.format'), answer.at('properties.lat.type')]).toEqual([
      'geometry-point',
      'number',
    ])
  })

  test('has a point for each row, null where there is none, and both numbers as properties', async () => {
    const { features, numberMatched } = await page('?limit=100')
    expect([coordinates(features), numberMatched]).toEqual([places, 8])
    expect(features[0]?.properties).toMatchObject({ name: 'oslo', lat: 59.91, lon: 10.75 })
    expect((await live.call(`${base}/items/2`)).at('geometry.coordinates')).toEqual(places[2])
    expect((await live.call(`${base}/items/4`)).at('geometry')).toBeNull()
  })

  test.each([
    ['?bbox=10.75,59.91,10.75,59.91', ['oslo']],
    ['?bbox=10.76,59,12,60', []],
    ['?bbox=170,-20,-170,0', ['suva', 'apia']],
    ['?bbox=170,-20,190,0', ['suva', 'apia']],
    ['?bbox=-180,-90,180,90', ['oslo', 'suva', 'apia', 'edge']],
    ['?bbox=-1000,-100,2000,100', ['oslo', 'suva', 'apia', 'edge']],
    ['?bbox=-1,89,1,91', ['edge']],
    ['?bbox=0,91,20,92', []],
    ['?bbox=-180,-90,180,90&datetime=2026-01-01T00:01:00Z/2026-01-01T00:02:00Z&sortby=-name', ['suva', 'apia']],
    ['?bbox=-180,-90,180,90&name=oslo', ['oslo']],
    ['?filter=S_INTERSECTS(geometry,BBOX(170,-20,190,0)) AND lat < -15', ['suva']],
    ['?filter=NOT S_INTERSECTS(geometry,BBOX(170,-20,190,0))', ['oslo', 'edge']],
    ['?filter=S_INTERSECTS(POINT(10.75 59.91),geometry)', ['oslo']],
  ])('%s finds %s', async (query, expected) => {
    expect(namesOf(await page(query.replaceAll(' ', '%20')))).toEqual(expected)
  })

  test('is paged by its links through a box', async () => {
    const seen: unknown[] = []
    let next: string | undefined = '?bbox=-180,-90,180,90&limit=3'
    while (next !== undefined) {
      const found: Page = await page(next)
      seen.push(...namesOf(found))
      const link = found.links.find(({ rel }) => rel === 'next')?.href
      next = link?.slice(link.indexOf('?'))
    }
    expect(seen).toEqual(['oslo', 'suva', 'apia', 'edge'])
  })

  test('is drawn in tiles', async () => {
    const answer = await live.call(`${base}/tiles/0/0/0.mvt`)
    const layer = new VectorTile(new PbfReader(answer.bytes)).layers['features']
    const names = Array.from({ length: layer?.length ?? 0 }, (_, at) => layer?.feature(at).properties['name'])
    expect(new Set(names)).toEqual(new Set(['apia', 'oslo', 'suva']))
    expect((await live.call(`${base}/tiles/3/0/0.mvt`)).status).toBe(204)
  })

  test('is shown as a page', async () => {
    const answer = await live.call(`${base}/items?f=html`)
    expect([answer.status, answer.text.includes('Point')]).toEqual([200, true])
  })
})

test.each([
  ['Float32', '{"kind":"Float32"}', '59.91', [59.91, 10.75]],
  ['Decimal', '{"kind":"Decimal","precision":9,"scale":6}', '"59.910001"', [59.910001, 10.75]],
  ['Int32', '{"kind":"Int32"}', '59', [59, 10.75]],
  ['Int64', '{"kind":"Int64"}', '59', [59, 10.75]],
])('a latitude of type %s is one', async (name, type, latitude, [y, x]) => {
  const alias = `types/${name.toLowerCase()}`
  const fields = [
    { name: 'Latitude', type: JSON.parse(type) },
    { name: 'LONGITUDE', type: { kind: 'Float64' } },
  ]
  const made = await live.call(`/${alias}`, { method: 'PUT', json: { schema: { fields } } })
  expect(made.status).toBe(201)
  const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
  const body = `{"Latitude":${latitude},"LONGITUDE":10.75}`
  await live.call(`/${alias}/ingest`, { method: 'POST', headers, body })
  const id = alias.replace('/', ':')
  const { features } = (await live.call(`/ogc/collections/${id}/items?bbox=10,58.99,11,59.92`)).json as Page
  const file = JSON.parse((await live.call(`/${alias}/export?format=GeoJson`)).text) as Page
  expect([coordinates(features), coordinates(file.features)]).toEqual([[[x, y]], [[x, y]]])
  const [box] = (await live.call(`/ogc/collections/${id}`)).at('extent.spatial.bbox') as number[][]
  expect([Math.fround(box?.[1] ?? 0), box?.[0]]).toEqual([Math.fround(y ?? 0), x])
})

test('a column of geometries counts, whatever numbers are beside it', async () => {
  const items = '/ogc/collections/acme:both/items'
  const ids = async (query: string): Promise<number> =>
    ((await live.call(`${items}${query}`)).json as Page).features.length
  expect([await ids('?bbox=1,2,1,2'), await ids('?bbox=60,50,61,51')]).toEqual([1, 0])
  const { features } = JSON.parse((await live.call('/acme/both/export?format=GeoJson')).text) as Page
  expect(coordinates(features)).toEqual([[1, 2]])
})

describe('an export', () => {
  test('as GeoJSON has points, and both numbers as properties', async () => {
    const { features } = JSON.parse((await live.call('/acme/stations/export?format=GeoJson')).text) as Page
    expect(coordinates(features)).toEqual(places)
    expect(features[0]?.properties).toMatchObject({ name: 'oslo', lat: 59.91, lon: 10.75 })
    const lines = (await live.call('/acme/stations/export?format=NdGeoJson')).text.trim().split('\n')
    expect(coordinates(lines.map((line) => JSON.parse(line.slice(1)) as Feature))).toEqual(places)
  })

  test('by box takes the rows in it, in any format', async () => {
    const { text } = await live.call('/acme/stations/export?format=Csv&columns=name&bbox=170,-20,190,0')
    expect(text).toBe('name\r\nsuva\r\napia\r\n')
    expect((await live.call('/acme/two/export?format=Csv&bbox=0,0,1,1')).refusal).toBe('400 InvalidParameter')
    expect((await live.call('/acme/two/export?format=GeoJson')).refusal).toBe('400 InvalidParameter')
  })

  test('goes in again as the same places', async () => {
    const { text } = await live.call('/acme/stations/export?format=NdGeoJson')
    await post('acme/again', 'application/geo+json-seq', text)
    const { features } = (await live.call('/ogc/collections/acme:again/items?limit=100')).json as Page
    expect(coordinates(features)).toEqual(places)
  })
})
