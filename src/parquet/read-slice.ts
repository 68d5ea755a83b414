// Reads slices back into columns, ours and those of other ODF software: for checking hashes and for merging files. The
// library reads footers and page headers and undoes Snappy; pages become columns here, exactly and bounded.
// Source: Apache Parquet, parquet.thrift and LogicalTypes.md.

import { type ColumnChunk, type FileMetaData, parquetMetadata, type SchemaElement } from 'hyparquet'
import { concatBatches, nullColumn } from '../arrow/columns.ts'
import { must } from '../lib/assert.ts'
import { DecodeError } from '../model/errors.ts'
import type { Column, RecordBatch } from '../model/record-batch.ts'
import { type DataType, type Field, optional, type TimeUnit } from '../model/schema.ts'
import { columnOfChunk, fromBigEndian } from './read-columns.ts'
import { type Decompress, type LeafShape, readChunk } from './read-pages.ts'

const what = 'Parquet slice'

export interface SliceReaderOptions {
  /** Zstandard: turns a compressed page into its `length` bytes. Snappy and uncompressed pages need nothing. */
  readonly decompress?: Decompress
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
 * than PLAIN, RLE_DICTIONARY and RLE. Columns may share memory with `bytes`.
 */
export function openSlice(bytes: Uint8Array, options: SliceReaderOptions = {}): SliceContent {
  const metadata = guarded(() => parquetMetadata(bufferOf(bytes), { geoparquet: false }))
  const fields = sliceFields(metadata.schema)
  return { fields, rows: Number(metadata.num_rows), batches: readRowGroups(bytes, { metadata, fields, options }) }
}

/** All rows of a slice as one batch. Throws as `openSlice`. */
export async function readSlice(bytes: Uint8Array, options: SliceReaderOptions = {}): Promise<RecordBatch> {
  const { fields, rows, batches } = openSlice(bytes, options)
  const parts: RecordBatch[] = []
  for await (const batch of batches) parts.push(batch)
  const whole =
    parts.length > 0 ? concatBatches(parts) : { rows: 0, columns: fields.map((field) => nullColumn(field, 0)) }
  if (whole.rows !== rows) throw new DecodeError(what, `has ${whole.rows} rows, its footer says ${rows}`)
  return whole
}

interface OpenFile {
  readonly metadata: FileMetaData
  readonly fields: readonly Field[]
  readonly options: SliceReaderOptions
}

async function* readRowGroups(bytes: Uint8Array, { metadata, fields, options }: OpenFile): AsyncGenerator<RecordBatch> {
  const shapes = fields.map((_, i) => leafShape(metadata.schema, i))
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows)
    if (group.columns.length !== fields.length) throw new DecodeError(what, 'has a row group without all columns')
    const columns = fields.map((field, i) => {
      const shape = must(shapes[i], 'a shape for each field')
      return guarded(() => readColumn(bytes, { field, shape, chunk: group.columns[i], options }))
    })
    for (const column of columns) {
      if (column.rows === rows) continue
      throw new DecodeError(what, `column "${column.name}" has ${column.rows} rows in a row group of ${rows}`)
    }
    yield { rows, columns }
  }
}

interface OneColumn {
  readonly field: Field
  readonly shape: LeafShape & { readonly isBigEndian: boolean }
  readonly chunk: ColumnChunk | undefined
  readonly options: SliceReaderOptions
}

function readColumn(bytes: Uint8Array, { field, shape, chunk, options }: OneColumn): Column {
  if (chunk?.meta_data === undefined) throw new DecodeError(what, `column "${field.name}" has no metadata`)
  const content = readChunk(bytes, chunk.meta_data, { shape, decompress: options.decompress })
  if (!shape.isBigEndian) return columnOfChunk(field, content, shape)
  const values = fromBigEndian(content.values, shape.width)
  return columnOfChunk(field, { ...content, values }, { ...shape, width: 16 })
}

/** What the schema says of the leaf of field `index`: the fields are plain or lists, so that each has one. */
function leafShape(schema: readonly SchemaElement[], index: number): LeafShape & { readonly isBigEndian: boolean } {
  let leaf = -1
  let maxDefinition = 0
  let maxRepetition = 0
  for (const element of schema.slice(1)) {
    if (leaf + 1 === index) {
      if (element.repetition_type !== 'REQUIRED') maxDefinition++
      if (element.repetition_type === 'REPEATED') maxRepetition++
    }
    if (element.num_children) continue
    leaf++
    if (leaf < index) continue
    const { type = 'BYTE_ARRAY' } = element
    const isBigEndian = type === 'FIXED_LEN_BYTE_ARRAY'
    const width = isBigEndian ? (element.type_length ?? 0) : (physicalWidths[type] ?? 0)
    if (isBigEndian && !(width > 0 && width <= 16)) return refuse(element, `has values of ${width} bytes`)
    return { isBoolean: type === 'BOOLEAN', width, isBigEndian, maxDefinition, maxRepetition }
  }
  throw new DecodeError(what, 'has fewer columns than its schema says')
}

