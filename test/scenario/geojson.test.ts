// Maps that others made, through a real node: earthquakes, countries, states. The oracle for every value is JSON.parse
// of the file that was sent.

import { describe, expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { type Answer, liveNode } from '../helpers/live-node.ts'
import { demoFile, sample } from '../helpers/samples.ts'

interface Feature {
  readonly type: 'Feature'
  readonly id?: string | number
  readonly geometry: { readonly type: string; readonly coordinates: unknown } | null
  readonly properties: Readonly<Record<string, unknown>> | null
}

interface Collection {
  readonly type: 'FeatureCollection'
  readonly features: readonly Feature[]
}

const geoJson = { 'content-type': 'application/geo+json' }
const ndGeoJson = { 'content-type': 'application/x-ndgeojson' }

const live = await liveNode()

const calls = datasetCalls(() => live)
const { columnsOf } = calls
const post = (alias: string, body: string, headers: Record<string, string>, query = '?create=true'): Promise<Answer> =>
  calls.post(alias, body, headers, query)

async function rowsOf(alias: string, columns: string): Promise<unknown[][]> {
  const answer = await live.query(`select ${columns} from "${alias}" order by offset`, { limit: 10_000 })
  const rows = answer.at('output.data')
  if (!Array.isArray(rows)) throw new TypeError('no rows')
  return rows
}

const countries: Collection = JSON.parse(sample('countries.geojson').toString())
const states: Collection = JSON.parse(sample('states.geojson').toString())

describe('earthquakes', () => {
  const text = demoFile('earthquakes.geojson').toString()
  const quakes: Collection = JSON.parse(text)

  test('become rows with their properties, geometry and id', async () => {
    const answer = await post('geo/quakes', text, geoJson)
    expect(answer.status).toBe(200)
    expect(answer.at('records.committed')).toBe(quakes.features.length)
    expect(answer.at('mediaType')).toBe('application/geo+json')
    const columns = await columnsOf('geo/quakes')
    expect(columns.slice(0, 3)).toEqual(['mag: Float64?', 'magType: String?', 'place: String?'])
    expect(columns.slice(-2)).toEqual(['geometry: String?', 'feature_id: String?'])
    const rows = await rowsOf('geo/quakes', 'mag, place, net, url, geometry, feature_id')
    expect(rows.map((row) => row.map((value, i) => (i === 4 ? JSON.parse(String(value)) : value)))).toEqual(
      quakes.features.map(({ properties, geometry, id }) => [
        properties?.['mag'],
        properties?.['place'],
        properties?.['net'],
        properties?.['url'],
        geometry,
        id,
      ]),
    )
  })

  test('say the same one a line, with separators, in another order of members', async () => {
    const lines = quakes.features.map(({ type, properties, geometry, id }) =>
      JSON.stringify({ id, geometry, properties, type }),
    )
    const answer = await post('geo/quakes', lines.map((line) => `\u001e${line}\n`).join(''), ndGeoJson, '')
    expect(answer.status).toBe(200)
    const [first] = await rowsOf('geo/quakes', 'count(*) over () as n, mag')
    expect(first?.[0]).toBe(2 * quakes.features.length)
    const twice = await live.query(
      'select count(*) from (select feature_id, geometry, mag, place from "geo/quakes" group by all having count(*) = 2)',
    )
    expect(twice.at('output.data')).toEqual([[quakes.features.length]])
  })

  test('are refused whole when one of them is in metres, with what to do', async () => {
    const moved = quakes.features.map((each, i) =>
      i === 700 ? { ...each, geometry: { type: 'Point', coordinates: [-13210000.5, 4090000.25] } } : each,
    )
    const answer = await post('geo/quakes', JSON.stringify({ type: 'FeatureCollection', features: moved }), geoJson, '')
    expect(answer.status).toBe(422)
    expect(answer.at('error.kind')).toBe('RecordsDoNotFit')
    expect(answer.text).toContain('EPSG:4326')
    expect(answer.at('errors')).toMatchObject([
      { record: 700, kind: 'InvalidGeometry', pointer: '/geometry/coordinates/0', excerpt: '-13210000.5' },
    ])
    const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::3857' } }
    const named = await post(
      'geo/quakes',
      JSON.stringify({ features: moved, crs, type: 'FeatureCollection' }),
      geoJson,
      '',
    )
    expect(named.status).toBe(422)
    expect(named.at('error.kind')).toBe('UnsupportedCrs')
  })

  test('follow the rules of unknown fields where the dataset has no column for an id', async () => {
    const [first] = quakes.features
    const plain = JSON.stringify({ type: 'Feature', geometry: first?.geometry, properties: { mag: 1.5 } })
    const withId = JSON.stringify({ type: 'Feature', id: 'q1', geometry: null, properties: { mag: 2.5 }, note: 'x' })
    expect((await post('geo/plain', plain, geoJson)).status).toBe(200)
    const refused = await post('geo/plain', withId, geoJson, '')
    expect(refused.at('errors')).toMatchObject([
      { kind: 'UnknownField', pointer: '/id' },
      { kind: 'UnknownField', pointer: '/note' },
    ])
    expect((await post('geo/plain', withId, geoJson, '?unknownFields=ignore')).status).toBe(200)
    expect((await post('geo/plain', withId, geoJson, '?unknownFields=add')).status).toBe(200)
    expect(await columnsOf('geo/plain')).toEqual([
      'geometry: String?',
      'mag: Float64?',
      'feature_id: String?',
      'feature_extra: String?',
    ])
    expect(await rowsOf('geo/plain', 'mag, feature_id, feature_extra')).toEqual([
      [1.5, null, null],
      [2.5, null, null],
      [2.5, 'q1', '{"note":"x"}'],
    ])
  })
})

describe('polygons', () => {
  test.each([
    ['geo/countries', countries],
    ['geo/states', states],
  ])('%s come back as they were sent', async (alias, collection) => {
    const answer = await post(alias, JSON.stringify(collection), geoJson)
    expect(answer.status).toBe(200)
    const rows = await rowsOf(alias, 'feature_id, name, geometry')
    expect(rows).toEqual(
      collection.features.map(({ id, properties, geometry }) => [
        id ?? null,
        properties?.['name'],
        geometry === null ? null : JSON.stringify(geometry),
      ]),
    )
  })

  test('may reach beyond ±180 and ±90 by rounding', async () => {
    const there = ['Fiji', 'Russia']
    const pole = [
      [-180, -90],
      [180, -90],
      [180, -80],
      [-180, -80],
      [-180, -90],
    ]
    const capOfIce = {
      type: 'Feature',
      properties: { name: 'ice' },
      geometry: { type: 'Polygon', coordinates: [pole] },
    }
    const features = countries.features.filter(({ properties }) => there.includes(`${properties?.['name']}`))
    // Edges of the world as they are after a way through radians and back.
    const text = JSON.stringify({ type: 'FeatureCollection', features: [capOfIce, ...features] })
      .replaceAll(/\[(-?180),/g, '[$1.00000000000003,')
      .replaceAll(/,-90\]/g, ',-90.00000000000003]')
    for (const edge of ['[180.00000000000003', '[-180.00000000000003', '-90.00000000000003'])
      expect(text).toContain(edge)
    const answer = await post('geo/edges', text, geoJson)
    expect(answer.status).toBe(200)
    expect(await rowsOf('geo/edges', 'geometry')).toEqual(
      (JSON.parse(text) as Collection).features.map(({ geometry }) => [JSON.stringify(geometry)]), // sent just now
    )
  })

  test('are proven and verified', async () => {
    const proof = await live.query('select feature_id, geometry from "geo/countries" order by feature_id limit 3', {
      include: ['Proof'],
    })
    expect(proof.status).toBe(200)
    const verified = await live.call('/verify', { method: 'POST', json: proof.json })
    expect(verified.at('ok')).toBe(true)
  })
})
