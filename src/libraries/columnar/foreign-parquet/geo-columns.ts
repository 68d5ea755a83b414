// Which columns of a GeoParquet file are geometries, how they are encoded, and that they are longitude and latitude.
// Sources: https://geoparquet.org/releases/v1.1.0/; Apache Parquet, Geospatial (the types GEOMETRY and GEOGRAPHY)

import type { PlainJson } from '../../base/json/json.ts'
import { NodeError } from '../../base/errors.ts'
import { innerType } from '../../model/schema.ts'
import type { FileColumn } from '../parquet/file-columns.ts'
import { logicalTypes } from '../parquet/footer.ts'
import { damaged, unsupported, UnsupportedParquet } from '../parquet/refusals.ts'
import { nativeForms, noPositions } from '../foreign-arrow/geometry.ts'
import type { GeometryForm } from '../foreign-arrow/types.ts'
import { type Crs, isMembers, metadataJson, projJson, requireWgs84, scalarText } from '../../geo/rules.ts'

/** Key of the file's metadata of GeoParquet. */
export const geoKey = 'geo'

/** Geometry columns by their names, with how their values lie. */
export interface GeoColumns {
  readonly primary: string | undefined
  readonly forms: ReadonlyMap<string, GeometryForm | 'wkb'>
  /** Columns that hold nothing but the bounds of geometries, for readers to skip rows by. */
  readonly bounds: ReadonlySet<string>
  /** Why columns among `forms` are not read. */
  readonly refused: ReadonlyMap<string, NodeError | UnsupportedParquet>
}

/**
 * The geometry columns among `columns`, by the file's metadata `geo`, where it has them, and by their types. Throws
 * DecodeError for metadata that contradict the columns.
 */
export function geoColumns(columns: readonly FileColumn[], geo: string | undefined): GeoColumns {
  const forms = new Map<string, GeometryForm | 'wkb'>()
  const bounds = new Set<string>()
  const refused = new Map<string, NodeError | UnsupportedParquet>()
  const note = (name: string, form: () => GeometryForm | 'wkb'): void => {
    try {
      forms.set(name, form())
    } catch (error) {
      if (!(error instanceof NodeError || error instanceof UnsupportedParquet)) throw error
      forms.set(name, 'wkb')
      refused.set(name, error)
    }
  }
  const described = geo === undefined ? undefined : readMetadata(geo)
  for (const [name, entry] of Object.entries(described?.columns ?? {})) {
    const column = columns.find(({ field }) => field.name === name)
    if (column === undefined) damaged(`has geo metadata of a column ${JSON.stringify(name)}, which it does not have`)
    else note(name, () => describedForm(column, entry))
    const covering = boundsColumn(entry)
    if (covering !== undefined) bounds.add(covering)
  }
  for (const { field, node, isFlat } of columns) {
    const { logical } = node.element
    const isGeometry = logical?.member === logicalTypes.geometry || logical?.member === logicalTypes.geography
    if (!isGeometry || !isFlat || forms.has(field.name)) continue
    note(field.name, () => {
      if (logical.crs !== undefined) requireWgs84(field.name, typeCrs(logical.crs))
      return 'wkb'
    })
  }
  return { primary: described?.primary ?? [...forms.keys()][0], forms, bounds, refused }
}

/** The column that a geometry column's metadata name for its bounds: `{"covering":{"bbox":{"xmin":["bbox","xmin"],…}}}`. */
function boundsColumn(entry: PlainJson): string | undefined {
  let value: PlainJson | undefined = entry
  for (const member of ['covering', 'bbox', 'xmin']) value = isMembers(value) ? value[member] : undefined
  const [column, child] = Array.isArray(value) ? value : []
  return typeof column === 'string' && typeof child === 'string' ? column : undefined
}

interface Metadata {
  readonly primary: string | undefined
  readonly columns: Readonly<Record<string, PlainJson>>
}

function readMetadata(text: string): Metadata {
  const value = jsonOf(text)
  if (!isMembers(value) || !isMembers(value['columns'])) return damaged('has geo metadata without columns')
  const primary = value['primary_column']
  return { primary: typeof primary === 'string' ? primary : undefined, columns: value['columns'] }
}

function jsonOf(text: string): PlainJson {
  const value = metadataJson(text)
  return value === undefined ? damaged('has geo metadata that are not JSON') : value
}

/** How the values of a column lie that the metadata describe by `entry`. */
function describedForm(column: FileColumn, entry: PlainJson): GeometryForm | 'wkb' {
  const { field, isFlat } = column
  if (!isMembers(entry)) return damaged(`has no geo metadata of its column ${JSON.stringify(field.name)}`)
  if ('crs' in entry) requireWgs84(field.name, projJson(entry['crs']))
  const encoding = scalarText(entry['encoding'] ?? 'WKB')
  if (encoding.toUpperCase() === 'WKB') {
    if (!isFlat || innerType(field.type).kind !== 'Binary')
      damaged(`says that its column ${JSON.stringify(field.name)} is WKB, which it is not`)
    return 'wkb'
  }
  const form = nativeForms.get(encoding)
  if (form === undefined || isFlat) {
    return unsupported(`has geometries in the encoding ${JSON.stringify(encoding.slice(0, 80))}`)
  }
  const axes = column.leaves.map(({ path }) => path.slice(path.lastIndexOf('.') + 1)).toSorted()
  if (axes.includes('m')) return unsupported('has measures (M), for which GeoJSON has no place')
  const areDoubles = column.leaves.every(({ leafType }) => leafType.type.kind === 'Float64')
  return areDoubles && /^xyz?$/.test(axes.join('')) ? form : damaged(noPositions)
}

/** Of the parameter of the types GEOMETRY and GEOGRAPHY: `OGC:CRS84`, `srid:4326`, or PROJJSON as some write it. */
function typeCrs(crs: string): Crs {
  if (crs.startsWith('{')) return projJson(jsonOf(crs))
  return { id: crs.replace(/^srid:/i, 'EPSG:'), shown: crs }
}
