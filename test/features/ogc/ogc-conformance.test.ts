// The abstract tests of OGC API Features, Part 1 (OGC 17-069r4, Annex A), each with its number there; and what Part 3 (OGC
// 19-079r2) asks of queryables. What is right is worked out here from the features that were sent.

import { describe, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'
import { type Feature, type Link, type Page, places, postPlaces } from '../../helpers/ogc-places.ts'

const live = await liveNode()

interface Collection {
  readonly id: string
  readonly title: string
  readonly description?: string
  readonly itemType: string
  readonly crs: readonly string[]
  readonly extent?: {
    readonly spatial: { readonly bbox: readonly (readonly number[])[]; readonly crs: string }
    readonly temporal: { readonly interval: readonly (readonly string[])[] }
  }
  readonly links: readonly Link[]
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly style: string
  readonly explode: boolean
  readonly schema: Readonly<Record<string, unknown>>
}

const crs84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const media = { json: 'application/json', geoJson: 'application/geo+json', html: 'text/html' }

await postPlaces(live, 'acme/places')
await postPlaces(live, 'acme/more')

const items = '/ogc/collections/acme:places/items'

/** The path of a link of this node. */
function pathOf(href: string): string {
  expect(href.startsWith(live.node.url)).toBe(true)
  return href.slice(live.node.url.length)
}

async function got<T>(path: string, type: string, accept?: string): Promise<T> {
  const answer = await live.call(path, accept === undefined ? {} : { headers: { accept } })
  expect([path, answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([path, 200, type])
  return answer.json as T // the tests look at what they assert
}

const page = (query = ''): Promise<Page> => got<Page>(`${items}${query}`, media.geoJson)
const landing = await got<{ links: Link[] }>('/ogc', media.json)
const { collections, links: listLinks } = await got<{ collections: Collection[]; links: Link[] }>(
  '/ogc/collections',
  media.json,
)

interface Description {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<
    Record<string, { get: { parameters: { $ref: string }[]; responses: Record<string, { content: object }> } }>
  >
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
}

const description = await got<Description>(
  pathOf(landing.links.find(({ rel }) => rel === 'service-desc')?.href ?? ''),
  'application/vnd.oai.openapi+json',
)
const itemsOperation = description.paths['/collections/{collectionId}/items']?.get
const parameters = (itemsOperation?.parameters ?? []).map(
  ({ $ref }) => description.components.parameters[$ref.replace('#/components/parameters/', '')],
)
const parameter = (name: string): Parameter | undefined => parameters.find((one) => one?.name === name)

/** Links to itself and to the other form, each with rel and type, and each answered as it says. */
async function expectForms(links: readonly Link[], type: string): Promise<void> {
  for (const link of links) expect(link).toMatchObject({ rel: expect.any(String), type: expect.any(String) })
  const one = (rel: string): Link | undefined => links.find((link) => link.rel === rel)
  expect([one('self')?.type, one('alternate')?.type]).toEqual([type, media.html])
  await got(pathOf(one('self')?.href ?? ''), type)
  await got(pathOf(one('alternate')?.href ?? ''), media.html)
}

describe('Part 1, core', () => {
  test('1 http: HTTP 1.1, HEAD, 404 and 405 as RFC 9110 has them', async () => {
    expect(await live.raw('GET /ogc HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 (200|401)/,
    )
    expect((await live.call('/ogc', { method: 'HEAD' })).status).toBe(200)
    expect((await live.call('/ogc/nothing')).refusal).toBe('404 RouteNotFound')
    for (const method of ['DELETE', 'QUERY'])
      expect((await live.call('/ogc/collections', { method })).refusal).toBe('405 MethodNotAllowed')
  })

  test('2 crs84: places are longitude and latitude, as they came', async () => {
    const { features } = await page('?limit=100')
    expect(features.map(({ geometry }) => geometry)).toEqual(places.map(({ geometry }) => geometry))
  })

  test.each(['/ogc', '/ogc/'])('3 root-op: %s', async (path) => {
    expect(await got(path, media.json)).toMatchObject({ title: expect.any(String), links: expect.any(Array) })
  })

  test('4 root-success: links to description, conformance and collections', async () => {
    const rels = landing.links.map(({ rel }) => rel)
    expect(rels).toEqual(expect.arrayContaining(['service-desc', 'service-doc', 'conformance', 'data']))
    await expectForms(landing.links, media.json)
  })

  test('5 api-definition-op: each link to a description is answered', async () => {
    for (const { rel, href, type } of landing.links) {
      if (rel === 'service-desc' || rel === 'service-doc') await got(pathOf(href), type.split(';')[0] ?? '')
    }
  })

  test('5 api-definition-op: the description has one form', async () => {
    expect((await live.call('/ogc/api?f=html')).refusal).toBe('400 InvalidParameter')
  })

  test('6 api-definition-success: OpenAPI 3.0 that names the routes under its server', () => {
    expect(description.openapi).toMatch(/^3\.0\.\d$/)
    expect(description.servers).toEqual([{ url: `${live.node.url}/ogc` }])
    expect(Object.keys(description.paths)).toEqual(
      expect.arrayContaining(['/', '/conformance', '/collections', '/collections/{collectionId}/items/{featureId}']),
    )
  })

  test('7, 8 conformance: the classes that are held here', async () => {
    const { conformsTo } = await got<{ conformsTo: string[] }>('/ogc/conformance', media.json)
    expect(conformsTo).toEqual(
      expect.arrayContaining(
        ['core', 'oas30', 'geojson', 'html'].map(
          (name) => `http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/${name}`,
        ),
      ),
    )
  })

  test('9, 10 fc-md: the list of collections', async () => {
    await expectForms(listLinks, media.json)
    expect(collections.map(({ id }) => id)).toEqual(['acme:more', 'acme:places'])
    for (const { links, crs, itemType } of collections) {
      expect([crs[0], itemType]).toEqual([crs84, 'feature'])
      const types = links.filter(({ rel }) => rel === 'items').map(({ type }) => type)
      expect(types).toEqual([media.geoJson, media.html])
      for (const { href, rel, type } of links) if (rel === 'items') await got(pathOf(href), type)
    }
  })

  test('10 fc-md-extent: the box and the times of all features', () => {
    const spatial = { bbox: [[-170, -72, 166, 72]], crs: crs84 }
    const temporal = { interval: [['2026-03-01T12:00:00Z', '2026-03-25T12:00:00Z']], trs: expect.any(String) }
    for (const { extent } of collections) expect(extent).toEqual({ spatial, temporal })
  })

  test('11, 12 sfc-md: a collection says what the list says', async () => {
    for (const listed of collections) {
      const one = await got<Collection>(`/ogc/collections/${listed.id}`, media.json)
      expect(one).toEqual(listed)
      await expectForms(one.links, media.json)
    }
  })

  test('13 fc-op: features of each collection', async () => {
    for (const { id } of collections) await got(`/ogc/collections/${id}/items`, media.geoJson, media.geoJson)
  })

  test('14 fc-bbox-definition', () => {
    expect(parameter('bbox')).toMatchObject({ in: 'query', required: false, style: 'form', explode: false })
    expect(parameter('bbox')?.schema).toMatchObject({
      type: 'array',
      minItems: 4,
      maxItems: 6,
      items: { type: 'number' },
    })
  })

  test.each([
    [-180, -90, 180, 90],
    [-170, -72, -170, -72],
    [0, 0, 50, 90],
    [150, -90, -150, 90],
    [-1, -1, 1, 1],
  ])('15 fc-bbox-response: %d,%d,%d,%d', async (west, south, east, north) => {
    const expected = places.flatMap(({ geometry: { coordinates } }, i) => {
      const [x = 0, y = 0] = coordinates
      const isBetween = west <= east ? x >= west && x <= east : x >= west || x <= east
      return isBetween && y >= south && y <= north ? [i] : []
    })
    for (const query of [
      `bbox=${west},${south},${east},${north}`,
      `bbox=${west},${south},0,${east},${north},9&bbox-crs=${crs84}`,
    ])
      expect((await page(`?limit=100&${query}`)).features.map(({ id }) => id)).toEqual(expected)
  })

  test('16 fc-limit-definition', () => {
    expect(parameter('limit')).toMatchObject({ in: 'query', required: false, style: 'form', explode: false })
    expect(parameter('limit')?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 10_000, default: 10 })
  })

  test.each([1, 24, 25, 26, 10_000, 99_999])('17 fc-limit-response: %d', async (limit) => {
    const { features, links } = await page(`?limit=${limit}`)
    expect(features).toHaveLength(Math.min(limit, places.length))
    expect(links.some(({ rel }) => rel === 'next')).toBe(limit < places.length)
  })

  test('18 fc-time-definition', () => {
    expect(parameter('datetime')).toMatchObject({ in: 'query', required: false, style: 'form', explode: false })
    expect(parameter('datetime')?.schema).toEqual({ type: 'string' })
  })

  test.each([
    ['2026-03-03T12:00:00Z', '2026-03-03T12:00:00Z', '2026-03-03T12:00:00Z'],
    ['2026-03-03T13:00:00%2B01:00', '2026-03-03T12:00:00Z', '2026-03-03T12:00:00Z'],
    ['2026-03-03t12:00:00z', '2026-03-03T12:00:00Z', '2026-03-03T12:00:00Z'],
    ['2026-03-05', '2026-03-05T00:00:00Z', '2026-03-05T23:59:59Z'],
    ['2026-03-05/2026-03-06', '2026-03-05T00:00:00Z', '2026-03-06T23:59:59Z'],
    ['../2026-03-03T00:00:00Z', '0000', '2026-03-03T00:00:00Z'],
    ['/2026-03-03T12:00:00Z', '0000', '2026-03-03T12:00:00Z'],
    ['2026-03-23T12:00:00Z/..', '2026-03-23T12:00:00Z', '9'],
    ['2026-03-23T12:00:00.5Z/', '2026-03-23T12:00:01Z', '9'],
    ['../..', '0000', '9'],
  ])('19 fc-time-response: %s', async (datetime, from, to) => {
    const expected = places.flatMap(({ properties: { event_time: time } }, i) =>
      time >= from && time <= to ? [i] : [],
    )
    expect((await page(`?limit=100&datetime=${datetime}`)).features.map(({ id }) => id)).toEqual(expected)
  })

  test.each([
    'limit=unlimited',
    'limit=-1',
    'limit=1&limit=2',
    'bbox=1,2,3',
    'bbox=0,0,0,1,1',
    'bbox-crs=http://www.opengis.net/def/crs/EPSG/0/4326',
    'crs=EPSG:4326',
    'datetime=2026-02-30',
    'datetime=..',
    'datetime=2026-01-01/2026-01-02/2026-01-03',
    'f=xml',
    'height=tall',
    'open=yes',
  ])('20 query-param-invalid: %s', async (query) => {
    expect((await live.call(`${items}?${query}`)).refusal).toBe('400 InvalidParameter')
  })

  test.each([
    '/ogc',
    '/ogc/',
    '/ogc/conformance',
    '/ogc/api',
    '/ogc/collections',
    '/ogc/collections/acme:places',
    '/ogc/collections/acme:places/queryables',
    items,
    `${items}/1`,
  ])('21 query-param-unknown: %s', async (path) => {
    expect((await live.call(`${path}?unknownQueryParameter12345=1`)).refusal).toBe('400 InvalidParameter')
  })

  test('22 to 26 fc-response: type, features, links, counts; no time but when it is told', async () => {
    const answer = await page('?limit=7')
    expect(answer).toMatchObject({ type: 'FeatureCollection', numberMatched: 25, numberReturned: 7 })
    expect(answer.features).toHaveLength(7)
    expect(answer.timeStamp).toBeUndefined()
    await expectForms(answer.links, media.geoJson)
    const next = await got<Page>(pathOf(answer.links.find(({ rel }) => rel === 'next')?.href ?? ''), media.geoJson)
    expect(next.features[0]?.id).toBe(7)
  })

  test('27, 28, 29 f: a feature by its id, with links to itself, its page and its collection', async () => {
    const { features } = await page('?limit=3&offset=11')
    for (const listed of features) {
      const { links = [], ...one } = await got<Feature>(`${items}/${listed.id}`, media.geoJson)
      expect(one).toEqual(listed)
      await expectForms(links, media.geoJson)
      expect(links.find(({ rel }) => rel === 'collection')?.href).toBe(`${live.node.url}/ogc/collections/acme:places`)
    }
  })
})

describe('Part 1, other classes', () => {
  test('geojson: a client that asks for GeoJSON gets it', async () => {
    await got(items, media.geoJson, `${media.geoJson}, application/vnd.geo+json, ${media.json};q=0.9`)
  })

  test('html: a browser that navigates gets pages with what the JSON says, in the frame of the console', async () => {
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const [path, said] of [
      ['/ogc', 'Proofstream'],
      ['/ogc/conformance', 'conf/html'],
      ['/ogc/collections', 'acme/places'],
      ['/ogc/collections/acme:places', '-170, -72, 166, 72'],
      ['/ogc/collections/acme:places/queryables', 'storeys'],
      [items, 'place 3'],
      [`${items}/3`, 'place 3'],
    ] as const) {
      const answer = await live.call(path, { headers: { accept: browser } })
      expect([path, answer.headers['content-type'], answer.headers.vary]).toEqual([
        path,
        'text/html; charset=utf-8',
        expect.stringContaining('Accept'),
      ])
      expect(answer.headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'; /,
      )
      expect(answer.text).toContain(said)
      expect(answer.text).not.toMatch(/<script(?! type="module" src="\/assets\/)|javascript:/i)
    }
    await got(items, media.geoJson, 'application/json, text/html;q=0.5')
    await got(`${items}?f=json`, media.geoJson, browser)
  })

  test('html: what came in is text in a page, whatever it looks like', async () => {
    const evil = `</td><script>alert(1)</script><a href="x" onclick='y'>&amp;`
    await live.ingest(
      'acme/evil',
      [{ name: evil, [`<b>${'"'}`]: evil, geometry: '{"type":"Point","coordinates":[1,2]}' }],
      '?create=true',
    )
    for (const path of ['', '/queryables', '/items', '/items/0']) {
      const { text, status } = await live.call(`/ogc/collections/acme:evil${path}?f=html`)
      expect([path, status]).toEqual([path, 200])
      expect(text).not.toMatch(/<script(?! type="module" src="\/assets\/)|<b>|<a href="x"|onclick='/)
      const shown =
        '&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;a href=&quot;x&quot; onclick=&#39;y&#39;&gt;&amp;amp;'
      expect(text.includes(shown)).toBe(path.startsWith('/items'))
    }
  })

  test('a list of collections is walked in pages', async () => {
    const seen: string[] = []
    let next: string | undefined = '/ogc/collections?limit=1'
    while (next !== undefined) {
      const answer: { collections: Collection[]; links: Link[] } = await got(next, media.json)
      seen.push(...answer.collections.map(({ id }) => id))
      const href = answer.links.find(({ rel }) => rel === 'next')?.href
      next = href === undefined ? undefined : pathOf(href)
    }
    expect(seen).toEqual(['acme:evil', 'acme:more', 'acme:places'])
    expect((await live.call('/ogc/collections?limit=0')).refusal).toBe('400 InvalidParameter')
  })

  test('links stand in a header, too, unless they are long', async () => {
    const answer = await live.call(`${items}?limit=3`)
    for (const { href, rel, type } of answer.at('links') as Link[])
      expect(answer.headers['link']).toContain(`<${href}>; rel="${rel}"; type="${type}"`)
    const long = await live.call(`${items}?filter=${encodeURIComponent(`name = '${'é'.repeat(900)}'`)}`)
    expect([long.status, long.headers['link']]).toEqual([200, undefined])
  })
})

describe('Part 3', () => {
  test('queryables: a JSON Schema of the properties, linked from the collection', async () => {
    const link = collections[1]?.links.find(({ rel }) => rel === 'http://www.opengis.net/def/rel/ogc/1.0/queryables')
    const schema = await got<Record<string, unknown>>(pathOf(link?.href ?? ''), 'application/schema+json')
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: link?.href,
      type: 'object',
    })
    expect(schema['properties']).toMatchObject({
      geometry: { format: 'geometry-any', 'x-ogc-role': 'primary-geometry' },
      name: { type: 'string' },
      height: { type: 'number' },
      open: { type: 'boolean' },
      event_time: { type: 'string', format: 'date-time' },
    })
  })
})
