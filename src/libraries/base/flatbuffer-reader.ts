// Reads one FlatBuffer from untrusted bytes: every position, length and alignment is checked before use,
// nesting is limited, and the bytes handed out in all are bounded by the buffer's size, so that tables or strings which
// many offsets share cannot blow up. Source: FlatBuffers internals (https://flatbuffers.dev/internals).

import { decodeUtf8 } from './bytes.ts'
import { DecodeError } from './errors.ts'

/** Tables inside tables, the root counted; what the reference verifiers allow. */
export const maxTableDepth = 64

// A writer references each byte once, a thrifty one shares some: eightfold and 64 KiB leave room, yet bound the work.
const budgetFactor = 8
const budgetBaseBytes = 65_536

/** A table whose vtable has been checked. */
export interface TableCursor {
  readonly at: number
  readonly endOfFields: number
  readonly vtable: number
  readonly slotCount: number
  readonly depth: number
}

/** All methods throw DecodeError, which names the FlatBuffer and the byte of the fault. */
export class FlatBufferReader {
  private readonly bytes: Uint8Array
  private readonly view: DataView
  private readonly what: string
  private budgetBytes: number

  constructor(bytes: Uint8Array, what: string) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.what = what
    this.budgetBytes = budgetFactor * bytes.length + budgetBaseBytes
  }

  /** The root table. */
  root(): TableCursor {
    return this.tableAt(this.target(0), 1)
  }

  /** Position of the field in `slot`, or 0 when absent. The field's `size` bytes are inside the table and aligned. */
  field(table: TableCursor, slot: number, size: number, alignment: number): number {
    if (slot >= table.slotCount) return 0
    const distance = this.view.getUint16(table.vtable + 4 + 2 * slot, true)
    if (distance === 0) return 0
    const at = table.at + distance
    if (distance < 4 || at + size > table.endOfFields) this.fail('a field lies outside its table', at)
    if (at % alignment !== 0) this.fail('a field is not aligned', at)
    return at
  }

  /** Position of the offset in `slot`, or 0 when absent. */
  offset(table: TableCursor, slot: number): number {
    return this.field(table, slot, 4, 4)
  }

  /** The number in `slot`, or `absent`; so are the next three. */
  u8Field(table: TableCursor, slot: number, absent = 0): number {
    const at = this.field(table, slot, 1, 1)
    return at === 0 ? absent : this.u8(at)
  }

  i16Field(table: TableCursor, slot: number, absent = 0): number {
    const at = this.field(table, slot, 2, 2)
    return at === 0 ? absent : this.i16(at)
  }

  i32Field(table: TableCursor, slot: number, absent = 0): number {
    const at = this.field(table, slot, 4, 4)
    return at === 0 ? absent : this.i32(at)
  }

  u64Field(table: TableCursor, slot: number, absent = 0): number | bigint {
    const at = this.field(table, slot, 8, 8)
    return at === 0 ? absent : this.u64(at)
  }

  u8(at: number): number {
    return this.view.getUint8(at)
  }

  u16(at: number): number {
    return this.view.getUint16(at, true)
  }

  i16(at: number): number {
    return this.view.getInt16(at, true)
  }

  i32(at: number): number {
    return this.view.getInt32(at, true)
  }

  u32(at: number): number {
    return this.view.getUint32(at, true)
  }

  /** A u64; bigint above 2^53-1. */
  u64(at: number): number | bigint {
    const high = this.view.getUint32(at + 4, true)
    if (high >= 0x20_0000) return this.view.getBigUint64(at, true)
    return high * 0x1_0000_0000 + this.view.getUint32(at, true)
  }

  /** The table that the offset at `at` points to, one level below `parent`. */
  table(parent: TableCursor, at: number): TableCursor {
    return this.tableAt(this.target(at), parent.depth + 1)
  }

  /** The string that the offset at `at` points to. */
  string(at: number): string {
    const start = this.target(at)
    const length = this.vectorLength(start, 1)
    const end = start + 4 + length
    if (end >= this.bytes.length || this.bytes[end] !== 0) this.fail('a string does not end with a zero byte', end)
    try {
      return decodeUtf8(this.bytes.subarray(start + 4, end))
    } catch {
      return this.fail('a string is not UTF-8', start + 4)
    }
  }

  /** The byte vector that the offset at `at` points to: a view, not a copy. */
  byteVector(at: number): Uint8Array {
    const start = this.target(at)
    const length = this.vectorLength(start, 1)
    return this.bytes.subarray(start + 4, start + 4 + length)
  }

  /** Positions of the elements of the vector of offsets that the offset at `at` points to. */
  offsetVector(at: number): number[] {
    const start = this.target(at)
    const length = this.vectorLength(start, 4)
    const positions: number[] = []
    for (let i = 0; i < length; i++) positions.push(start + 4 + 4 * i)
    return positions
  }

  /** Throws a DecodeError at byte `at`. */
  fail(reason: string, at?: number): never {
    throw new DecodeError(this.what, reason, at)
  }

  /** Follows the offset at `at`; the result is aligned to 4 and has 4 bytes behind it. */
  private target(at: number): number {
    this.need(at, 4)
    const distance = this.view.getUint32(at, true)
    const target = at + distance
    if (distance === 0) this.fail('an offset points to itself', at)
    this.need(target, 4)
    if (target % 4 !== 0) this.fail('an offset points to an unaligned position', at)
    return target
  }

  private tableAt(at: number, depth: number): TableCursor {
    if (depth > maxTableDepth) this.fail(`tables nest deeper than ${maxTableDepth}`, at)
    const vtable = at - this.view.getInt32(at, true)
    this.need(vtable, 4)
    if (vtable % 2 !== 0) this.fail('a vtable is not aligned', at)
    const vtableBytes = this.view.getUint16(vtable, true)
    const tableBytes = this.view.getUint16(vtable + 2, true)
    if (vtableBytes < 4 || vtableBytes % 2 !== 0) this.fail('a vtable has an impossible length', vtable)
    if (tableBytes < 4) this.fail('a table has an impossible length', vtable + 2)
    this.need(vtable, vtableBytes)
    this.need(at, tableBytes)
    this.spend(tableBytes, at)
    return { at, endOfFields: at + tableBytes, vtable, slotCount: (vtableBytes - 4) / 2, depth }
  }

  /** Length of the vector at `start`, whose elements of `elementBytes` lie inside the buffer. */
  private vectorLength(start: number, elementBytes: number): number {
    const length = this.view.getUint32(start, true)
    this.need(start + 4, length * elementBytes)
    this.spend(4 + length * elementBytes, start)
    return length
  }

  private need(at: number, count: number): void {
    if (at < 0 || at + count > this.bytes.length) this.fail(`ends before ${count} bytes that it refers to`, at)
  }

  private spend(count: number, at: number): void {
    this.budgetBytes -= count
    if (this.budgetBytes < 0) this.fail('refers to the same bytes too often', at)
  }
}
