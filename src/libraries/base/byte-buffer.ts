// A growing buffer of bytes that text and other formats are written into, without a string for each value where none is
// needed.

import { copyRange, grown } from './bytes.ts'

/** All methods make room for what they write; a caller that writes into `bytes` reserves it before. */
export class ByteBuffer {
  bytes: Uint8Array<ArrayBuffer>
  /** Bytes written. */
  at = 0
  readonly #startBytes: number

  constructor(startBytes: number) {
    this.#startBytes = startBytes
    this.bytes = new Uint8Array(startBytes)
  }

  /** Makes room for so many bytes from `at` on. */
  reserve(count: number): void {
    const needed = this.at + count
    if (needed <= this.bytes.length) return
    this.bytes = grown(this.bytes.subarray(0, this.at), Math.max(needed, 2 * this.bytes.length))
  }

  /** Text without characters beyond U+007F. */
  ascii(text: string): void {
    const { length } = text
    this.reserve(length)
    const { bytes } = this
    let { at } = this
    for (let i = 0; i < length; i++) bytes[at++] = text.charCodeAt(i)
    this.at = at
  }

  /** Bytes [start, end) of `source` as they are. */
  raw(source: Uint8Array, start = 0, end = source.length): void {
    this.reserve(end - start)
    copyRange(this.bytes, this.at, source, start, end)
    this.at += end - start
  }

  byte(value: number): void {
    this.reserve(1)
    this.bytes[this.at++] = value
  }

  /** Decimal digits of a safe integer. */
  integer(value: number): void {
    this.reserve(17)
    let rest = value
    if (rest < 0) {
      this.bytes[this.at++] = 0x2d
      rest = -rest
    }
    if (rest < 1e9) return this.#digits(rest, digitsOf(rest))
    const high = Math.floor(rest / 1e9)
    this.#digits(high, digitsOf(high))
    this.#digits(rest - high * 1e9, 9)
  }

  /** So many digits of a whole number below 10^9, with zeros in front. */
  padded(value: number, digits: number): void {
    this.reserve(digits)
    this.#digits(value, digits)
  }

  #digits(value: number, digits: number): void {
    const { bytes } = this
    let rest = value | 0
    for (let i = this.at + digits - 1; i >= this.at; i--) {
      const next = (rest / 10) | 0
      bytes[i] = 0x30 + rest - next * 10
      rest = next
    }
    this.at += digits
  }

  /** What was written; the buffer starts anew. */
  take(): Uint8Array<ArrayBuffer> {
    const out = this.bytes.subarray(0, this.at)
    this.bytes = new Uint8Array(Math.max(this.#startBytes, this.at + (this.at >> 3)))
    this.at = 0
    return out
  }
}

function digitsOf(value: number): number {
  let digits = 1
  for (let bound = 10; digits < 9 && value >= bound; bound *= 10) digits++
  return digits
}
