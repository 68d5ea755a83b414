// A column that grows row by row: what the readers of formats write into. Bytes and typed arrays only; a record that
// turns out bad is undone with `rollback`. `finish` hands the buffers over as a Column.

import { assert, must } from '../../base/assert.ts'
import { type Column, type DataType, type Field, innerType, isOptional } from '../../model/schema.ts'
import { clearBits, copyBits, countBits, setBits } from './buffers.ts'
import { type ColumnLayout, columnLayout, fixedWidth, itemName, makeColumn } from './columns.ts'

const noBytes = new Uint8Array(0)
const noWords = new Int32Array(0)
const noDoubles = new Float64Array(0)
const noFloats = new Float32Array(0)
const maxBytes = 2 ** 31 - 1
const firstRows = 16

const scratch64 = new BigInt64Array(2)
const scratch32 = new Int32Array(scratch64.buffer)

/** A growing column for `field`; an Option type makes it nullable. `expectedRows` sizes the first buffers. */
export function createColumnBuilder(field: Field, expectedRows = firstRows): ColumnBuilder {
  return new ColumnBuilder(field, expectedRows)
}

/** Values of a column one after the other, as its buffers hold them. */
export interface ManyValues {
  readonly values: Uint8Array
  readonly ends: Int32Array | undefined
  readonly validity: Uint8Array | undefined
}

/**
 * Appends one value per row. Which `append…` fits is decided by the type; the caller keeps to it:
 * Bool: appendBool · Int8…Int32, UInt8…UInt32, Date (days), Time s/ms: appendInt32 · Int64, UInt64, Timestamp, Time
 * µs/ns: appendInt64, appendBigInt64 · Float32, Float64: appendFloat64 · Decimal: appendDecimal ·
 * String, Binary: appendBytes, appendView · List: append items to `items`, then endList · any nullable: appendNull.
 */
export class ColumnBuilder {
  readonly name: string
  readonly type: DataType
  readonly nullable: boolean
  /** Builder of a list's items. */
  readonly items: ColumnBuilder | undefined
  /** Rows so far. */
  rows = 0
  private readonly layout: ColumnLayout
  private readonly width: number
  private capacityRows = 0
  /** Room that the next buffers have from the start: for rows, and for bytes of text. */
  private startRows: number
  private startBytes = 64
  /** Values; the next four are views of the same memory, the one that fits the type. */
  private bytes: Uint8Array = noBytes
  private view: DataView | undefined = undefined
  private words: Int32Array = noWords
  private doubles: Float64Array = noDoubles
  private floats: Float32Array = noFloats
  private offsets: Int32Array = noWords
  // Allocated at the first null; until then every row is present.
  private validity: Uint8Array | undefined = undefined

  constructor(field: Field, expectedRows: number) {
    this.name = field.name
    this.type = innerType(field.type)
    this.nullable = isOptional(field.type)
    this.layout = must(columnLayout(this.type), `a column type, not ${this.type.kind}`)
    this.width = fixedWidth(this.type) ?? 0
    this.startRows = Math.max(expectedRows, 1)
    this.items =
      this.type.kind === 'List'
        ? new ColumnBuilder({ name: itemName, type: this.type.itemType }, expectedRows)
        : undefined
  }

  /** Drops every row after the first `rows`, and every loose list item. */
  rollback(rows: number): void {
    assert(rows <= this.rows, 'rows of this builder')
    this.rows = rows
    this.items?.rollback(rows === 0 ? 0 : (this.offsets[rows] ?? 0))
  }

  appendNull(): void {
    assert(this.nullable, 'a null only in a nullable column')
    const row = this.nextRow()
    this.validity ??= onesOf(this.capacityRows, row)
    this.validity[row >> 3] = (this.validity[row >> 3] ?? 0) & ~(1 << (row & 7))
    if (this.layout === 'fixed') {
      const { bytes, width } = this
      // Several times as fast as `fill` for so few.
      for (let at = row * width, end = at + width; at < end; at++) bytes[at] = 0
    } else if (this.layout === 'bits') this.bytes[row >> 3] = (this.bytes[row >> 3] ?? 0) & ~(1 << (row & 7))
    else this.offsets[row + 1] = this.offsets[row] ?? 0
    this.rows = row + 1
  }

