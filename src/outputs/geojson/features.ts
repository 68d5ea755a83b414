// Rows as GeoJSON features: which column is which part, and how one is written. The inverse of how ingest reads features
// (docs/spec/http.md §6, GeoJSON): texts of geometry, id and foreign members go out token by token.
// Source: https://www.rfc-editor.org/rfc/rfc7946 §3.2

import { isPresent } from '../../arrow/columns.ts'
import { geometryTypes } from '../../geo/rules.ts'
import { must } from '../../lib/assert.ts'
import { decodeUtf8, utf8 } from '../../lib/bytes.ts'
import { NodeError } from '../../model/errors.ts'
import { foldAscii } from '../../model/names.ts'
import type { Column, RecordBatch } from '../../model/schema.ts'
import { cellWriter, jsonStyle, writeJsonString } from '../cells.ts'
import type { FileColumn } from '../file-format.ts'
import type { ByteBuffer } from '../../lib/byte-buffer.ts'

const names = { geometry: 'geometry', id: 'feature_id', extra: 'feature_extra' } as const
/** What ingest puts before properties whose names columns of datasets have for something else. */
const prefix = 'property_'
const prefixed: ReadonlySet<string> = new Set([...Object.values(names), 'offset', 'op', 'system_time'])
const types: ReadonlySet<unknown> = new Set(geometryTypes)

/** Where the parts of a feature stand among the columns. */
interface FeaturePlan {
  readonly columns: readonly FileColumn[]
  readonly geometry: number
  readonly id: number | undefined
  readonly extra: number | undefined
  /** The others, each with its name as JSON text, a comma before and a colon behind. */
  readonly properties: readonly { readonly at: number; readonly key: Uint8Array }[]
}

/** The number of the column that holds geometry. Throws NodeError `InvalidParameter` where there is none. */
export function geometryColumn(columns: readonly FileColumn[], asked: string | undefined): number {
  const name = asked ?? names.geometry
  const at = columns.findIndex((column) => foldAscii(column.name) === foldAscii(name))
  if (columns[at]?.type.kind === 'String') return at
  const texts = columns.filter(({ type }) => type.kind === 'String').map((column) => column.name)
  const fault = at < 0 ? `There is no column '${name.slice(0, 200)}'` : `The column '${name.slice(0, 200)}' is no text`
  throw new NodeError('InvalidParameter', `${fault}; GeoJSON takes its geometry from a column of GeoJSON text.`, {
    hint: 'Name the column with geometry=, or select one as "geometry".',
    ...(texts.length === 0 ? {} : { candidates: texts.slice(0, 100) }),
  })
}

/** Throws NodeError `InvalidParameter`. */
export function featurePlan(columns: readonly FileColumn[], asked: string | undefined): FeaturePlan {
  const geometry = geometryColumn(columns, asked)
  const textColumn = (name: string): number | undefined => {
    const at = columns.findIndex((column) => foldAscii(column.name) === name)
    return columns[at]?.type.kind === 'String' && at !== geometry ? at : undefined
  }
  const id = textColumn(names.id)
  const extra = textColumn(names.extra)
  const others = columns.flatMap(({ name }, at) => (at === geometry || at === id || at === extra ? [] : [{ name, at }]))
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
  const geometry = columnAt(plan.geometry)
  const id = plan.id === undefined ? undefined : columnAt(plan.id)
  const extra = plan.extra === undefined ? undefined : columnAt(plan.extra)
  const properties = plan.properties.map(({ at, key }) => {
    return { key, write: cellWriter(columnAt(at), must(plan.columns[at], 'a column'), out, jsonStyle) }
  })
  return (row) => {
    out.raw(head)
    writeGeometry(geometry, row, out)
    out.raw(middle)
    for (const { key, write } of properties) {
      out.raw(key)
      write(row)
    }
    out.ascii('}')
    const foreign = foreignMembers(extra, row)
    if (id !== undefined && isPresent(id, row) && foreign?.hasId !== true) writeId(id, row, out)
    if (foreign !== undefined) {
      out.ascii(',')
      out.raw(foreign.text)
    }
    out.ascii('}')
  }
}

function bytesOf({ values, offsets }: Column, row: number): Uint8Array {
  return values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0)
}

function writeGeometry(column: Column, row: number, out: ByteBuffer): void {
  if (!isPresent(column, row)) return out.ascii('null')
  const bytes = bytesOf(column, row)
  if (!isGeometry(bytes)) throw notJson(`A value of the column '${column.name}' is no geometry of GeoJSON`, bytes)
  out.raw(bytes)
}

function isGeometry(bytes: Uint8Array): boolean {
  const value = jsonOf(bytes)
  return value === null || types.has(value?.['type'])
}

/** The object, or null, that bytes are the JSON text of. */
function jsonOf(bytes: Uint8Array): Readonly<Record<string, unknown>> | null | undefined {
  try {
    const value: unknown = JSON.parse(decodeUtf8(bytes))
    // A record of what the text says, whatever that is.
    if (typeof value === 'object' && !Array.isArray(value)) return value as Readonly<Record<string, unknown>> | null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return undefined
}

/** The members of the object in `feature_extra`, as they came. */
function foreignMembers(
  column: Column | undefined,
  row: number,
): { readonly text: Uint8Array; readonly hasId: boolean } | undefined {
  if (column === undefined || !isPresent(column, row)) return undefined
  const bytes = bytesOf(column, row)
  const members = jsonOf(bytes)
  if (members === undefined) throw notJson(`A value of the column '${column.name}' is no object of JSON`, bytes)
  if (members === null || Object.keys(members).length === 0) return undefined
  const own = ['type', 'geometry', 'properties'].find((name) => Object.hasOwn(members, name))
  if (own !== undefined) throw notJson(`A value of the column '${column.name}' has the member '${own}'`, bytes)
  return { text: bytes.subarray(bytes.indexOf(0x7b) + 1, bytes.lastIndexOf(0x7d)), hasId: Object.hasOwn(members, 'id') }
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

function notJson(what: string, bytes: Uint8Array): NodeError {
  const excerpt = decodeUtf8(bytes).slice(0, 80)
  return new NodeError('SqlValue', `${what}: ${JSON.stringify(excerpt)}.`, {
    hint: 'Leave such rows out, or ask for Csv or NdJson.',
  })
}
