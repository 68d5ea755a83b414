// Encodes an ODF metadata table and all below it, driven by tables.ts. Children are written first, depth-first in
// field order, then the table's fields in field order: the order decides the bytes, and so the hash of the block.

import { datasetIdBytes } from '../ids/did.ts'
import { multihashBytes } from '../ids/multihash.ts'
import { assert, must } from '../lib/assert.ts'
import { fromHex } from '../lib/bytes.ts'
import { parseInstant } from '../model/instant.ts'
import { type ExtraAttributes, extraText } from './extra-attributes.ts'
import { FlatBufferWriter } from './flatbuffer-writer.ts'
import { type FieldDefinition, type TableDefinition, tables, unions } from './tables.ts'

/** How a `Timestamp` struct is aligned: 4 in manifest version 3, not at all in version 2. */
export type TimeAlignment = 1 | 4

type Members = Readonly<Record<string, unknown>>

/**
 * One finished FlatBuffer whose root is table `name` with the members of `value`. A value that breaks its type is a
 * programmer's error (AssertionFailed); malformed hashes, DIDs and instants are DecodeErrors.
 */
export function encodeRoot(name: string, value: object, timeAlignment: TimeAlignment): Uint8Array {
  const writer = new FlatBufferWriter()
  const encoder = { writer, timeAlignment }
  return writer.finish(writeTable(encoder, name, value))
}

interface Encoder {
  readonly writer: FlatBufferWriter
  readonly timeAlignment: TimeAlignment
}

/** What the first pass leaves for the second: the position of a child, or 0. */
interface Child {
  readonly position: number
  readonly unionType: number
}

const noChild: Child = { position: 0, unionType: 0 }

function writeTable(encoder: Encoder, name: string, value: object): number {
  const definition = must(tables[name], name)
  // Every member of the model is found by its ODF name; the tables say which type it must have.
  const members = value as Members
  const children = definition.fields.map((field) => {
    const member = members[field.name]
    assert(member !== undefined || !field.required, `${name}.${field.name} is required`)
    return member === undefined ? noChild : writeChild(encoder, field, member)
  })
  return writeFields(encoder, definition, { members, children })
}

function writeFields(
  encoder: Encoder,
  definition: TableDefinition,
  content: { readonly members: Members; readonly children: readonly Child[] },
): number {
  const { writer } = encoder
  writer.startTable(definition.slotCount)
  for (const [index, field] of definition.fields.entries()) {
    const member = content.members[field.name]
    if (member === undefined) continue
    const child = content.children[index] ?? noChild
    if (child.position === 0) {
      writeInline(encoder, field, member)
    } else {
      if (child.unionType !== 0) writer.addU8(field.slot - 1, child.unionType)
      writer.addOffset(field.slot, child.position)
    }
  }
  return writer.endTable()
}

/** Writes what a field points to; `noChild` for a field that stands inside its table. */
function writeChild(encoder: Encoder, field: FieldDefinition, member: unknown): Child {
  const { writer } = encoder
  switch (field.kind) {
    case 'union':
      return writeUnion(encoder, field.union, member)
    case 'wrappedUnions':
      return at(writer.offsetVector(list(field, member).map((item) => writeWrapped(encoder, field.union, item))))
    case 'table':
      return at(writeTable(encoder, field.table, object(field, member)))
    case 'tables':
      return at(
        writer.offsetVector(list(field, member).map((item) => writeTable(encoder, field.table, object(field, item)))),
      )
    case 'string':
      return at(writer.string(text(field, member)))
    case 'strings':
      return at(writer.offsetVector(list(field, member).map((item) => writer.string(text(field, item)))))
    case 'multihash':
      return at(writer.byteVector(multihashBytes(text(field, member))))
    case 'datasetId':
      return at(writer.byteVector(datasetIdBytes(text(field, member))))
    case 'hexBytes':
      return at(writer.byteVector(must(fromHex(text(field, member)), `${field.name} is hex`)))
    case 'extra':
      return at(writeExtra(writer, object(field, member)))
    default:
      return noChild
  }
}

function writeUnion(encoder: Encoder, unionName: string, member: unknown): Child {
  const value = object({ name: unionName }, member)
  const { kind } = value
  const known = must(unions[unionName], unionName)
  const index = known.findIndex((entry) => entry.kind === kind)
  const found = must(known[index], `${unionName} has no member ${String(kind)}`)
  return { position: writeTable(encoder, found.table, value), unionType: index + 1 }
}

/** A vector cannot hold a union: each item is a table whose only field is one. */
function writeWrapped(encoder: Encoder, unionName: string, item: unknown): number {
  const child = writeUnion(encoder, unionName, item)
  encoder.writer.startTable(2)
  encoder.writer.addU8(0, child.unionType)
  encoder.writer.addOffset(1, child.position)
  return encoder.writer.endTable()
}

function writeExtra(writer: FlatBufferWriter, attributes: ExtraAttributes): number {
  const json = writer.string(extraText(attributes))
  writer.startTable(1)
  writer.addOffset(0, json)
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

function at(position: number): Child {
  return { position, unionType: 0 }
}

function text(field: FieldDefinition, member: unknown): string {
  assert(typeof member === 'string', `${field.name} is text`)
  return member
}

function list(field: FieldDefinition, member: unknown): readonly unknown[] {
  assert(Array.isArray(member), `${field.name} is a list`)
  return member
}

function object(field: { readonly name: string }, member: unknown): Members {
  assert(typeof member === 'object' && member !== null, `${field.name} is an object`)
  // An object's members can be read by name; each is checked when it is written.
  return member as Members
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
