// Reads slices back into columns, ours and those of other ODF software: for checking what was written and for fsck. Row
// groups are read whole, with the readers of pages that files of others are read with (chunk-pages.ts, leaf-cursor.ts); here
// levels become columns of lists. Source: Apache Parquet, LogicalTypes ("Lists").

import { concatColumns, itemName, makeColumn } from '../arrow/columns.ts'
import { must } from '../../base/assert.ts'
import { concatBytes } from '../../base/bytes.ts'
import {
  type Column,
  type DataType,
  type Field,
  innerType,
  isOptional,
  optional,
  type RecordBatch,
} from '../../model/schema.ts'
import { snappyUncompress } from './block-codecs.ts'
import { fillTexts, PendingTexts } from './bytes-column.ts'
import { ChunkPages, type PageSource } from './chunk-pages.ts'
import { type FileColumn, fileColumns, type SchemaNode } from './file-columns.ts'
import { fewerValues, readFixedColumn } from './fixed-column.ts'
import { checkChunk, type Footer, logicalTypes, readFooter, type RowGroup } from './footer.ts'
import { physicalTypes } from './page-header.ts'
import { type Leaf, LeafCursor } from './leaf-cursor.ts'
import type { LeafType } from './leaf-types.ts'
import { type Levels, lists } from './levels.ts'
import { damaged, inColumn, unsupported } from './refusals.ts'

/** Values of a column in one row group, items of lists counted; more are not read. */
const maxEntries = 2 ** 25
const maxPageBytes = 2 ** 30
const maxColumnBytes = 2 ** 31 - 1
const maxDepth = 64

/** Turns a compressed page into its `length` bytes. */
export type Decompress = (bytes: Uint8Array, length: number) => Uint8Array

export interface SliceReaderOptions {
  /** Zstandard: turns a compressed page into its `length` bytes. Snappy and uncompressed pages need nothing. */
  readonly decompress?: Decompress
  /** Names of the columns to read; absent: all. */
  readonly columns?: readonly string[]
  /** Whether the row group with the rows [start, end) is read; the others come without columns. Absent: all are. */
  readonly isRead?: (start: number, end: number) => boolean
}

/** A slice's columns, in the file's order, and its rows in parts: one batch per row group. */
export interface SliceContent {
  readonly fields: readonly Field[]
  readonly rows: number
  readonly batches: AsyncIterable<RecordBatch>
}

/** A plain column, or lists of one: it has one leaf. */
interface SliceColumn {
  readonly field: Field
  readonly leaf: Leaf
}

/**
 * Opens a slice held in memory. Throws DecodeError for what is no Parquet file or has a column that no column can hold
 * (structs, maps, 96-bit and zoneless times); reading the batches throws it for damaged pages.
 */
export function openSlice(bytes: Uint8Array, options: SliceReaderOptions = {}): SliceContent {
  const footer = footerOf(bytes)
  const columns = fileColumns(footer.schema, maxDepth).map(sliceColumn)
  const wanted = columns.filter(({ field }) => options.columns?.includes(field.name) ?? true)
  const source = sliceSource(bytes, options.decompress)
  const batches = readRowGroups(footer, { ...options, all: columns.length, wanted, source, bytes: bytes.length })
  return { fields: wanted.map(({ field }) => field), rows: footer.rows, batches }
}

function footerOf(bytes: Uint8Array): Footer {
  const end = bytes.length - 8
  const magic = bytes.length < 12 ? '' : String.fromCharCode(...bytes.subarray(0, 4), ...bytes.subarray(end + 4))
  if (magic !== 'PAR1PAR1') return damaged('does not begin and end as a Parquet file does (PAR1)')
  const length = new DataView(bytes.buffer, bytes.byteOffset + end, 4).getUint32(0, true)
  if (length > end - 4) return damaged('says that its footer is longer than the file')
  return readFooter(bytes.subarray(end - length, end), { rowGroups: length, schemaElements: length }, [])
}

function sliceColumn({ node, leaves }: FileColumn): SliceColumn {
  try {
    for (const { leafType } of leaves) if (leafType.refusal !== undefined) throw leafType.refusal
    return { field: { name: node.name, type: columnType(node) }, leaf: must(leaves[0], 'a leaf') }
  } catch (error) {
    throw inColumn(error, node.name)
  }
}

function columnType(node: SchemaNode): DataType {
  if (node.isRepeated) return unsupported('is repeated without being a list')
  const type: DataType =
    node.leaf === undefined
      ? { kind: 'List', itemType: columnType(listItem(node)) }
      : plainType(node, node.leaf.leafType)
  return node.isOptional ? optional(type) : type
}

/** The items of a list of three levels. */
function listItem({ element, children }: SchemaNode): SchemaNode {
  const [repeated] = children
  const [item] = repeated?.children ?? []
  const isList = element.logical?.member === logicalTypes.list || element.converted === 3
  const isPlain = children.length === 1 && repeated?.isRepeated === true && repeated.children.length === 1
  return isList && isPlain && item !== undefined ? item : unsupported('is neither plain nor a three-level list')
}

/** The type of a leaf as the Arrow library of Rust has it, by which other ODF software writes slices. */
function plainType({ element }: SchemaNode, { type, reading, physical: stored }: LeafType): DataType {
  if (element.logical?.member === logicalTypes.enum || element.converted === 4) return { kind: 'Binary' }
  if (type.kind === 'Timestamp' && type.timezone === undefined) return unsupported('is a timestamp without time zone')
  const isColumn =
    reading !== 'uuid' && reading !== 'none' && (stored !== physicalTypes.fixed || type.kind === 'Decimal')
  return isColumn ? type : unsupported('has a type that no column of a dataset has')
}

