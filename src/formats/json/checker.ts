// Checks a value of JSON text, nested or not, without building it. Source of the grammar: RFC 8259.

import type { RecordErrorKind } from '../../model/errors.ts'
import { NumberScan, scanNumber } from '../number-scan.ts'
import { OpenNames } from './open-names.ts'
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  type EscapeFault,
  literalEnd,
  openBrace,
  openBracket,
  pointerSegment,
  quote,
  scanString,
  Scratch,
  skipSpace,
  StringScan,
  stringText,
  unescapeString,
} from './text.ts'

/** Checks JSON values that no column takes apart. After -1 the fault's members say what is wrong and where. */
export class JsonChecker {
  kind: RecordErrorKind = 'MalformedRecord'
  message = ''
  at = 0
  end = 0
  /** Pointer below the value handed to `check`. */
  pointer = ''
  private readonly maxDepth: number
  private readonly string = new StringScan()
  private readonly number = new NumberScan()
  private readonly scratch = new Scratch()
  private readonly names = new OpenNames()

  constructor(maxDepth: number) {
    this.maxDepth = maxDepth
  }

  /** Index after the value at `at`, whose own level is `depth` if it is an object or array; -1 after a fault. */
  check(bytes: Uint8Array, at: number, end: number, depth: number): number {
    this.pointer = ''
    this.names.clear()
    return this.value(bytes, at, end, depth)
  }

  private fault(kind: RecordErrorKind, message: string, at: number, end: number): -1 {
    this.kind = kind
    this.message = message
    this.at = at
    this.end = end
    return -1
  }

  malformed(bytes: Uint8Array, at: number, end: number, expected: string): -1 {
    const message = at >= end ? `The record ends where ${expected} should be.` : `Expected ${expected}.`
    return this.fault('MalformedRecord', message, at, Math.min(end, at + 24, bytes.length))
  }

  private value(bytes: Uint8Array, at: number, end: number, depth: number): number {
    const byte = at < end ? (bytes[at] ?? 0) : 0
    switch (byte) {
      case quote: {
        const after = scanString(this.string, bytes, at, end)
        if (after < 0) return this.badString(bytes, at, -1 - after, end)
        return this.string.escaped ? this.escapes(bytes, at, after) : after
      }
      case openBrace:
      case openBracket:
        if (depth > this.maxDepth) {
          const message = `The record is nested deeper than ${this.maxDepth} levels.`
          return this.fault('TooDeep', message, at, Math.min(end, at + 24))
        }
        return byte === openBrace ? this.object(bytes, at, end, depth) : this.array(bytes, at, end, depth)
      case 0x74:
      case 0x66:
      case 0x6e: {
        const after = literalEnd(bytes, at, end)
        return after < 0 ? this.malformed(bytes, at, end, 'a JSON value') : after
      }
      default:
        if (scanNumber(this.number, bytes, at, end, false)) return this.number.end
        return this.malformed(bytes, at, end, 'a JSON value')
    }
  }

  /** The fault of a string that opens at `open` and goes wrong at `at`. */
  badString(bytes: Uint8Array, open: number, at: number, end: number): -1 {
    if (at < end) return this.fault('MalformedRecord', 'A control character in a string must be escaped.', at, at + 1)
    return this.fault('MalformedRecord', 'A string is not closed.', open, Math.min(end, bytes.length))
  }

  /** `after` if the escapes of the string scanned, which opens at `at`, are good. */
  private escapes(bytes: Uint8Array, at: number, after: number): number {
    const fault = unescapeString(this.scratch, bytes, at + 1, after - 1)
    return fault === undefined ? after : this.badEscape(fault, at, after)
  }

  badEscape(fault: NonNullable<EscapeFault>, at: number, after: number): -1 {
    if (fault === 'bad-escape')
      return this.fault('MalformedRecord', 'A string has an escape that JSON does not know.', at, after)
    return this.fault('InvalidUtf8', 'A string has half of a surrogate pair, which is no character.', at, after)
  }

  private object(bytes: Uint8Array, open: number, end: number, depth: number): number {
    const around = this.names.begin()
    const after = this.members(bytes, skipSpace(bytes, open + 1, end), end, depth)
    this.names.end(around)
    return after
  }

  private members(bytes: Uint8Array, first: number, end: number, depth: number): number {
    let at = first
    if (at < end && bytes[at] === closeBrace) return at + 1
    while (true) {
      if (at >= end || bytes[at] !== quote) return this.malformed(bytes, at, end, 'a member name in quotes')
      const nameAt = at
      at = scanString(this.string, bytes, at, end)
      if (at < 0) return this.badString(bytes, nameAt, -1 - at, end)
      const { escaped } = this.string
      if (escaped && this.escapes(bytes, nameAt, at) < 0) return -1
      const nameEnd = at
      if (this.names.has(bytes, nameAt + 1, nameEnd - 1, escaped)) {
        const name = this.below(bytes, nameAt, nameEnd)
        return this.fault('DuplicateField', `The name '${name}' stands twice in one object.`, nameAt, nameEnd)
      }
      at = skipSpace(bytes, at, end)
      if (at >= end || bytes[at] !== colon) return this.malformed(bytes, at, end, 'a colon')
      at = this.value(bytes, skipSpace(bytes, at + 1, end), end, depth + 1)
      if (at < 0) {
        this.below(bytes, nameAt, nameEnd)
        return -1
      }
      at = skipSpace(bytes, at, end)
      const next = at < end ? bytes[at] : 0
      if (next === closeBrace) return at + 1
      if (next !== comma) return this.malformed(bytes, at, end, 'a comma or the end of the object')
      at = skipSpace(bytes, at + 1, end)
    }
  }

  /** Puts the name written at `[nameAt, nameEnd)` before the pointer; its text. */
  private below(bytes: Uint8Array, nameAt: number, nameEnd: number): string {
    const name = stringText(this.scratch, bytes, nameAt + 1, nameEnd - 1)
    this.pointer = pointerSegment(name) + this.pointer
    return name
  }

  private array(bytes: Uint8Array, open: number, end: number, depth: number): number {
    let at = skipSpace(bytes, open + 1, end)
    if (at < end && bytes[at] === closeBracket) return at + 1
    for (let index = 0; ; index++) {
      at = this.value(bytes, at, end, depth + 1)
      if (at < 0) {
        this.pointer = `/${index}${this.pointer}`
        return -1
      }
      at = skipSpace(bytes, at, end)
      const next = at < end ? bytes[at] : 0
      if (next === closeBracket) return at + 1
      if (next !== comma) return this.malformed(bytes, at, end, 'a comma or the end of the array')
      at = skipSpace(bytes, at + 1, end)
    }
  }
}
