// The native encodings of GeoParquet: lists of positions, which are structs of x, y and z. Source:
// https://geoparquet.org/releases/v1.1.0/ ("Native encodings"), https://geoarrow.org/format.html

import { must } from '../../lib/assert.ts'
import { GeometryFault, geometryText, positionText, rowText } from '../geometry-text.ts'
import type { Printer } from './assembler.ts'

/** A type of geometry: its name in GeoJSON, and how many levels of arrays are above its lines or rings. */
interface Native {
  readonly type: string
  readonly levels: number
  readonly row: 'points' | 'line' | 'ring'
}

const natives: ReadonlyMap<string, Native> = new Map([
  ['point', { type: 'Point', levels: 0, row: 'points' }],
  ['multipoint', { type: 'MultiPoint', levels: 0, row: 'points' }],
  ['linestring', { type: 'LineString', levels: 0, row: 'line' }],
  ['multilinestring', { type: 'MultiLineString', levels: 1, row: 'line' }],
  ['polygon', { type: 'Polygon', levels: 1, row: 'ring' }],
  ['multipolygon', { type: 'MultiPolygon', levels: 2, row: 'ring' }],
])

/** Prints geometries of a native encoding; undefined for one that is not known. */
export function nativePrinter(encoding: string): Printer | undefined {
  const native = natives.get(encoding)
  if (native === undefined) return undefined
  return {
    struct: positionOf,
    leaf: ({ type, values }) => {
      const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
      if (type.kind !== 'Float64') throw new GeometryFault(`Positions are doubles, not ${type.kind}.`)
      return (row) => {
        const value = view.getFloat64(8 * row, true)
        return Object.is(value, -0) ? '-0' : String(value)
      }
    },
    row: (text) => {
      if (text.includes('null')) return nullOf(text)
      if (native.row !== 'points') checkRows(JSON.parse(text), native.levels, native.row === 'ring')
      return geometryText(native.type, text)
    },
  }
}

/** An empty Point has no form in GeoJSON: null. */
function nullOf(text: string): string {
  if (text === 'null') return text
  throw new GeometryFault('The geometry has a part that is null.')
}

function positionOf(names: readonly string[], texts: readonly string[]): string {
  const [x, y, z, m] = ['"x"', '"y"', '"z"', '"m"'].map((name) => texts[names.indexOf(name)])
  if (x === undefined || y === undefined) throw new GeometryFault('A position has an x and a y.')
  if (m !== undefined) throw new GeometryFault('GeoJSON has no measures (M): write the geometry without them.')
  if (x === 'NaN' && y === 'NaN') return 'null'
  return positionText(Number(x), Number(y), z === undefined ? undefined : Number(z))
}

/** Judges the lines or rings in `coordinates`, `levels` arrays below it. */
function checkRows(coordinates: unknown, levels: number, isRing: boolean): void {
  const items: readonly unknown[] = must(Array.isArray(coordinates) ? coordinates : undefined, 'an array')
  if (levels > 0) for (const item of items) checkRows(item, levels - 1, isRing)
  else rowText(items.map(String), isRing)
}
