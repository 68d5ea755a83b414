// JSON text as growing bytes: what readers of binary formats write features, structs, lists and maps into, value by value.

import { copyRange } from '../arrow/buffers.ts'
import { decodeUtf8, toHex, utf8 } from '../lib/bytes.ts'

/** Text that is written before others have their turn: a few milliseconds. */
const turnBytes = 256 * 1024
const quote = 0x22
const minus = 0x2d
const point = 0x2e
const zero = 0x30
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

export class JsonText {
  /** `length` of them are used. */
  bytes: Uint8Array
  length = 0
  readonly #mostBytes: number
  #endBytes: number
  /** Length at which others had their turn last. */
  #turnAt = 0

  /** A text of one value has at most `mostBytes` bytes: then all methods throw TooLong. */
  constructor(capacityBytes: number, mostBytes = Number.POSITIVE_INFINITY) {
    this.bytes = new Uint8Array(capacityBytes)
    this.#mostBytes = mostBytes
    this.#endBytes = mostBytes
  }

  /** Begins the text of the next value. */
  begin(): void {
    this.#endBytes = this.length + this.#mostBytes
  }

  /** True, once, when so much was added since the last time that others should have their turn. */
  get isLong(): boolean {
    if (this.length - this.#turnAt < turnBytes) return false
    this.#turnAt = this.length
    return true
  }

  byte(byte: number): void {
    this.#need(1)
    this.bytes[this.length++] = byte
  }

  /** Adds ASCII as it is: punctuation, numbers. */
  ascii(text: string): void {
    this.#need(text.length)
    const { bytes, length } = this
    for (let i = 0; i < text.length; i++) bytes[length + i] = text.charCodeAt(i)
    this.length += text.length
  }

  /** Adds `source[start, end)`, which is JSON already. */
  raw(source: Uint8Array, start = 0, end = source.length): void {
    this.#need(end - start)
    copyRange(this.bytes, this.length, source, start, end)
    this.length += end - start
  }

  /** Adds `text` as a JSON string. */
  string(text: string): void {
    this.raw(utf8(JSON.stringify(text)))
  }

  /** Adds `source[start, end)` as a JSON string if all of it is ASCII that needs no escape; else false, and nothing. */
  plainString(source: Uint8Array, start: number, end: number): boolean {
    for (let i = start; i < end; i++) if (plainBytes[source[i] ?? 0] === 0) return false
    this.#need(end - start + 2)
    this.bytes[this.length] = quote
    copyRange(this.bytes, this.length + 1, source, start, end)
    this.length += end - start + 2
    this.bytes[this.length - 1] = quote
    return true
  }

  /** Adds the UTF-8 of `source[start, end)` as a JSON string. Throws TypeError where it is none. */
  utf8String(source: Uint8Array, start: number, end: number): void {
    if (!this.plainString(source, start, end)) this.string(decodeUtf8(source.subarray(start, end)))
  }

  /** Adds `source[start, end)` as a string of hexadecimal digits. */
  hex(source: Uint8Array, start: number, end: number): void {
    this.#need(2 * (end - start) + 2)
    this.ascii(`"${toHex(source.subarray(start, end))}"`)
  }

  /** Adds a finite number with the fewest digits that make it again: what `String` would write. */
  number(value: number): void {
    this.#need(mostNumberBytes)
    const size = value < 0 ? -value : value
    const scaled = Math.round(size * 1e7)
    // Decimals of up to fifteen digits and doubles go one to one: a short one that makes the value is the shortest.
    if (scaled < 1e15 && scaled / 1e7 === size && (size >= 1e-6 || size === 0)) {
      if (value < 0) this.bytes[this.length++] = minus
      this.length = writeDecimal(this.bytes, this.length, scaled)
    } else this.ascii(String(value))
  }

  #need(more: number): void {
    const needed = this.length + more
    if (needed > this.#endBytes) throw new TooLong(`A text of more than ${this.#mostBytes} bytes.`)
    if (needed <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(2 * this.bytes.length, needed))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }
}

/** Writes `scaled` / 10⁷ at `at`, where `scaled` is a whole number below 10¹⁵: index after it. */
function writeDecimal(bytes: Uint8Array, at: number, scaled: number): number {
  const whole = Math.floor(scaled / 1e7) | 0
  let fraction = (scaled - whole * 1e7) | 0
  let digits = 1
  for (let power = 10; whole >= power; power *= 10) digits += 1
  const end = at + digits
  writeDigits(bytes, at, end, whole)
  if (fraction === 0) return end
  let decimals = 7
  for (; fraction % 10 === 0; fraction /= 10) decimals -= 1
  bytes[end] = point
  writeDigits(bytes, end + 1, end + 1 + decimals, fraction)
  return end + 1 + decimals
}

/** Writes a whole number with leading zeros at [start, end). */
function writeDigits(bytes: Uint8Array, start: number, end: number, number: number): void {
  let rest = number
  for (let i = end - 1; i >= start; i--) {
    const next = (rest / 10) | 0
    bytes[i] = zero + rest - next * 10
    rest = next
  }
}
