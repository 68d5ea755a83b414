// Decodes an ODF metadata table and all below it, driven by tables.ts, from untrusted bytes: required
// fields, enums, unions, identifiers, times and extra attributes are all checked. Fields beyond the known slots are
// those of a newer ODF and are passed over; the stored bytes stay the identity of a block.

import { datasetIdText, multihashText } from '../base/ids/identifiers.ts'
import { must } from '../base/assert.ts'
import { toHex } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { daysOfYear, instantText } from '../model/instant.ts'
import type { TimeAlignment } from './encoder.ts'
import { FlatBufferReader, type TableCursor } from '../base/flatbuffer-reader.ts'
import { parseExtra } from './odf-json.ts'
import { type FieldDefinition, tableNamed, unions } from './tables.ts'

/** Decoded members in field order; a member of a union begins with its `kind`. */
export type DecodedTable = Record<string, unknown>

/** The root table `name` of one FlatBuffer. `what` names the bytes in errors. Throws DecodeError. */
export function decodeRoot(name: string, bytes: Uint8Array, timeAlignment: TimeAlignment): DecodedTable {
  const reader = new FlatBufferReader(bytes, `ODF ${name}`)
  return readTable({ reader, timeAlignment }, name, { cursor: reader.root() })
}

interface Decoder {
  readonly reader: FlatBufferReader
  readonly timeAlignment: TimeAlignment
}

function readTable(decoder: Decoder, name: string, from: { cursor: TableCursor; kind?: string }): DecodedTable {
  const decoded: DecodedTable = from.kind === undefined ? {} : { kind: from.kind }
  for (const field of tableNamed(name).fields) {
    const value = readField(decoder, from.cursor, field)
    if (value !== undefined) decoded[field.name] = value
    else if (field.required) decoder.reader.fail(`${name}.${field.name} is missing`, from.cursor.at)
  }
  return decoded
}

function readField(decoder: Decoder, table: TableCursor, field: FieldDefinition): unknown {
  switch (field.kind) {
    case 'u64':
    case 'u32':
    case 'i32':
    case 'optionalU64':
    case 'optionalBool':
    case 'enum':
      return readScalar(decoder.reader, table, field)
    case 'time': {
      const at = decoder.reader.field(table, field.slot, 16, decoder.timeAlignment)
      return at === 0 ? undefined : readTime(decoder.reader, at)
    }
    case 'union':
      return readUnion(decoder, table, { slot: field.slot, union: field.union })
    default: {
      const at = decoder.reader.offset(table, field.slot)
      return at === 0 ? undefined : readPointed(decoder, table, { field, at })
    }
  }
}

/** A field whose value stands elsewhere: `at` is where its offset is. */
function readPointed(decoder: Decoder, table: TableCursor, place: { field: FieldDefinition; at: number }): unknown {
  const { reader } = decoder
  const { field, at } = place
  switch (field.kind) {
    case 'string':
      return reader.string(at)
    case 'strings':
      return reader.offsetVector(at).map((item) => reader.string(item))
    case 'table':
      return readTable(decoder, field.table, { cursor: reader.table(table, at) })
    case 'tables':
      return reader
        .offsetVector(at)
        .map((item) => readTable(decoder, field.table, { cursor: reader.table(table, item) }))
    case 'wrappedUnions':
      return reader.offsetVector(at).map((item) => {
        const wrapper = reader.table(table, item)
        return (
          readUnion(decoder, wrapper, { slot: 1, union: field.union }) ??
          reader.fail(`${field.name} has an empty item`, item)
        )
      })
    case 'multihash':
      return located(reader, at, () => multihashText(reader.byteVector(at)))
    case 'datasetId':
      return located(reader, at, () => datasetIdText(reader.byteVector(at)))
    case 'hexBytes':
      return toHex(reader.byteVector(at))
    case 'extra':
      return readExtra(reader, table, at)
    default:
      return reader.fail(`${field.name} is not an offset`, at)
  }
}

function readUnion(
  decoder: Decoder,
  table: TableCursor,
  place: { slot: number; union: string },
): DecodedTable | undefined {
  const { reader } = decoder
  const typeAt = reader.field(table, place.slot - 1, 1, 1)
  const valueAt = reader.offset(table, place.slot)
  const number = typeAt === 0 ? 0 : reader.u8(typeAt)
  if (number === 0 && valueAt === 0) return undefined
  const member = must(unions[place.union], place.union)[number - 1]
  if (member === undefined) return reader.fail(`${place.union} has no member ${number}`, typeAt || valueAt)
  if (valueAt === 0) return reader.fail(`${place.union} has a type and no value`, typeAt)
  return readTable(decoder, member.table, { cursor: reader.table(table, valueAt), kind: member.kind })
}

function readScalar(reader: FlatBufferReader, table: TableCursor, field: FieldDefinition): unknown {
  switch (field.kind) {
    case 'u64':
      return reader.u64Field(table, field.slot)
    case 'optionalU64': {
      const at = reader.field(table, field.slot, 8, 8)
      return at === 0 ? undefined : reader.u64(at)
    }
    case 'u32':
      return reader.i32Field(table, field.slot) >>> 0
    case 'i32':
      return reader.i32Field(table, field.slot)
    case 'optionalBool': {
      const at = reader.field(table, field.slot, 1, 1)
      if (at === 0) return undefined
      const value = reader.u8(at)
      return value > 1 ? reader.fail(`${field.name} is neither 0 nor 1`, at) : value === 1
    }
    case 'enum': {
      const bytes = field.of.bits / 8
      const at = reader.field(table, field.slot, bytes, bytes)
      if (at === 0) return field.optional ? undefined : field.of.members[0]
      const value = field.of.bits === 16 ? reader.i16(at) : reader.i32(at)
      return field.of.members[value] ?? reader.fail(`${field.name} has no member ${value}`, at)
    }
    default:
      return reader.fail(`${field.name} is not a number`, table.at)
  }
}

function readTime(reader: FlatBufferReader, at: number): string {
  const year = reader.i32(at)
  const dayOfYear = reader.u16(at + 4)
  const secondOfDay = reader.u32(at + 8)
  const nanos = reader.u32(at + 12)
  if (year < 0 || year > 9999) reader.fail(`a time in the year ${year}, which RFC 3339 cannot say`, at)
  if (reader.u16(at + 6) !== 0) reader.fail('a time has padding that is not zero', at + 6)
  if (dayOfYear < 1 || dayOfYear > daysOfYear(year)) reader.fail(`a time on day ${dayOfYear} of ${year}`, at + 4)
  if (secondOfDay >= 86_400) reader.fail(`a time at second ${secondOfDay} of a day`, at + 8)
  if (nanos >= 1_000_000_000) reader.fail(`a time with ${nanos} nanoseconds`, at + 12)
  return instantText({ year, dayOfYear, secondOfDay, nanos })
}

function readExtra(reader: FlatBufferReader, parent: TableCursor, at: number): unknown {
  const table = reader.table(parent, at)
  const jsonAt = reader.offset(table, 0)
  if (jsonAt === 0) return reader.fail('extra attributes without their text', table.at)
  const json = reader.string(jsonAt)
  return located(reader, jsonAt, () => parseExtra(json))
}

/** Adds the place in the block to a fault of a part that knows only itself. */
function located<T>(reader: FlatBufferReader, at: number, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) return reader.fail(error.message, at)
    throw error
  }
}
