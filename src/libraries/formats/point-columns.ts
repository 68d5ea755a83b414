// The parameter `geometry`: which two fields of the records are the point of their column of geometries. A batch that makes a
// dataset makes that column, with their names as an attribute, so that later batches need not name them. Pure.

import type { PointColumns } from './points.ts'
import type { Inferred } from './format.ts'
import { featureColumns } from '../geo/feature-columns.ts'
import { tooManyColumns } from '../columnar/file-limits.ts'
import { NodeError } from '../base/errors.ts'
import { foldAscii } from '../model/names.ts'
import { type Field, innerType, isNumeric, optional } from '../model/schema.ts'

/** Names of the fields, longitude first. */
export type PointNames = readonly [longitude: string, latitude: string]

/** Attribute of the column: its fields. */
const pointKey = 'proofstream.dev/point'

/** Columns with the one of geometries, where the first batch of a dataset asks for it. Throws as `pointColumns`. */
export function withPoint(inferred: Inferred, names: PointNames, mostColumns: number): Inferred {
  const { fields, valueless } = inferred
  const known = names.map((name) => {
    const found = fields.find((field) => isNamed(field, name))?.name ?? valueless.find((one) => isSame(one, name))
    return found ?? unknown(name, fields)
  })
  const isGeometry = (field: Field): boolean => isNamed(field, featureColumns.geometry)
  const brought = fields.find(isGeometry)
  if (brought !== undefined) demandText(brought)
  else if (fields.length >= mostColumns) throw tooManyColumns(mostColumns, 'Leave geometry out, or another column.')
  const made = { ...(brought ?? { name: featureColumns.geometry, type: text }), extra: { [pointKey]: known } }
  const withMade = (list: readonly Field[]): Field[] =>
    brought === undefined ? [...list, made] : list.map((field) => (isGeometry(field) ? made : field))
  return {
    ...inferred,
    fields: withMade(fields),
    added: withMade(inferred.added),
    valueless: valueless.filter((name) => !isSame(name, featureColumns.geometry)),
  }
}

const text = optional({ kind: 'String' })

/**
 * Which columns are the point: of those that the request names, else of those that the dataset does. `fields`: event time,
 * then user columns. Throws NodeError `InvalidParameter` where the request names what is not there.
 */
export function pointColumns(
  fields: readonly Field[],
  asked: PointNames | undefined,
  valueless: readonly string[],
): PointColumns | undefined {
  // Nearly all datasets have no such attribute, and some have thousands of columns.
  if (asked === undefined && !fields.some(({ extra }) => extra?.[pointKey] !== undefined)) return undefined
  const geometry = fields.findIndex((field, place) => place > 0 && isNamed(field, featureColumns.geometry))
  const column = fields[geometry]
  const names = asked ?? pointNames(column)
  if (names === undefined) return undefined
  if (column === undefined) throw noGeometry()
  if (asked !== undefined) demandText(column)
  const [longitude, latitude] = names.map((name) => {
    const place = fields.findIndex((field, at) => at > 0 && isNamed(field, name))
    if (asked !== undefined) demandNumbers(name, { field: fields[place], fields: fields.slice(1), valueless })
    return { name, column: place }
  })
  return longitude && latitude && { geometry, longitude, latitude }
}

/** What a column of geometries says of itself. */
function pointNames(column: Field | undefined): PointNames | undefined {
  const said = column?.extra?.[pointKey]
  if (!Array.isArray(said) || column === undefined || innerType(column.type).kind !== 'String') return undefined
  const [longitude, latitude] = said as readonly unknown[] // JSON, of which nothing is known
  return typeof longitude === 'string' && typeof latitude === 'string' ? [longitude, latitude] : undefined
}

function isSame(a: string, b: string): boolean {
  return foldAscii(a) === foldAscii(b)
}

function isNamed({ name }: Field, wanted: string): boolean {
  return isSame(name, wanted)
}

function demandText({ name, type }: Field): void {
  const { kind } = innerType(type)
  if (kind === 'String') return
  throw new NodeError('InvalidParameter', `The column '${name}' holds ${kind}, not geometries as text.`, {
    hint: 'Leave geometry out: two columns of numbers called longitude and latitude are points as they are.',
  })
}

function demandNumbers(
  name: string,
  of: { readonly field: Field | undefined; readonly fields: readonly Field[]; readonly valueless: readonly string[] },
): void {
  const { field, fields, valueless } = of
  if (field === undefined) {
    if (!valueless.some((one) => isSame(one, name))) unknown(name, fields)
    return
  }
  const { kind } = innerType(field.type)
  // Texts are judged one by one.
  if (kind === 'String' || isNumeric(field.type)) return
  throw new NodeError('InvalidParameter', `geometry names '${field.name}', which holds ${kind}, not numbers.`)
}

function unknown(name: string, fields: readonly Field[]): never {
  throw new NodeError('InvalidParameter', `geometry names '${name.slice(0, 100)}', which is no column.`, {
    hint: 'Write geometry=<longitude>,<latitude> with the names of two fields of the records.',
    candidates: fields.slice(0, 100).map((field) => field.name),
  })
}

function noGeometry(): NodeError {
  return new NodeError('InvalidParameter', 'The dataset has no column of geometries for the points of geometry=.', {
    hint: 'Leave it out: longitude and latitude are points at /ogc and in GeoJSON as they are. Or make another dataset with create=true and geometry=.',
  })
}
