// The times in a column of a file, as its footer bounds them. Source: Apache Parquet, parquet.thrift (Statistics) and
// LogicalTypes ("Temporal Types").

import { type Bounds, type ColumnChunk, logicalTypes, readFooter, type SchemaElement } from './footer.ts'
import { damaged } from './refusals.ts'

/** Length of the footer and magic, behind it. */
export const trailerBytes = 8

const dayMs = 86_400_000
/** Milliseconds of a unit of LogicalType, by its number. */
const unitMs = [Number.NaN, 1, 1e-3, 1e-6]

/** Bytes that the footer and what follows it take, from the end of a file. Throws DecodeError. */
export function footerBytes(end: Uint8Array): number {
  if (end.length < trailerBytes) return damaged('is too short for a footer')
  return new DataView(end.buffer, end.byteOffset + end.length - trailerBytes).getUint32(0, true) + trailerBytes
}

/** A row group: its rows, and the least and the greatest time, infinite where they are not known. */
export interface GroupTimes {
  readonly rows: number
  readonly min: number
  readonly max: number
}

/**
 * The row groups of a file, from its end with its whole footer, with the times in a plain column, in milliseconds since
 * 1970; they are not known of a column without times, and where there are nulls or no bounds. Throws DecodeError.
 */
export function groupTimes(end: Uint8Array, column: string): GroupTimes[] {
  const footer = end.subarray(end.length - footerBytes(end), end.length - trailerBytes)
  const { schema, rowGroups, rowGroup } = readFooter(footer, { rowGroups: end.length, schemaElements: end.length }, [])
  const found = leafOf(schema, column)
  return Array.from({ length: rowGroups }, (_, index) => {
    const { rows, chunks } = rowGroup(index)
    const bounds = found && boundsOfAll(chunks[found.leaf])
    const [min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY] =
      found === undefined || bounds === undefined ? [] : timesOf(found.element, bounds)
    return { rows, min, max }
  })
}

function boundsOfAll(chunk: ColumnChunk | undefined): Bounds | undefined {
  return chunk?.nulls === 0 ? chunk.bounds : undefined
}

/** A column of the root that is a leaf, and its number among all leaves. */
function leafOf(schema: readonly SchemaElement[], name: string): { element: SchemaElement; leaf: number } | undefined {
  let [leaf, open] = [0, 0]
  for (const element of schema.slice(1)) {
    if (element.children === undefined && open === 0 && element.name === name && element.repetition < 2)
      return { element, leaf }
    if (element.children === undefined) leaf++
    // Of the children of groups, those that are to come.
    open = Math.max(0, open - 1) + (element.children ?? 0)
  }
  return undefined
}

/** Bytes as characters of the same numbers: such texts have the order of their bytes. */
export function byteText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

function timesOf({ logical, converted }: SchemaElement, { min, max }: Bounds): number[] {
  const isDate = logical?.member === logicalTypes.date || converted === 6
  if (isDate && min.length === 4 && max.length === 4)
    return [min, max].map((bytes) => viewOf(bytes).getInt32(0, true) * dayMs)
  const unit = logical?.member === logicalTypes.timestamp ? logical.unit : converted === undefined ? 0 : converted - 8
  const ms = unitMs[unit ?? 0]
  if (ms === undefined || Number.isNaN(ms) || min.length !== 8 || max.length !== 8) return []
  return [
    Math.floor(ms * Number(viewOf(min).getBigInt64(0, true))),
    Math.ceil(ms * Number(viewOf(max).getBigInt64(0, true))),
  ]
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
