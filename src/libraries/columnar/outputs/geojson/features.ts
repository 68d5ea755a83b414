// Rows as GeoJSON features: which column is which part, and how one is written. The inverse of how ingest reads features
// (docs/spec/http.md §6, GeoJSON): texts of geometry, id and foreign members go out token by token.
// Source: https://www.rfc-editor.org/rfc/rfc7946 §3.2

import { isPresent } from '../../arrow/columns.ts'
import { doublesOf } from '../../arrow/numbers.ts'
import { featureColumns, featureExtra, isJson, notFeature, objectOf } from '../../../geo/feature-columns.ts'
import { type CoordinateColumns, coordinateColumns } from '../../../geo/coordinate-columns.ts'
import { isPoint } from '../../../geo/place.ts'
import { geometryTypes } from '../../../geo/rules.ts'
import { must } from '../../../base/assert.ts'
import { decodeUtf8, utf8 } from '../../../base/bytes.ts'
import { NodeError } from '../../../base/errors.ts'
import { foldAscii } from '../../../model/names.ts'
import { type Column, type Field, isNumeric, type RecordBatch } from '../../../model/schema.ts'
import { type CellWriter, cellWriter, jsonStyle, writeJsonString } from '../cells.ts'
import type { FileColumn } from '../file-format.ts'
import type { ByteBuffer } from '../../../base/byte-buffer.ts'

/** What ingest puts before properties whose names columns of datasets have for something else. */
const prefix = 'property_'
const prefixed: ReadonlySet<string> = new Set([...Object.values(featureColumns), 'offset', 'op', 'system_time'])
const types: ReadonlySet<unknown> = new Set(geometryTypes)

/** Where the parts of a feature stand among the columns. */
interface FeaturePlan {
  readonly columns: readonly FileColumn[]
  /** One column of geometries, or longitude and latitude. */
  readonly geometry: readonly [number, number?]
  readonly id: number | undefined
  readonly extra: number | undefined
  /** The others, each with its name as JSON text, a comma before and a colon behind. */
  readonly properties: readonly { readonly at: number; readonly key: Uint8Array }[]
}

/** The number of the column that holds geometry. Throws NodeError `InvalidParameter` where there is none. */
export function geometryColumn(columns: readonly FileColumn[], asked: string | undefined): number {
  const name = asked ?? featureColumns.geometry
  const at = columns.findIndex((column) => foldAscii(column.name) === foldAscii(name))
  if (columns[at]?.type.kind === 'String') return at
  const texts = columns.filter(({ type }) => type.kind === 'String').map((column) => column.name)
  const fault =
    at < 0 ? `There is no column '${name.slice(0, 200)}'` : `The column '${name.slice(0, 200)}' is not a text`
  throw new NodeError('InvalidParameter', `${fault}; GeoJSON takes its geometry from a column of GeoJSON text.`, {
    hint: 'Name the column with geometry=, select one as "geometry", or two of numbers as "longitude" and "latitude".',
    ...(texts.length === 0 ? {} : { candidates: texts.slice(0, 100) }),
  })
}

/** The one pair of coordinates among columns without geometries. */
export function coordinatesOf(columns: readonly Pick<Field, 'name' | 'type'>[]): CoordinateColumns | undefined {
  return coordinateColumns(columns.map(({ name, type }) => ({ name, isNumber: isNumeric(type) })))
}

/** Geometries unless there are none and none are asked for, beside one pair of coordinates. Throws as `geometryColumn`. */
function placeAt(columns: readonly FileColumn[], asked: string | undefined): FeaturePlan['geometry'] {
  const pair = asked === undefined ? coordinatesOf(columns) : undefined
  const at = (wanted: string): number => columns.findIndex(({ name }) => name === wanted)
  return pair === undefined ? [geometryColumn(columns, asked)] : [at(pair.longitude), at(pair.latitude)]
}

/** Throws NodeError `InvalidParameter`. */
export function featurePlan(columns: readonly FileColumn[], asked: string | undefined): FeaturePlan {
  const geometry = placeAt(columns, asked)
  const [text, pair] = [geometry[0], geometry[1]]
  const isTaken = (at: number): boolean => pair === undefined && at === text
  const textColumn = (name: string): number | undefined => {
    const at = columns.findIndex((column) => foldAscii(column.name) === name)
    return columns[at]?.type.kind === 'String' && !isTaken(at) ? at : undefined
  }
  const id = textColumn(featureColumns.id)
  const extra = textColumn(featureColumns.extra)
  const others = columns.flatMap(({ name }, at) => (isTaken(at) || at === id || at === extra ? [] : [{ name, at }]))
  const taken = new Set(others.map(({ name }) => name))
  const properties = others.map(({ name, at }, place) => ({
    at,
    key: utf8(`${place === 0 ? '' : ','}${JSON.stringify(propertyName(name, taken))}:`),
  }))
  return { columns, geometry, id, extra, properties }
}

