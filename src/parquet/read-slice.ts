// Reads slices back into columns, ours and those of other ODF software: for checking what was written and for fsck. The
// library reads the footer; read-pages.ts the chunks; here levels become nulls and lists, physical values those of the
// type. Source: Apache Parquet, parquet.thrift and LogicalTypes; levels as in the Dremel paper.

import { type FileMetaData, parquetMetadata, type SchemaElement } from 'hyparquet'
import { copyRange, isText, setBit } from '../arrow/buffers.ts'
import { fixedWidth, integerType, itemName, makeColumn } from '../arrow/columns.ts'
import { must } from '../lib/assert.ts'
import { DecodeError } from '../model/errors.ts'
import {
  type Column,
  type DataType,
  type Field,
  innerType,
  isOptional,
  optional,
  type RecordBatch,
  type TimeUnit,
} from '../model/schema.ts'
import { parquetReason } from './refusals.ts'
import { type ChunkContent, type Decompress, type LeafShape, type PageValues, readChunk } from './read-pages.ts'

const what = 'Parquet slice'
const maxColumnBytes = 2 ** 31 - 1

export interface SliceReaderOptions {
  /** Zstandard: turns a compressed page into its `length` bytes. Snappy and uncompressed pages need nothing. */
  readonly decompress?: Decompress
  /** Names of the columns to read; absent: all. */
  readonly columns?: readonly string[]
}

/** A slice's columns, in the file's order, and its rows in parts: one batch per row group. */
export interface SliceContent {
  readonly fields: readonly Field[]
  readonly rows: number
  readonly batches: AsyncIterable<RecordBatch>
}

/**
 * Opens a slice held in memory. Throws DecodeError for what is no Parquet file or has a column that no column can hold
 * (structs, maps, 96-bit and zoneless times); reading the batches throws it for damaged pages, and for encodings other
 * than PLAIN, RLE_DICTIONARY and RLE.
 */
export function openSlice(bytes: Uint8Array, options: SliceReaderOptions = {}): SliceContent {
  return guarded(() => {
    const metadata = parquetMetadata(bufferOf(bytes), { geoparquet: false })
    const columns = fileColumns(metadata.schema)
    const batches = readRowGroups(bytes, metadata, { columns, options })
    const wanted = columns.filter((column) => isWanted(column, options))
    return { fields: wanted.map(({ field }) => field), rows: Number(metadata.num_rows), batches }
  })
}

/**
 * The least and the greatest time in a column of milliseconds since 1970, as the end of a file with its whole footer says;
 * undefined where it says neither for some row group, or there are nulls. Finer units may be off by a millisecond. Throws
 * DecodeError for what is no footer.
 */
export function timeRange(end: Uint8Array, column: string): { readonly min: number; readonly max: number } | undefined {
  const { row_groups: groups } = guarded(() => parquetMetadata(bufferOf(end), { geoparquet: false }))
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const group of groups) {
    const chunk = group.columns.find(({ meta_data: meta }) => meta?.path_in_schema.join('.') === column)
    const { min_value: least, max_value: most, null_count: nulls } = chunk?.meta_data?.statistics ?? {}
    if (!(least instanceof Date && most instanceof Date) || nulls !== 0n) return undefined
    min = Math.min(min, least.getTime())
    max = Math.max(max, most.getTime())
  }
  return min <= max ? { min, max } : undefined
}

/** A field of the file: a plain type or lists of one, so that it has one leaf. */
interface FileColumn {
  readonly field: Field
  readonly shape: LeafShape
}

interface OpenFile {
  readonly columns: readonly FileColumn[]
  readonly options: SliceReaderOptions
}

function isWanted({ field }: FileColumn, { columns }: SliceReaderOptions): boolean {
  return columns === undefined || columns.includes(field.name)
}

async function* readRowGroups(
  bytes: Uint8Array,
  { row_groups: groups }: FileMetaData,
  { columns, options }: OpenFile,
): AsyncGenerator<RecordBatch> {
  for (const group of groups) {
    const rows = Number(group.num_rows)
    if (group.columns.length !== columns.length) throw new DecodeError(what, 'has a row group without all columns')
    const read = columns.flatMap((column, i) => {
      if (!isWanted(column, options)) return []
      const { field, shape } = column
      return guarded(() => {
        const meta = group.columns[i]?.meta_data
        if (meta === undefined) return refuse(field, 'has no metadata')
        const content = readChunk(bytes, meta, { shape, decompress: options.decompress })
        const column = levelColumn(field, { ...content, depth: 0, level: 0 }, { pages: content.pages, shape })
        return column.rows === rows ? column : refuse(field, `has ${column.rows} rows in a row group of ${rows}`)
      })
    })
    yield { rows, columns: read }
  }
}

