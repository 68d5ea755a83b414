// Strings of JSON text, read from bytes: finding the end of a string, undoing its escapes; white space and literals.
// Source of the grammar: RFC 8259.

import { hexValue, utf8 } from '../../base/bytes.ts'

export const quote = 0x22
export const backslash = 0x5c
export const openBrace = 0x7b
export const closeBrace = 0x7d
export const openBracket = 0x5b
export const closeBracket = 0x5d
export const comma = 0x2c
export const colon = 0x3a

/** 1 for the bytes that end a run of plain string bytes: quote, backslash, control characters. */
const stringStops = new Uint8Array(256)
stringStops.fill(1, 0, 0x20)
stringStops[quote] = 1
stringStops[backslash] = 1

/** Line ends that `skipSpace` has passed so far: tells a reader whether what it read held any. */
export const passed = { lineEnds: 0 }

/** Index of the first byte at or after `at` that is no JSON whitespace; `end` when there is none. */
export function skipSpace(bytes: Uint8Array, at: number, end: number): number {
  let i = at
  while (i < end) {
    const byte = bytes[i] ?? 0
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return i
    if (byte === 0x0a) passed.lineEnds += 1
    i += 1
  }
  return end
}

/** Whether a line ends in `bytes[from, to)`. */
export function holdsLineEnd(bytes: Uint8Array, from: number, to: number): boolean {
  const at = bytes.indexOf(0x0a, from)
  return at >= 0 && at < to
}

/** Index of the line end before which only white space is left at `at`, or -1. */
export function lineEndAfter(bytes: Uint8Array, at: number): number {
  let i = at
  while (i < bytes.length && (bytes[i] === 0x20 || bytes[i] === 0x0d || bytes[i] === 0x09)) i += 1
  return i < bytes.length && bytes[i] === 0x0a ? i : -1
}

/** The string last scanned: `bytes[start, end)` between its quotes. */
export class StringScan {
  start = 0
  end = 0
  escaped = false
}

/** Scans the string whose opening quote is at `at`: index after the closing quote, or -1 - (index of the fault). */
export function scanString(scan: StringScan, bytes: Uint8Array, at: number, end: number): number {
  let i = at + 1
  scan.start = i
  scan.escaped = false
  while (i < end) {
    const byte = bytes[i] ?? 0
    if (stringStops[byte] === 0) i += 1
    else if (byte === quote) {
      scan.end = i
      return i + 1
    } else if (byte === backslash) {
      scan.escaped = true
      i += 2
    } else return -1 - i
  }
  return -1 - end
}

const noBytes = new Uint8Array(0)

/** A buffer that decoded text is written to; grows, is used again. */
export class Scratch {
  bytes: Uint8Array = noBytes
  length = 0

  reset(capacity: number): void {
    this.length = 0
    if (this.bytes.length < capacity) this.bytes = new Uint8Array(Math.max(capacity, 2 * this.bytes.length, 64))
  }

  /** Adds `before` and `bytes[from, to)`; there is room. */
  add(before: number, bytes: Uint8Array, from: number, to: number): void {
    this.bytes[this.length] = before
    this.bytes.set(bytes.subarray(from, to), this.length + 1)
    this.length += 1 + to - from
  }
}

function hexUnit(bytes: Uint8Array, at: number, end: number): number {
  if (at + 4 > end) return -1
  let unit = 0
  for (let i = at; i < at + 4; i++) {
    const digit = hexValue(bytes[i] ?? 0)
    if (digit < 0) return -1
    unit = unit * 16 + digit
  }
  return unit
}

const simpleEscapes = new Uint8Array(256)
for (const [letter, byte] of [
  ['"', 0x22],
  ['\\', 0x5c],
  ['/', 0x2f],
  ['b', 0x08],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
] as const) {
  simpleEscapes[letter.charCodeAt(0)] = byte
}

function writeCodePoint(out: Scratch, code: number): void {
  const { bytes } = out
  if (code < 0x80) bytes[out.length++] = code
  else if (code < 0x800) {
    bytes[out.length++] = 0xc0 | (code >> 6)
    bytes[out.length++] = 0x80 | (code & 63)
  } else if (code < 0x10000) {
    bytes[out.length++] = 0xe0 | (code >> 12)
    bytes[out.length++] = 0x80 | ((code >> 6) & 63)
    bytes[out.length++] = 0x80 | (code & 63)
  } else {
    bytes[out.length++] = 0xf0 | (code >> 18)
    bytes[out.length++] = 0x80 | ((code >> 12) & 63)
    bytes[out.length++] = 0x80 | ((code >> 6) & 63)
    bytes[out.length++] = 0x80 | (code & 63)
  }
}

export type EscapeFault = 'bad-escape' | 'lone-surrogate' | undefined

/** Undoes the escapes of `bytes[start, end)` into `out` as UTF-8. */
export function unescapeString(out: Scratch, bytes: Uint8Array, start: number, end: number): EscapeFault {
  out.reset(end - start)
  const { bytes: target } = out
  let at = start
  let to = 0
  while (at < end) {
    const byte = bytes[at] ?? 0
    if (byte !== backslash) {
      target[to++] = byte
      at += 1
      continue
    }
    const kind = bytes[at + 1] ?? 0
    at += 2
    if (kind !== 0x75) {
      const plain = simpleEscapes[kind] ?? 0
      if (plain === 0) return 'bad-escape'
      target[to++] = plain
      continue
    }
    let code = hexUnit(bytes, at, end)
    if (code < 0) return 'bad-escape'
    at += 4
    if (code >= 0xdc00 && code < 0xe000) return 'lone-surrogate'
    if (code >= 0xd800 && code < 0xdc00) {
      const low = bytes[at] === backslash && bytes[at + 1] === 0x75 ? hexUnit(bytes, at + 2, end) : -1
      if (low < 0xdc00 || low > 0xdfff) return 'lone-surrogate'
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
      at += 6
    }
    out.length = to
    writeCodePoint(out, code)
    to = out.length
  }
  out.length = to
  return undefined
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The text of a scanned string whose escapes are known to be good. */
export function stringText(scratch: Scratch, bytes: Uint8Array, start: number, end: number): string {
  unescapeString(scratch, bytes, start, end)
  return decoder.decode(scratch.bytes.subarray(0, scratch.length))
}

/** Whether `bytes[start, end)` is `text`. */
export function isText(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  const { length } = text
  if (end - start !== length) return false
  for (let i = 0; i < length; i++) if (bytes[start + i] !== text[i]) return false
  return true
}

const literals = { true: utf8('true'), false: utf8('false'), null: utf8('null') } as const

/** Index after the literal (`true`, `false`, `null`) at `at`, or -1. */
export function literalEnd(bytes: Uint8Array, at: number, end: number): number {
  const text = bytes[at] === 0x74 ? literals.true : bytes[at] === 0x66 ? literals.false : literals.null
  const after = at + text.length
  return after <= end && isText(bytes, at, after, text) ? after : -1
}

/** `~` and `/` of a JSON pointer segment escaped. Source: RFC 6901 §3. */
export function pointerSegment(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
