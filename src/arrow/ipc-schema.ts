// Arrow schemas in FlatBuffers: the first message of an IPC stream, from and to our fields. Only types that a column
// can hold. Source: Apache Arrow format/Schema.fbs and format/Message.fbs, metadata version V5.

import { must } from '../lib/assert.ts'
import { type DataType, type Field, innerType, isOptional, optional, type TimeUnit } from '../model/schema.ts'
import type { FlatBufferReader, TableCursor } from '../odf/flatbuffer-reader.ts'
import { FlatBufferWriter } from '../odf/flatbuffer-writer.ts'
import { columnLayout, itemName } from './columns.ts'

export const metadataV5 = 4
const metadataV4 = 3
/** Members of the union MessageHeader. */
export const messageHeaders = { schema: 1, recordBatch: 3 } as const

// Members of the union Type that we use.
const types = {
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

const timeUnits: readonly TimeUnit[] = ['Second', 'Millisecond', 'Microsecond', 'Nanosecond']

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
  const [member, table] = writeType(writer, type)
  writer.startTable(7)
  writer.addOffset(0, name)
  writer.addOffset(3, table)
  writer.addOffset(5, children)
  writer.addU8(1, isOptional(field.type) ? 1 : 0)
  writer.addU8(2, member)
  return writer.endTable()
}

/** Member of the union Type and position of its table. */
function writeType(writer: FlatBufferWriter, type: DataType): [number, number] {
  switch (type.kind) {
    case 'Bool':
      return [types.bool, emptyTable(writer)]
    case 'String':
      return [types.utf8, emptyTable(writer)]
    case 'Binary':
      return [types.binary, emptyTable(writer)]
    case 'List':
      return [types.list, emptyTable(writer)]
    case 'Float32':
    case 'Float64':
      writer.startTable(1)
      writer.addI16(0, type.kind === 'Float32' ? 1 : 2)
      return [types.floatingPoint, writer.endTable()]
    case 'Date':
      writer.startTable(1)
      writer.addI16(0, 0)
      return [types.date, writer.endTable()]
    case 'Time':
      return [types.time, timeTable(writer, type.unit ?? 'Millisecond')]
    case 'Timestamp':
      return [types.timestamp, timestampTable(writer, type.unit ?? 'Millisecond', type.timezone ?? 'UTC')]
    case 'Decimal':
      writer.startTable(3)
      writer.addI32(0, type.precision)
      writer.addI32(1, type.scale)
      writer.addI32(2, 128)
      return [types.decimal, writer.endTable()]
    default:
      return [types.int, intTable(writer, type.kind)]
  }
}

function emptyTable(writer: FlatBufferWriter): number {
  writer.startTable(0)
  return writer.endTable()
}

function timeTable(writer: FlatBufferWriter, unit: TimeUnit): number {
  const index = timeUnits.indexOf(unit)
  writer.startTable(2)
  writer.addI32(1, index < 2 ? 32 : 64)
  writer.addI16(0, index)
  return writer.endTable()
}

function timestampTable(writer: FlatBufferWriter, unit: TimeUnit, timezone: string): number {
  const zone = writer.string(timezone)
  writer.startTable(2)
  writer.addOffset(1, zone)
  writer.addI16(0, timeUnits.indexOf(unit))
  return writer.endTable()
}

function intTable(writer: FlatBufferWriter, kind: string): number {
  writer.startTable(2)
  writer.addI32(0, Number(kind.replace(/^U?Int/, '')))
  writer.addU8(1, kind.startsWith('U') ? 0 : 1)
  return writer.endTable()
}

/** A message's header table and body length. Throws DecodeError. */
export function decodeMessage(reader: FlatBufferReader): { member: number; header: TableCursor; bodyBytes: number } {
  const root = reader.root()
  const version = shortField(reader, root, 0)
  if (version !== metadataV5 && version !== metadataV4) reader.fail(`metadata version ${version} is not known`)
  const memberAt = reader.field(root, 1, 1, 1)
  const headerAt = reader.field(root, 2, 4, 4)
  if (headerAt === 0 || memberAt === 0) return reader.fail('a message has no header')
  const bodyAt = reader.field(root, 3, 8, 8)
  const bodyBytes = bodyAt === 0 ? 0 : reader.u64(bodyAt)
  if (typeof bodyBytes === 'bigint') return reader.fail('a body is impossibly long', bodyAt)
  return { member: reader.u8(memberAt), header: reader.table(root, headerAt), bodyBytes }
}

/** The fields of a schema table. Throws DecodeError also for types that no column can hold. */
export function decodeSchema(reader: FlatBufferReader, schema: TableCursor): Field[] {
  if (shortField(reader, schema, 0) !== 0) reader.fail('only little-endian data is understood')
  const at = reader.field(schema, 1, 4, 4)
  if (at === 0) return reader.fail('a schema has no fields')
  return reader.offsetVector(at).map((position) => decodeField(reader, reader.table(schema, position)))
}

