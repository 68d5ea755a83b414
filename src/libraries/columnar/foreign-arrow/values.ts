// The values of arrays that lie in buffers of their own: numbers, times, texts, bytes. Everything is checked where it is read.
// Source: Apache Arrow columnar format, "Physical memory layout".

import { bitAt, countBits, cutBits } from '../arrow/buffers.ts'
import type { ColumnBuilder } from '../arrow/column-builder.ts'
import { fixedWidth } from '../arrow/columns.ts'
import { type Numbers, numbersOf } from '../arrow/numbers.ts'
import { toHex, utf8 } from '../../base/bytes.ts'
import type { DataType } from '../../model/schema.ts'
import { fixedText, type LeafText } from '../outputs/leaf-text.ts'
import type { JsonText } from '../../base/json/json-text.ts'
import { damaged } from './faults.ts'

/** The rows [start, end) as buffers of a column. */
export interface SharedRows {
  readonly values: Uint8Array
  readonly offsets: Int32Array | undefined
  readonly validity: Uint8Array | undefined
  readonly nullCount: number
}

/** The values of one array. Methods that take a row are called for rows that are present, in any order; all throw DecodeError. */
export interface ArrowValues {
  readonly rows: number
  isPresent(row: number): boolean
  /** About how many bytes a value takes in a column; 0 for one that becomes JSON text. */
  bytesAt(row: number): number
  /** The same of rows [start, end), which may be null. */
  bytesIn(start: number, end: number): number
  append(row: number, to: ColumnBuilder): void
  /** Writes a JSON value, or nothing, which is null. */
  writeJson(row: number, out: JsonText): void
  /** Rows that lie as in our columns, without a copy; undefined where they do not. */
  share(start: number, end: number): SharedRows | undefined
}

/** What arrays with a bitmap of their own share. */
export abstract class OwnValues implements ArrowValues {
  readonly rows: number
  readonly validity: Uint8Array | undefined

  constructor(rows: number, validity: Uint8Array | undefined) {
    this.rows = rows
    this.validity = validity
  }

  isPresent(row: number): boolean {
    return this.validity === undefined || bitAt(this.validity, row)
  }

  bytesAt(_row: number): number {
    return 0
  }

  bytesIn(start: number, end: number): number {
    return start === end ? 0 : (end - start) * this.bytesAt(start)
  }

  share(_start: number, _end: number): SharedRows | undefined {
    return undefined
  }

  abstract append(row: number, to: ColumnBuilder): void
  abstract writeJson(row: number, out: JsonText): void

  /** `values` and `offsets` with the nulls of these rows. */
  protected shared(start: number, end: number, values: Uint8Array, offsets?: Int32Array): SharedRows {
    const bits = this.validity === undefined ? undefined : cutBits(this.validity, start, end - start)
    const nullCount = bits === undefined ? 0 : end - start - countBits(bits, end - start)
    return { values, offsets, validity: nullCount === 0 ? undefined : bits, nullCount }
  }
}

/** Nothing but nulls. */
export class NullValues extends OwnValues {
  override isPresent(): boolean {
    return false
  }

  append(): never {
    return damaged('has a value where there is none')
  }

  writeJson(): never {
    return damaged('has a value where there is none')
  }
}

export class BoolValues extends OwnValues {
  readonly #bits: Uint8Array

  constructor(rows: number, validity: Uint8Array | undefined, bits: Uint8Array) {
    super(rows, validity)
    this.#bits = bits
  }

