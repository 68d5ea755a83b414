// Each shapefile of test/fixtures/shapefile that has a GeoJSON beside it, feature by feature against that: GDAL made it
// (make.py there). Numbers must be the same doubles; rings may begin at any of their positions. Countries that cross
// longitude 180 GDAL would cut: it has left them, and their winding, as they are.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { featureLines, fixture, fixtures } from './reading.ts'

interface Feature {
  readonly properties: Record<string, unknown>
  readonly geometry: { readonly type: string; readonly coordinates: unknown } | null
}

function expectedOf(name: string): Feature[] {
  const path = `${name}.geojson`
  const text = existsSync(join(fixtures, path)) ? fixture(path) : gunzipSync(fixture(`${path}.gz`))
  return (JSON.parse(text.toString()) as { features: Feature[] }).features
}

type Ring = readonly (readonly number[])[]

/** The ring from its smallest position on. */
function turned(ring: Ring): Ring {
  const open = ring.slice(0, -1)
  const keys = open.map((position) => JSON.stringify(position))
  const first = keys.indexOf(keys.toSorted()[0] ?? '')
  return [...open.slice(first), ...open.slice(0, first), open[first] ?? []]
}

function sorted<T>(values: readonly T[]): T[] {
  return values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

/** Polygons in an order that does not hang on where their rings begin. */
function canonical(geometry: Feature['geometry'], isWound: boolean): unknown {
  const canonicalRing = (ring: Ring): Ring => {
    const same = turned(ring)
    return isWound ? same : (sorted([same, turned(ring.toReversed())])[0] ?? same)
  }
  const rings = (polygon: readonly Ring[]): Ring[] => {
    const [outer = [], ...holes] = polygon.map(canonicalRing)
    return [outer, ...sorted(holes)]
  }
  if (geometry?.type === 'Polygon') return { ...geometry, coordinates: rings(geometry.coordinates as Ring[]) }
  if (geometry?.type !== 'MultiPolygon') return geometry
  return { ...geometry, coordinates: sorted((geometry.coordinates as Ring[][]).map(rings)) }
}

/** GDAL 3.6 has logicals as letters. */
function property(value: unknown): unknown {
  return typeof value === 'boolean' ? (value ? 'T' : 'F') : value
}

const cases = readdirSync(fixtures)
  .filter((name) => name.endsWith('.zip'))
  .map((name) => name.slice(0, -4))
  .filter((name) => existsSync(join(fixtures, `${name}.geojson`)) || existsSync(join(fixtures, `${name}.geojson.gz`)))

describe.each(cases)('%s', (name) => {
  test('is what GDAL reads', async () => {
    const options = name === 'public-latin1' ? { charset: 'ISO-8859-1' } : {}
    const features = (await featureLines(fixture(`${name}.zip`), options)).map((line) => JSON.parse(line) as Feature)
    const expected = expectedOf(name)
    expect(features.length).toBe(expected.length)
    for (const [i, { properties, geometry }] of features.entries()) {
      const own = Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, property(value)]))
      expect(own).toEqual(expected[i]?.properties)
      const isWound = name !== 'public-countries'
      expect(canonical(geometry, isWound)).toEqual(canonical(expected[i]?.geometry ?? null, isWound))
    }
  })
})

test('there are cases', () => expect(cases.length).toBeGreaterThan(25))
