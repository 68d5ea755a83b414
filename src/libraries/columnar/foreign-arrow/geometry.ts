// Geometries in Arrow columns (GeoArrow): well-known binary, and positions in lists, as GeoJSON text.
// Source: https://geoarrow.org/format.html and https://geoarrow.org/extension-types.html

import type { ColumnBuilder } from '../arrow/column-builder.ts'
import { must } from '../../base/assert.ts'
import { NodeError } from '../../base/errors.ts'
import {
  GeometryFault,
  geometryText,
  isMembers,
  metadataJson,
  positionText,
  projJson,
  requireWgs84,
  rowText,
  shapes,
} from '../../geo/rules.ts'
import { wkbToGeoJson } from '../../geo/wkb.ts'
import type { JsonText } from '../../base/json/json-text.ts'
import { damaged, unsupported, UnsupportedArrow } from './faults.ts'
import { ListValues, StructValues } from './nested-values.ts'
import type { ArrowField, ArrowType, GeometryForm } from './types.ts'
import { type ArrowValues, FixedValues, type SharedRows, VariableValues } from './values.ts'

const extensionPrefix = 'geoarrow.'
export const noPositions = 'does not hold positions as its type of geometry says'

/** Geometries of positions by their names in GeoArrow and GeoParquet: how many lists are around a position, and what the innermost are. */
export const nativeForms: ReadonlyMap<string, GeometryForm> = new Map(
  [...shapes].map(([type, { depth, row }]) => [type.toLowerCase(), { type, lists: depth, row }]),
)

/** What a field says of itself beside its type. */
export interface Extension {
  readonly name: string
  /** JSON, where there is any. */
  readonly metadata: string
}

/**
 * The type of a field of an extension: a geometry where it is one, else `storage`. A geometry whose coordinates are not read
 * is one all the same: its storage is refused. Throws DecodeError where the storage is not that of the geometry.
 */
export function geometryType(column: string, { name, metadata }: Extension, storage: ArrowType): ArrowType {
  const form = name.startsWith(extensionPrefix) ? nativeForms.get(name.slice(extensionPrefix.length)) : undefined
  const isWkb = name === 'geoarrow.wkb' || name === 'ogc.wkb'
  if (form === undefined && !isWkb) {
    const isRefused = storage.kind === 'refused' && name.startsWith(extensionPrefix)
    return isRefused ? { kind: 'geometry', form: 'wkb', storage } : storage
  }
  const geometry = { kind: 'geometry', form: form ?? 'wkb' } as const
  try {
    checkCrs(column, metadata)
    if (form !== undefined) checkStorage(storage, form.lists)
  } catch (error) {
    if (!(error instanceof UnsupportedArrow || error instanceof NodeError)) throw error
    return { ...geometry, storage: { kind: 'refused', error, storage } }
  }
  const isBinary = (storage.kind === 'bytes' || storage.kind === 'views') && !storage.isText
  return form !== undefined || isBinary ? { ...geometry, storage } : damaged('is well-known binary, but holds no bytes')
}

/** A coordinate system that is not named is taken at its positions, which are judged one by one. */
function checkCrs(column: string, metadata: string): void {
  if (metadata === '') return
  const members = metadataJson(metadata)
  if (members === undefined) damaged('has metadata of its geometries that are not JSON')
  const crs = isMembers(members) ? members['crs'] : undefined
  if (crs === undefined || crs === null) return
  requireWgs84(column, typeof crs === 'string' && /^\w+:\w+$/.test(crs) ? { id: crs, shown: crs } : projJson(crs))
}

function checkStorage(storage: ArrowType, lists: number): void {
  let inner = storage
  for (let left = lists; left > 0; left--) inner = inner.kind === 'list' ? itemOf(inner.item) : wrongStorage()
  if (inner.kind === 'struct') {
    const names = inner.fields.map(({ name }) => name).join('')
    if (names.includes('m')) unsupported('has measures (M), for which GeoJSON has no place')
    if ((names !== 'xy' && names !== 'xyz') || !inner.fields.every(isDouble)) wrongStorage()
  } else if (inner.kind === 'fixedList') {
    if (inner.item.name.includes('m')) unsupported('has measures (M), for which GeoJSON has no place')
    if ((inner.length !== 2 && inner.length !== 3) || !isDouble(inner.item)) wrongStorage()
  } else wrongStorage()
}

function itemOf({ type, dictionary }: ArrowField): ArrowType {
  return dictionary === undefined ? type : wrongStorage()
}

function isDouble({ type, dictionary }: ArrowField): boolean {
  return dictionary === undefined && type.kind === 'fixed' && type.column.kind === 'Float64'
}

function wrongStorage(): never {
  return damaged(noPositions)
}

/** Geometries over the array that stores them; an empty Point has no coordinates. */
export class GeometryValues implements ArrowValues {
  readonly rows: number
  readonly #stored: ArrowValues
  readonly #form: GeometryForm | 'wkb'

  constructor(stored: ArrowValues, form: GeometryForm | 'wkb') {
    this.rows = stored.rows
    this.#stored = stored
    this.#form = form
  }

  isPresent(row: number): boolean {
    return this.#stored.isPresent(row)
  }

  bytesAt(): number {
    return 0
  }

  bytesIn(): number {
    return 0
  }

  share(): SharedRows | undefined {
    return undefined
  }

  append(_row: number, _to: ColumnBuilder): never {
    return damaged('has a geometry where a plain value belongs')
  }

  /** Throws GeometryFault too. */
  writeJson(row: number, out: JsonText): void {
    out.ascii(this.#form === 'wkb' ? this.#wkb(row) : this.#positions(row, this.#form))
  }

  #wkb(row: number): string {
    const stored = this.#stored
    if (!(stored instanceof VariableValues)) return wrongStorage()
    stored.find(row)
    return wkbToGeoJson(stored.bytes, stored.start, stored.end)
  }

  #positions(row: number, { type, lists, row: kind }: GeometryForm): string {
    return geometryText(type, coordinates(this.#stored, row, lists, kind) ?? '[]')
  }
}

/** The coordinates of what stands at a row, below `lists` lists; undefined for an empty position. */
function coordinates(values: ArrowValues, row: number, lists: number, kind: GeometryForm['row']): string | undefined {
  if (!values.isPresent(row)) throw new GeometryFault('The geometry has a part that is null.')
  if (lists === 0) return position(values, row)
  if (!(values instanceof ListValues)) return wrongStorage()
  const texts: string[] = []
  for (let item = values.startOf(row), end = values.endOf(row); item < end; item++) {
    const text = coordinates(values.items, item, lists - 1, kind)
    if (text === undefined) throw new GeometryFault('The geometry has a part that is an empty Point.')
    texts.push(text)
  }
  return lists === 1 ? rowText(texts, kind) : `[${texts.join(',')}]`
}

function position(values: ArrowValues, row: number): string | undefined {
  const [x, y, z] =
    values instanceof StructValues ? values.children.map((child) => doubleAt(child, row)) : interleaved(values, row)
  if (Number.isNaN(x) && Number.isNaN(y)) return undefined
  return positionText(must(x, 'an x'), must(y, 'a y'), z)
}

function interleaved(values: ArrowValues, row: number): readonly number[] {
  if (!(values instanceof ListValues)) return wrongStorage()
  const start = values.startOf(row)
  return Array.from({ length: values.endOf(row) - start }, (_, i) => doubleAt(values.items, start + i))
}

function doubleAt(values: ArrowValues, row: number): number {
  if (!(values instanceof FixedValues)) return wrongStorage()
  return values.isPresent(row) ? values.doubleAt(row) : Number.NaN
}
