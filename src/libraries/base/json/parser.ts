// The parser behind libraries/base/json/json.ts: one pass over the text, every fault with its place.
// Source of the grammar: RFC 8259.

import { utf8 } from '../bytes.ts'
import { DecodeError, type TextPosition } from '../errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from './value.ts'

export type JsonFault = 'syntax' | 'trailing' | 'duplicate' | 'depth' | 'surrogate' | 'utf8' | 'bom' | 'values'

/** The text is not the JSON that is asked for; `position` says where. */
export class JsonError extends DecodeError {
  override readonly name: string = 'JsonError'
  readonly fault: JsonFault
  /** Why, without the place. */
  readonly reason: string
  readonly position: TextPosition

  constructor(fault: JsonFault, reason: string, position: TextPosition) {
    super('JSON', reason, position.offset)
    this.fault = fault
    this.reason = reason
    this.position = position
  }
}

export interface JsonOptions {
  /** `reject` (default), or `last`: the last member of a name wins, as in the canonical form. */
  readonly duplicateKeys?: 'reject' | 'last'
  /** Arrays and objects inside one another; default 64. */
  readonly maxDepth?: number
  /** Values in all, those inside others counted; default: any number. A million empty objects take 3 MB of text. */
  readonly maxValues?: number
  /**
   * `all` (default); `outermost`: all of the text is read, and of its values only the members of the outermost object are
   * kept, arrays and objects among them as empty ones. What a text is can so be told in the memory of the text.
   */
  readonly keep?: 'all' | 'outermost'
}

/** Parses well-formed text (no lone surrogates). Throws JsonError. */
export function parseJsonText(text: string, options: JsonOptions): JsonValue {
  return new Parser(text, options).parse()
}

const quote = 0x22
const backslash = 0x5c
const escapes = '"\\/bfnrt'

class Parser {
  private readonly text: string
  private readonly lastWins: boolean
  private readonly maxDepth: number
  /** Members of objects at this depth and above are kept; items of arrays above it. */
  private readonly keptDepth: number
  private at = 0
  private depth = 0
  private readonly maxValues: number
  private values = 0

  constructor(text: string, options: JsonOptions) {
    this.text = text
    this.lastWins = options.duplicateKeys === 'last'
    this.maxDepth = options.maxDepth ?? 64
    this.maxValues = options.maxValues ?? Number.POSITIVE_INFINITY
    this.keptDepth = options.keep === 'outermost' ? 1 : Number.POSITIVE_INFINITY
  }

  parse(): JsonValue {
    if (this.text.charCodeAt(0) === 0xfeff) this.fail('bom', 'begins with a byte order mark', 0)
    const value = this.value(this.skipSpace())
    if (!Number.isNaN(this.skipSpace())) this.fail('trailing', 'has something after the value')
    return value
  }

  /** Parses the value whose first code unit, at `this.at`, is `first`. */
  private value(first: number): JsonValue {
    if (++this.values > this.maxValues) this.fail('values', `holds more than ${this.maxValues} values`)
    switch (first) {
      case quote:
        return this.string()
      case 0x7b:
        return this.object()
      case 0x5b:
        return this.array()
      case 0x74:
        return this.word('true', true)
      case 0x66:
        return this.word('false', false)
      case 0x6e:
        return this.word('null', null)
      default:
        if (first === 0x2d || isDigit(first)) return this.number(first)
        return this.fail('syntax', Number.isNaN(first) ? 'ends where a value is expected' : 'has no value here')
    }
  }

  private object(): JsonObject {
    this.enter()
    const members: JsonObject = new Map()
    let next = this.skipSpace()
    if (next !== 0x7d) {
      for (;;) {
        if (next !== quote) this.fail('syntax', 'has no member name here (names go in double quotes)')
        const nameAt = this.at
        const name = this.string()
        if (!this.lastWins && members.has(name)) {
          this.fail('duplicate', `has the member ${JSON.stringify(name)} twice`, nameAt)
        }
        if (this.skipSpace() !== 0x3a) this.fail('syntax', 'lacks the colon after a member name')
        this.at++
        const member = this.value(this.skipSpace())
        if (this.depth <= this.keptDepth) members.set(name, member)
        next = this.skipSpace()
        if (next === 0x7d) break
        if (next !== 0x2c) this.fail('syntax', 'has neither a comma nor the end of the object here')
        this.at++
        next = this.skipSpace()
      }
    }
    this.leave()
    return members
  }

  private array(): JsonValue[] {
    this.enter()
    const items: JsonValue[] = []
    let next = this.skipSpace()
    if (next !== 0x5d) {
      for (;;) {
        const item = this.value(next)
        if (this.depth < this.keptDepth) items.push(item)
        next = this.skipSpace()
        if (next === 0x5d) break
        if (next !== 0x2c) this.fail('syntax', 'has neither a comma nor the end of the array here')
        this.at++
        next = this.skipSpace()
      }
    }
    this.leave()
    return items
  }

