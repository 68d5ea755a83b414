// Geometries of binary formats as the text of a GeoJSON geometry: positions are judged by RFC 7946 while they are written, and
// numbers have the fewest digits that read back as the same double. Coordinate systems, as the metadata of files name them:
// only longitude and latitude of WGS 84 are read.
// Sources: https://proj.org/en/stable/specifications/projjson.html; https://geoparquet.org/releases/v1.1.0/ (crs)

import type { PlainJson } from '../json/json.ts'
import { NodeError } from '../model/errors.ts'
/** Why a geometry cannot be GeoJSON; the message is a sentence. */
export class GeometryFault extends Error {
  override readonly name = 'GeometryFault'
}

const maxLongitude = 360
const maxLatitude = 90
/** Degrees by which a coordinate may be out of range, because it was rounded. */
const toleranceDegrees = 1e-6

/** Geometry types of GeoJSON by their numbers in WKB; 0 is none. Source: OGC 06-103r4 §8.2. */
export const geometryTypes = [
  '',
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
] as const

/** A position as `[x,y]` or `[x,y,z]`. Throws GeometryFault for what is no longitude and latitude. */
export function positionText(x: number, y: number, z: number | undefined): string {
  // Also false for NaN.
  if (!(Math.abs(x) <= maxLongitude + toleranceDegrees)) throw beyond('longitude', x, maxLongitude)
  if (!(Math.abs(y) <= maxLatitude + toleranceDegrees)) throw beyond('latitude', y, maxLatitude)
  if (z === undefined) return `[${numberText(x)},${numberText(y)}]`
  if (!Number.isFinite(z)) throw new GeometryFault(`The height ${z} is no number of GeoJSON.`)
  return `[${numberText(x)},${numberText(y)},${numberText(z)}]`
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

function beyond(what: string, value: number, most: number): GeometryFault {
  return new GeometryFault(
    `The ${what} ${value} is beyond ±${most} degrees; reproject to EPSG:4326 ([longitude, latitude] in degrees).`,
  )
}

/** The positions of a line or a ring, as an array. Throws GeometryFault. */
export function rowText(positions: readonly string[], isRing: boolean): string {
  const { length } = positions
  if (!isRing && length === 1) throw new GeometryFault('A line has two or more positions.')
  if (isRing) {
    if (length < 4) throw new GeometryFault(`A ring of a polygon has four or more positions; this one has ${length}.`)
    if (positions[0] !== positions[length - 1]) {
      throw new GeometryFault('A ring of a polygon ends where it begins; this one does not.')
    }
  }
  return `[${positions.join(',')}]`
}

export function geometryText(type: string, coordinates: string): string {
  return `{"type":"${type}","coordinates":${coordinates}}`
}

export function isMembers(value: PlainJson | undefined): value is { [name: string]: PlainJson } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function scalarText(value: PlainJson | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** What a coordinate system is called; `undefined` where it has no name that is known here. */
export type Crs = { readonly id: string | undefined; readonly shown: string }

/** Of PROJJSON, or of the WKT of old files. */
export function projJson(crs: PlainJson | undefined): Crs {
  if (crs === null || crs === undefined) return { id: undefined, shown: 'an unknown coordinate system (null)' }
  if (typeof crs === 'string') return { id: crs.endsWith('ID["EPSG",4326]]') ? 'EPSG:4326' : undefined, shown: crs }
  if (!isMembers(crs)) return { id: undefined, shown: 'a coordinate system without a name' }
  const id: PlainJson | undefined = crs['id']
  const name = typeof crs['name'] === 'string' ? crs['name'] : 'a coordinate system without a name'
  if (!isMembers(id)) return { id: undefined, shown: name }
  const code = `${scalarText(id['authority'])}:${scalarText(id['code'])}`
  return { id: code, shown: `${name} (${code})` }
}

export function requireWgs84(column: string, { id, shown }: Crs): void {
  if (id !== undefined && /^(?:OGC:CRS84|EPSG:4326)$/i.test(id)) return
  const message =
    `The geometries of column ${JSON.stringify(column)} are in ${shown.slice(0, 100)}; only OGC:CRS84 and EPSG:4326 are read. ` +
    'Nothing was stored.'
  throw new NodeError('UnsupportedCrs', message, {
    hint:
      'Reproject to EPSG:4326 before sending: ogr2ogr -t_srs EPSG:4326 wgs84.parquet file.parquet, or to_crs(4326) in ' +
      'GeoPandas; where only the name is missing: set_crs(4326).',
  })
}