/** Entries that stand inside lists of `depth` levels, all of which are there: at definition level `level`. */
interface LevelEntries extends Pick<ChunkContent, 'entries' | 'definition' | 'repetition'> {
  readonly depth: number
  readonly level: number
}

interface LeafContent {
  readonly pages: readonly PageValues[]
  readonly shape: LeafShape
}

/** The column of `field` at one level of nesting: its rows are the entries that do not continue one of its lists. */
function levelColumn(field: Field, at: LevelEntries, leaf: LeafContent): Column {
  const type = innerType(field.type)
  const nullable = isOptional(field.type)
  const { entries, definition, repetition, depth } = at
  const presentAt = at.level + (nullable ? 1 : 0)
  if (type.kind !== 'List') return leafColumn({ name: field.name, type, nullable }, at, leaf)
  const itemAt = presentAt + 1
  const starts = new Int32Array(entries + 1)
  const validity = new Uint8Array((entries + 7) >> 3)
  const inner = { definition: new Uint8Array(entries), repetition: new Uint8Array(entries) }
  let [rows, nullCount, items, kept] = [0, 0, 0, 0]
  for (let entry = 0; entry < entries; entry++) {
    const level = definition[entry] ?? 0
    const continues = (repetition[entry] ?? 0) > depth
    if (continues && (level < itemAt || entry === 0 || (definition[entry - 1] ?? 0) < itemAt)) {
      return refuse(field, 'continues a list that has not begun')
    }
    if (!continues) {
      starts[rows] = items
      if (level >= presentAt) setBit(validity, rows)
      else nullCount++
      rows++
    }
    if (level < itemAt) continue
    if ((repetition[entry] ?? 0) <= depth + 1) items++
    inner.definition[kept] = level
    inner.repetition[kept++] = repetition[entry] ?? 0
  }
  starts[rows] = items
  const child = levelColumn(
    { name: itemName, type: type.itemType },
    {
      entries: kept,
      definition: inner.definition.subarray(0, kept),
      repetition: inner.repetition.subarray(0, kept),
      depth: depth + 1,
      level: itemAt,
    },
    leaf,
  )
  return makeColumn({
    name: field.name,
    type,
    nullable,
    rows,
    nullCount,
    validity: nullCount === 0 ? undefined : validity.subarray(0, (rows + 7) >> 3),
    values: new Uint8Array(0),
    offsets: starts.subarray(0, rows + 1),
    child,
  })
}

/** The innermost column: a row per entry, a value where the definition level is the highest. */
function leafColumn(
  head: Pick<Column, 'name' | 'type' | 'nullable'>,
  { entries: rows, definition }: LevelEntries,
  { pages, shape }: LeafContent,
): Column {
  const { type } = head
  let [count, textBytes] = [0, 0]
  for (const page of pages) {
    count += page.count
    for (let i = 0; i < page.count; i++) textBytes += (page.ends?.[i] ?? 0) - (page.starts?.[i] ?? 0)
  }
  if (!fits(type, shape)) return refuse(head, `has values of ${shape.widthBytes} bytes for type ${type.kind}`)
  const own = fixedWidth(type)
  const bytes = own !== undefined ? own * rows : type.kind === 'Bool' ? (rows + 7) >> 3 : textBytes
  if (bytes > maxColumnBytes) return refuse(head, 'has more than 2 GiB in one row group')
  const nullCount = rows - count
  const validity = nullCount === 0 ? undefined : new Uint8Array((rows + 7) >> 3)
  const values = new Uint8Array(bytes)
  const offsets = shape.widthBytes === 0 ? new Int32Array(rows + 1) : undefined
  const isCopy = own === shape.widthBytes && !shape.isBigEndian
  const copyInteger = integerCopier(values, own ?? 0, shape)
  let [row, textEnd] = [0, 0]
  for (const page of pages) {
    const { bytes: source, starts, ends } = page
    if (isCopy && starts === undefined && validity === undefined) {
      values.set(source.subarray(0, page.count * own), row * own)
      row += page.count
      continue
    }
    for (let i = 0; i < page.count; i++) {
      if (validity !== undefined) {
        for (; row < rows && definition[row] !== shape.maxDefinition; row++) if (offsets) offsets[row + 1] = textEnd
        setBit(validity, row)
      }
      const start = starts === undefined ? i * shape.widthBytes : (starts[i] ?? 0)
      if (offsets !== undefined) {
        const end = ends?.[i] ?? start
        copyRange(values, textEnd, source, start, end)
        textEnd += end - start
        offsets[row + 1] = textEnd
      } else if (own !== undefined) copyInteger(row, source, start)
      else if (source[start] !== 0) setBit(values, row)
      row++
    }
  }
  offsets?.fill(textEnd, row + 1)
  if (type.kind === 'String' && !isText(values, must(offsets, 'offsets of text'))) refuse(head, 'is not UTF-8')
  return makeColumn({ ...head, rows, nullCount, validity, values, offsets, child: undefined })
}

