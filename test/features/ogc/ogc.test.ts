// OGC API Features: the abstract tests of Part 1 (OGC 17-069r4, Annex A) that an ordinary server can fail, and the filters
// of Part 3, over features whose places are known.

import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { describe, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

interface Feature {
  readonly type: string
  readonly id: number
  readonly geometry: { readonly type: string; readonly coordinates: readonly unknown[] } | null
  readonly properties: Readonly<Record<string, unknown>>
}

interface Page {
  readonly type: string
  readonly features: readonly Feature[]
  readonly links: readonly { readonly rel: string; readonly href: string; readonly type?: string }[]
  readonly numberMatched?: number
  readonly numberReturned: number
}

const count = 60
const points = Array.from({ length: count }, (_, i) => ({
  type: 'Feature',
  geometry: i === 59 ? null : { type: 'Point', coordinates: [i * 6 - 177, (i % 10) * 10 - 45] },
  properties: { event_time: `2026-01-01T00:${String(i).padStart(2, '0')}:00Z`, name: `p${i}`, k: i % 7 },
}))

async function post(alias: string, features: readonly object[]): Promise<void> {
  const body = features.map((feature) => JSON.stringify(feature)).join('\n')
  const headers = { 'content-type': 'application/x-ndgeojson', prefer: 'wait=20' }
  const answer = await live.call(`/${alias}/ingest?create=true`, { method: 'POST', headers, body })
  expect(answer.at('status')).toBe('committed')
}

await post('acme/points', points.slice(0, 40))
await post('acme/points', points.slice(40))
await post('acme/areas', [
  {
    type: 'Feature',
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [10, 0],
          [0, 10],
          [0, 0],
        ],
      ],
    },
    properties: { name: 'triangle' },
  },
])
await live.ingest('acme/plain', [{ n: 1 }], '?create=true')

const base = '/ogc/collections/acme:points'

async function page(query: string): Promise<Page> {
  const answer = await live.call(`${base}/items${query}`)
  expect([query, answer.status, answer.headers['content-type']]).toEqual([query, 200, 'application/geo+json'])
  return answer.json as Page // the test looks at what it asserts
}

const ids = ({ features }: Page): number[] => features.map(({ id }) => id)

describe('the service', () => {
  test('lists datasets with geometries, and no others', async () => {
    const { json } = await live.call('/ogc/collections')
    const { collections } = json as { collections: { id: string; links: Page['links'] }[] }
    expect(collections.map(({ id }) => id)).toEqual(['acme:areas', 'acme:points'])
    expect(collections[0]?.links.map(({ rel }) => rel)).toEqual(expect.arrayContaining(['self', 'items']))
    const one = await live.call(base)
    expect([one.at('id'), one.at('extent.spatial.bbox.0')]).toEqual(['acme:points', [-177, -45, 171, 45]])
    expect((await live.call('/ogc/collections/acme:plain')).refusal).toBe('404 DatasetNotFound')
    expect((await live.call('/ogc/collections/acme:none/items')).refusal).toBe('404 DatasetNotFound')
  })
})

