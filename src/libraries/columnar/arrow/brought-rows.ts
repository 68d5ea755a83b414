// Rows without the columns that bring nothing: a column of nulls alone is left out, since the reader of the rows adds it.

import { assert, must } from '../../base/assert.ts'
import { type Column, type Field, innerType, isOptional, type RecordBatch } from '../../model/schema.ts'
import { fixedWidth } from './columns.ts'
import { cutBytes } from './ipc.ts'
import { nullColumn } from './null-column.ts'

/** Some of the columns of a batch, and their places among the fields, which rise; the first column always. */
export interface BroughtRows {
  readonly rows: number
  readonly places: readonly number[]
  readonly columns: readonly Column[]
}

/** The columns of `batch` that have a value. */
export function broughtRows({ rows, columns }: RecordBatch): BroughtRows {
  const places: number[] = []
  for (const [place, { nullCount }] of columns.entries()) if (place === 0 || nullCount < rows) places.push(place)
  return { rows, places, columns: places.map((place) => must(columns[place], 'a column')) }
}

/** The rows with the columns at `places`: those that they do not bring are null. */
export function rowsWith(brought: BroughtRows, fields: readonly Field[], places: readonly number[]): RecordBatch {
  const { rows } = brought
  let next = 0
  const columns = places.map((place) => {
    if (brought.places[next] !== place) return nullColumn(must(fields[place], 'a field'), rows)
    return must(brought.columns[next++], 'a column')
  })
  assert(next === brought.columns.length, 'every column that rows bring has a place')
  return { rows, columns }
}

/** Values of the rows, nulls and items of lists among them. */
export function cellsOf({ rows, columns }: BroughtRows): number {
  let cells = rows * columns.length
  for (const { child } of columns)
    if (child !== undefined) cells += cellsOf({ rows: child.rows, places: [], columns: [child] })
  return cells
}

/** What a column adds to a batch beside its rows: its node and buffers, or its field. */
const columnBytes = 128
/** Below this it matters more that rows of one dataset share their messages. */
const leastBytes = 4096

/** Rows of a body so far. */
export interface BroughtSoFar {
  readonly rows: number
  /** As the columns came; those of many bytes are cut. */
  readonly batches: number
  /** What they take in the columns that each batch brings. */
  readonly bytes: number
  /** By the place of a column, the rows of the batches that bring it. */
  readonly rowsOf: ReadonlyMap<number, number>
}

/** What the rows take in messages that have the columns at `places`, with nulls where they do not bring them. */
export function bytesWith(fields: readonly Field[], places: Iterable<number>, brought: BroughtSoFar): number {
  const { rows, batches, rowsOf } = brought
  let { bytes } = brought
  let columns = 0
  for (const place of places) {
    const missing = rows - (rowsOf.get(place) ?? 0)
    const { type } = must(fields[place], 'a field')
    assert(missing === 0 || isOptional(type), 'a column that rows do not bring is optional')
    bytes += missing * (fixedWidth(innerType(type)) ?? 4)
    columns += 1
  }
  return bytes + columnBytes * columns * (batches + Math.floor(bytes / cutBytes(columns)))
}

/** Whether the fields that no row brings would be the larger part of a message. */
export function leavesOut(fields: readonly Field[], brought: BroughtSoFar): boolean {
  if (brought.rowsOf.size === fields.length) return false
  const bytes = bytesWith(fields, brought.rowsOf.keys(), brought)
  return bytesWith(fields, fields.keys(), brought) - bytes > Math.max(bytes, leastBytes)
}

/** Choices of columns that are remembered for a schema. */
const choicesMost = 256
const choices = new WeakMap<readonly Field[], Map<string, readonly Field[]>>()

/** The fields at `places`: one array for the same ones, as far as they are remembered, so that encoders keep work by it. */
export function fieldsAt(fields: readonly Field[], places: readonly number[]): readonly Field[] {
  if (places.length === fields.length) return fields
  const known = choices.get(fields) ?? new Map<string, readonly Field[]>()
  choices.set(fields, known)
  const key = places.join(' ')
  let chosen = known.get(key)
  if (chosen === undefined) {
    if (known.size >= choicesMost) known.clear()
    chosen = places.map((place) => must(fields[place], 'a field'))
    known.set(key, chosen)
  }
  return chosen
}
