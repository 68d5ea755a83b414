// Rows of an answer, as the engine wrote them in JSON, as GeoJSON features: texts for a page, or a vector tile. Pure, and heavy
// for many rows: node/machine/work/jobs.ts does it beside the event loop.

import { canonicalBytes } from '../base/json/canonical.ts'
import { jsonText, parseJson } from '../base/json/json.ts'
import { decodeUtf8 } from '../base/bytes.ts'
import type { JsonValue } from '../base/json/value.ts'
import { NodeError } from '../base/errors.ts'
import type { CoordinateColumns } from './coordinate-columns.ts'
import { featureColumns, type FeatureExtra, featureExtra, isJson } from './feature-columns.ts'
import { geometryOf } from './geometry.ts'
import { type Place, pointText } from './place.ts'
import { encodeTile, type TileAddress, type TileFeature } from './tile.ts'

/** Names of all columns of the rows, in order, and those that are no properties. */
export interface FeatureColumns {
  readonly names: readonly string[]
  readonly id: string
  readonly place: Place
  readonly hidden: readonly string[]
}

/** Each row as the text of a feature. Throws NodeError `SqlValue` for a text in the column of geometries that is none. */
export function featureTexts(rows: Uint8Array, columns: FeatureColumns): string[] {
  return rowsOf(rows).map((row) => featureText(row, columns))
}

/** A vector tile, its columns, the id first, with a letter of each kind, and the geometries of rows that hold none, by id. */
export interface TileOf {
  readonly tile: TileAddress
  readonly columns: readonly string[]
  readonly kinds: string
  readonly points: ReadonlyMap<number, object> | undefined
}

/** The vector tile of rows of id, geometry and the other columns. Throws as `featureTexts`. */
export function tileOfRows(rows: Uint8Array, { tile, columns, kinds, points }: TileOf): ReturnType<typeof encodeTile> {
  const features = rowsOf(rows).flatMap(([number = null, text, ...cells]): TileFeature[] => {
    const id = Number(jsonText(number))
    const geometry: object | undefined =
      points?.get(id) ?? (typeof text === 'string' ? JSON.parse(checked(text)) : undefined)
    if (geometry === undefined) return []
    const properties = [number, ...cells].map((cell, at) =>
      cell === null ? undefined : `${kinds[at]}${typeof cell === 'string' ? cell : jsonText(cell)}`,
    )
    return [{ id, geometry, properties }]
  })
  // Points lie within the tile already, each once.
  return encodeTile(features, columns, { tile, wrap: points === undefined })
}

function rowsOf(bytes: Uint8Array): readonly (readonly JsonValue[])[] {
  const rows = parseJson(bytes)
  return Array.isArray(rows) ? rows.map((row) => (Array.isArray(row) ? row : [])) : []
}

function featureText(row: readonly JsonValue[], columns: FeatureColumns): string {
  const { place } = columns
  let [id, geometry] = ['null', 'geometry' in place ? 'null' : pairText(row, columns.names, place)]
  const extra = row[columns.names.indexOf(featureColumns.extra)]
  const beside = typeof extra === 'string' ? extraOf(extra) : undefined
  const properties: string[] = []
  for (const [index, name] of columns.names.entries()) {
    const value = row[index] ?? null
    if (name === columns.id) id = textOf(value)
    else if ('geometry' in place && name === place.geometry)
      geometry = typeof value === 'string' ? checked(value) : 'null'
    else if (!columns.hidden.includes(name))
      properties.push(`${JSON.stringify(name)}:${propertyText(name, value, beside)}`)
  }
  return `{"type":"Feature","id":${id},"geometry":${geometry},"properties":{${properties.join(',')}}}`
}

/** The point of two numbers, with their tokens; decimals are texts. */
function pairText(row: readonly JsonValue[], names: readonly string[], pair: CoordinateColumns): string {
  const [x = '', y = ''] = [pair.longitude, pair.latitude].map((name) => {
    const value = row[names.indexOf(name)] ?? null
    return typeof value === 'string' ? value : value === null ? '' : textOf(value)
  })
  return pointText(x, y)
}

/** Undefined for texts of another kind: a column may be called so without being of features. */
function extraOf(text: string): FeatureExtra | undefined {
  try {
    return featureExtra(featureColumns.extra, text)
  } catch (cause) {
    if (cause instanceof NodeError) return undefined
    throw cause
  }
}

/** A property as it came, which `beside` says. */
function propertyText(name: string, value: JsonValue, beside: FeatureExtra | undefined): string {
  if (beside === undefined) return textOf(value)
  if (name === featureColumns.extra) return beside.foreign === '' ? 'null' : JSON.stringify(`{${beside.foreign}}`)
  return typeof value === 'string' && beside.jsonTexts.has(name) && isJson(value) ? value : textOf(value)
}

/** The text, which goes out as it is. */
function checked(text: string): string {
  geometryOf(text)
  return text
}

function textOf(value: JsonValue): string {
  return decodeUtf8(canonicalBytes(value))
}
