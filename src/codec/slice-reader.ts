// Reads slices back into columns, ours and those of other ODF software: for checking hashes and for merging files. Exact:
// the library is handed a schema without annotations, so that it gives physical values, and types are applied here.

import { type FileMetaData, parquetMetadata, parquetRead, type RowGroup, type SchemaElement } from 'hyparquet'
import { must } from '../lib/assert.ts'
import { DecodeError } from '../model/errors.ts'
import type { Column, RecordBatch } from '../model/record-batch.ts'
import { type DataType, type Field, optional, type TimeUnit } from '../model/schema.ts'
import { isText } from './arrow-text.ts'
import { type ColumnBuilder, createColumnBuilder } from './column-builder.ts'
import { concatBatches, fixedWidth, nullColumn } from './columns.ts'
import { checkPages } from './slice-pages.ts'

const what = 'Parquet slice'
const maxRows = 2 ** 31 - 1
// A footer's word for more is not worth memory before the rows are there.
const trustedRows = 131_072

export interface SliceReaderOptions {
  /** Zstandard: turns a compressed page into its `length` bytes. Snappy and uncompressed pages need nothing. */
  readonly decompress?: (bytes: Uint8Array, length: number) => Uint8Array
}

/** A slice's columns, in the file's order, and its rows in parts: one batch per row group. */
export interface SliceContent {
  readonly fields: readonly Field[]
  readonly rows: number
  readonly batches: AsyncIterable<RecordBatch>
}

/**
 * Opens a slice held in memory. Throws DecodeError for what is no Parquet file or has a column that no column can hold
 * (structs, maps, 96-bit and zoneless times); reading the batches throws it for damaged pages.
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
  const reader = new ChunkReader(bytes, metadata.schema, options)
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows)
    if (!(rows >= 0 && rows <= maxRows)) throw new DecodeError(what, 'has an impossible number of rows')
    if (group.columns.length !== fields.length) throw new DecodeError(what, 'has a row group without all columns')
    const columns: Column[] = []
    for (const [i, field] of fields.entries()) {
      columns.push(await reader.read(field, { ...group, columns: group.columns.slice(i, i + 1) }))
    }
    yield { rows, columns }
  }
}

/**
 * Reads one column of one row group at a time: less memory, and the library never holds two promises of which it could
 * drop one that fails.
 */
class ChunkReader {
  private readonly bytes: Uint8Array
  private readonly schema: SchemaElement[]
  private readonly file: { byteLength: number; slice: (start: number, end?: number) => ArrayBuffer }
  private readonly decompress: SliceReaderOptions['decompress']

  constructor(bytes: Uint8Array, schema: readonly SchemaElement[], options: SliceReaderOptions) {
    this.bytes = bytes
    this.schema = schema.map(withoutAnnotations)
    this.file = { byteLength: bytes.length, slice: (start, end) => bufferOf(bytes.subarray(start, end)) }
    this.decompress = options.decompress
  }

  async read(field: Field, group: RowGroup): Promise<Column> {
    const rows = Number(group.num_rows)
    const builder = createColumnBuilder(field, Math.min(rows, trustedRows))
    const chunks: Chunk[] = []
    guarded(() => checkPages(this.bytes, group, builder.items !== undefined))
    await guardedAsync(
      parquetRead({
        file: this.file,
        metadata: {
          version: 1,
          schema: this.schema,
          num_rows: group.num_rows,
          row_groups: [group],
          metadata_length: 0,
        },
        utf8: false,
        geoparquet: false,
        ...(this.decompress === undefined ? {} : { compressors: { ZSTD: this.decompress } }),
        onChunk: (chunk) => chunks.push(chunk),
      }),
    )
    chunks.sort((a, b) => a.rowStart - b.rowStart)
    for (const chunk of chunks) if (chunk.columnName === field.name) appendAll(builder, chunk.columnData)
    if (builder.rows !== rows) {
      throw new DecodeError(what, `column "${field.name}" has ${builder.rows} rows in a row group of ${rows}`)
    }
    return checked(builder.finish())
  }
}

interface Chunk {
  readonly columnName: string
  readonly columnData: ArrayLike<unknown>
  readonly rowStart: number
}

function checked(column: Column): Column {
  let leaf = column
  while (leaf.child !== undefined) leaf = leaf.child
  if (leaf.type.kind === 'String' && !isText(leaf.values, must(leaf.offsets, 'offsets of text'))) {
    throw new DecodeError(what, `column "${column.name}" is not UTF-8`)
  }
  return column
}

function appendAll(builder: ColumnBuilder, values: ArrayLike<unknown>): void {
  const append = appender(builder)
  const { length } = values
  for (let i = 0; i < length; i++) {
    const value = values[i]
    if (value !== null && value !== undefined) append(value)
    else if (builder.nullable) builder.appendNull()
    else throw new DecodeError(what, `column "${builder.name}" is required and has nulls`)
  }
}

/** What appends a physical value of the library to a column of the builder's type. */
function appender(builder: ColumnBuilder): (value: unknown) => void {
  const { type, name } = builder
  const wrong = (): never => {
    throw new DecodeError(what, `column "${name}" holds a value that is no ${type.kind}`)
  }
  switch (type.kind) {
    case 'Bool':
      return (value) => (typeof value === 'boolean' ? builder.appendBool(value) : wrong())
    case 'Float32':
    case 'Float64':
      return (value) => (typeof value === 'number' ? builder.appendFloat64(value) : wrong())
    case 'String':
    case 'Binary':
      return (value) => (value instanceof Uint8Array ? builder.appendBytes(value, 0, value.length) : wrong())
    case 'Decimal':
      return (value) => builder.appendDecimal(decimalOf(value) ?? wrong())
    case 'List': {
      const items = must(builder.items, 'items of a list')
      return (value) => {
        if (!Array.isArray(value)) wrong()
        else appendAll(items, value)
        builder.endList()
      }
    }
    default:
      if (fixedWidth(type) === 8) {
        return (value) => (typeof value === 'bigint' ? builder.appendBigInt64(value) : wrong())
      }
      return (value) => (typeof value === 'number' ? builder.appendInt32(value) : wrong())
  }
}

function decimalOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return BigInt(value)
  if (!(value instanceof Uint8Array) || value.length > 16) return undefined
  let unsigned = 0n
  for (const byte of value) unsigned = (unsigned << 8n) | BigInt(byte)
  return BigInt.asIntN(8 * value.length, unsigned)
}

/** The element with what the library needs to find values and lists, but not to convert them. */
function withoutAnnotations(element: SchemaElement): SchemaElement {
  const { type, type_length, repetition_type, name, num_children, converted_type } = element
  return {
    name,
    ...(type === undefined ? {} : { type }),
    ...(type_length === undefined ? {} : { type_length }),
    ...(repetition_type === undefined ? {} : { repetition_type }),
    ...(num_children === undefined ? {} : { num_children }),
    ...(converted_type === 'LIST' || isListType(element) ? { converted_type: 'LIST' as const } : {}),
  }
}

function isListType({ num_children, logical_type }: SchemaElement): boolean {
  return num_children === 1 && logical_type?.type === 'LIST'
}

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

async function guardedAsync(reading: Promise<void>): Promise<void> {
  try {
    await reading
  } catch (error) {
    throw asDecodeError(error)
  }
}

function asDecodeError(error: unknown): DecodeError {
  if (error instanceof DecodeError) return error
  return new DecodeError(what, error instanceof Error ? error.message : String(error))
}