  private string(): string {
    const { text } = this
    const start = ++this.at
    for (let at = start; ; at++) {
      const unit = text.charCodeAt(at)
      if (unit === quote) {
        this.at = at + 1
        return text.slice(start, at)
      }
      if (unit === backslash || !(unit >= 0x20)) {
        this.at = at
        return this.stringWithEscapes(start)
      }
    }
  }

  /** Goes on with a string, begun at `start`, at an escape or a fault. */
  private stringWithEscapes(start: number): string {
    const { text } = this
    for (;;) {
      const unit = text.charCodeAt(this.at)
      if (unit === quote) {
        this.at++
        // Joined piece by piece, a long text takes many times its length.
        return JSON.parse(text.slice(start - 1, this.at)) as string // checked on the way
      }
      if (unit === backslash) this.escape()
      else if (unit >= 0x20) this.at++
      else this.fail('syntax', Number.isNaN(unit) ? 'ends inside a string' : 'has a raw control character in a string')
    }
  }

  private escape(): void {
    const start = this.at
    const letter = this.text.charAt(start + 1)
    if (letter !== 'u') {
      if (letter === '' || !escapes.includes(letter)) this.fail('syntax', 'has an unknown escape in a string')
      this.at += 2
      return
    }
    const unit = this.hexUnit(start)
    this.at += 6
    if (unit < 0xd800 || unit > 0xdfff) return
    if (unit < 0xdc00 && this.text.startsWith('\\u', this.at)) {
      const low = this.hexUnit(this.at)
      if (low >= 0xdc00 && low <= 0xdfff) {
        this.at += 6
        return
      }
    }
    this.fail('surrogate', 'escapes a lone surrogate', start)
  }

  private hexUnit(at: number): number {
    const digits = this.text.slice(at + 2, at + 6)
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail('syntax', 'has a \\u escape without four hex digits', at)
    return Number.parseInt(digits, 16)
  }

  private number(first: number): JsonNumber {
    const { text } = this
    const start = this.at
    let at = first === 0x2d ? start + 1 : start
    const lead = text.charCodeAt(at)
    if (!isDigit(lead)) this.fail('syntax', 'has a minus sign without a number')
    at = lead === 0x30 ? at + 1 : this.digits(at)
    if (lead === 0x30 && isDigit(text.charCodeAt(at))) this.fail('syntax', 'has a number with a leading zero')
    if (text.charCodeAt(at) === 0x2e) at = this.digits(at + 1)
    const exponent = text.charCodeAt(at)
    if (exponent === 0x65 || exponent === 0x45) {
      const sign = text.charCodeAt(at + 1)
      at = this.digits(sign === 0x2b || sign === 0x2d ? at + 2 : at + 1)
    }
    this.at = at
    return new JsonNumber(text.slice(start, at))
  }

  /** Index after the one or more digits at `at`. */
  private digits(at: number): number {
    const { text } = this
    let end = at
    while (isDigit(text.charCodeAt(end))) end++
    if (end === at) this.fail('syntax', 'has a number that ends without digits', at)
    return end
  }

  private word<T extends boolean | null>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail('syntax', 'has no value here')
    this.at += word.length
    return value
  }

  /** Steps over white space; the code unit found, NaN at the end. */
  private skipSpace(): number {
    const { text } = this
    for (;;) {
      const unit = text.charCodeAt(this.at)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return unit
      this.at++
    }
  }

  private enter(): void {
    if (++this.depth > this.maxDepth) this.fail('depth', `nests deeper than ${this.maxDepth}`)
    this.at++
  }

  private leave(): void {
    this.depth--
    this.at++
  }

  private fail(fault: JsonFault, reason: string, at: number = this.at): never {
    throw new JsonError(fault, reason, positionAt(this.text, at))
  }
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

/** Place of the UTF-16 index `at` in `text`. A line ends at LF, CRLF or CR. */
export function positionAt(text: string, at: number): TextPosition {
  const before = text.slice(0, at)
  let line = 1
  let lineStart = 0
  for (const end of before.matchAll(/\r\n|\n|\r/g)) {
    line++
    lineStart = end.index + end[0].length
  }
  let column = 1
  for (const _ of before.slice(lineStart)) column++
  return { offset: utf8(before).length, line, column }
}

/** Offset of the first byte that begins no valid UTF-8 sequence; the length when all are valid. */
export function firstInvalidUtf8(bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at)
    if (length === 0) return at
    at += length
  }
  return at
}

/** Length of the well-formed sequence at `at`, 0 when there is none (Unicode 15, table 3-7). */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0
  if (lead < 0x80) return 1
  const length =
    lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
  for (let i = 1; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0
  const second = bytes[at + 1] ?? 0
  if (lead === 0xe0 && second < 0xa0) return 0
  if (lead === 0xed && second > 0x9f) return 0
  if (lead === 0xf0 && second < 0x90) return 0
  if (lead === 0xf4 && second > 0x8f) return 0
  return length
}
