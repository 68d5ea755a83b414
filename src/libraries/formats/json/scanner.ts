// The one scanner of JSON under JSON, NDJSON, GeoJSON and inference: steps through objects and arrays of bytes, and checks
// values that nobody takes apart, without building anything. Source of the grammar: RFC 8259.

import type { RecordErrorKind } from '../../base/errors.ts'
import { NumberScan, scanNumber } from '../number-scan.ts'
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
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

/** Names of one object that are compared one by one. */
const fewNames = 16

/**
 * The names met so far in each object that is being checked, to find those that stand twice: by their bytes while an
 * object has few, so that most objects cost neither a string nor a set.
 */
class OpenNames {
  /** Starts and ends of names, object after object, the innermost last. */
  private readonly bounds: number[] = []
  private top = 0
  /** Where the innermost object begins in `bounds`. */
  private base = 0
  /** The names of the innermost object once they are many or one is written with escapes, and of those around it. */
  private many: Set<string> | undefined = undefined
  private readonly around: (Set<string> | undefined)[] = []
  private readonly scratch = new Scratch()

  /** Forgets all objects. */
  clear(): void {
    this.top = 0
    this.base = 0
    this.many = undefined
    this.around.length = 0
  }

  /** Begins an object inside of the innermost; what `end` needs to come back. */
  begin(): number {
    const { base } = this
    this.around.push(this.many)
    this.many = undefined
    this.base = this.top
    return base
  }

  /** Ends the innermost object. */
  end(around: number): void {
    this.top = this.base
    this.base = around
    this.many = this.around.pop()
  }

  /** Whether the innermost object has the name `bytes[start, end)`; from now on it has. Escapes, if any, are good. */
  has(bytes: Uint8Array, start: number, end: number, escaped: boolean): boolean {
    if (this.many !== undefined || escaped || this.top - this.base >= 2 * fewNames) {
      return this.hasText(bytes, start, end)
    }
    const { bounds, top } = this
    const length = end - start
    for (let i = this.base; i < top; i += 2) {
      const from = bounds[i] ?? 0
      if ((bounds[i + 1] ?? 0) - from !== length) continue
      let same = 0
      while (same < length && bytes[from + same] === bytes[start + same]) same += 1
      if (same === length) return true
    }
    bounds[top] = start
    bounds[top + 1] = end
    this.top = top + 2
    return false
  }

  private hasText(bytes: Uint8Array, start: number, end: number): boolean {
    const { scratch, bounds } = this
    if (this.many === undefined) {
      this.many = new Set()
      for (let i = this.base; i < this.top; i += 2) {
        this.many.add(stringText(scratch, bytes, bounds[i] ?? 0, bounds[i + 1] ?? 0))
      }
    }
    const name = stringText(scratch, bytes, start, end)
    if (this.many.has(name)) return true
    this.many.add(name)
    return false
  }
}

const latin1 = new TextDecoder('latin1')

/**
 * Steps through objects and arrays, and checks values that nobody takes apart. An index of -1 means a fault, which the
 * members from `kind` to `pointer` tell; 0 means that the object or array has ended, `after` its closing bracket.
 */

export class JsonScanner {
  kind: RecordErrorKind = 'MalformedRecord'
  message = ''
  at = 0
  end = 0
  /** Pointer below the value handed to `check`. */
  pointer = ''
  after = 0
  /** The name or text last scanned; its text in `scratch` if it has escapes. */
  readonly string: StringScan = new StringScan()
  readonly number: NumberScan = new NumberScan()
  readonly scratch: Scratch = new Scratch()
  private readonly names = new OpenNames()
  /** Levels of nesting. */
  readonly maxDepth: number

  constructor(maxDepth: number) {
    this.maxDepth = maxDepth
  }

  /** Index of the first name or element of what opens at `open` and ends with `close`. */
  first(bytes: Uint8Array, open: number, end: number, close: number): number {
    const at = skipSpace(bytes, open + 1, end)
    if (at >= end || bytes[at] !== close) return at
    this.after = at + 1
    return 0
  }

  /** Index of the name or element that comes after the value that ends at `from`. */
  next(bytes: Uint8Array, from: number, end: number, close: number): number {
    const at = skipSpace(bytes, from, end)
    const byte = at < end ? bytes[at] : 0
    if (byte === comma) return skipSpace(bytes, at + 1, end)
    if (byte !== close) return this.noNext(bytes, at, end, close)
    this.after = at + 1
    return 0
  }

  private noNext(bytes: Uint8Array, at: number, end: number, close: number): -1 {
    return this.malformed(bytes, at, end, `a comma or the end of the ${close === closeBrace ? 'object' : 'array'}`)
  }

  /** Scans the name that opens at `at`: index after its closing quote. */
  name(bytes: Uint8Array, at: number, end: number): number {
    if (at < end && bytes[at] === quote) return this.text(bytes, at, end)
    return this.malformed(bytes, at, end, 'a member name in quotes')
  }

  /** Scans the text that opens at `at`: index after its closing quote. */
  text(bytes: Uint8Array, at: number, end: number): number {
    const after = scanString(this.string, bytes, at, end)
    if (after < 0) return this.badString(bytes, at, -1 - after, end)
    return this.string.escaped ? this.escapes(bytes, at, after) : after
  }

