// Values of structs, lists and maps as JSON text: bytes that grow value by value, with leaves as our JSON output prints
// them. Who knows how the values lie writes them; here is what they are written into.

import { copyRange } from '../arrow/buffers.ts'
import { decodeUtf8, toHex, utf8 } from '../lib/bytes.ts'
import { stringToken } from '../outputs/value-text.ts'

const quote = 0x22
const backslash = 0x5c
const firstBytes = 256

/** The text of one value is longer than it may be. */
export class TooLong extends Error {
  override readonly name = 'TooLong'
}

/** JSON text under way. */
export class JsonText {
  /** Bytes that are used: `bytes` has more. */
  length = 0
  bytes = new Uint8Array(firstBytes)
  readonly #mostBytes: number
  #endBytes: number

  /** A text of one value has at most `mostBytes` bytes: then all methods throw TooLong. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
    this.#endBytes = mostBytes
  }

  /** Begins the text of the next value. */
  begin(): void {
    this.#endBytes = this.length + this.#mostBytes
  }

  /** Forgets all texts. */
  clear(): void {
    this.length = 0
  }

  /** Adds ASCII: punctuation, numbers. */
  ascii(text: string): void {
    this.#need(text.length)
    for (let i = 0; i < text.length; i++) this.bytes[this.length + i] = text.charCodeAt(i)
    this.length += text.length
  }

  /** Adds bytes that are JSON already. */
  raw(source: Uint8Array): void {
    this.#need(source.length)
    copyRange(this.bytes, this.length, source, 0, source.length)
    this.length += source.length
  }

  /** Adds a string of the UTF-8 bytes [start, end). Throws TypeError where they are not. */
  string(source: Uint8Array, start: number, end: number): void {
    if (!isPlain(source, start, end)) {
      this.raw(utf8(stringToken(decodeUtf8(source.subarray(start, end)), false)))
      return
    }
    this.#need(end - start + 2)
    this.bytes[this.length] = quote
    copyRange(this.bytes, this.length + 1, source, start, end)
    this.length += end - start + 2
    this.bytes[this.length - 1] = quote
  }

  /** Adds the bytes [start, end) as a string of hexadecimal digits. */
  hex(source: Uint8Array, start: number, end: number): void {
    this.#need(2 * (end - start) + 2)
    this.ascii(`"${toHex(source.subarray(start, end))}"`)
  }

  #need(bytes: number): void {
    const length = this.length + bytes
    if (length > this.#endBytes) {
      throw new TooLong(`A text of more than ${this.#mostBytes} bytes.`)
    }
    if (length <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(length, 2 * this.bytes.length))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }
}

/** Whether a JSON string holds the bytes as they are: ASCII that needs no escape. */
function isPlain(source: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = source[i] ?? 0
    if (byte < 0x20 || byte > 0x7e || byte === quote || byte === backslash) return false
  }
  return true
}