describe('a page', () => {
  test('has ten features by default, and the links to walk all of them once', async () => {
    const seen: number[] = []
    let next: string | undefined = `${base}/items`
    while (next !== undefined) {
      const answer: Page = (await live.call(next)).json as Page
      expect([answer.type, answer.numberMatched, answer.numberReturned]).toEqual([
        'FeatureCollection',
        count,
        answer.features.length,
      ])
      seen.push(...ids(answer))
      const link = answer.links.find(({ rel }) => rel === 'next')?.href
      next = link === undefined ? undefined : link.slice(link.indexOf('/ogc'))
    }
    expect(seen).toEqual(points.map((_, i) => i))
  })

  test('stays on its block while rows come', async () => {
    const first = await page('?limit=1')
    await live.ingest('acme/areas', [{ name: 'later', geometry: '{"type":"Point","coordinates":[1,1]}' }])
    const areas = (await live.call('/ogc/collections/acme:areas/items?limit=1')).json as Page
    const next = areas.links.find(({ rel }) => rel === 'next')?.href ?? ''
    await live.ingest('acme/areas', [{ name: 'last', geometry: '{"type":"Point","coordinates":[1,1]}' }])
    const second = (await live.call(next.slice(next.indexOf('/ogc')))).json as Page
    expect([first.numberReturned, ids(second), second.numberMatched]).toEqual([1, [1], 2])
  })

  test('holds geometry and properties as they came, and null where there is no geometry', async () => {
    const { features } = await page('?limit=2&offset=58')
    expect(features.map(({ geometry }) => geometry)).toEqual([points[58]?.geometry, null])
    expect(features[0]?.properties).toMatchObject({ name: 'p58', k: 2, event_time: '2026-01-01T00:58:00Z' })
  })

  test('names its block, and is 304 for who has it', async () => {
    const answer = await live.call(`${base}/items?limit=1`)
    expect(answer.headers['dataset-head']).toMatch(/^acme\/points;block="f1620/)
    const again = await live.call(`${base}/items?limit=1`, { headers: { 'if-none-match': answer.headers.etag ?? '' } })
    expect(again.status).toBe(304)
  })

  test.each([
    ['?limit=0', 'InvalidParameter'],
    ['?bbox=1,2,x,4', 'InvalidParameter'],
    ['?bbox=1,9,3,4', 'InvalidParameter'],
    ['?sortby=altitude', 'InvalidParameter'],
    ["?filter=name%20%3D%20DATE('x')", 'InvalidParameter'],
    ["?filter=name%20%3D%20DATE('2026-01-01')", 'SqlValue'],
  ])('%s is 400', async (query, kind) => {
    expect((await live.call(`${base}/items${query}`)).refusal).toBe(`400 ${kind}`)
  })

  test('has a tag that a header can hold, whatever was asked', async () => {
    const answer = await live.call(`${base}/items?filter=${encodeURIComponent('name = \'東京 "1"\'')}`)
    expect([answer.status, answer.headers.etag]).toEqual([200, expect.stringMatching(/^"[0-9a-f]{32}"$/)])
  })
})

describe('features are chosen', () => {
  test.each([
    ['?bbox=-180,-90,180,90&limit=100', Array.from({ length: 59 }, (_, i) => i)],
    ['?bbox=170,-90,-176,90', [0, 58]],
    ['?bbox=0,0,0.5,0.5', []],
    ['?bbox=0,0,0,100,100,100&limit=3', [35, 36, 37]],
    ["?filter=k%20%3D%203%20AND%20name%20LIKE%20'p1%25'", [10, 17]],
    ['?filter=S_INTERSECTS(geometry,BBOX(-177,-45,-165,-25))', [0, 1, 2]],
    ['?filter=k%20%3D%201&bbox=-180,-90,-100,90', [1, 8]],
    ['?sortby=-k,name&limit=2', [13, 20]],
    ['?bbox=-180,-90,180,90&sortby=-event_time&limit=2', [58, 57]],
  ])('%s', async (query, expected) => {
    expect(ids(await page(query))).toEqual(expected)
  })

  test('by their true shape, not by their bounds', async () => {
    const inside = await live.call('/ogc/collections/acme:areas/items?bbox=1,1,2,2&limit=1')
    expect(inside.at('features.0.properties.name')).toBe('triangle')
    const beside = await live.call('/ogc/collections/acme:areas/items?bbox=8,8,9,9')
    expect(beside.at('features')).toEqual([])
  })

  test('by their id', async () => {
    const answer = await live.call(`${base}/items/17`)
    expect([answer.at('id'), answer.at('properties.name')]).toEqual([17, 'p17'])
    for (const id of ['60', 'x', '-1', '999999999999999']) {
      expect((await live.call(`${base}/items/${id}`)).refusal).toBe('404 ObjectNotFound')
    }
  })
})

interface TilePoint {
  readonly id: number | undefined
  readonly place: readonly number[]
}

async function tile(collection: string, address: string): Promise<readonly TilePoint[]> {
  const answer = await live.call(`/ogc/collections/${collection}/tiles/${address}.mvt`)
  if (answer.status === 204) return []
  expect(answer.headers['content-type']).toBe('application/vnd.mapbox-vector-tile')
  const layer = new VectorTile(new PbfReader(answer.bytes)).layers['features']
  const [z, x, y] = address.split('/').map(Number)
  return Array.from({ length: layer?.length ?? 0 }, (_, index) => {
    const feature = layer?.feature(index)
    const geometry = feature?.toGeoJSON(x ?? 0, y ?? 0, z ?? 0).geometry
    const place = geometry?.type === 'Point' ? geometry.coordinates.map((number) => Math.round(number)) : [Number.NaN]
    return { id: feature?.id, place }
  })
}

describe('a tile', () => {
  test('holds the points that lie in it, at their places', async () => {
    const found = await tile('acme:points', '0/0/0')
    expect(found.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(Array.from({ length: 59 }, (_, i) => i))
    for (const { id, place } of found) expect(place).toEqual(points[Number(id)]?.geometry?.coordinates)
    expect((await tile('acme:points', '2/0/3')).map(({ id }) => id)).toEqual([])
    const quarter = await tile('acme:points', '1/0/0')
    expect(quarter.every(({ place: [x = 0, y = 0] }) => x <= 3 && y >= -3)).toBe(true)
    expect(quarter.length).toBeGreaterThan(10)
  })

  test('holds areas that cross it', async () => {
    expect(await tile('acme:areas', '3/4/3')).toHaveLength(3)
    expect(await tile('acme:areas', '3/6/3')).toEqual([])
  })

  test.each(['1/2/0', '25/0/0', '0/0/1'])('%s is not there', async (address) => {
    expect((await live.call(`${base}/tiles/${address}.mvt`)).refusal).toBe('404 ObjectNotFound')
  })
})

test('a text that is no geometry is an error that says so', async () => {
  await live.ingest('acme/words', [{ geometry: 'here and there' }], '?create=true')
  expect((await live.call('/ogc/collections/acme:words/items')).refusal).toBe('400 SqlValue')
  expect((await live.call('/ogc/collections/acme:words/items?bbox=0,0,1,1')).refusal).toBe('400 SqlValue')
  const one = await live.call('/ogc/collections/acme:words')
  expect([one.status, one.at('id'), one.at('extent')]).toEqual([200, 'acme:words', undefined])
  const { collections } = (await live.call('/ogc/collections')).json as {
    collections: { id: string; extent?: object }[]
  }
  expect(collections.map(({ id, extent }) => [id, extent === undefined])).toContainEqual(['acme:words', true])
})

test('what may not be read is not there', async () => {
  await live.call('/acme/secret/ingest?create=true&visibility=private', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndgeojson', prefer: 'wait=20' },
    body: JSON.stringify(points[0]),
  })
  expect((await live.call('/ogc/collections/acme:secret', { token: null })).refusal).toBe('404 DatasetNotFound')
  expect((await live.call('/ogc/collections', { token: null })).text).not.toContain('secret')
  expect((await live.call('/ogc/collections/acme:secret')).status).toBe(200)
})
