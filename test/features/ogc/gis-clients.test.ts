// Clients of OGC API Features that are not ours: the requests that QGIS makes (as its provider has them:
// https://github.com/qgis/QGIS/tree/master/src/providers/wfs/oapif), GDAL, and OWSLib and GeoPandas, where they are installed.

import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'
import { type Link, type Page, places, postPlaces } from '../../helpers/ogc-places.ts'

const live = await liveNode()
await postPlaces(live, 'acme/places')

const run = promisify(execFile)
const root = `${live.node.url}/ogc`

describe('QGIS', () => {
  async function get(url: string, accept: string): Promise<Record<string, unknown>> {
    const answer = await live.call(url.slice(live.node.url.length), { token: null, headers: { accept } })
    expect([url, answer.status]).toEqual([url, 200])
    return Object(answer.json)
  }
  const linkOf = (document: Record<string, unknown>, rel: string, type?: string): string =>
    (document['links'] as Link[]).find((link) => link.rel === rel && (type === undefined || link.type === type))
      ?.href ?? ''

  test('finds the collection, the size of pages and all features', async () => {
    const landing = await get(root, 'application/json')
    const openApi = 'application/vnd.oai.openapi+json;version=3.0'
    const api = await get(
      linkOf(landing, 'service-desc', openApi),
      `${openApi}, application/openapi+json;version=3.0, application/json`,
    )
    const { limit } = Object(Object(api['components']).parameters)
    expect([limit.schema.default, limit.schema.maximum]).toEqual([10, 10_000])

    const collection = `${linkOf(landing, 'data', 'application/json')}/acme:places`
    const { extent } = await get(collection, 'application/json')
    expect(Object(extent).spatial.bbox).toEqual([[-170, -72, 166, 72]])
    const { conformsTo } = await get(linkOf(landing, 'conformance'), 'application/json')
    for (const name of [
      'cql2/1.0/conf/basic-cql2',
      'cql2/1.0/conf/cql2-text',
      'ogcapi-features-3/1.0/conf/features-filter',
    ])
      expect(conformsTo).toContain(`http://www.opengis.net/spec/${name}`)
    const queryables = await get(`${collection}/queryables`, 'application/schema+json')
    expect(Object(queryables['properties']).geometry.$ref).toMatch(/^https:\/\/geojson\.org\/schema\//)

    const geoJson = 'application/geo+json, application/vnd.geo+json, application/json'
    const sample = (await get(`${collection}/items?limit=10`, geoJson)) as unknown as Page
    expect([sample.numberMatched, sample.features.length]).toEqual([25, 10])
    const found: number[] = []
    let next = `${collection}/items?limit=4&bbox=-180,-90,180,90&filter=%22height%22%20%3E%3D%205&filter-lang=cql2-text`
    while (next !== '') {
      const answer = await get(next, geoJson)
      found.push(...(answer as unknown as Page).features.map(({ id }) => id))
      next = linkOf(answer, 'next')
    }
    expect(found).toEqual(places.flatMap(({ properties: { height } }, id) => (height >= 5 ? [id] : [])))
  })
})

const hasGdal = spawnSync('ogr2ogr', ['--version']).status === 0
if (!hasGdal) console.warn('GDAL is not installed: its reading of features is not tested.')

describe.skipIf(!hasGdal)('GDAL', () => {
  async function namesOf(...options: readonly string[]): Promise<unknown[]> {
    const from = [`OAPIF:${root}`, 'acme:places', '-oo', 'PAGE_SIZE=7']
    const { stdout } = await run('ogr2ogr', ['-f', 'GeoJSON', '/vsistdout/', ...from, ...options])
    return (JSON.parse(stdout) as Page).features.map(({ properties }) => properties['storeys'])
  }

  test('says what the layer is', async () => {
    const { stdout } = await run('ogrinfo', ['-ro', '-so', `OAPIF:${root}`, 'acme:places'])
    for (const line of ['Geometry: Point', 'Feature Count: 25', 'name: String', 'height: Real', 'event_time: DateTime'])
      expect(stdout).toContain(line)
    expect(stdout).toContain('Extent: (-170.000000, -72.000000) - (166.000000, 72.000000)')
  })

  test('reads all pages, a box and a condition', async () => {
    expect(await namesOf()).toEqual(places.map(({ properties }) => properties.storeys))
    expect(await namesOf('-spat', '0', '-90', '60', '90')).toEqual(['13', '14', '15', '16'])
    expect(await namesOf('-where', "height > 55 AND name = 'place 23'")).toEqual(['23'])
  })
})

const script = `
import json, sys
import geopandas
from owslib.ogcapi.features import Features
root = sys.argv[1]
node = Features(root)
found = {
  'collections': node.feature_collections(),
  'queryables': list(node.collection_queryables('acme:places')['properties']),
  'box': [f['id'] for f in node.collection_items('acme:places', limit=5, bbox=[0, -90, 60, 90])['features']],
  'named': [f['id'] for f in node.collection_items('acme:places', name='place 3', datetime='2026-03-01/..')['features']],
  'filtered': [f['id'] for f in node.collection_items('acme:places', filter='height > 57')['features']],
  'one': node.collection_item('acme:places', '7')['id'],
  'api': node.api()['openapi'],
}
frame = geopandas.read_file(root + '/collections/acme:places/items?limit=100')
found['frame'] = [len(frame), str(frame.crs), frame.total_bounds.tolist()]
print(json.dumps(found))
`
const hasOwsLib = spawnSync('python3', ['-c', 'import geopandas, owslib.ogcapi.features']).status === 0
if (!hasOwsLib) console.warn('OWSLib or GeoPandas is not installed: their reading of features is not tested.')

test.skipIf(!hasOwsLib)('OWSLib and GeoPandas', async () => {
  const { stdout } = await run('python3', ['-c', script, root])
  expect(JSON.parse(stdout)).toEqual({
    collections: ['acme:places'],
    queryables: ['geometry', 'event_time', 'name', 'height', 'storeys', 'open'],
    box: [13, 14, 15, 16],
    named: [3],
    filtered: [23, 24],
    one: 7,
    api: '3.0.3',
    frame: [25, 'EPSG:4326', [-170, -72, 166, 72]],
  })
})