  /** Appends nulls up to so many rows. */
  appendNulls(rows: number): void {
    assert(this.nullable && rows >= this.rows, 'nulls only in a nullable column')
    if (this.capacityRows < rows) this.grow(withSlack(rows))
    this.validity ??= onesOf(this.capacityRows, this.rows)
    clearBits(this.validity, this.rows, rows)
    if (this.layout === 'fixed') this.bytes.fill(0, this.rows * this.width, rows * this.width)
    else if (this.layout === 'bits') clearBits(this.bytes, this.rows, rows)
    else this.offsets.fill(this.offsets[this.rows] ?? 0, this.rows + 1, rows + 1)
    this.rows = rows
  }

  appendBool(value: boolean): void {
    const row = this.present()
    const mask = 1 << (row & 7)
    const byte = this.bytes[row >> 3] ?? 0
    this.bytes[row >> 3] = value ? byte | mask : byte & ~mask
    this.rows = row + 1
  }

  /** An integer of at most 32 bits, already checked against the type's range. */
  appendInt32(value: number): void {
    const row = this.present()
    if (this.width === 4) this.words[row] = value
    else if (this.width === 2) {
      this.bytes[2 * row] = value
      this.bytes[2 * row + 1] = value >> 8
    } else this.bytes[row] = value
    this.rows = row + 1
  }

  /** A safe integer into a 64-bit column. */
  appendInt64(value: number): void {
    const row = this.present()
    // Stores wrap modulo 2^32, which is the low word of the two's complement.
    this.words[2 * row] = value
    this.words[2 * row + 1] = Math.floor(value / 4294967296)
    this.rows = row + 1
  }

  /** A 64-bit integer, signed or not. */
  appendBigInt64(value: bigint): void {
    const row = this.present()
    scratch64[0] = value
    this.words[2 * row] = scratch32[0] ?? 0
    this.words[2 * row + 1] = scratch32[1] ?? 0
    this.rows = row + 1
  }

  /** A double; rounded to single precision in a Float32 column. */
  appendFloat64(value: number): void {
    const row = this.present()
    if (this.width === 8) this.doubles[row] = value
    else this.floats[row] = value
    this.rows = row + 1
  }

  /** The unscaled integer of a decimal. */
  appendDecimal(unscaled: bigint): void {
    const row = this.present()
    scratch64[0] = unscaled
    scratch64[1] = unscaled >> 64n
    for (let i = 0; i < 4; i++) this.words[4 * row + i] = scratch32[i] ?? 0
    this.rows = row + 1
  }

  /** Bytes [start, end) of `source`, copied. UTF-8 in a String column: the caller has checked it. */
  appendBytes(source: Uint8Array, start: number, end: number): void {
    const row = this.present()
    const length = end - start
    const at = this.offsets[row] ?? 0
    this.reserveBytes(at + length)
    const { bytes } = this
    if (length > 96) bytes.set(source.subarray(start, end), at)
    else for (let i = 0; i < length; i++) bytes[at + i] = source[start + i] ?? 0
    this.offsets[row + 1] = at + length
    this.rows = row + 1
  }

  /** The same from a view of the bytes, by words: faster for texts of some dozens of bytes. */
  appendView(source: DataView, start: number, end: number): void {
    const row = this.present()
    const length = end - start
    const at = this.offsets[row] ?? 0
    this.reserveBytes(at + length)
    if (length < 4 || length > 256) {
      this.bytes.set(new Uint8Array(source.buffer, source.byteOffset + start, length), at)
    } else {
      this.view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
      const { view } = this
      // The last word overlaps the one before, so that no byte is left over.
      const last = length - 4
      for (let i = 0; i < last; i += 4) view.setInt32(at + i, source.getInt32(start + i, true), true)
      view.setInt32(at + last, source.getInt32(start + last, true), true)
    }
    this.offsets[row + 1] = at + length
    this.rows = row + 1
  }

