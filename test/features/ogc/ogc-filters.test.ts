// Filters of OGC API Features: by properties as parameters and in CQL2 text (OGC 19-079r2, OGC 21-065r2), against the same
// conditions over the features that were sent.

import { describe, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'
import { type Page, places, postPlaces } from '../../helpers/ogc-places.ts'

const live = await liveNode()
await postPlaces(live, 'acme/places')

const crs84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const items = '/ogc/collections/acme:places/items'

async function page(query: string): Promise<Page> {
  const answer = await live.call(`${items}${query}`)
  expect([query, answer.status]).toEqual([query, 200])
  return answer.json as Page // the tests look at what they assert
}

describe('requirements of Part 3', () => {
  test.each([
    ['name=place 3', [3]],
    ['NAME=place 3', [3]],
    ['height=5', [2]],
    ['height=5.0e0', [2]],
    ['open=false&limit=2', [1, 3]],
    ['storeys=07', []],
    ['event_time=2026-03-09T13:00:00%2B01:00', [8]],
    ['open=true&height=5&bbox=-180,-90,180,90', [2]],
    ['name=place 3&filter=height < 7', []],
  ])('queryables-query-parameters: %s', async (query, expected) => {
    expect((await page(`?${query.replaceAll(' ', '%20')}`)).features.map(({ id }) => id)).toEqual(expected)
  })

  test.each(['filter-lang=cql2-text', `filter-crs=${crs84}`])('filter: %s is taken', async (query) => {
    expect((await page(`?filter=height%3D5&${query}`)).features.map(({ id }) => id)).toEqual([2])
  })

  test.each([
    'filter-lang=cql2-json&filter=%7B%7D',
    'filter-crs=http://www.opengis.net/def/crs/EPSG/0/4326&filter=height=1',
    'filter=altitude=1',
    'filter=height',
    'filter=height=',
    "filter=name='a' OR",
    "filter=open='yes' AND (",
    "filter=event_time > TIMESTAMP('yesterday')",
    "filter=event_time > TIMESTAMP('2026-02-30T00:00:00Z')",
    "filter=event_time > DATE('2026-13-01')",
    'filter=S_INTERSECTS(geometry,geometry)',
    'filter=S_INTERSECTS(name,POINT(1 2))',
    'filter=S_INTERSECTS(geometry,BBOX(1,2,3))',
    'filter=now() > event_time',
  ])('filter: %s is 400', async (query) => {
    expect((await live.call(`${items}?${query.replaceAll(' ', '%20')}`)).refusal).toBe('400 InvalidParameter')
  })
})

describe('CQL2 text', () => {
  const all = places.map((place, id) => ({ ...place.properties, id, x: id * 14 - 170, y: id * 6 - 72 }))
  type Row = (typeof all)[number]
  const rows: readonly (readonly [string, (row: Row) => boolean])[] = [
    ['height = 5', ({ height }) => height === 5],
    ['5 = height', ({ height }) => height === 5],
    ['height <> 5', ({ height }) => height !== 5],
    ['height > 2.5e1', ({ height }) => height > 25],
    ['height >= +25 AND NOT height > 50', ({ height }) => height >= 25 && height <= 50],
    ["storeys < '2'", ({ storeys }) => storeys < '2'],
    ["name = 'place 3' or height = 5", ({ id }) => id === 3 || id === 2],
    ["not (name = 'place 3')", ({ name, id }) => name !== null && id !== 3],
    ['name is null', ({ name }) => name === null],
    ['name IS NOT NULL and open = true', ({ name, open }) => name !== null && open],
    ['open', ({ open }) => open],
    ['NOT open', ({ open }) => !open],
    ['open = false', ({ open }) => !open],
    ['true', () => true],
    ['false OR height = 5', ({ height }) => height === 5],
    ['"height" = 5', ({ height }) => height === 5],
    ['HEIGHT = 5', ({ height }) => height === 5],
    ["name LIKE 'place 1%'", ({ name }) => name?.startsWith('place 1') === true],
    ["name NOT LIKE 'place _'", ({ name }) => name !== null && name.length !== 7],
    ['height BETWEEN 5 AND 10', ({ height }) => height >= 5 && height <= 10],
    ['height NOT BETWEEN 5 AND 55', ({ height }) => height < 5 || height > 55],
    ["storeys IN ('1', '7', '99')", ({ id }) => id === 1 || id === 7],
    ["storeys NOT IN ('1', '7')", ({ id }) => id !== 1 && id !== 7],
    ["event_time > TIMESTAMP('2026-03-20T12:00:00Z')", ({ id }) => id > 19],
    ["event_time < DATE('2026-03-04')", ({ id }) => id < 3],
    ['S_INTERSECTS(geometry,BBOX(0,-90,60,90))', ({ x }) => x >= 0 && x <= 60],
    ['s_intersects(BBOX(0,-90,60,90),geometry)', ({ x }) => x >= 0 && x <= 60],
    ['S_INTERSECTS(geometry,POINT(-170 -72))', ({ id }) => id === 0],
    ['NOT S_INTERSECTS(geometry,BBOX(-180,-90,160,90)) OR height = 0', ({ id, x }) => x > 160 || id === 0],
    ["name = 'it''s' OR name = 'it\\'s' OR name = 'a\\b' OR storeys = '1'", ({ id }) => id === 1],
  ]
  test.each(rows)('%s', async (filter, holds) => {
    const { features } = await page(`?limit=100&filter=${encodeURIComponent(filter)}`)
    expect(features.map(({ id }) => id)).toEqual(all.filter(holds).map(({ id }) => id))
  })
})
