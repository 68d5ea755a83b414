// Sorted copies: the rows of a merged file by some of its columns, nulls last, those that are equal by offset, in row groups
// so small that their bounds tell them apart, for the job `sort`. A column at a time is in memory. Nothing is taken on trust:
// the copy is read back, its rows put in the order of offsets, and those of each slice hashed against what the chain says
// of them (docs/decisions/merged-files.md).

import { zstdCompressSync } from 'node:zlib'
import { concatColumns, fixedWidth, isPresent, sliceColumn } from '../arrow/columns.ts'
import { ColumnHash, logicalHashOf } from '../arrow/logical-hash.ts'
import { longsOf, type Numbers, numbersOf } from '../arrow/numbers.ts'
import { takeRows } from '../arrow/take-rows.ts'
import { sha256 } from '../ids/native-crypto.ts'
import { must } from '../lib/assert.ts'
import { concatBytes, toHex } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import type { Column, Field } from '../model/schema.ts'
import { parquetLeaf } from '../parquet/file-schema.ts'
import { openSlice } from '../parquet/read-slice.ts'
import { type ColumnChunk, encodeColumn, SliceFile } from '../parquet/write-slice.ts'
import { inflatePage } from './inflate-page.ts'
import { checkColumns, type MergedBytes, type MergeOrder } from './merge.ts'

/** Rows of a row group of a sorted copy. */
export const sortedGroupRows = 8_192

/** What is to be sorted: a merged file of these slices. */
export interface SortOrder extends Pick<MergeOrder, 'slices' | 'schemas'> {
  /** Columns of integers, texts, days or times; the first decides first. */
  readonly sortBy: readonly string[]
  readonly offsetColumn: string
  /** Of the first row. */
  readonly firstOffset: number
}

const what = 'sorted copy'
/** Values of one column, which are in memory together, and some more times while they are moved. */
const columnBytesMost = 256 * 1024 * 1024

/** Sorts and checks. Throws DecodeError for columns or rows that are not what the order says, or too large to be sorted. */
export async function sortRows(bytes: Uint8Array, order: SortOrder): Promise<MergedBytes> {
  const keys: Column[] = []
  for (const name of order.sortBy) keys.push(await columnOf(bytes, name))
  const { fields, rows } = openSlice(bytes)
  const sorted = sortedOrder(keys, rows)
  const columns: ColumnChunk[][] = []
  for (const field of fields) {
    const column = await columnOf(bytes, field.name)
    const chunks: ColumnChunk[] = []
    for (let from = 0; from < rows; from += sortedGroupRows) {
      chunks.push(encoded(field, takeRows(column, sorted.subarray(from, from + sortedGroupRows))))
    }
    columns.push(chunks)
  }
  const slice = new SliceFile({ fields })
  for (let from = 0; from < rows; from += sortedGroupRows) {
    const group = columns.map((chunks) => must(chunks[from / sortedGroupRows], 'a chunk of each row group'))
    slice.add(Math.min(sortedGroupRows, rows - from), group)
  }
  const file = concatBytes(slice.finish())
  await checkSorted(file, order)
  return { file, hash: toHex(sha256(file)) }
}

function encoded(field: Field, column: Column): ColumnChunk {
  const steps = encodeColumn(parquetLeaf(field), column, (page) => zstdCompressSync(page))
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value
}

/** All rows of a column. */
async function columnOf(file: Uint8Array, name: string): Promise<Column> {
  const { fields, batches } = openSlice(file, { decompress: inflatePage, columns: [name] })
  if (fields.length !== 1) throw new DecodeError(what, `there is no one column '${name}'`)
  const parts: Column[] = []
  let valueBytes = 0
  for await (const { columns } of batches) {
    const column = must(columns[0], 'a column')
    valueBytes += column.values.length + (column.child?.values.length ?? 0)
    if (valueBytes > columnBytesMost) throw new DecodeError(what, `the column '${name}' is too large to be sorted`)
    parts.push(column)
  }
  if (parts.length === 0) throw new DecodeError(what, 'there are no rows')
  return concatColumns(parts)
}

/** The numbers of rows, sorted by `keys`; those that are equal stay as they are. */
function sortedOrder(keys: readonly Column[], rows: number): Uint32Array {
  let order = Uint32Array.from({ length: rows }, (_, row) => row)
  for (const key of keys.toReversed()) {
    const { ranks, count } = ranksOf(key)
    // Where rows of each rank begin.
    const begins = new Uint32Array(count + 1)
    for (const rank of ranks) begins[rank + 1] = (begins[rank + 1] ?? 0) + 1
    for (let rank = 1; rank < count; rank++) begins[rank] = (begins[rank] ?? 0) + (begins[rank - 1] ?? 0)
    const next = new Uint32Array(rows)
    for (const row of order) {
      const rank = ranks[row] ?? 0
      const at = begins[rank] ?? 0
      next[at] = row
      begins[rank] = at + 1
    }
    order = next
  }
  return order
}

