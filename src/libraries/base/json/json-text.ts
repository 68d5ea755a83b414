// JSON text as growing bytes: what readers of binary formats write features, structs, lists and maps into, value by value.

import { ByteBuffer } from '../byte-buffer.ts'
import { decodeUtf8, toHex, utf8 } from '../bytes.ts'

/** Text that is written before others have their turn: a few milliseconds. */
const turnBytes = 256 * 1024
const quote = 0x22
const minus = 0x2d
const point = 0x2e
/** Most bytes of a number. */
const mostNumberBytes = 32

/** 1 for the ASCII bytes that stand in a JSON string as themselves. */
const plainBytes = new Uint8Array(256).fill(1, 0x20, 0x7f)
plainBytes[quote] = 0
plainBytes[0x5c] = 0

/** The text of one value is longer than it may be. */
export class TooLong extends Error {
  override readonly name = 'TooLong'
}

export class JsonText extends ByteBuffer {
  readonly #mostBytes: number
  #endBytes: number
  /** Length at which others had their turn last. */
  #turnAt = 0

  /** A text of one value has at most `mostBytes` bytes: then all methods throw TooLong. */
  constructor(capacityBytes: number, mostBytes = Number.POSITIVE_INFINITY) {
    super(capacityBytes)
    this.#mostBytes = mostBytes
    this.#endBytes = mostBytes
  }

  /** Begins the text of the next value. */
  begin(): void {
    this.#endBytes = this.at + this.#mostBytes
  }

  /** True, once, when so much was added since the last time that others should have their turn. */
  get isLong(): boolean {
    if (this.at - this.#turnAt < turnBytes) return false
    this.#turnAt = this.at
    return true
  }

  /** Adds `text` as a JSON string. */
  string(text: string): void {
    this.raw(utf8(JSON.stringify(text)))
  }

  /** Adds `source[start, end)` as a JSON string if all of it is ASCII that needs no escape; else false, and nothing. */
  plainString(source: Uint8Array, start: number, end: number): boolean {
    for (let i = start; i < end; i++) if (plainBytes[source[i] ?? 0] === 0) return false
    this.byte(quote)
    this.raw(source, start, end)
    this.byte(quote)
    return true
  }

  /** Adds the UTF-8 of `source[start, end)` as a JSON string. Throws TypeError where it is none. */
  utf8String(source: Uint8Array, start: number, end: number): void {
    if (!this.plainString(source, start, end)) this.string(decodeUtf8(source.subarray(start, end)))
  }

  /** Adds `source[start, end)` as a string of hexadecimal digits. */
  hex(source: Uint8Array, start: number, end: number): void {
    this.reserve(2 * (end - start) + 2)
    this.ascii(`"${toHex(source.subarray(start, end))}"`)
  }

  /** Adds a finite number with the fewest digits that make it again: what `String` would write. */
  number(value: number): void {
    this.reserve(mostNumberBytes)
    const size = value < 0 ? -value : value
    const scaled = Math.round(size * 1e7)
    // Decimals of up to fifteen digits and doubles go one to one: a short one that makes the value is the shortest.
    if (scaled < 1e15 && scaled / 1e7 === size && (size >= 1e-6 || size === 0)) {
      if (value < 0) this.byte(minus)
      const whole = Math.floor(scaled / 1e7)
      this.integer(whole)
      let fraction = (scaled - whole * 1e7) | 0
      if (fraction === 0) return
      let decimals = 7
      for (; fraction % 10 === 0; fraction /= 10) decimals -= 1
      this.byte(point)
      this.padded(fraction, decimals)
    } else this.ascii(String(value))
  }

  override reserve(count: number): void {
    if (this.at + count > this.#endBytes) throw new TooLong(`A text of more than ${this.#mostBytes} bytes.`)
    super.reserve(count)
  }
}
