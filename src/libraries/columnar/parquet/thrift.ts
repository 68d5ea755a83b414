// Writes Thrift's compact protocol: the form of Parquet's page headers and footer.
// Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

import { ByteBuffer } from '../../base/byte-buffer.ts'
import { utf8 } from '../../base/bytes.ts'

/** Element types, also of lists. */
export const thriftTypes = {
  true: 1,
  false: 2,
  i8: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const

/** An unsigned varint, of Thrift and of Parquet's runs: seven bits a byte, low bits first. */
export function varintBytes(value: number): number[] {
  const out: number[] = []
  let rest = value
  while (rest >= 128) {
    out.push((rest % 128) | 128)
    rest = Math.floor(rest / 128)
  }
  out.push(rest)
  return out
}

/** A value of a field; a boolean is all in its type. */
export interface EncodedValue {
  readonly type: number
  readonly bytes: Uint8Array
}

/** One Thrift structure after the other. Fields go in ascending order of their ids. Integers are safe integers. */
export class ThriftWriter {
  private readonly out = new ByteBuffer(256)
  private lastField = 0

  bool(field: number, value: boolean): void {
    this.header(field, value ? thriftTypes.true : thriftTypes.false)
  }

  i8(field: number, value: number): void {
    this.header(field, thriftTypes.i8)
    this.out.byte(value)
  }

  i16(field: number, value: number): void {
    this.header(field, thriftTypes.i16)
    this.zigzag(value)
  }

  i32(field: number, value: number): void {
    this.header(field, thriftTypes.i32)
    this.zigzag(value)
  }

  i64(field: number, value: number): void {
    this.header(field, thriftTypes.i64)
    this.zigzag(value)
  }

  binary(field: number, value: Uint8Array): void {
    this.header(field, thriftTypes.binary)
    this.blob(value)
  }

  text(field: number, value: string): void {
    this.binary(field, utf8(value))
  }

  /** A structure in a field; `body` writes its fields. */
  struct(field: number, body: () => void): void {
    this.header(field, thriftTypes.struct)
    this.element(body)
  }

  /** A list of structures. */
  structs<T>(field: number, items: readonly T[], body: (item: T) => void): void {
    this.listHeader(field, thriftTypes.struct, items.length)
    for (const item of items) this.element(() => body(item))
  }

  i32s(field: number, items: readonly number[]): void {
    this.listHeader(field, thriftTypes.i32, items.length)
    for (const item of items) this.zigzag(item)
  }

  texts(field: number, items: readonly string[]): void {
    this.listHeader(field, thriftTypes.binary, items.length)
    for (const item of items) this.blob(utf8(item))
  }

  encoded(field: number, { type, bytes }: EncodedValue): void {
    this.header(field, type)
    this.out.raw(bytes)
  }

  /** A list of structures, each with its end. */
  encodedStructs(field: number, items: readonly Uint8Array[]): void {
    this.listHeader(field, thriftTypes.struct, items.length)
    for (const item of items) this.out.raw(item)
  }

  /** Ends the structure and takes its bytes; the writer starts anew. */
  finish(): Uint8Array {
    this.out.byte(0)
    this.lastField = 0
    return this.out.take()
  }

  private element(body: () => void): void {
    const outer = this.lastField
    this.lastField = 0
    body()
    this.out.byte(0)
    this.lastField = outer
  }

  private header(field: number, type: number): void {
    const delta = field - this.lastField
    if (delta > 0 && delta < 16) this.out.byte((delta << 4) | type)
    else {
      this.out.byte(type)
      this.zigzag(field)
    }
    this.lastField = field
  }

  private listHeader(field: number, type: number, length: number): void {
    this.header(field, thriftTypes.list)
    if (length < 15) this.out.byte((length << 4) | type)
    else {
      this.out.byte(0xf0 | type)
      this.varint(length)
    }
  }

  private blob(value: Uint8Array): void {
    this.varint(value.length)
    this.out.raw(value)
  }

  private zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  private varint(value: number): void {
    if (value < 128) this.out.byte(value)
    else for (const byte of varintBytes(value)) this.out.byte(byte)
  }
}
