// Which columns of a GeoParquet file are geometries, how they are encoded, and that they are longitude and latitude.
// Sources: https://geoparquet.org/releases/v1.1.0/; Apache Parquet, Geospatial (the types GEOMETRY and GEOGRAPHY)

import { parseJson, toPlain, type PlainJson } from '../../json/json.ts'
import { DecodeError, NodeError } from '../../model/errors.ts'
import { type Column, innerType } from '../../model/schema.ts'
import { logicalTypes } from '../../parquet/footer.ts'
import { damaged, unsupported } from '../../parquet/refusals.ts'
import { wkbToGeoJson } from '../wkb.ts'
import { jsonPrinter, type Printer } from './assembler.ts'
import type { FileColumn } from './file-columns.ts'
import { nativePrinter } from './geo-native.ts'
import type { LeafText } from './leaf-text.ts'

/** Key of the file's metadata of GeoParquet. */
export const geoKey = 'geo'

const mostMetadataDepth = 64

/** Geometry columns by their names, with what prints their values. */
export interface GeoColumns {
  readonly primary: string | undefined
  readonly printers: ReadonlyMap<string, Printer>
}

/**
 * The geometry columns among `columns`, by the file's metadata `geo`, where it has them, and by their types. Throws
 * NodeError `UnsupportedCrs`, and DecodeError for metadata that contradict the columns.
 */
export function geoColumns(columns: readonly FileColumn[], geo: string | undefined): GeoColumns {
  const printers = new Map<string, Printer>()
  const described = geo === undefined ? undefined : readMetadata(geo)
  for (const [name, entry] of Object.entries(described?.columns ?? {})) {
    const column = columns.find(({ field }) => field.name === name)
    if (column === undefined) damaged(`has geo metadata of a column ${JSON.stringify(name)}, which it does not have`)
    else printers.set(name, describedPrinter(column, entry))
  }
  for (const { field, node, isFlat } of columns) {
    const { logical } = node.element
    const isGeometry = logical?.member === logicalTypes.geometry || logical?.member === logicalTypes.geography
    if (!isGeometry || !isFlat || printers.has(field.name)) continue
    if (logical.crs !== undefined) requireWgs84(field.name, typeCrs(logical.crs))
    printers.set(field.name, wkbPrinter)
  }
  return { primary: described?.primary ?? [...printers.keys()][0], printers }
}

interface Metadata {
  readonly primary: string | undefined
  readonly columns: Readonly<Record<string, PlainJson>>
}

function isMembers(value: PlainJson | undefined): value is { [name: string]: PlainJson } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readMetadata(text: string): Metadata {
  const value = jsonOf(text)
  if (!isMembers(value) || !isMembers(value['columns'])) return damaged('has geo metadata without columns')
  const primary = value['primary_column']
  return { primary: typeof primary === 'string' ? primary : undefined, columns: value['columns'] }
}

function jsonOf(text: string): PlainJson {
  try {
    return toPlain(parseJson(text, { maxDepth: mostMetadataDepth }))
  } catch (error) {
    if (error instanceof DecodeError) return damaged('has geo metadata that are not JSON')
    throw error
  }
}

/** The printer of a column that the metadata describe by `entry`. */
function describedPrinter({ field, isFlat }: FileColumn, entry: PlainJson): Printer {
  if (!isMembers(entry)) return damaged(`has no geo metadata of its column ${JSON.stringify(field.name)}`)
  if ('crs' in entry) requireWgs84(field.name, projJson(entry['crs']))
  const encoding = scalarText(entry['encoding'] ?? 'WKB')
  if (encoding.toUpperCase() === 'WKB') {
    if (!isFlat || innerType(field.type).kind !== 'Binary')
      damaged(`says that its column ${JSON.stringify(field.name)} is WKB, which it is not`)
    return wkbPrinter
  }
  const printer = nativePrinter(encoding)
  if (printer === undefined || isFlat)
    return unsupported(`has geometries in the encoding ${JSON.stringify(encoding.slice(0, 80))}`)
  return printer
}

function scalarText(value: PlainJson | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** What a coordinate system is called; `undefined` where it has no name that is known here. */
type Crs = { readonly id: string | undefined; readonly shown: string }

/** Of PROJJSON, or of the WKT of old files. */
function projJson(crs: PlainJson | undefined): Crs {
  if (crs === null || crs === undefined) return { id: undefined, shown: 'an unknown coordinate system (null)' }
  if (typeof crs === 'string') return { id: crs.endsWith('ID["EPSG",4326]]') ? 'EPSG:4326' : undefined, shown: crs }
  if (!isMembers(crs)) return { id: undefined, shown: 'a coordinate system without a name' }
  const id: PlainJson | undefined = crs['id']
  const name = typeof crs['name'] === 'string' ? crs['name'] : 'a coordinate system without a name'
  if (!isMembers(id)) return { id: undefined, shown: name }
  const code = `${scalarText(id['authority'])}:${scalarText(id['code'])}`
  return { id: code, shown: `${name} (${code})` }
}

/** Of the parameter of the types GEOMETRY and GEOGRAPHY: `OGC:CRS84`, `srid:4326`, or PROJJSON as some write it. */
function typeCrs(crs: string): Crs {
  if (crs.startsWith('{')) return projJson(jsonOf(crs))
  return { id: crs.replace(/^srid:/i, 'EPSG:'), shown: crs }
}

function requireWgs84(column: string, { id, shown }: Crs): void {
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

const wkbPrinter: Printer = {
  ...jsonPrinter,
  leaf: ({ values, offsets }: Column): LeafText => {
    return (row) => wkbToGeoJson(values, offsets?.[row], offsets?.[row + 1]) ?? 'null'
  },
}