  /** Bytes of the texts so far. */
  get textBytes(): number {
    return this.offsets[this.rows] ?? 0
  }

  /**
   * Appends so many values. `values` holds them in the width of the type, or as bits, or as text; `ends`, of texts, are their
   * ends from the column's first text on; `validity` is there where some are null.
   */
  appendRows(rows: number, { values, ends, validity }: ManyValues): void {
    const from = this.rows
    const to = from + rows
    while (this.capacityRows < to) this.grow()
    if (validity !== undefined) this.validity ??= onesOf(this.capacityRows, from)
    if (this.validity !== undefined) {
      if (validity === undefined) setBits(this.validity, from, rows)
      else copyBits(this.validity, from, validity, 0, rows)
    }
    if (ends !== undefined) {
      const at = this.textBytes
      this.reserveBytes(at + values.length)
      this.bytes.set(values, at)
      this.offsets.set(ends, from + 1)
    } else if (this.layout === 'bits') copyBits(this.bytes, from, values, 0, rows)
    else this.bytes.set(values.subarray(0, rows * this.width), from * this.width)
    this.rows = to
  }

  /** Ends a list row with all items appended to `items` since the row before. */
  endList(): void {
    const row = this.present()
    this.offsets[row + 1] = must(this.items, 'items of a list').rows
    this.rows = row + 1
  }

  /** The rows as a column, which owns the buffers from now on; the builder starts anew. */
  finish(): Column {
    const { name, type, nullable, rows } = this
    const nullCount = this.validity === undefined ? 0 : rows - countBits(this.validity, rows)
    const variable = this.layout === 'bytes' || this.layout === 'list'
    const column = makeColumn({
      name,
      type,
      nullable,
      rows,
      nullCount,
      validity: nullCount === 0 || this.validity === undefined ? undefined : trimBits(this.validity, rows),
      values: this.takeValues(),
      offsets: variable ? (rows === 0 ? new Int32Array(1) : this.offsets.subarray(0, rows + 1)) : undefined,
      child: this.items?.finish(),
    })
    this.reset()
    return column
  }

  private takeValues(): Uint8Array {
    const { rows } = this
    if (rows === 0 || this.layout === 'list') return noBytes
    if (this.layout === 'bits') return trimBits(this.bytes, rows)
    if (this.layout === 'bytes') return this.bytes.subarray(0, this.offsets[rows] ?? 0)
    return this.bytes.subarray(0, rows * this.width)
  }

  private reset(): void {
    // What comes next is probably as long; growing to it step by step would copy everything twice.
    if (this.rows > 64) {
      this.startRows = withSlack(this.rows)
      if (this.layout === 'bytes') this.startBytes = withSlack(this.offsets[this.rows] ?? 0)
    }
    this.rows = 0
    this.capacityRows = 0
    this.bytes = noBytes
    this.view = undefined
    this.words = noWords
    this.doubles = noDoubles
    this.floats = noFloats
    this.offsets = noWords
    this.validity = undefined
  }

  /** Index of the next row, which is marked present. */
  private present(): number {
    const row = this.nextRow()
    if (this.validity !== undefined) this.validity[row >> 3] = (this.validity[row >> 3] ?? 0) | (1 << (row & 7))
    return row
  }

  private nextRow(): number {
    if (this.rows === this.capacityRows) this.grow()
    return this.rows
  }

