// Reads Thrift's compact protocol, the form of Parquet's page headers and footer, field by field: nothing is kept that the
// caller does not ask for, so that a hostile footer costs no more memory than its bytes.
// Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

import { decodeUtf8 } from '../../base/bytes.ts'
import { damaged } from './refusals.ts'
import { type EncodedValue, thriftTypes as types } from './thrift.ts'

const maxDepth = 24
const endsEarly = 'ends in the middle of its metadata'
const otherType = 'has metadata of another type than the format says'

/** Takes the field `id`: reads its value by one of the reader's methods, or returns false to have it skipped. */
export type FieldVisitor = (id: number) => boolean | void

/** One Thrift structure after the other. Throws DecodeError for what is none. */
export class ThriftReader {
  readonly bytes: Uint8Array
  at: number
  private type = 0
  private depth = 0

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  /** Reads the structure here, also one that is the field or the item at hand. */
  struct(visit: FieldVisitor): void {
    if (this.depth > 0 && this.type !== types.struct) damaged(otherType)
    if (++this.depth > maxDepth) damaged('has metadata that are nested too deep')
    let id = 0
    for (;;) {
      const header = this.byte()
      if (header === 0) break
      id = header >> 4 === 0 ? this.zigzag() : id + (header >> 4)
      this.type = header & 15
      const type = this.type
      if (visit(id) === false) this.skip(type)
    }
    this.depth--
  }

  /** The structure here: its integers at the fields `ids`, then its booleans at `flags`, as 1 and 0. Others are passed over. */
  numbers(ids: readonly number[], flags: readonly number[] = []): (number | undefined)[] {
    const found: (number | undefined)[] = []
    this.struct((id) => {
      if (ids.includes(id)) found[ids.indexOf(id)] = this.integer()
      else if (flags.includes(id)) found[ids.length + flags.indexOf(id)] = Number(this.boolean())
      else return false
      return true
    })
    return found
  }

  /** The field at hand as an integer of up to 2^53. */
  integer(): number {
    const { type } = this
    if (type === types.i8) return (this.byte() << 24) >> 24
    if (type !== types.i16 && type !== types.i32 && type !== types.i64) return damaged(otherType)
    const value = this.zigzag()
    return Number.isSafeInteger(value) ? value : damaged('has a number in its metadata that is too large')
  }

  boolean(): boolean {
    if (this.type !== types.true && this.type !== types.false) return damaged(otherType)
    return this.type === types.true
  }

  binary(): Uint8Array {
    if (this.type !== types.binary) return damaged(otherType)
    return this.take(this.varint())
  }

  text(): string {
    try {
      return decodeUtf8(this.binary())
    } catch (error) {
      if (error instanceof TypeError) return damaged('has text in its metadata that is not UTF-8')
      throw error
    }
  }

  /** Reads the list at hand: `item` is called for each, in order, and reads it. More than `most` items are refused. */
  list(most: number, item: (index: number, count: number) => void): void {
    if (this.type !== types.list) damaged(otherType)
    const { type, count } = this.listHeader()
    if (count > most) damaged(`has a list of ${count} items in its metadata, of which ${most} are the most`)
    for (let i = 0; i < count; i++) {
      this.type = type
      item(i, count)
    }
  }

  /** Passes over the value of the field or the item at hand. */
  skipValue(): void {
    this.skip(this.type)
  }

  /** The value of the field at hand as it is encoded, and its type. */
  encodedValue(): EncodedValue {
    const { type, at } = this
    this.skip(type)
    return { type, bytes: this.bytes.subarray(at, this.at) }
  }

  private skip(type: number): void {
    switch (type) {
      case types.true:
      case types.false:
        return
      case types.i8:
        this.byte()
        return
      case types.i16:
      case types.i32:
      case types.i64:
        this.varint()
        return
      case types.double:
        this.take(8)
        return
      case types.binary:
        this.take(this.varint())
        return
      case types.list:
      case types.set:
        return this.skipList()
      case types.map:
        return this.skipMap()
      case types.struct:
        this.type = types.struct
        return this.struct(() => false)
      default:
        damaged('has metadata of a type that Thrift does not have')
    }
  }

  private skipList(): void {
    const { type, count } = this.listHeader()
    if (++this.depth > maxDepth) damaged('has metadata that are nested too deep')
    for (let i = 0; i < count; i++) this.skipItem(type)
    this.depth--
  }

  private skipMap(): void {
    const count = this.varint()
    if (count === 0) return
    const kinds = this.byte()
    if (count > this.bytes.length - this.at) damaged(endsEarly)
    if (++this.depth > maxDepth) damaged('has metadata that are nested too deep')
    for (let i = 0; i < count; i++) {
      this.skipItem(kinds >> 4)
      this.skipItem(kinds & 15)
    }
    this.depth--
  }

  /** In lists and maps, booleans are a byte each. */
  private skipItem(type: number): void {
    if (type === types.true || type === types.false) this.byte()
    else this.skip(type)
  }

  private listHeader(): { type: number; count: number } {
    const header = this.byte()
    const count = header >> 4 === 15 ? this.varint() : header >> 4
    // Each item has at least a byte.
    if (count > this.bytes.length - this.at) damaged(endsEarly)
    return { type: header & 15, count }
  }

  private byte(): number {
    if (this.at >= this.bytes.length) damaged(endsEarly)
    return this.bytes[this.at++] ?? 0
  }

  private take(length: number): Uint8Array {
    const start = this.at
    if (length > this.bytes.length - start) damaged(endsEarly)
    this.at = start + length
    return this.bytes.subarray(start, this.at)
  }

  /** Exact up to 2^53; larger numbers come out as unsafe integers. */
  private varint(): number {
    let value = 0
    for (let scale = 1, i = 0; i < 10; i++, scale *= 128) {
      const byte = this.byte()
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    return damaged('has a number in its metadata that does not end')
  }

  private zigzag(): number {
    const value = this.varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}