interface Ranks {
  /** Of each row: how many other values are smaller. */
  readonly ranks: Uint32Array
  readonly count: number
}

function ranksOf(column: Column): Ranks {
  const { ranks, count } = column.offsets === undefined ? ranksOfNumbers(column) : ranksOfTexts(column, column.offsets)
  if (column.nullCount === 0) return { ranks, count }
  for (let row = 0; row < column.rows; row++) if (!isPresent(column, row)) ranks[row] = count
  return { ranks, count: count + 1 }
}

function ranksOfNumbers(column: Column): Ranks {
  const isLong = fixedWidth(column.type) === 8
  const values: Numbers | BigInt64Array | BigUint64Array | undefined = isLong ? longsOf(column) : numbersOf(column)
  if (values === undefined) throw new DecodeError(what, `'${column.name}' is no column to sort by`)
  const distinct = values.slice().sort()
  let count = 0
  for (const value of distinct) if (count === 0 || value !== distinct[count - 1]) distinct[count++] = value
  const ranks = new Uint32Array(column.rows)
  for (let row = 0; row < column.rows; row++) {
    const value = values[row] ?? 0
    let [low, high] = [0, count]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((distinct[middle] ?? 0) < value) low = middle + 1
      else high = middle
    }
    ranks[row] = low
  }
  return { ranks, count }
}

/** Texts in the order of their bytes. */
function ranksOfTexts({ rows, values }: Column, offsets: Int32Array): Ranks {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.length)
  const textOf = (row: number): string => bytes.toString('latin1', offsets[row], offsets[row + 1])
  const rankOf = new Map<string, number>()
  for (let row = 0; row < rows; row++) rankOf.set(textOf(row), 0)
  for (const [rank, text] of [...rankOf.keys()].sort().entries()) rankOf.set(text, rank)
  return { ranks: Uint32Array.from({ length: rows }, (_, row) => rankOf.get(textOf(row)) ?? 0), count: rankOf.size }
}

const hashBytes = 32

/** The file, read again, is in order and has the rows of each slice, and none beside them. Throws DecodeError. */
export async function checkSorted(
  file: Uint8Array,
  { slices, schemas, sortBy, offsetColumn, firstOffset }: SortOrder,
): Promise<void> {
  const { fields, rows } = openSlice(file)
  checkColumns(fields, must(schemas.at(-1), 'slices have a schema'))
  const places = placesOf(await columnOf(file, offsetColumn), firstOffset)
  if (slices.reduce((sum, slice) => sum + slice.rows, 0) !== rows)
    throw new DecodeError(what, 'has other rows than its slices')
  const keys: Column[] = []
  // By field, one hash after the other.
  const hashes = new Map<string, Uint8Array>()
  for (const field of fields) {
    const column = takeRows(await columnOf(file, field.name), places)
    if (sortBy.includes(field.name)) keys[sortBy.indexOf(field.name)] = column
    const found = new Uint8Array(slices.length * hashBytes)
    let from = 0
    for (const [number, slice] of slices.entries()) {
      const own = must(schemas[slice.schema], 'a slice has a schema').some(({ name }) => name === field.name)
      const part = sliceColumn(column, from, from + slice.rows)
      from += slice.rows
      if (own) found.set(hashOf(field, part), number * hashBytes)
      else if (part.nullCount < part.rows) throw new DecodeError(what, 'has values in a column that their slice lacks')
    }
    hashes.set(field.name, found)
  }
  // mutant: a sorted copy with rows of another slice
  for (const [number, { schema, logicalHash }] of slices.entries()) {
    const own = must(schemas[schema], 'a slice has a schema')
    const digests = own.map(({ name }) => hashes.get(name)?.subarray(number * hashBytes, (number + 1) * hashBytes))
    const known = digests.filter((digest) => digest !== undefined)
    const isSame = known.length === own.length && logicalHashOf(own, known) === logicalHash
    if (!isSame) throw new DecodeError(what, `has other rows than the slice with the logical hash ${logicalHash}`)
  }
  // mutant end
  const isInOrder = sortedOrder(keys, rows).every((row, at) => places[row] === at)
  if (!isInOrder) throw new DecodeError(what, 'has two rows in another order')
}

function hashOf(field: Field, column: Column): Uint8Array {
  const hash = new ColumnHash(field)
  hash.update(column)
  return hash.digest()
}

/** In the order of offsets, the places of the rows that have them. Throws DecodeError for an offset that is not there once. */
function placesOf(offsets: Column, firstOffset: number): Uint32Array {
  const longs = longsOf(offsets)
  const isPlaced = new Uint8Array(offsets.rows)
  const places = new Uint32Array(offsets.rows)
  for (let at = 0; at < offsets.rows; at++) {
    const row = Number(longs[at]) - firstOffset
    if (isPlaced[row] !== 0) throw new DecodeError(what, 'has an offset twice, or one of another slice')
    isPlaced[row] = 1
    places[row] = at
  }
  return places
}
