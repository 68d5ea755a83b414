// What GeoJSON asks of a feature beside its geometry: which column its parts go to (docs/spec/http.md §6, GeoJSON), and
// its coordinate system. That is longitude and latitude of WGS 84 and nothing else (RFC 7946 §4); the member `crs` of
// GeoJSON 2008 may say so, and data in another system must be reprojected before it is sent.

import { featureColumns } from '../../geo/feature-columns.ts'
import { parseJson } from '../../base/json/json.ts'
import { NodeError } from '../../base/errors.ts'
import type { JsonValue } from '../../base/json/value.ts'
import { foldAscii } from '../../model/names.ts'
import { quote } from '../json/text.ts'
import {
  eventTimeNameOf,
  type InputNames,
  memberPlan,
  propertyPrefix,
  systemNames,
  type TablePlan,
  unknownName,
} from '../column-plan.ts'

/** Members that make an object another kind of GeoJSON. Source: RFC 7946 §7.1. */
export const foreignToFeatures: ReadonlySet<string> = new Set(['coordinates', 'geometries', 'features'])

/** Folded names of properties whose columns have the prefix `property_`. */
export function prefixedNames(input: InputNames): ReadonlySet<string> {
  const names = new Set([...Object.values(featureColumns), ...systemNames(input)].map(foldAscii))
  names.delete(foldAscii(eventTimeNameOf(input) ?? ''))
  return names
}

/** The columns of a dataset as features fill them. */
export interface FeaturePlan {
  /** The keys of `byName` are names of properties. */
  readonly table: TablePlan
  /** Indexes of columns, `unknownName` where the dataset has no such column. */
  readonly geometry: number
  readonly id: number
  readonly extra: number
}

const cache = new WeakMap<TablePlan, FeaturePlan>()

/** The plan for features of a dataset that `table` describes; made once per table. */
export function featurePlan(table: TablePlan, input: InputNames): FeaturePlan {
  const cached = cache.get(table)
  if (cached !== undefined) return cached
  const prefixed = prefixedNames(input)
  const byName = new Map<string, number>()
  for (const [name, column] of table.byName) if (column >= 0 && !prefixed.has(name)) byName.set(name, column)
  for (const name of prefixed) byName.set(name, byName.get(propertyPrefix + name) ?? unknownName)
  const indexOf = (name: string): number => {
    const column = table.byName.get(name) ?? unknownName
    // The event-time column is filled by a property alone.
    return column > 0 ? column : unknownName
  }
  const plan: FeaturePlan = {
    table: { ...table, byName, prefixed, root: memberPlan('') },
    geometry: indexOf(featureColumns.geometry),
    id: indexOf(featureColumns.id),
    extra: indexOf(featureColumns.extra),
  }
  cache.set(table, plan)
  return plan
}

/** Longer texts are no numbers to anyone. */
const mostDigits = 400
const numberText = /^"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"$/

/**
 * True for the token of an id that is a text and reads as a number. It stands among the foreign members as well, so that it
 * goes out as it came (docs/spec/http.md §6, GeoJSON).
 */
export function needsIdToken(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== quote || end - start > mostDigits) return false
  const token = bytes.subarray(start, end)
  // No other byte stands in a number; what is left is ASCII.
  for (let at = 1; at < token.length - 1; at++) if ((token[at] ?? 0) < 0x2b || (token[at] ?? 0) > 0x65) return false
  return numberText.test(String.fromCharCode(...token))
}

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
  const message = `${owner} has ${shown}; only CRS84 and EPSG:4326 are read. Nothing was stored.`
  throw new NodeError('UnsupportedCrs', message, { hint: reprojectHint })
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