  private grow(least = 0): void {
    const rows = Math.max(least, this.capacityRows === 0 ? this.startRows : this.capacityRows * 2)
    this.capacityRows = rows
    if (this.validity !== undefined) this.validity = grownBytes(this.validity, (rows + 7) >> 3)
    if (this.layout === 'bytes' || this.layout === 'list') this.offsets = grownWords(this.offsets, rows + 1)
    else {
      this.bytes = grownBytes(this.bytes, this.layout === 'bits' ? (rows + 7) >> 3 : rows * this.width)
      const { buffer, byteOffset } = this.bytes
      if (this.type.kind === 'Float64') this.doubles = new Float64Array(buffer, byteOffset, rows)
      else if (this.type.kind === 'Float32') this.floats = new Float32Array(buffer, byteOffset, rows)
      else if (this.width >= 4) this.words = new Int32Array(buffer, byteOffset, (rows * this.width) >> 2)
    }
  }

  private reserveBytes(length: number): void {
    if (length <= this.bytes.length) return
    assert(length <= maxBytes, 'a column holds at most 2 GiB')
    this.view = undefined
    this.bytes = grownBytes(this.bytes, Math.min(maxBytes, Math.max(length, this.bytes.length * 2, this.startBytes)))
  }
}

function withSlack(length: number): number {
  return length + (length >> 3)
}

/** A bitmap for `capacity` rows with the first `rows` bits set. */
function onesOf(capacity: number, rows: number): Uint8Array {
  const bits = new Uint8Array((capacity + 7) >> 3)
  bits.fill(255, 0, rows >> 3)
  if ((rows & 7) !== 0) bits[rows >> 3] = (1 << (rows & 7)) - 1
  return bits
}

/** The first `rows` bits; unused bits of the last byte are cleared, so that equal columns have equal bytes. */
function trimBits(bits: Uint8Array, rows: number): Uint8Array {
  const out = bits.subarray(0, (rows + 7) >> 3)
  if ((rows & 7) !== 0) out[out.length - 1] = (out[out.length - 1] ?? 0) & ((1 << (rows & 7)) - 1)
  return out
}

// Most bodies have one row. An array of its own for each of its columns would cost more than reading the row: so small
// arrays are cut from slabs, each place once, and a slab goes when the last column that lies in it does.
const slabBytes = 64 * 1024
const smallBytes = 512
let slab = new ArrayBuffer(slabBytes)
let slabUsed = 0

/** Takes a place of so many bytes in the current slab, aligned for every type; it holds zeros. */
function takePlace(bytes: number): number {
  let at = (slabUsed + 7) & ~7
  if (at + bytes > slabBytes) {
    slab = new ArrayBuffer(slabBytes)
    at = 0
  }
  slabUsed = at + bytes
  return at
}

function grownBytes(old: Uint8Array, length: number): Uint8Array {
  const at = length > smallBytes ? -1 : takePlace(length)
  const out = at < 0 ? new Uint8Array(length) : new Uint8Array(slab, at, length)
  if (old.length > 0) out.set(old)
  freeOwn(old)
  return out
}

function grownWords(old: Int32Array, length: number): Int32Array {
  const at = 4 * length > smallBytes ? -1 : takePlace(4 * length)
  const out = at < 0 ? new Int32Array(length) : new Int32Array(slab, at, length)
  if (old.length > 0) out.set(old)
  freeOwn(old)
  return out
}

/** Gives back what is no place in a slab. */
function freeOwn({ buffer }: ArrayBufferView): void {
  const isOwn = buffer.byteLength > smallBytes && buffer.byteLength !== slabBytes
  if (isOwn && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Gives the memory of columns back at once that builders have made and nobody reads any more (`freeBytes`). */
export function freeBuilt(columns: readonly Column[]): void {
  for (const { rows, nullCount, values, validity, offsets, child } of columns) {
    // Columns of nulls share theirs.
    if (nullCount === rows) continue
    for (const array of [values, validity, offsets]) if (array !== undefined) freeOwn(array)
    if (child !== undefined) freeBuilt([child])
  }
}
