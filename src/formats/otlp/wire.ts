// Reads protobuf's wire format field by field: nothing is kept that the caller does not ask for.
// Source: https://protobuf.dev/programming-guides/encoding/

import { decodeUtf8 } from '../../lib/bytes.ts'
import { malformedLogs } from './log-record.ts'

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const
const endsEarly = 'a message ends before its field does'
/** Bytes of the longest number. */
const varintBytes = 10

/** One message. Throws NodeError `MalformedBody` for what is none. */
export class WireMessage {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0
  #type = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Calls `take` for each field with its number; a field whose value it does not read is passed over. */
  fields(take: (field: number) => void): void {
    while (this.#at < this.#bytes.length) {
      const key = Number(this.varint(wireTypes.varint))
      this.#type = key & 7
      const field = Math.floor(key / 8)
      if (field === 0) throw malformedLogs('a field has the number 0')
      const from = this.#at
      take(field)
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
    return this.#view.getBigUint64(this.#fixed(wireTypes.fixed64, 8), true)
  }

  fixed32(): number {
    return this.#view.getUint32(this.#fixed(wireTypes.fixed32, 4), true)
  }

  double(): number {
    return this.#view.getFloat64(this.#fixed(wireTypes.fixed64, 8), true)
  }

  bytes(): Uint8Array {
    if (this.#type !== wireTypes.bytes) throw otherType()
    const length = Number(this.varint(wireTypes.varint))
    const start = this.#at
    if (length > this.#bytes.length - start) throw malformedLogs(endsEarly)
    this.#at = start + length
    return this.#bytes.subarray(start, this.#at)
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

  #fixed(type: number, length: number): number {
    if (this.#type !== type) throw otherType()
    const start = this.#at
    if (length > this.#bytes.length - start) throw malformedLogs(endsEarly)
    this.#at = start + length
    return start
  }

  #pass(): void {
    const type = this.#type
    if (type === wireTypes.varint) this.varint()
    else if (type === wireTypes.bytes) this.bytes()
    else if (type === wireTypes.fixed64 || type === wireTypes.fixed32)
      this.#fixed(type, type === wireTypes.fixed64 ? 8 : 4)
    else throw malformedLogs(`a field has the wire type ${type}`)
  }
}

function otherType(): Error {
  return malformedLogs('a field has another type than it should')
}