function decodeField(reader: FlatBufferReader, table: TableCursor): Field {
  const nameAt = reader.field(table, 0, 4, 4)
  const name = nameAt === 0 ? '' : reader.string(nameAt)
  if (reader.field(table, 4, 4, 4) !== 0) reader.fail(`column "${name}" is dictionary-encoded`, table.at)
  const type = decodeType(reader, table, name)
  const nullableAt = reader.field(table, 1, 1, 1)
  const nullable = nullableAt !== 0 && reader.u8(nullableAt) !== 0
  return { name, type: nullable ? optional(type) : type }
}

function decodeType(reader: FlatBufferReader, field: TableCursor, name: string): DataType {
  const memberAt = reader.field(field, 2, 1, 1)
  const typeAt = reader.field(field, 3, 4, 4)
  if (memberAt === 0 || typeAt === 0) return reader.fail(`column "${name}" has no type`, field.at)
  const member = reader.u8(memberAt)
  if (member === types.list) return { kind: 'List', itemType: decodeItemType(reader, field) }
  const type = plainType(reader, reader.table(field, typeAt), member)
  return type ?? reader.fail(`column "${name}" has an Arrow type that is not understood (${member})`, field.at)
}

function decodeItemType(reader: FlatBufferReader, field: TableCursor): DataType {
  const at = reader.field(field, 5, 4, 4)
  const children = at === 0 ? [] : reader.offsetVector(at)
  const [item] = children
  if (item === undefined || children.length !== 1) return reader.fail('a list has one child', field.at)
  return decodeField(reader, reader.table(field, item)).type
}

function plainType(reader: FlatBufferReader, table: TableCursor, member: number): DataType | undefined {
  switch (member) {
    case types.bool:
      return { kind: 'Bool' }
    case types.utf8:
      return { kind: 'String' }
    case types.binary:
      return { kind: 'Binary' }
    case types.int:
      return intType(intField(reader, table, 0, 0), byteField(reader, table, 1) !== 0)
    case types.floatingPoint:
      return floatType(shortField(reader, table, 0))
    case types.decimal:
      return decimalType(intField(reader, table, 0, 0), intField(reader, table, 1, 0), intField(reader, table, 2, 128))
    case types.date:
      return shortField(reader, table, 0, 1) === 0 ? { kind: 'Date' } : undefined
    case types.time:
      return timeType(shortField(reader, table, 0, 1), intField(reader, table, 1, 32))
    case types.timestamp:
      return timestampType(reader, table)
    default:
      return undefined
  }
}

function intType(bits: number, signed: boolean): DataType | undefined {
  switch (bits) {
    case 8:
      return { kind: signed ? 'Int8' : 'UInt8' }
    case 16:
      return { kind: signed ? 'Int16' : 'UInt16' }
    case 32:
      return { kind: signed ? 'Int32' : 'UInt32' }
    case 64:
      return { kind: signed ? 'Int64' : 'UInt64' }
    default:
      return undefined
  }
}

function floatType(precision: number): DataType | undefined {
  if (precision === 1) return { kind: 'Float32' }
  return precision === 2 ? { kind: 'Float64' } : undefined
}

function decimalType(precision: number, scale: number, bits: number): DataType | undefined {
  if (bits !== 128 || precision < 1 || precision > 38 || scale < 0 || scale > precision) return undefined
  return { kind: 'Decimal', precision, scale }
}

function timeType(unit: number, bits: number): DataType | undefined {
  const name = timeUnits[unit]
  if (name === undefined || bits !== (unit < 2 ? 32 : 64)) return undefined
  return { kind: 'Time', unit: name }
}

function timestampType(reader: FlatBufferReader, table: TableCursor): DataType | undefined {
  const unit = timeUnits[shortField(reader, table, 0)]
  const zoneAt = reader.field(table, 1, 4, 4)
  if (unit === undefined || zoneAt === 0) return undefined
  return { kind: 'Timestamp', unit, timezone: reader.string(zoneAt) }
}

function byteField(reader: FlatBufferReader, table: TableCursor, slot: number): number {
  const at = reader.field(table, slot, 1, 1)
  return at === 0 ? 0 : reader.u8(at)
}

function shortField(reader: FlatBufferReader, table: TableCursor, slot: number, absent = 0): number {
  const at = reader.field(table, slot, 2, 2)
  return at === 0 ? absent : reader.i16(at)
}

function intField(reader: FlatBufferReader, table: TableCursor, slot: number, absent: number): number {
  const at = reader.field(table, slot, 4, 4)
  return at === 0 ? absent : reader.i32(at)
}