const physicalWidths: Readonly<Record<string, number>> = { BOOLEAN: 1, INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8 }

function sliceFields(schema: readonly SchemaElement[]): Field[] {
  const cursor = { at: 1 }
  const fields: Field[] = []
  while (cursor.at < schema.length) fields.push(fieldAt(schema, cursor))
  return fields
}

function fieldAt(schema: readonly SchemaElement[], cursor: { at: number }): Field {
  const element = schema[cursor.at++]
  if (element === undefined) throw new DecodeError(what, 'has fewer schema elements than it says')
  const type = element.num_children ? listType(schema, cursor, element) : leafType(element)
  if (element.repetition_type === 'REPEATED') return refuse(element, 'is repeated without being a list')
  return { name: element.name, type: element.repetition_type === 'OPTIONAL' ? optional(type) : type }
}

/** The type of a three-level list; its two inner levels follow in the schema. */
function listType(schema: readonly SchemaElement[], cursor: { at: number }, element: SchemaElement): DataType {
  const isList = element.converted_type === 'LIST' || element.logical_type?.type === 'LIST'
  const repeated = schema[cursor.at++]
  if (
    !isList ||
    element.num_children !== 1 ||
    repeated?.repetition_type !== 'REPEATED' ||
    repeated.num_children !== 1
  ) {
    return refuse(element, 'is neither plain nor a three-level list')
  }
  const item = fieldAt(schema, cursor)
  return { kind: 'List', itemType: item.type }
}

function refuse(element: SchemaElement, reason: string): never {
  throw new DecodeError(what, `column "${element.name}" ${reason}`)
}

const units: Readonly<Record<string, TimeUnit>> = { MILLIS: 'Millisecond', MICROS: 'Microsecond', NANOS: 'Nanosecond' }

function leafType(element: SchemaElement): DataType {
  const { type, logical_type: logical, converted_type: converted } = element
  if (logical?.type === 'DECIMAL' || converted === 'DECIMAL') return decimalType(element)
  if (logical?.type === 'TIMESTAMP') {
    if (!logical.isAdjustedToUTC) return refuse(element, 'is a timestamp without time zone')
    return { kind: 'Timestamp', unit: must(units[logical.unit], 'a time unit'), timezone: 'UTC' }
  }
  if (logical?.type === 'TIME') return { kind: 'Time', unit: must(units[logical.unit], 'a time unit') }
  if (logical?.type === 'INTEGER') return intType(logical.bitWidth, logical.isSigned)
  if (converted !== undefined) return convertedType(element)
  if (logical?.type === 'STRING' || logical?.type === 'JSON') return { kind: 'String' }
  if (logical?.type === 'DATE') return { kind: 'Date' }
  switch (type) {
    case 'BOOLEAN':
      return { kind: 'Bool' }
    case 'INT32':
      return { kind: 'Int32' }
    case 'INT64':
      return { kind: 'Int64' }
    case 'FLOAT':
      return { kind: 'Float32' }
    case 'DOUBLE':
      return { kind: 'Float64' }
    case 'BYTE_ARRAY':
      return { kind: 'Binary' }
    default:
      return refuse(element, `has the unsupported type ${type}`)
  }
}

function decimalType(element: SchemaElement): DataType {
  const { precision = 0, scale = 0 } = element
  if (precision < 1 || precision > 38 || scale < 0 || scale > precision) {
    return refuse(element, `is a decimal of ${precision} digits, ${scale} of them behind the point`)
  }
  return { kind: 'Decimal', precision, scale }
}

function intType(bits: number, signed: boolean): DataType {
  if (bits === 8) return { kind: signed ? 'Int8' : 'UInt8' }
  if (bits === 16) return { kind: signed ? 'Int16' : 'UInt16' }
  if (bits === 32) return { kind: signed ? 'Int32' : 'UInt32' }
  return { kind: signed ? 'Int64' : 'UInt64' }
}

function convertedType(element: SchemaElement): DataType {
  const text = element.converted_type ?? ''
  const [, unsigned, bits] = /^(U?)INT_(\d+)$/.exec(text) ?? []
  if (bits !== undefined) return intType(Number(bits), unsigned === '')
  const [, kind, unit] = /^(TIMESTAMP|TIME)_(MILLIS|MICROS)$/.exec(text) ?? []
  if (unit !== undefined) {
    const timeUnit = must(units[unit], 'a time unit')
    return kind === 'TIME' ? { kind: 'Time', unit: timeUnit } : { kind: 'Timestamp', unit: timeUnit, timezone: 'UTC' }
  }
  if (text === 'UTF8' || text === 'JSON') return { kind: 'String' }
  if (text === 'DATE') return { kind: 'Date' }
  if (text === 'ENUM' || text === 'BSON') return { kind: 'Binary' }
  return refuse(element, `has the unsupported annotation ${text}`)
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
  if (error instanceof DecodeError) return error
  return new DecodeError(what, error instanceof Error ? error.message : String(error))
}