/** Whether values of this physical form can be those of `type`. */
function fits(type: DataType, { isBoolean, isBigEndian, widthBytes }: LeafShape): boolean {
  const own = fixedWidth(type)
  if (type.kind === 'Bool' || isBoolean) return type.kind === 'Bool' && isBoolean
  if (own === undefined) return widthBytes === 0
  if (type.kind === 'Decimal') return widthBytes > 0
  return !isBigEndian && (own === widthBytes || (own < 4 && widthBytes === 4))
}

/**
 * Copies the integer (or the float of equal width) at `start` to its row, as `own` little-endian bytes: fewer than in
 * the file for short integers, more, filled up with the sign, for decimals.
 */
function integerCopier(out: Uint8Array, own: number, { widthBytes, isBigEndian }: LeafShape) {
  const same = Math.min(own, widthBytes)
  return (row: number, source: Uint8Array, start: number): void => {
    const at = row * own
    const last = start + widthBytes - 1
    if (isBigEndian) for (let b = 0; b < same; b++) out[at + b] = source[last - b] ?? 0
    else for (let b = 0; b < same; b++) out[at + b] = source[start + b] ?? 0
    if (own > same && (source[isBigEndian ? start : last] ?? 0) > 127) out.fill(255, at + same, at + own)
  }
}

/** The columns of a file, from its schema: the root, then each field depth first. */
function fileColumns(schema: readonly SchemaElement[]): FileColumn[] {
  const cursor = { at: 1 }
  const columns: FileColumn[] = []
  while (cursor.at < schema.length) columns.push(columnAt(schema, cursor, { maxDefinition: 0, maxRepetition: 0 }))
  return columns
}

const physicalWidths: Readonly<Record<string, number>> = { BOOLEAN: 1, INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8 }

function columnAt(
  schema: readonly SchemaElement[],
  cursor: { at: number },
  outer: Pick<LeafShape, 'maxDefinition' | 'maxRepetition'>,
): FileColumn {
  const element = schema[cursor.at++]
  if (element === undefined) throw new DecodeError(what, 'has fewer schema elements than it says')
  const { name, repetition_type: repetition } = element
  if (repetition === 'REPEATED') return refuse(element, 'is repeated without being a list')
  const isOptionalField = repetition === 'OPTIONAL'
  const levels = { ...outer, maxDefinition: outer.maxDefinition + (isOptionalField ? 1 : 0) }
  const typed = (type: DataType): Field => ({ name, type: isOptionalField ? optional(type) : type })
  if (element.num_children) {
    const items = listItems(schema, cursor, element, levels)
    return { field: typed({ kind: 'List', itemType: items.field.type }), shape: items.shape }
  }
  const { type = 'BYTE_ARRAY' } = element
  const isBigEndian = type === 'FIXED_LEN_BYTE_ARRAY'
  const widthBytes = isBigEndian ? (element.type_length ?? 0) : (physicalWidths[type] ?? 0)
  const field = typed(leafType(element))
  if (isBigEndian && !(widthBytes > 0 && widthBytes <= 16)) return refuse(element, `has values of ${widthBytes} bytes`)
  return { field, shape: { isBoolean: type === 'BOOLEAN', isBigEndian, widthBytes, ...levels } }
}