/** The pages of a file in memory. Their checksums are not looked at: a slice has a hash. */
function sliceSource(file: Uint8Array, decompress: Decompress | undefined): PageSource {
  return {
    windowBytes: file.length,
    at: (start, end) => Promise.resolve(file.subarray(start, end)),
    hold: (bytes) => {
      if (bytes > maxPageBytes) damaged('has a page of impossible size')
    },
    inflate: (codec, stored, length) => {
      if (codec === 1) return snappyUncompress(stored, length)
      const page = codec === 0 ? stored : codec === 6 ? unzstd(stored, length, decompress) : unknownCodec(codec)
      return page.length === length ? page : damaged('has a page of another size than its header says')
    },
  }
}

function unknownCodec(codec: number): never {
  return unsupported(`is compressed with the codec number ${codec}, which slices do not have`)
}

function unzstd(stored: Uint8Array, length: number, decompress: Decompress | undefined): Uint8Array {
  if (decompress === undefined) {
    return unsupported('is compressed with Zstandard, for which no decompressor was given')
  }
  try {
    return decompress(stored, length)
  } catch (error) {
    return damaged(`has a page that is no sound ZSTD (${error instanceof Error ? error.message : String(error)})`)
  }
}

interface OpenSlice {
  /** How many columns the file has. */
  readonly all: number
  readonly wanted: readonly SliceColumn[]
  readonly source: PageSource
  readonly bytes: number
  readonly isRead?: SliceReaderOptions['isRead']
}

async function* readRowGroups(footer: Footer, slice: OpenSlice): AsyncGenerator<RecordBatch> {
  let start = 0
  for (let index = 0; index < footer.rowGroups; index++) {
    const group = footer.rowGroup(index)
    if (group.chunks.length !== slice.all) damaged('has a row group without all columns')
    const columns: Column[] = []
    const wanted = (slice.isRead?.(start, start + group.rows) ?? true) ? slice.wanted : []
    for (const column of wanted) columns.push(await readColumn(column, group, slice))
    start += group.rows
    yield { rows: group.rows, columns }
  }
}

async function readColumn({ field, leaf }: SliceColumn, group: RowGroup, slice: OpenSlice): Promise<Column> {
  const chunk = must(group.chunks[leaf.index], 'a chunk')
  try {
    checkChunk(chunk, group.rows, leaf, slice.bytes)
    if (chunk.values > maxEntries) unsupported(`has ${chunk.values} values in one row group`)
    const cursor = new LeafCursor(leaf, new ChunkPages(slice.source, chunk, leaf))
    const isList = innerType(field.type).kind === 'List'
    const column = await (isList ? readLists(cursor, field) : readEntries(cursor, field, group.rows))
    return column.rows === group.rows ? column : damaged(`has ${column.rows} rows in a row group of ${group.rows}`)
  } catch (error) {
    throw inColumn(error, field.name)
  }
}

/** The next `rows` entries as rows. */
async function readEntries(cursor: LeafCursor, field: Field, rows: number): Promise<Column> {
  if (cursor.leaf.leafType.reading !== 'bytes') return readFixedColumn(cursor, field, rows)
  const pending = new PendingTexts()
  if (!(await fillTexts(pending, cursor, { rows, bytes: maxColumnBytes }))) return damaged(fewerValues)
  return pending.rows === rows ? pending.cut(field, rows) : unsupported('has more than 2 GiB in one row group')
}

/** All entries as lists. */
async function readLists(cursor: LeafCursor, field: Field): Promise<Column> {
  let [item, itemAt] = [field, 0]
  for (let type = innerType(item.type); type.kind === 'List'; type = innerType(item.type)) {
    itemAt += isOptional(item.type) ? 2 : 1
    item = { name: itemName, type: type.itemType }
  }
  const definition: Uint8Array[] = []
  const repetition: Uint8Array[] = []
  const items: Column[] = []
  while (await cursor.more()) {
    const { isFull, tail, leaf } = cursor
    definition.push(isFull ? new Uint8Array(tail).fill(leaf.maxDefinition) : cursor.definition.slice(0, tail))
    repetition.push(cursor.repetition.slice(0, tail))
    const count = cursor.keepItems(itemAt)
    if (count > 0) items.push(await readEntries(cursor, item, count))
  }
  if (items.length === 0) items.push(await readEntries(cursor, item, 0))
  const levels = { definition: concatBytes(definition), repetition: concatBytes(repetition) }
  return listColumn(field, levels, { depth: 0, at: 0, leaf: concatColumns(items) })
}

/** The column of `field`, of entries that are there at definition level `at`, inside of `depth` lists. */
function listColumn(field: Field, levels: Levels, { depth, at, leaf }: ListPlace): Column {
  const type = innerType(field.type)
  if (type.kind !== 'List') return leaf
  const nullable = isOptional(field.type)
  const presentAt = at + (nullable ? 1 : 0)
  const { items, ...parts } = lists(levels, { depth, presentAt, itemAt: presentAt + 1 })
  const inner = { name: itemName, type: type.itemType }
  const child = listColumn(inner, items, { depth: depth + 1, at: presentAt + 1, leaf })
  return makeColumn({ name: field.name, type, nullable, ...parts, values: new Uint8Array(0), child })
}

interface ListPlace {
  readonly depth: number
  readonly at: number
  readonly leaf: Column
}