/** The name that a property had when it came. */
function propertyName(column: string, taken: ReadonlySet<string>): string {
  if (!foldAscii(column).startsWith(prefix)) return column
  const name = column.slice(prefix.length)
  return prefixed.has(foldAscii(name)) && !taken.has(name) ? name : column
}

const head = utf8('{"type":"Feature","geometry":')
const middle = utf8(',"properties":{')

/** Writes the feature of a row. Throws NodeError `SqlValue` for a geometry, or for foreign members, that are none. */
export function featureWriter(plan: FeaturePlan, batch: RecordBatch, out: ByteBuffer): (row: number) => void {
  const columnAt = (at: number): Column => must(batch.columns[at], 'a column of the batch')
  const geometry = placeWriter(
    plan,
    plan.geometry.map((at) => columnAt(at ?? 0)),
    out,
  )
  const id = plan.id === undefined ? undefined : columnAt(plan.id)
  const extra = plan.extra === undefined ? undefined : columnAt(plan.extra)
  const properties = plan.properties.map(({ at, key }) => {
    const [column, of] = [columnAt(at), must(plan.columns[at], 'a column')]
    const text = of.type.kind === 'String' ? column : undefined
    return { key, name: of.name, text, write: cellWriter(column, of, out, jsonStyle) }
  })
  return (row) => {
    out.raw(head)
    geometry(row)
    out.raw(middle)
    const beside =
      extra === undefined || !isPresent(extra, row)
        ? undefined
        : featureExtra(extra.name, decodeUtf8(bytesOf(extra, row)))
    for (const { key, name, text, write } of properties) {
      out.raw(key)
      if (text === undefined || beside?.jsonTexts.has(name) !== true || !writeJson(text, row, out)) write(row)
    }
    out.ascii('}')
    if (id !== undefined && isPresent(id, row) && beside?.hasId !== true) writeId(id, row, out)
    if (beside !== undefined && beside.foreign !== '') {
      out.ascii(',')
      out.raw(utf8(beside.foreign))
    }
    out.ascii('}')
  }
}

/** Writes the geometry of a row. */
function placeWriter(
  { columns, geometry }: FeaturePlan,
  [first, second]: readonly Column[],
  out: ByteBuffer,
): (row: number) => void {
  const longitude = must(first, 'a column of geometries or longitudes')
  if (second === undefined) return (row) => writeGeometry(longitude, row, out)
  const [xAt, yAt] = [doublesOf(longitude), doublesOf(second)]
  const writer = (column: Column, at = 0): CellWriter =>
    cellWriter(column, must(columns[at], 'a column'), out, { ...jsonStyle, quote: '' })
  const [writeX, writeY] = [writer(longitude, geometry[0]), writer(second, geometry[1])]
  return (row) => {
    const isThere = isPresent(longitude, row) && isPresent(second, row) && isPoint(xAt(row), yAt(row))
    if (!isThere) return out.ascii('null')
    out.ascii('{"type":"Point","coordinates":[')
    writeX(row)
    out.ascii(',')
    writeY(row)
    out.ascii(']}')
  }
}

function bytesOf({ values, offsets }: Column, row: number): Uint8Array {
  return values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0)
}

function writeGeometry(column: Column, row: number, out: ByteBuffer): void {
  if (!isPresent(column, row)) return out.ascii('null')
  const bytes = bytesOf(column, row)
  const text = decodeUtf8(bytes)
  if (!isGeometry(text)) throw notFeature(`A value of the column '${column.name}' is not a geometry of GeoJSON`, text)
  out.raw(bytes)
}

/** Writes a value's text as the JSON that it is; false, and nothing, where a statement made something else of it. */
function writeJson(column: Column, row: number, out: ByteBuffer): boolean {
  if (!isPresent(column, row)) return false
  const bytes = bytesOf(column, row)
  if (!isJson(decodeUtf8(bytes))) return false
  out.raw(bytes)
  return true
}

function isGeometry(text: string): boolean {
  const value = objectOf(text)
  return value === null || types.has(value?.['type'])
}

const numberToken = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Numbers kept their token; any other text was a string. */
function writeId(column: Column, row: number, out: ByteBuffer): void {
  const bytes = bytesOf(column, row)
  out.ascii(',"id":')
  const [first = 0] = bytes
  const mayBeNumber = first === 0x2d || (first >= 0x30 && first <= 0x39)
  if (mayBeNumber && numberToken.test(decodeUtf8(bytes))) out.raw(bytes)
  else writeJsonString(out, bytes, 0, bytes.length)
}