/** The items of a three-level list; its two inner levels follow in the schema. */
function listItems(
  schema: readonly SchemaElement[],
  cursor: { at: number },
  list: SchemaElement,
  { maxDefinition, maxRepetition }: Pick<LeafShape, 'maxDefinition' | 'maxRepetition'>,
): FileColumn {
  const isList = list.converted_type === 'LIST' || list.logical_type?.type === 'LIST'
  const repeated = schema[cursor.at++]
  const isPlain = list.num_children === 1 && repeated?.repetition_type === 'REPEATED' && repeated.num_children === 1
  if (!isList || !isPlain) return refuse(list, 'is neither plain nor a three-level list')
  return columnAt(schema, cursor, { maxDefinition: maxDefinition + 1, maxRepetition: maxRepetition + 1 })
}

function refuse(column: { readonly name: string }, reason: string): never {
  throw new DecodeError(what, `column "${column.name}" ${reason}`)
}

const units: Readonly<Record<string, TimeUnit>> = { MILLIS: 'Millisecond', MICROS: 'Microsecond', NANOS: 'Nanosecond' }

/** Types of leaves without annotation. */
const plainKinds: Readonly<Record<string, 'Bool' | 'Int32' | 'Int64' | 'Float32' | 'Float64' | 'Binary'>> = {
  BOOLEAN: 'Bool',
  INT32: 'Int32',
  INT64: 'Int64',
  FLOAT: 'Float32',
  DOUBLE: 'Float64',
  BYTE_ARRAY: 'Binary',
}

function leafType(element: SchemaElement): DataType {
  const { type = '', logical_type: logical, converted_type: converted } = element
  if (logical?.type === 'DECIMAL' || converted === 'DECIMAL') return decimalType(element)
  if (logical?.type === 'TIMESTAMP') {
    if (!logical.isAdjustedToUTC) return refuse(element, 'is a timestamp without time zone')
    return { kind: 'Timestamp', unit: must(units[logical.unit], 'a time unit'), timezone: 'UTC' }
  }
  if (logical?.type === 'TIME') return { kind: 'Time', unit: must(units[logical.unit], 'a time unit') }
  if (logical?.type === 'INTEGER') return integer(element, logical.bitWidth, logical.isSigned)
  if (converted !== undefined) return convertedType(element, converted)
  if (logical?.type === 'STRING' || logical?.type === 'JSON') return { kind: 'String' }
  if (logical?.type === 'DATE') return { kind: 'Date' }
  const kind = plainKinds[type]
  return kind === undefined ? refuse(element, `has the unsupported type ${type}`) : { kind }
}

function decimalType(element: SchemaElement): DataType {
  const { precision = 0, scale = 0 } = element
  if (precision < 1 || precision > 38 || scale < 0 || scale > precision) {
    return refuse(element, `is a decimal of ${precision} digits, ${scale} of them behind the point`)
  }
  return { kind: 'Decimal', precision, scale }
}

function integer(element: SchemaElement, bits: number, isSigned: boolean): DataType {
  return integerType(bits, isSigned) ?? refuse(element, `has integers of ${bits} bits`)
}

/** The type of a leaf with only the older annotation, or with a newer one that is not understood. */
function convertedType(element: SchemaElement, annotation: string): DataType {
  const [, unsigned, bits] = /^(U?)INT_(\d+)$/.exec(annotation) ?? []
  if (bits !== undefined) return integer(element, Number(bits), unsigned === '')
  const [, kind, unit = ''] = /^(TIMESTAMP|TIME)_(MILLIS|MICROS)$/.exec(annotation) ?? []
  const timeUnit = units[unit]
  if (timeUnit !== undefined) {
    return kind === 'TIME' ? { kind: 'Time', unit: timeUnit } : { kind: 'Timestamp', unit: timeUnit, timezone: 'UTC' }
  }
  if (annotation === 'UTF8' || annotation === 'JSON') return { kind: 'String' }
  if (annotation === 'DATE') return { kind: 'Date' }
  if (annotation === 'ENUM' || annotation === 'BSON') return { kind: 'Binary' }
  return refuse(element, `has the unsupported annotation ${annotation}`)
}

/** `bytes` as an ArrayBuffer of their own, copied unless they fill theirs. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength) return buffer
  const copy = new ArrayBuffer(bytes.length)
  new Uint8Array(copy).set(bytes)
  return copy
}

/** The library throws plain errors; outside of this file they are DecodeErrors. */
function guarded<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asDecodeError(error)
  }
}

function asDecodeError(error: unknown): DecodeError {
  const reason = parquetReason(error)
  if (reason !== undefined) return new DecodeError(what, reason)
  return new DecodeError(what, error instanceof Error ? error.message : String(error))
}