  append(row: number, to: ColumnBuilder): void {
    to.appendBool(bitAt(this.#bits, row))
  }

  writeJson(row: number, out: JsonText): void {
    out.ascii(String(bitAt(this.#bits, row)))
  }

  override share(start: number, end: number): SharedRows {
    return this.shared(start, end, cutBits(this.#bits, start, end - start))
  }
}

/** Values that lie as in our columns. */
export class FixedValues extends OwnValues {
  /** Made when the first value is printed. */
  #text: LeafText | undefined
  readonly #type: DataType
  readonly #width: number
  readonly #values: Uint8Array
  readonly #numbers: Numbers | undefined
  readonly #view: DataView

  constructor(rows: number, validity: Uint8Array | undefined, type: DataType, values: Uint8Array) {
    super(rows, validity)
    this.#numbers = numbersOf({ type, values })
    this.#type = type
    this.#width = fixedWidth(type) ?? 0
    this.#values = values
    this.#view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  }

  override bytesAt(): number {
    return this.#width
  }

  append(row: number, to: ColumnBuilder): void {
    const number = this.#numbers?.[row]
    if (number === undefined) to.appendBigInt64(this.#view.getBigInt64(8 * row, true))
    else if (this.#type.kind === 'Float32' || this.#type.kind === 'Float64') to.appendFloat64(number)
    else to.appendInt32(number)
  }

  /** The value of doubles. */
  doubleAt(row: number): number {
    return this.#view.getFloat64(8 * row, true)
  }

  writeJson(row: number, out: JsonText): void {
    this.#text ??= fixedText({ type: this.#type, values: this.#values })
    out.ascii(this.#text(row))
  }

  override share(start: number, end: number): SharedRows {
    return this.shared(start, end, this.#values.subarray(start * this.#width, end * this.#width))
  }
}

/** Texts or bytes of any length: where each lies is for the kinds of arrays to say. */
export abstract class VariableValues extends OwnValues {
  /** Where the value lies that was found last. */
  bytes = noBytes
  start = 0
  end = 0
  readonly #isText: boolean

  constructor(rows: number, validity: Uint8Array | undefined, isText: boolean) {
    super(rows, validity)
    this.#isText = isText
  }

  abstract find(row: number): void

  override bytesIn(start: number, end: number): number {
    let bytes = 0
    for (let row = start; row < end; row++) if (this.isPresent(row)) bytes += this.bytesAt(row)
    return bytes
  }

  append(row: number, to: ColumnBuilder): void {
    this.find(row)
    to.appendBytes(this.bytes, this.start, this.end)
  }

  writeJson(row: number, out: JsonText): void {
    this.find(row)
    if (this.#isText) writeString(out, this.bytes, this.start, this.end)
    else out.hex(this.bytes, this.start, this.end)
  }
}

const noBytes: Uint8Array = new Uint8Array(0)

function writeString(out: JsonText, bytes: Uint8Array, start: number, end: number): void {
  try {
    out.utf8String(bytes, start, end)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    damaged(notText)
  }
}

export const notText = 'has text that is not UTF-8'

/** Texts or bytes that offsets of 4 or 8 bytes cut. */
export class BytesValues extends VariableValues {
  readonly #offsets: OffsetReader
  readonly #values: Uint8Array

  constructor(rows: number, validity: Uint8Array | undefined, parts: BytesParts) {
    super(rows, validity, parts.isText)
    this.#offsets = parts.offsets
    this.#values = parts.values
  }

  override bytesAt(row: number): number {
    return this.bytesIn(row, row + 1)
  }

  override bytesIn(start: number, end: number): number {
    return Math.max(0, this.#offsets.at(end) - this.#offsets.at(start))
  }

  find(row: number): void {
    this.bytes = this.#values
    this.start = this.#offsets.at(row)
    this.end = this.#checked(this.start, this.#offsets.at(row + 1))
  }

  /** Offsets of 32 bits, made to begin at 0; not where they cut other bytes than text. */
  override share(start: number, end: number): SharedRows | undefined {
    const first = this.#offsets.at(start)
    const offsets = new Int32Array(end - start + 1)
    let last = first
    for (let row = start; row < end; row++) {
      last = this.#checked(last, this.#offsets.at(row + 1))
      offsets[row + 1 - start] = last - first
    }
    return this.shared(start, end, this.#values.subarray(first, last), offsets)
  }

  #checked(start: number, end: number): number {
    if (end < start || start < 0) return damaged('has offsets that go backwards')
    return end <= this.#values.length ? end : damaged('has offsets beyond its bytes')
  }
}

interface BytesParts {
  readonly isText: boolean
  readonly offsets: OffsetReader
  readonly values: Uint8Array
}

/** Offsets or sizes of 4 or 8 bytes; what is beyond 2^53 reads as a number that is beyond any buffer. */
export class OffsetReader {
  readonly #words: Int32Array
  readonly #isLong: boolean

  /** Of `count` offsets of `offsetBytes` each. An empty array has none: its only one is 0. */
  constructor(bytes: Uint8Array, count: number, offsetBytes: 4 | 8) {
    const words = (count * offsetBytes) / 4
    this.#words = bytes.length === 0 ? new Int32Array(words) : new Int32Array(bytes.buffer, bytes.byteOffset, words)
    this.#isLong = offsetBytes === 8
  }

  at(index: number): number {
    if (!this.#isLong) return this.#words[index] ?? -1
    return (this.#words[2 * index + 1] ?? -1) * 2 ** 32 + ((this.#words[2 * index] ?? 0) >>> 0)
  }
}

const viewBytes = 16
const inlineBytes = 12
const prefixBytes = 4

/** Texts or bytes in views: short ones inside, others in one of several buffers. */
export class ViewValues extends VariableValues {
  readonly #views: Uint8Array
  readonly #view: DataView
  readonly #buffers: readonly Uint8Array[]

  constructor(rows: number, validity: Uint8Array | undefined, parts: ViewParts) {
    super(rows, validity, parts.isText)
    this.#views = parts.views
    this.#view = new DataView(parts.views.buffer, parts.views.byteOffset, parts.views.byteLength)
    this.#buffers = parts.buffers
  }

  override bytesAt(row: number): number {
    return Math.max(0, this.#view.getInt32(viewBytes * row, true))
  }

  find(row: number): void {
    const at = viewBytes * row
    const length = this.#view.getInt32(at, true)
    if (length < 0) damaged('has a view of negative length')
    if (length <= inlineBytes) {
      this.bytes = this.#views
      this.start = at + 4
      this.end = at + 4 + length
      return
    }
    const buffer =
      this.#buffers[this.#view.getInt32(at + 8, true)] ?? damaged('has a view of a buffer that is not there')
    const start = this.#view.getInt32(at + 12, true)
    if (start < 0 || start + length > buffer.length) damaged('has a view that lies outside of its buffer')
    for (let i = 0; i < prefixBytes; i++) {
      if (buffer[start + i] !== this.#views[at + 4 + i])
        damaged('has a view that begins with other bytes than its value')
    }
    this.bytes = buffer
    this.start = start
    this.end = start + length
  }
}

interface ViewParts {
  readonly isText: boolean
  readonly views: Uint8Array
  readonly buffers: readonly Uint8Array[]
}

/** Bytes of one length each. */
export class FixedBytesValues extends VariableValues {
  readonly #width: number
  readonly #values: Uint8Array

  constructor(rows: number, validity: Uint8Array | undefined, width: number, values: Uint8Array) {
    super(rows, validity, false)
    this.#width = width
    this.#values = values
  }

  override bytesAt(): number {
    return this.#width
  }

  find(row: number): void {
    this.bytes = this.#values
    this.start = row * this.#width
    this.end = this.start + this.#width
  }
}

const uuidTextBytes = 36

/** UUIDs, whose text is stored. */
export class UuidValues extends VariableValues {
  readonly #values: Uint8Array

  constructor(rows: number, validity: Uint8Array | undefined, values: Uint8Array) {
    super(rows, validity, true)
    this.#values = values
  }

  override bytesAt(): number {
    return uuidTextBytes
  }

  find(row: number): void {
    const hex = toHex(this.#values.subarray(16 * row, 16 * (row + 1)))
    const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
    this.bytes = utf8(parts.join('-'))
    this.end = uuidTextBytes
  }
}
