// JSON text as growing bytes: what the readers of a shapefile write features into.

import { leastSize, mostDigitBytes, mostSize, writeShortest } from './shortest.ts'

/** Text that is written before others have their turn: a few milliseconds. */
const turnBytes = 256 * 1024

const minus = 0x2d
const point = 0x2e
const zero = 0x30

/** 1 for the ASCII bytes that stand in a JSON string as themselves. */
const plainBytes = new Uint8Array(256).fill(1, 0x20, 0x7f)
plainBytes[0x22] = 0
plainBytes[0x5c] = 0

const encoder = new TextEncoder()

export class JsonText {
  bytes: Uint8Array
  length = 0
  /** Length at which others had their turn last. */
  #turnAt = 0

  constructor(capacityBytes: number) {
    this.bytes = new Uint8Array(capacityBytes)
  }

  /** True, once, when so much was added since the last time that others should have their turn. */
  get isLong(): boolean {
    if (this.length - this.#turnAt < turnBytes) return false
    this.#turnAt = this.length
    return true
  }

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(2 * this.bytes.length, this.length + more))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  byte(byte: number): void {
    if (this.length === this.bytes.length) this.reserve(1)
    this.bytes[this.length++] = byte
  }

  /** Adds `from[start, end)` as it is. */
  raw(from: Uint8Array, start = 0, end = from.length): void {
    this.reserve(end - start)
    const { bytes } = this
    let at = this.length
    for (let i = start; i < end; i++) bytes[at++] = from[i] ?? 0
    this.length = at
  }

  /** Adds ASCII text as it is. */
  ascii(text: string): void {
    this.reserve(text.length)
    const { bytes } = this
    let at = this.length
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i)
    this.length = at
  }

  /** Adds `text` as a JSON string. */
  string(text: string): void {
    const encoded = encoder.encode(JSON.stringify(text))
    this.raw(encoded)
  }

  /** Adds `from[start, end)` as a JSON string if all of it is ASCII that needs no escape; else false, and nothing. */
  plainString(from: Uint8Array, start: number, end: number): boolean {
    this.reserve(end - start + 2)
    const { bytes } = this
    let at = this.length
    bytes[at++] = 0x22
    for (let i = start; i < end; i++) {
      const byte = from[i] ?? 0
      if (plainBytes[byte] === 0) return false
      bytes[at++] = byte
    }
    bytes[at++] = 0x22
    this.length = at
    return true
  }

  /** Adds a finite number with the fewest digits that make it again: what `String` would write. */
  number(value: number): void {
    this.reserve(mostDigitBytes)
    this.length = writeNumber(this.bytes, this.length, value)
  }

  /** Adds `[x,y]`, or `[x,y,z]` where `z` is a number. */
  position(x: number, y: number, z: number | undefined): void {
    this.reserve(3 * mostDigitBytes + 4)
    const { bytes } = this
    let at = this.length
    bytes[at] = 0x5b
    at = writeNumber(bytes, at + 1, x)
    bytes[at] = 0x2c
    at = writeNumber(bytes, at + 1, y)
    if (z !== undefined) {
      bytes[at] = 0x2c
      at = writeNumber(bytes, at + 1, z)
    }
    bytes[at] = 0x5d
    this.length = at + 1
  }
}

/** Writes a finite number at `at`, where there is room: index after it. */
function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const size = value < 0 ? -value : value
  let from = at
  if (value < 0) bytes[from++] = minus
  const scaled = Math.round(size * 1e7)
  // Decimals of up to fifteen digits and doubles go one to one: a short one that makes the value is the shortest.
  if (scaled < 1e15 && scaled / 1e7 === size && (size >= 1e-6 || size === 0)) return writeDecimal(bytes, from, scaled)
  const end = size >= leastSize && size < mostSize ? writeShortest(bytes, from, size) : -1
  if (end >= 0) return end
  const text = String(size)
  for (let i = 0; i < text.length; i++) bytes[from++] = text.charCodeAt(i)
  return from
}

/** Writes `scaled` / 10⁷ at `at`, where `scaled` is a whole number below 10¹⁵: index after it. */
function writeDecimal(bytes: Uint8Array, at: number, scaled: number): number {
  const whole = Math.floor(scaled / 1e7) | 0
  let fraction = (scaled - whole * 1e7) | 0
  let digits = 1
  for (let power = 10; whole >= power; power *= 10) digits += 1
  let rest = whole
  for (let i = at + digits - 1; i >= at; i--) {
    const next = (rest / 10) | 0
    bytes[i] = zero + rest - next * 10
    rest = next
  }
  const end = at + digits
  if (fraction === 0) return end
  let decimals = 7
  for (let next = (fraction / 10) | 0; next * 10 === fraction; next = (fraction / 10) | 0) {
    fraction = next
    decimals -= 1
  }
  bytes[end] = point
  for (let i = end + decimals; i > end; i--) {
    const next = (fraction / 10) | 0
    bytes[i] = zero + fraction - next * 10
    fraction = next
  }
  return end + decimals + 1
}
