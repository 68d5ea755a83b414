// Numbers with a decimal comma or with signs between groups of three digits, into the spelling that all columns take: 1.234,50 becomes
// 1234.50. Every digit stays. What is grouped otherwise is no number.

import { utf8 } from '../../base/bytes.ts'

const comma = 0x2c
const dot = 0x2e
const zero = 0x30
const firstRoom = 64

export interface NumberSpelling {
  readonly decimal: '.' | ','
  /** The sign between groups of digits; undefined: none. */
  readonly group: string | undefined
}

/** Rewrites cells; the text stands in `bytes[0, length)`. */
export class NumberSpeller {
  bytes: Uint8Array = new Uint8Array(firstRoom)
  length = 0
  readonly #decimal: number
  readonly #group: Uint8Array

  constructor({ decimal, group }: NumberSpelling) {
    this.#decimal = decimal === ',' ? comma : dot
    this.#group = utf8(group ?? '')
  }

  /** False where `bytes[start, end)` is no number for its signs; whether the rest is one, its reader says. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.bytes.length < end - start) this.bytes = new Uint8Array(2 * (end - start))
    this.length = 0
    const first = bytes[start] ?? 0
    let at = start
    if (first === 0x2b || first === 0x2d) {
      this.#put(first)
      at += 1
    }
    at = this.#wholePart(bytes, at, end)
    if (at < 0) return false
    if (at < end && bytes[at] === this.#decimal) {
      this.#put(dot)
      at += 1
      for (; at < end && isDigit(bytes[at]); at++) this.#put(bytes[at] ?? 0)
    }
    // An exponent may follow; a second decimal sign, a group behind it or a letter may not be taken for something else.
    for (; at < end; at++) {
      const byte = bytes[at] ?? 0
      if (byte === comma || byte === dot) return false
      this.#put(byte)
    }
    return true
  }

  /** Digits up to the decimal sign: index after them, or -1 where they are grouped otherwise than in threes. */
  #wholePart(bytes: Uint8Array, from: number, end: number): number {
    let at = from
    let digits = 0
    let isGrouped = false
    for (;;) {
      for (digits = 0; at < end && isDigit(bytes[at]); at++, digits++) this.#put(bytes[at] ?? 0)
      if (isGrouped && digits !== 3) return -1
      if (!this.#isGroup(bytes, at, end)) return at
      if (!isGrouped && (digits < 1 || digits > 3 || bytes[from] === zero)) return -1
      isGrouped = true
      at += this.#group.length
    }
  }

  #isGroup(bytes: Uint8Array, at: number, end: number): boolean {
    const group = this.#group
    if (group.length === 0 || at + group.length > end) return false
    for (let index = 0; index < group.length; index++) if (bytes[at + index] !== group[index]) return false
    return true
  }

  #put(byte: number): void {
    this.bytes[this.length] = byte
    this.length += 1
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= zero + 9
}
