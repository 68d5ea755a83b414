// Writes one FlatBuffer, growing downward. What is written and in which order decides the bytes: callers write the
// children of a table first, then the table's fields. Positions are distances from the buffer's end.
// Source: FlatBuffers internals (https://flatbuffers.dev/internals); the layout is that of the reference builders.

import { assert } from './assert.ts'
import { utf8 } from './bytes.ts'

const initialBytes = 1024
const loneSurrogate = /\p{Surrogate}/u

/** One FlatBuffer under construction. Scalars are little-endian; offsets count from the end of the buffer. */
export class FlatBufferWriter {
  private bytes = new Uint8Array(initialBytes)
  private view = new DataView(this.bytes.buffer)
  /** Index of the first used byte. */
  private head = initialBytes
  /** The largest alignment asked for so far. */
  private largestAlign = 1
  /** Field positions of the open table by slot; 0 = absent. */
  private slots = new Uint32Array(0)
  private tableStart = -1
  private readonly vtables: number[] = []

  /** Writes a string with its terminating zero; returns its position. Lone surrogates are a bug of the caller. */
  string(text: string): number {
    assert(!loneSurrogate.test(text), 'a string in a FlatBuffer is well-formed Unicode')
    const data = utf8(text)
    this.align(4, data.length + 1)
    this.putByte(0)
    this.head -= data.length
    this.bytes.set(data, this.head)
    this.putU32(data.length)
    return this.position()
  }

  /** Writes a byte vector; returns its position. */
  byteVector(data: Uint8Array): number {
    this.align(4, data.length)
    this.head -= data.length
    this.bytes.set(data, this.head)
    this.putU32(data.length)
    return this.position()
  }

  /** Writes a vector of offsets to what stands at `positions`; returns its position. */
  offsetVector(positions: readonly number[]): number {
    this.align(4, 4 * positions.length)
    for (let i = positions.length - 1; i >= 0; i--) this.putU32(this.position() + 4 - (positions[i] ?? 0))
    this.putU32(positions.length)
    return this.position()
  }

  /** Opens a table of `slotCount` slots. Everything that it points to must have been written. */
  startTable(slotCount: number): void {
    assert(this.tableStart < 0, 'tables do not nest while they are written')
    this.slots = new Uint32Array(slotCount)
    this.tableStart = this.position()
  }

  addU8(slot: number, value: number): void {
    this.align(1, 0)
    this.putByte(value)
    this.slots[slot] = this.position()
  }

  addI16(slot: number, value: number): void {
    this.align(2, 0)
    this.putI16(value)
    this.slots[slot] = this.position()
  }

  /** A 32-bit integer, signed or not: the bits are the same. */
  addI32(slot: number, value: number): void {
    this.align(4, 0)
    this.putU32(value)
    this.slots[slot] = this.position()
  }

  addU64(slot: number, value: number | bigint): void {
    this.align(8, 0)
    this.head -= 8
    if (typeof value === 'bigint') {
      this.view.setBigUint64(this.head, value, true)
    } else {
      this.view.setUint32(this.head, value % 0x1_0000_0000, true)
      this.view.setUint32(this.head + 4, Math.floor(value / 0x1_0000_0000), true)
    }
    this.slots[slot] = this.position()
  }

  addOffset(slot: number, position: number): void {
    this.align(4, 0)
    this.putU32(this.position() + 4 - position)
    this.slots[slot] = this.position()
  }

  /** A struct: its bytes stand inside the table, aligned to `alignment`. */
  addStruct(slot: number, data: Uint8Array, alignment: number): void {
    this.align(alignment, data.length)
    this.head -= data.length
    this.bytes.set(data, this.head)
    this.slots[slot] = this.position()
  }

  /** Closes the table; returns its position. Equal vtables are shared. */
  endTable(): number {
    assert(this.tableStart >= 0, 'a table is open')
    this.align(4, 0)
    this.putU32(0)
    const table = this.position()
    const tableBytes = table - this.tableStart
    this.tableStart = -1
    let used = this.slots.length
    while (used > 0 && this.slots[used - 1] === 0) used--
    this.reserve(2 * used + 4)
    for (let slot = used - 1; slot >= 0; slot--) {
      const at = this.slots[slot] ?? 0
      this.putI16(at === 0 ? 0 : table - at)
    }
    this.putI16(tableBytes)
    this.putI16(2 * used + 4)
    const vtable = this.shareVtable(table, 2 * used + 4)
    this.view.setInt32(this.bytes.length - table, vtable - table, true)
    return table
  }

  /** Ends the buffer with the offset of its root table; returns a copy of the bytes. The writer is spent. */
  finish(root: number): Uint8Array {
    this.align(this.largestAlign, 4)
    this.putU32(this.position() + 4 - root)
    return this.bytes.slice(this.head)
  }

  /** Drops the vtable just written when an equal one exists; returns the position of the one to use. */
  private shareVtable(table: number, length: number): number {
    const newest = this.position()
    for (const known of this.vtables) {
      if (this.sameVtable(known, newest, length)) {
        this.bytes.fill(0, this.head, this.bytes.length - table)
        this.head = this.bytes.length - table
        return known
      }
    }
    this.vtables.push(newest)
    return newest
  }

  private sameVtable(a: number, b: number, length: number): boolean {
    const from = this.bytes.length - a
    const other = this.bytes.length - b
    if (this.view.getUint16(from, true) !== length) return false
    for (let i = 2; i < length; i++) if (this.bytes[from + i] !== this.bytes[other + i]) return false
    return true
  }

  private position(): number {
    return this.bytes.length - this.head
  }

  /** Pads so that, once `following` more bytes are written, the position is a multiple of `size`. */
  private align(size: number, following: number): void {
    if (size > this.largestAlign) this.largestAlign = size
    const padding = -(this.position() + following) & (size - 1)
    this.reserve(padding + following + 8)
    this.head -= padding
  }

  private reserve(count: number): void {
    if (this.head >= count) return
    const used = this.position()
    let size = this.bytes.length
    while (size - used < count) size *= 2
    const grown = new Uint8Array(size)
    grown.set(this.bytes.subarray(this.head), size - used)
    this.bytes = grown
    this.view = new DataView(grown.buffer)
    this.head = size - used
  }

  private putByte(value: number): void {
    this.head -= 1
    this.bytes[this.head] = value
  }

  private putI16(value: number): void {
    this.head -= 2
    this.view.setInt16(this.head, value, true)
  }

  private putU32(value: number): void {
    this.head -= 4
    this.view.setUint32(this.head, value, true)
  }
}
