// Coordinate systems as the metadata of files name them: only longitude and latitude of WGS 84 are read.
// Sources: https://proj.org/en/stable/specifications/projjson.html; https://geoparquet.org/releases/v1.1.0/ (crs)

import type { PlainJson } from '../json/json.ts'
import { NodeError } from '../model/errors.ts'

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
