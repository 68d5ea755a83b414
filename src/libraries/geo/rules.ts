// What GeoJSON asks of a geometry, whatever it is read from: types, positions, lines and rings; and the text of one, whose
// numbers have the fewest digits that read back as the same double. Coordinate systems, as the metadata of files name them:
// only longitude and latitude of WGS 84 are read.
// Sources: RFC 7946 §3.1; https://proj.org/en/stable/specifications/projjson.html; https://geoparquet.org/releases/v1.1.0/ (crs)

import { parseJson, type PlainJson, toPlain } from '../base/json/json.ts'
import { NodeError, decoded } from '../base/errors.ts'

/** Why a geometry cannot be GeoJSON; the message is a sentence. */
export class GeometryFault extends Error {
  override readonly name = 'GeometryFault'
}

export const maxLongitude = 360
export const maxLatitude = 90
/** Degrees by which a coordinate may be out of range, because it was rounded. */
export const toleranceDegrees = 1e-6

/** A type of geometry: its number in WKB, how deep the positions lie in `coordinates`, what a row of them is. */
export interface Shape {
  readonly code: number
  readonly depth: number
  readonly row: 'points' | 'line' | 'ring'
}

/** The types of GeoJSON but for collections. Source of their numbers: OGC 06-103r4 §8.2. */
export const shapes: ReadonlyMap<string, Shape> = new Map([
  ['Point', { code: 1, depth: 0, row: 'points' }],
  ['MultiPoint', { code: 4, depth: 1, row: 'points' }],
  ['LineString', { code: 2, depth: 1, row: 'line' }],
  ['MultiLineString', { code: 5, depth: 2, row: 'line' }],
  ['Polygon', { code: 3, depth: 2, row: 'ring' }],
  ['MultiPolygon', { code: 6, depth: 3, row: 'ring' }],
])
export const collection = 'GeometryCollection'
export const geometryTypes: readonly string[] = [...shapes.keys(), collection]

/** A position as `[x,y]` or `[x,y,z]`. Throws GeometryFault for what is no longitude and latitude. */
export function positionText(x: number, y: number, z: number | undefined): string {
  // Also false for NaN.
  if (!(Math.abs(x) <= maxLongitude + toleranceDegrees)) throw new GeometryFault(beyondText(0, x))
  if (!(Math.abs(y) <= maxLatitude + toleranceDegrees)) throw new GeometryFault(beyondText(1, y))
  if (z === undefined) return `[${numberText(x)},${numberText(y)}]`
  if (!Number.isFinite(z)) throw new GeometryFault(`The height ${z} is not a number of GeoJSON.`)
  return `[${numberText(x)},${numberText(y)},${numberText(z)}]`
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/** What is wrong with a longitude (axis 0) or latitude (1) that is out of range. */
export function beyondText(axis: number, value: number | string): string {
  const [what, most] = axis === 0 ? ['longitude', maxLongitude] : ['latitude', maxLatitude]
  return `The ${what} ${value} is beyond ±${most} degrees; reproject to EPSG:4326 ([longitude, latitude] in degrees).`
}

/** What is wrong with a row of so many positions; undefined where nothing is. */
export function countFault(row: Shape['row'], count: number): string | undefined {
  if (row === 'line' && count === 1) return 'A line has two or more positions.'
  if (row !== 'ring' || count >= 4) return undefined
  return `A ring of a polygon has four or more positions; this one has ${count}.`
}

export const openRing = 'A ring of a polygon ends where it begins; this one does not.'

/** The positions of a row as an array. Throws GeometryFault. */
export function rowText(positions: readonly string[], row: Shape['row']): string {
  const fault = countFault(row, positions.length)
  if (fault !== undefined) throw new GeometryFault(fault)
  if (row === 'ring' && positions[0] !== positions.at(-1)) throw new GeometryFault(openRing)
  return `[${positions.join(',')}]`
}

export function geometryText(type: string, coordinates: string): string {
  return `{"type":"${type}","coordinates":${coordinates}}`
}

const mostMetadataDepth = 64

/** The JSON that the metadata of a file are; undefined where they are none. */
export function metadataJson(text: string): PlainJson | undefined {
  return decoded(() => toPlain(parseJson(text, { maxDepth: mostMetadataDepth })))
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
      'GeoPandas, or set_crs(4326) if only the name is missing.',
  })
}