  private escapes(bytes: Uint8Array, at: number, after: number): number {
    const { string } = this
    const fault = unescapeString(this.scratch, bytes, string.start, string.end)
    if (fault === undefined) return after
    if (fault === 'bad-escape') {
      return this.fault('MalformedRecord', 'A string has an escape that JSON does not know.', at, after)
    }
    return this.fault('InvalidUtf8', 'A string has half of a surrogate pair, which is not a character.', at, after)
  }

  /** Index of the value of the member whose name ends at `from`. */
  colon(bytes: Uint8Array, from: number, end: number): number {
    const at = skipSpace(bytes, from, end)
    return at < end && bytes[at] === colon ? skipSpace(bytes, at + 1, end) : this.malformed(bytes, at, end, 'a colon')
  }

  /** Index after the value at `at`, whose own level is `depth` if it is an object or array. */
  check(bytes: Uint8Array, at: number, end: number, depth: number): number {
    this.pointer = ''
    this.names.clear()
    return this.value(bytes, at, end, depth)
  }

  /** Index of the value at `path` in the well-formed value at `from`, or -1 where there is none. */
  find(bytes: Uint8Array, from: number, end: number, path: readonly string[]): number {
    let at = skipSpace(bytes, from, end)
    for (const token of path) {
      const isObject = bytes[at] === openBrace
      if (!isObject && bytes[at] !== openBracket) return -1
      const close = isObject ? closeBrace : closeBracket
      let next = this.first(bytes, at, end, close)
      for (let index = 0; ; index++) {
        if (next <= 0) return -1
        const nameEnd = isObject ? this.name(bytes, next, end) : -1
        const name = isObject ? stringText(this.scratch, bytes, next + 1, nameEnd - 1) : String(index)
        at = isObject ? this.colon(bytes, nameEnd, end) : next
        if (name === token) break
        next = this.next(bytes, this.check(bytes, at, end, 1), end, close)
      }
    }
    return at
  }

  malformed(bytes: Uint8Array, at: number, end: number, expected: string): -1 {
    const advice = expected === 'a JSON value' ? adviceOn(bytes, at) : ''
    const message = at >= end ? `The record ends where ${expected} should be.` : `Expected ${expected}${advice}.`
    return this.fault('MalformedRecord', message, at, Math.min(end, at + 24, bytes.length))
  }

  private fault(kind: RecordErrorKind, message: string, at: number, end: number): -1 {
    this.kind = kind
    this.message = message
    this.at = at
    this.end = end
    return -1
  }

  private value(bytes: Uint8Array, at: number, end: number, depth: number): number {
    const byte = at < end ? (bytes[at] ?? 0) : 0
    switch (byte) {
      case quote:
        return this.text(bytes, at, end)
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
  private badString(bytes: Uint8Array, open: number, at: number, end: number): -1 {
    if (at < end) return this.fault('MalformedRecord', 'A control character in a string must be escaped.', at, at + 1)
    return this.fault('MalformedRecord', 'A string is not closed.', open, Math.min(end, bytes.length))
  }

  private object(bytes: Uint8Array, open: number, end: number, depth: number): number {
    const around = this.names.begin()
    const after = this.members(bytes, open, end, depth)
    this.names.end(around)
    return after
  }

  private members(bytes: Uint8Array, open: number, end: number, depth: number): number {
    let at = this.first(bytes, open, end, closeBrace)
    while (at > 0) {
      const nameAt = at
      const nameEnd = this.name(bytes, at, end)
      if (nameEnd < 0) return -1
      if (this.names.has(bytes, nameAt + 1, nameEnd - 1, this.string.escaped)) {
        const name = this.below(bytes, nameAt, nameEnd)
        return this.fault('DuplicateField', `The name '${name}' occurs twice in one object.`, nameAt, nameEnd)
      }
      at = this.colon(bytes, nameEnd, end)
      if (at < 0) return -1
      at = this.value(bytes, at, end, depth + 1)
      if (at < 0) {
        this.below(bytes, nameAt, nameEnd)
        return -1
      }
      at = this.next(bytes, at, end, closeBrace)
    }
    return at < 0 ? -1 : this.after
  }

  /** Puts the name written at `[nameAt, nameEnd)` before the pointer; its text. */
  private below(bytes: Uint8Array, nameAt: number, nameEnd: number): string {
    const name = stringText(this.scratch, bytes, nameAt + 1, nameEnd - 1)
    this.pointer = pointerSegment(name) + this.pointer
    return name
  }

  private array(bytes: Uint8Array, open: number, end: number, depth: number): number {
    let at = this.first(bytes, open, end, closeBracket)
    for (let index = 0; at > 0; index++) {
      at = this.value(bytes, at, end, depth + 1)
      if (at < 0) {
        this.pointer = `/${index}${this.pointer}`
        return -1
      }
      at = this.next(bytes, at, end, closeBracket)
    }
    return at < 0 ? -1 : this.after
  }
}

/** About the words that programs write which JSON has not. */
function adviceOn(bytes: Uint8Array, at: number): string {
  const word = /^-?(?:nan|inf)|^(?:none|nil|undefined|true|false|null)\b/i.exec(
    latin1.decode(bytes.subarray(at, at + 10)),
  )
  if (word === null) return ''
  return /^[tf]/i.test(word[0])
    ? ': true and false are lower-case'
    : ', which NaN, Infinity and None are not: write null'
}
