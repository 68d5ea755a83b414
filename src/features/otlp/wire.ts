// Reads protobuf's wire format field by field: nothing is kept that the caller does not ask for.
// Source: https://protobuf.dev/programming-guides/encoding/

import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { malformedLogs } from './log-record.ts'

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const
const endsEarly = 'a message ends before its field does'
/** Bytes of the longest number. */
const varintBytes = 10
/** Bytes of a number that bit operations hold. */
const shortBytes = 4

/** One message. Throws NodeError `MalformedBody` for what is none. */
export class WireMessage {
  readonly #bytes: Uint8Array
  #at = 0
  #type = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Calls `take` for each field with its number, until it says false; a field whose value it does not read is passed over. */
  fields(take: (field: number) => boolean | undefined | void): void {
    this.#at = 0
    while (this.#at < this.#bytes.length) {
      const key = this.#short() ?? Number(this.varint(wireTypes.varint))
      this.#type = key & 7
      const field = Math.floor(key / 8)
      if (field === 0) throw malformedLogs('a field has the number 0')
      const from = this.#at
      if (take(field) === false) return
      if (this.#at === from) this.#pass()
    }
  }

  /** An integer of up to 64 bits, unsigned. */
  varint(type: number = this.#type): bigint {
    if (type !== wireTypes.varint) throw otherType()
    let value = 0n
    for (let i = 0; i < varintBytes; i++) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw malformedLogs(endsEarly)
      value |= BigInt(byte & 0x7f) << BigInt(7 * i)
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw malformedLogs('a number is too long')
  }

  fixed64(): bigint {
    return this.#fixed(wireTypes.fixed64, 8).getBigUint64(0, true)
  }

  fixed32(): number {
    return this.#fixed(wireTypes.fixed32, 4).getUint32(0, true)
  }

  double(): number {
    return this.#fixed(wireTypes.fixed64, 8).getFloat64(0, true)
  }

  bytes(): Uint8Array {
    const end = this.#end()
    const start = this.#at
    this.#at = end
    return this.#bytes.subarray(start, end)
  }

  text(): string {
    try {
      return decodeUtf8(this.bytes())
    } catch (error) {
      throw error instanceof TypeError ? malformedLogs('a text is not valid UTF-8') : error
    }
  }

  message(): WireMessage {
    return new WireMessage(this.bytes())
  }

  /** A number of few bytes, as most are; undefined, and nothing is read, for others. */
  #short(): number | undefined {
    let value = 0
    for (let i = 0; i < shortBytes; i++) {
      const byte = this.#bytes[this.#at + i] ?? 0x80
      value |= (byte & 0x7f) << (7 * i)
      if (byte >= 0x80) continue
      this.#at += i + 1
      return value
    }
    return undefined
  }

  /** Index after the bytes of the field, the first of which is read next. */
  #end(): number {
    if (this.#type !== wireTypes.bytes) throw otherType()
    const length = this.#short() ?? Number(this.varint(wireTypes.varint))
    return this.#within(length)
  }

  #within(length: number): number {
    if (length > this.#bytes.length - this.#at) throw malformedLogs(endsEarly)
    return this.#at + length
  }

  #fixed(type: number, length: number): DataView {
    if (this.#type !== type) throw otherType()
    const start = this.#at
    this.#at = this.#within(length)
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, length)
  }

  #pass(): void {
    const type = this.#type
    if (type === wireTypes.varint) this.varint()
    else if (type === wireTypes.bytes) this.#at = this.#end()
    else if (type === wireTypes.fixed64) this.#at = this.#within(8)
    else if (type === wireTypes.fixed32) this.#at = this.#within(4)
    else throw malformedLogs(`a field has the wire type ${type}`)
  }
}

function otherType(): Error {
  return malformedLogs('a field has another type than it should')
}
