// The coordinate system of GeoJSON: longitude and latitude of WGS 84, and nothing else (RFC 7946 §4). The member `crs`
// of GeoJSON 2008 may say so; data in another system must be reprojected before it is sent.

import { parseJson } from '../../json/json.ts'
import { NodeError } from '../../model/errors.ts'
import type { JsonValue } from '../../model/json.ts'

/** What to do about coordinates that are no degrees. */
export const reprojectHint =
  'Positions are [longitude, latitude] in degrees of WGS 84: reproject to EPSG:4326 before sending, for example with ' +
  'ogr2ogr -t_srs EPSG:4326, or to_crs(4326) in GeoPandas.'

const longitudeLatitude =
  /^(?:urn:(?:x-)?ogc:def:crs:(?:OGC:[\d.]*:CRS84|EPSG:[\d.]*:4326)|(?:OGC:)?CRS84|EPSG:4326|https?:\/\/www\.opengis\.net\/def\/crs\/(?:OGC\/[\d.]+\/CRS84|EPSG\/[\d.]+\/4326))$/i

/** Judges the value of a member `crs`; `owner` has it: 'The FeatureCollection'. Throws NodeError `UnsupportedCrs`. */
export function requireWgs84(crs: JsonValue, owner: string): void {
  const name = nameOf(crs)
  if (name !== undefined && longitudeLatitude.test(name)) return
  const shown =
    name === undefined ? 'a coordinate system without a name' : `the coordinate system '${name.slice(0, 100)}'`
  throw new NodeError(
    'UnsupportedCrs',
    `${owner} has ${shown}; only CRS84 and EPSG:4326 are read. Nothing was stored.`,
    {
      hint: reprojectHint,
    },
  )
}

/** The same for JSON text that is known to be well-formed: `bytes[at, end)`. */
export function requireWgs84Text(bytes: Uint8Array, at: number, end: number, owner: string): void {
  requireWgs84(parseJson(bytes.subarray(at, end)), owner)
}

/** The name in `{"type": "name", "properties": {"name": …}}`. Source: GeoJSON 2008 §3. */
function nameOf(crs: JsonValue): string | undefined {
  if (!(crs instanceof Map) || crs.get('type') !== 'name') return undefined
  const properties = crs.get('properties')
  const name = properties instanceof Map ? properties.get('name') : undefined
  return typeof name === 'string' ? name : undefined
}
