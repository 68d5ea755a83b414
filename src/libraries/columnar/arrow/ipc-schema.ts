// Arrow schemas in FlatBuffers: the first message of an IPC stream, from and to our fields. Only types that a column
// can hold. Source: Apache Arrow format/Schema.fbs and format/Message.fbs, metadata version V5.

import { must } from '../../base/assert.ts'
import {
  type DataType,
  type Field,
  type TimeUnit,
  innerType,
  isOptional,
  noZone,
  optional,
  timeUnits,
} from '../../model/schema.ts'
import { FlatBufferReader, type TableCursor } from '../../base/flatbuffer-reader.ts'
import { FlatBufferWriter } from '../../base/flatbuffer-writer.ts'
import { columnLayout, integerType, itemName } from './columns.ts'

export const metadataV5 = 4
export const metadataV4 = 3
/** Members of the union MessageHeader. */
export const messageHeaders = { schema: 1, dictionaryBatch: 2, recordBatch: 3 } as const

/** Members of the union Type that columns of ours have. */
export const typeMembers = {
  int: 2,
  floatingPoint: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  list: 12,
} as const

/** The FlatBuffer of a schema message. Fields are of types that a column can hold. */
export function encodeSchemaMetadata(fields: readonly Field[]): Uint8Array {
  const writer = new FlatBufferWriter()
  const vector = writer.offsetVector(fields.map((field) => writeField(writer, field)))
  writer.startTable(4)
  writer.addI16(0, 0) // little-endian
  writer.addOffset(1, vector)
  const schema = writer.endTable()
  writer.startTable(5)
  writer.addU64(3, 0)
  writer.addOffset(2, schema)
  writer.addI16(0, metadataV5)
  writer.addU8(1, messageHeaders.schema)
  return writer.finish(writer.endTable())
}

function writeField(writer: FlatBufferWriter, field: Field): number {
  const type = innerType(field.type)
  must(columnLayout(type), `a column type, not ${type.kind}`)
  const items = type.kind === 'List' ? [writeField(writer, { name: itemName, type: type.itemType })] : []
  const children = writer.offsetVector(items)
  const name = writer.string(field.name)
  const zone = type.kind === 'Timestamp' && type.timezone !== noZone ? writer.string(type.timezone ?? 'UTC') : 0
  const member = writeType(writer, type, zone)
  const table = writer.endTable()
  writer.startTable(7)
  writer.addOffset(0, name)
  writer.addOffset(3, table)
  writer.addOffset(5, children)
  writer.addU8(1, isOptional(field.type) ? 1 : 0)
  writer.addU8(2, member)
  return writer.endTable()
}

/** Opens and fills the table of a type; returns its member of the union Type. `zone`: position of the time zone. */
function writeType(writer: FlatBufferWriter, type: DataType, zone: number): number {
  switch (type.kind) {
    case 'Bool':
    case 'String':
    case 'Binary':
    case 'List':
      writer.startTable(0)
      return { Bool: typeMembers.bool, String: typeMembers.utf8, Binary: typeMembers.binary, List: typeMembers.list }[
        type.kind
      ]
    case 'Float32':
    case 'Float64':
      writer.startTable(1)
      writer.addI16(0, type.kind === 'Float32' ? 1 : 2)
      return typeMembers.floatingPoint
    case 'Date':
      writer.startTable(1)
      writer.addI16(0, 0) // days
      return typeMembers.date
    case 'Time': {
      const unit = timeUnits.indexOf(type.unit ?? 'Millisecond')
      writer.startTable(2)
      writer.addI32(1, unit < 2 ? 32 : 64)
      writer.addI16(0, unit)
      return typeMembers.time
    }
    case 'Timestamp':
      writer.startTable(2)
      if (zone !== 0) writer.addOffset(1, zone)
      writer.addI16(0, timeUnits.indexOf(type.unit ?? 'Millisecond'))
      return typeMembers.timestamp
    case 'Decimal':
      writer.startTable(3)
      writer.addI32(0, type.precision)
      writer.addI32(1, type.scale)
      writer.addI32(2, 128)
      return typeMembers.decimal
    default:
      writer.startTable(2)
      writer.addI32(0, Number(type.kind.replace(/^U?Int/, '')))
      writer.addU8(1, type.kind.startsWith('U') ? 0 : 1)
      return typeMembers.int
  }
}

/** A message's header table and body length. Throws DecodeError. */
export function decodeIpcMessage(reader: FlatBufferReader): { member: number; header: TableCursor; bodyBytes: number } {
  const root = reader.root()
  const version = reader.i16Field(root, 0)
  if (version !== metadataV5 && version !== metadataV4) reader.fail(`metadata version ${version} is not known`)
  const member = reader.u8Field(root, 1)
  const headerAt = reader.offset(root, 2)
  if (headerAt === 0 || member === 0) return reader.fail('a message has no header')
  const bodyBytes = reader.u64Field(root, 3)
  if (typeof bodyBytes === 'bigint') return reader.fail('a body is impossibly long')
  return { member, header: reader.table(root, headerAt), bodyBytes }
}

/**
 * The integers of the vector that the offset at `at` points to, none where that is 0, whose elements are of `longsEach` integers of 8 bytes, flat. `reader` reads
 * `metadata`. Throws DecodeError.
 */
