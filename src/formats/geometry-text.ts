// Geometries of binary formats as the text of a GeoJSON geometry: positions are judged by RFC 7946 while they are written.
// Numbers have the fewest digits that read back as the same double.

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
