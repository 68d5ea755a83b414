// Encodes an ODF metadata table and all below it, driven by tables.ts. Children are written first, depth-first in
// field order, then the table's fields in field order: the order decides the bytes, and so the hash of the block.

import { datasetIdBytes, multihashBytes } from '../base/ids/identifiers.ts'
import { assert, must } from '../base/assert.ts'
import { fromHex } from '../base/bytes.ts'
import { parseInstant } from '../model/instant.ts'
import { FlatBufferWriter } from '../base/flatbuffer-writer.ts'
import { extraText } from './odf-json.ts'
import { type FieldDefinition, itemsOf, membersOf, tableNamed, unionMember } from './tables.ts'

/** How a `Timestamp` struct is aligned: 4 in manifest version 3, not at all in version 2. */
export type TimeAlignment = 1 | 4

interface Encoder {
  readonly writer: FlatBufferWriter
  readonly timeAlignment: TimeAlignment
}

/**
 * One finished FlatBuffer whose root is table `name` with the members of `value`. A value that breaks its type is a
 * programmer's error (AssertionFailed); malformed hashes, DIDs and instants are DecodeErrors.
 */
export function encodeRoot(name: string, value: object, timeAlignment: TimeAlignment): Uint8Array {
  const writer = new FlatBufferWriter()
  return writer.finish(writeTable({ writer, timeAlignment }, name, value))
}

function writeTable(encoder: Encoder, name: string, value: unknown): number {
  const { writer } = encoder
  const { fields, slotCount } = tableNamed(name)
  const members = membersOf(name, value)
  const children = fields.map((field) => {
    const member = members[field.name]
    assert(member !== undefined || !field.required, `${name}.${field.name} is required`)
    return member === undefined ? 0 : writeChild(encoder, field, member)
  })
  writer.startTable(slotCount)
  for (const [index, field] of fields.entries()) {
    const member = members[field.name]
    const position = children[index] ?? 0
    if (member === undefined) continue
    if (field.kind === 'union') writer.addU8(field.slot - 1, unionMember(field.union, membersOf(name, member)).number)
    if (position === 0) writeInline(encoder, field, member)
    else writer.addOffset(field.slot, position)
  }
  return writer.endTable()
}

/** Writes what a field points to and returns its position; 0 for a field that stands inside its table. */
function writeChild(encoder: Encoder, field: FieldDefinition, member: unknown): number {
  const { writer } = encoder
  const vector = (write: (item: unknown) => number): number =>
    writer.offsetVector(itemsOf(field.name, member).map(write))
  switch (field.kind) {
    case 'union':
      return writeUnion(encoder, field.union, member)
    case 'wrappedUnions':
      return vector((item) => writeWrapped(encoder, field.union, item))
    case 'table':
      return writeTable(encoder, field.table, member)
    case 'tables':
      return vector((item) => writeTable(encoder, field.table, item))
    case 'string':
      return writer.string(text(field, member))
    case 'strings':
      return vector((item) => writer.string(text(field, item)))
    case 'multihash':
      return writer.byteVector(multihashBytes(text(field, member)))
    case 'datasetId':
      return writer.byteVector(datasetIdBytes(text(field, member)))
    case 'hexBytes':
      return writer.byteVector(must(fromHex(text(field, member)), `${field.name} is hex`))
    case 'extra': {
      const json = writer.string(extraText(membersOf(field.name, member)))
      writer.startTable(1)
      writer.addOffset(0, json)
      return writer.endTable()
    }
    default:
      return 0
  }
}

function writeUnion(encoder: Encoder, union: string, value: unknown): number {
  return writeTable(encoder, unionMember(union, membersOf(union, value)).table, value)
}

/** A vector cannot hold a union: each item is a table whose only field is one. */
function writeWrapped(encoder: Encoder, union: string, item: unknown): number {
  const { writer } = encoder
  const position = writeUnion(encoder, union, item)
  writer.startTable(2)
  writer.addU8(0, unionMember(union, membersOf(union, item)).number)
  writer.addOffset(1, position)
  return writer.endTable()
}

/** Fields that stand inside the table. A number that is not optional is left out when it is 0. */
function writeInline(encoder: Encoder, field: FieldDefinition, member: unknown): void {
  const { writer } = encoder
  switch (field.kind) {
    case 'u64':
    case 'optionalU64': {
      const value = u64(field, member)
      if (field.kind === 'optionalU64' || (value !== 0 && value !== 0n)) writer.addU64(field.slot, value)
      return
    }
    case 'u32':
    case 'i32': {
      const value = integer32(field, member)
      if (value !== 0) writer.addI32(field.slot, value)
      return
    }
    case 'enum': {
      const value = field.of.members.indexOf(text(field, member))
      assert(value >= 0, `${field.name} has no member ${String(member)}`)
      if (value === 0 && !field.optional) return
      if (field.of.bits === 16) writer.addI16(field.slot, value)
      else writer.addI32(field.slot, value)
      return
    }
    case 'optionalBool':
      assert(typeof member === 'boolean', `${field.name} is a boolean`)
      writer.addU8(field.slot, member ? 1 : 0)
      return
    case 'time':
      writer.addStruct(field.slot, timeStruct(text(field, member)), encoder.timeAlignment)
      return
    default:
      assert(false, `${field.name} has been written before its table`)
  }
}

/** The 16 bytes of a `Timestamp`: year i32, day of year u16, two zero bytes, second of the day u32, nanoseconds u32. */
function timeStruct(instant: string): Uint8Array {
  const parts = must(parseInstant(instant), `an instant in the stored form, not ${instant}`)
  const bytes = new Uint8Array(16)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, parts.year, true)
  view.setUint16(4, parts.dayOfYear, true)
  view.setUint32(8, parts.secondOfDay, true)
  view.setUint32(12, parts.nanos, true)
  return bytes
}

function text(field: FieldDefinition, member: unknown): string {
  assert(typeof member === 'string', `${field.name} is text`)
  return member
}

function u64(field: FieldDefinition, member: unknown): number | bigint {
  if (typeof member === 'bigint') {
    assert(member >= 0n && member < 2n ** 64n, `${field.name} fits 64 bits`)
    return member
  }
  assert(
    typeof member === 'number' && Number.isSafeInteger(member) && member >= 0,
    `${field.name} is an unsigned integer`,
  )
  return member
}

function integer32(field: FieldDefinition, member: unknown): number {
  const low = field.kind === 'u32' ? 0 : -0x8000_0000
  const high = field.kind === 'u32' ? 0xffff_ffff : 0x7fff_ffff
  const fits = typeof member === 'number' && Number.isInteger(member) && member >= low && member <= high
  assert(fits, `${field.name} fits 32 bits`)
  return member
}