export function longVector(metadata: Uint8Array, reader: FlatBufferReader, at: number, longsEach: number): number[] {
  if (at === 0) return []
  const start = at + reader.u32(at)
  if (start + 4 > metadata.length) return reader.fail('a vector lies outside of its message')
  const count = reader.u32(start) * longsEach
  if (start + 4 + 8 * count > metadata.length) return reader.fail('a vector lies outside of its message')
  const out: number[] = []
  for (let i = 0; i < count; i++) {
    const value = reader.u64(start + 4 + 8 * i)
    if (typeof value === 'bigint') return reader.fail('a length is negative or impossibly large')
    out.push(value)
  }
  return out
}

/** The fields of a schema table. Throws DecodeError also for types that no column can hold. */
export function decodeSchema(reader: FlatBufferReader, schema: TableCursor): Field[] {
  if (reader.i16Field(schema, 0) !== 0) reader.fail('only little-endian data is understood')
  const at = reader.offset(schema, 1)
  if (at === 0) return reader.fail('a schema has no fields')
  return reader.offsetVector(at).map((position) => decodeField(reader, reader.table(schema, position)))
}

function decodeField(reader: FlatBufferReader, table: TableCursor): Field {
  const nameAt = reader.offset(table, 0)
  const name = nameAt === 0 ? '' : reader.string(nameAt)
  if (reader.offset(table, 4) !== 0) reader.fail(`column "${name}" is dictionary-encoded`, table.at)
  const member = reader.u8Field(table, 2)
  const typeAt = reader.offset(table, 3)
  if (member === 0 || typeAt === 0) return reader.fail(`column "${name}" has no type`, table.at)
  const type =
    member === typeMembers.list
      ? ({ kind: 'List', itemType: decodeItemType(reader, table) } as const)
      : plainType(reader, reader.table(table, typeAt), member)
  if (type === undefined) {
    return reader.fail(`column "${name}" has an Arrow type that is not understood (${member})`, table.at)
  }
  return { name, type: reader.u8Field(table, 1) === 0 ? type : optional(type) }
}

function decodeItemType(reader: FlatBufferReader, field: TableCursor): DataType {
  const at = reader.offset(field, 5)
  const children = at === 0 ? [] : reader.offsetVector(at)
  const [item] = children
  if (item === undefined || children.length !== 1) return reader.fail('a list has one child', field.at)
  return decodeField(reader, reader.table(field, item)).type
}

function plainType(reader: FlatBufferReader, table: TableCursor, member: number): DataType | undefined {
  switch (member) {
    case typeMembers.bool:
      return { kind: 'Bool' }
    case typeMembers.utf8:
      return { kind: 'String' }
    case typeMembers.binary:
      return { kind: 'Binary' }
    case typeMembers.int:
      return integerType(reader.i32Field(table, 0), reader.u8Field(table, 1) !== 0)
    case typeMembers.floatingPoint: {
      const precision = reader.i16Field(table, 0)
      return precision === 1 || precision === 2 ? { kind: precision === 1 ? 'Float32' : 'Float64' } : undefined
    }
    case typeMembers.decimal: {
      const [precision, scale] = [reader.i32Field(table, 0), reader.i32Field(table, 1)]
      const fits = precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision
      return fits && reader.i32Field(table, 2, 128) === 128 ? { kind: 'Decimal', precision, scale } : undefined
    }
    case typeMembers.date:
      return reader.i16Field(table, 0, 1) === 0 ? { kind: 'Date' } : undefined
    case typeMembers.time: {
      const index = reader.i16Field(table, 0, 1)
      const unit: TimeUnit | undefined = timeUnits[index]
      const fits = reader.i32Field(table, 1, 32) === (index < 2 ? 32 : 64)
      return unit !== undefined && fits ? { kind: 'Time', unit } : undefined
    }
    case typeMembers.timestamp: {
      const unit = timeUnits[reader.i16Field(table, 0)]
      const zoneAt = reader.offset(table, 1)
      return unit === undefined || zoneAt === 0
        ? undefined
        : { kind: 'Timestamp', unit, timezone: reader.string(zoneAt) }
    }
    default:
      return undefined
  }
}

const durationType = 18

/** The columns that are durations, or have some inside, in the schema message `bytes`. Throws DecodeError. */
export function durationColumns(bytes: Uint8Array): string[] {
  // The mark and the length before a message, which some writers left out.
  const isFramed = bytes.length >= 8 && bytes.subarray(0, 4).every((byte) => byte === 255)
  const reader = new FlatBufferReader(isFramed ? bytes.subarray(8) : bytes, 'Arrow schema')
  const { header } = decodeIpcMessage(reader)
  return fieldsIn(reader, header, 1)
    .filter((field) => hasDuration(reader, field))
    .map((field) => {
      const nameAt = reader.offset(field, 0)
      return nameAt === 0 ? '' : reader.string(nameAt)
    })
}

function hasDuration(reader: FlatBufferReader, field: TableCursor): boolean {
  if (reader.u8Field(field, 2) === durationType) return true
  return fieldsIn(reader, field, 5).some((child) => hasDuration(reader, child))
}

/** The fields that stand in `slot` of a schema (1) or of a field (5). */
function fieldsIn(reader: FlatBufferReader, table: TableCursor, slot: number): TableCursor[] {
  const at = reader.offset(table, slot)
  return at === 0 ? [] : reader.offsetVector(at).map((position) => reader.table(table, position))
}
