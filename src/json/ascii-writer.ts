// A growing buffer for JSON in pure ASCII: what canonical JSON is written with, here and in the engine's answers.

import { assert } from '../lib/assert.ts'

const shortEscapes = new Map<number, number>([
  [0x22, 0x22], // "
  [0x5c, 0x5c], // backslash
  [0x08, 0x62], // b
  [0x09, 0x74], // t
  [0x0a, 0x6e], // n
  [0x0c, 0x66], // f
  [0x0d, 0x72], // r
])

/** Room is made for so many escaped code units at a time, so that a long text does not take six times its size. */
const stretchUnits = 16_384
const maxBytes = 2 ** 31

const hexDigits = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** Appends ASCII texts and JSON strings; `written` hands out all bytes so far. */
export class AsciiWriter {
  private buffer: Uint8Array
  private length = 0

  constructor(capacityBytes = 1024) {
    this.buffer = new Uint8Array(capacityBytes)
  }

  /** Appends text that is known to be ASCII. */
  ascii(text: string): void {
    this.reserve(text.length)
    const { buffer } = this
    let at = this.length
    for (let i = 0; i < text.length; i++) buffer[at++] = text.charCodeAt(i)
    this.length = at
  }

  /** Appends `text` in double quotes; everything outside printable ASCII is escaped, code unit by code unit. */
  string(text: string): void {
    this.ascii('"')
    for (let start = 0; start < text.length; start += stretchUnits) {
      this.units(text, start, Math.min(text.length, start + stretchUnits))
    }
    this.ascii('"')
  }

  /** All bytes so far; a view that later writes may detach. */
  written(): Uint8Array {
    return this.buffer.subarray(0, this.length)
  }

  private units(text: string, start: number, end: number): void {
    this.reserve(6 * (end - start))
    const { buffer } = this
    let at = this.length
    for (let i = start; i < end; i++) {
      const unit = text.charCodeAt(i)
      if (unit >= 0x20 && unit < 0x7f && unit !== 0x22 && unit !== 0x5c) buffer[at++] = unit
      else at = this.escape(at, unit)
    }
    this.length = at
  }

  private escape(start: number, unit: number): number {
    const { buffer } = this
    let at = start
    buffer[at++] = 0x5c
    const letter = shortEscapes.get(unit)
    if (letter !== undefined) {
      buffer[at++] = letter
      return at
    }
    buffer[at++] = 0x75
    for (let shift = 12; shift >= 0; shift -= 4) buffer[at++] = hexDigits[(unit >> shift) & 15] ?? 0
    return at
  }

  private reserve(bytes: number): void {
    const needed = this.length + bytes
    if (needed <= this.buffer.length) return
    assert(needed <= maxBytes, 'a canonical text has at most 2 GiB')
    const grown = new Uint8Array(Math.min(maxBytes, Math.max(needed, 2 * this.buffer.length)))
    grown.set(this.written())
    this.buffer = grown
  }
}
