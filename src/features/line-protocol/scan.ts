// Takes one line of line protocol apart: measurement, tags, fields, timestamp, as places in its bytes. What a value means to
// a column is decided elsewhere; here only whether the line can be split.
// Source: https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/, and of escapes what its serialisers write

import { decodeUtf8, grown, grownWords } from '../../libraries/base/bytes.ts'
import type { Scratch } from '../../libraries/formats/json/text.ts'

export const tab = 0x09
export const lineFeed = 0x0a
const carriageReturn = 0x0d
export const space = 0x20
export const quote = 0x22
export const hash = 0x23
export const comma = 0x2c
const minus = 0x2d
export const equals = 0x3d
export const backslash = 0x5c
const [zero, nine, letterF, letterI, letterT, letterU] = [0x30, 0x39, 0x66, 0x69, 0x74, 0x75]

/** What an item is; a number without its suffix, a text without its quotes. */
export const itemKind = { measurement: 0, tag: 1, text: 2, float: 3, integer: 4, unsigned: 5, yes: 6, no: 7 } as const

export const noValue = 'The value is not a number, a boolean or a text: texts of fields go in double quotes.'

/** Most tags and fields of a line. */
const maxItems = 16_384
const keyEscaped = 1
const valueEscaped = 2

/** The items of the line last scanned: the measurement, then tags and fields in order. */
export class LineScan {
  count = 0
  bytes: Uint8Array = new Uint8Array(0)
  keyStarts: Int32Array = new Int32Array(16)
  keyEnds: Int32Array = new Int32Array(16)
  valueStarts: Int32Array = new Int32Array(16)
  valueEnds: Int32Array = new Int32Array(16)
  kinds: Uint8Array = new Uint8Array(16)
  /** The timestamp; empty where there is none. */
  timeStart = 0
  timeEnd = 0
  /** Index of the byte that a fault is about. */
  faultAt = 0
  /** Of each item: whether its key and its value have backslashes. */
  private escaped: Uint8Array = new Uint8Array(16)
  private end = 0
  /** Whether the part last passed has a backslash. */
  private hasEscape = false

  /** Takes `bytes[start, end)` apart; a sentence where that cannot be done, with `faultAt`. */
  scan(bytes: Uint8Array, start: number, end: number): string | undefined {
    this.bytes = bytes
    this.count = 0
    this.end = end
    while (this.end > start && isPadding(bytes[this.end - 1] ?? 0)) this.end -= 1
    const first = skipPadding(bytes, start, this.end)
    let at: number | string = this.pass(first, false)
    if (at === first) return this.fault(first, 'The measurement is missing.')
    this.add(first, first, false)
    this.setValue(itemKind.measurement, first, at)
    while (typeof at === 'number' && at < this.end && bytes[at] === comma) at = this.tag(at + 1)
    if (typeof at === 'number') at = this.fields(at)
    return typeof at === 'number' ? this.timestamp(at) : at
  }

  /** The key of an item, its escapes undone. */
  keyText(item: number, scratch: Scratch): string {
    const [start, end] = [this.keyStarts[item] ?? 0, this.keyEnds[item] ?? 0]
    if (((this.escaped[item] ?? 0) & keyEscaped) === 0) return decodeUtf8(this.bytes.subarray(start, end))
    unescape(scratch, this.bytes, { start, end, kind: itemKind.tag })
    return decodeUtf8(scratch.bytes.subarray(0, scratch.length))
  }

  /** True where the value of an item has escapes, which are undone in `scratch` then. */
  unescapeValue(item: number, scratch: Scratch): boolean {
    if (((this.escaped[item] ?? 0) & valueEscaped) === 0) return false
    const [start, end, kind] = [this.valueStarts[item] ?? 0, this.valueEnds[item] ?? 0, this.kinds[item] ?? 0]
    unescape(scratch, this.bytes, { start, end, kind })
    return true
  }

  /** One tag: index after it, or a fault. */
  private tag(start: number): number | string {
    const { bytes } = this
    const keyEnd = this.key(start)
    if (typeof keyEnd === 'string') return keyEnd
    const end = this.pass(keyEnd + 1, true)
    if (end === keyEnd + 1) return this.fault(start, 'The value of the tag is missing: leave the tag out.')
    if (end < this.end && bytes[end] === equals) {
      return this.fault(end, 'An equals sign in the value of a tag is written with a backslash before it.')
    }
    this.setValue(itemKind.tag, keyEnd + 1, end)
    return end
  }

  /** All fields: index after them, or a fault. */
  private fields(from: number): number | string {
    let at: number | string = this.skipSpaces(from)
    if (at >= this.end) return this.fault(from, 'The line has no fields.')
    at = this.field(at)
    while (typeof at === 'number' && at < this.end && this.bytes[at] === comma) {
      if (this.count > maxItems) return this.fault(at, `A line has at most ${maxItems} tags and fields.`)
      at = this.field(at + 1)
    }
    return at
  }

  /** One field: index after it, or a fault. */
  private field(start: number): number | string {
    const { bytes } = this
    const keyEnd = this.key(start)
    if (typeof keyEnd === 'string') return keyEnd
    const first = keyEnd + 1
    if (first < this.end && bytes[first] === quote) return this.text(first)
    let end = first
    while (end < this.end && bytes[end] !== comma && bytes[end] !== space) end += 1
    this.hasEscape = false
    return this.literal(first, end) ? end : this.fault(first, noValue)
  }

  /** The key of a tag or field: index of the equals sign after it, or a fault. */
  private key(start: number): number | string {
    const end = this.pass(start, true)
    if (end >= this.end || this.bytes[end] !== equals) {
      return this.fault(start, 'A tag or field has no value: write it as key=value.')
    }
    if (end === start) return this.fault(start, 'The key of a tag or field is missing.')
    this.add(start, end, this.hasEscape)
    return end
  }

  /** A value in quotes: index after it, or a fault. */
  private text(opening: number): number | string {
    const { bytes } = this
    let at = opening + 1
    this.hasEscape = false
    while (at < this.end && bytes[at] !== quote) {
      if (bytes[at] === backslash) {
        this.hasEscape = true
        at += 1
      }
      at += 1
    }
    if (at >= this.end) return this.fault(opening, 'The quote that opens this text is never closed.')
    this.setValue(itemKind.text, opening + 1, at)
    const after = at + 1
    if (after === this.end || bytes[after] === comma || bytes[after] === space) return after
    return this.fault(after, 'Only a comma, a space or the end of the line may follow a closing quote.')
  }

  /** A value without quotes; false where it is none. */
  private literal(start: number, end: number): boolean {
    const { bytes } = this
    if (start === end) return false
    const word = wordOf(bytes, start, end)
    const last = bytes[end - 1] ?? 0
    if (word !== undefined) this.setValue(word ? itemKind.yes : itemKind.no, start, end)
    else if (last === letterI || last === letterU) {
      if (!isInteger(bytes, start, end - 1) || (last === letterU && bytes[start] === minus)) return false
      this.setValue(last === letterI ? itemKind.integer : itemKind.unsigned, start, end - 1)
    } else this.setValue(itemKind.float, start, end)
    return true
  }

  private timestamp(from: number): string | undefined {
    this.timeStart = this.skipSpaces(from)
    this.timeEnd = this.end
    if (this.timeStart === this.timeEnd || isInteger(this.bytes, this.timeStart, this.timeEnd)) return undefined
    return this.fault(this.timeStart, 'The timestamp is not a whole number.')
  }

  /** Index of the comma, space or, for `isKeyed`, equals sign that ends a part: none of them ends it after a backslash. */
  private pass(start: number, isKeyed: boolean): number {
    const { bytes, end } = this
    let isEscaped = false
    this.hasEscape = false
    for (let at = start; at < end; at++) {
      const byte = bytes[at] ?? 0
      const isStop = byte === comma || byte === space || (isKeyed && byte === equals)
      if (isStop && !isEscaped) return at
      isEscaped = byte === backslash
      this.hasEscape ||= isEscaped
    }
    return end
  }

  private skipSpaces(from: number): number {
    let at = from
    while (at < this.end && this.bytes[at] === space) at += 1
    return at
  }

  private add(start: number, end: number, isEscaped: boolean): void {
    const item = this.count
    if (item === this.kinds.length) {
      const length = 2 * item
      this.keyStarts = grownWords(this.keyStarts, length)
      this.keyEnds = grownWords(this.keyEnds, length)
      this.valueStarts = grownWords(this.valueStarts, length)
      this.valueEnds = grownWords(this.valueEnds, length)
      this.kinds = grown(this.kinds, length)
      this.escaped = grown(this.escaped, length)
    }
    this.keyStarts[item] = start
    this.keyEnds[item] = end
    this.escaped[item] = isEscaped ? keyEscaped : 0
    this.count += 1
  }

  /** Of the item that was added last. */
  private setValue(kind: number, start: number, end: number): void {
    const item = this.count - 1
    this.kinds[item] = kind
    this.valueStarts[item] = start
    this.valueEnds[item] = end
    if (this.hasEscape) this.escaped[item] = (this.escaped[item] ?? 0) | valueEscaped
  }

  private fault(at: number, message: string): string {
    this.faultAt = Math.min(at, this.end)
    return message
  }
}

/** True for a line without a point: blank, or a comment. */
export function isPointless(bytes: Uint8Array, start: number, end: number): boolean {
  const at = skipPadding(bytes, start, end)
  return at === end || bytes[at] === hash
}

function isPadding(byte: number): boolean {
  return byte === space || byte === tab || byte === carriageReturn
}

function skipPadding(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isPadding(bytes[at] ?? 0)) at += 1
  return at
}

function isInteger(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === minus ? start + 1 : start
  for (let at = first; at < end; at++) if ((bytes[at] ?? 0) < zero || (bytes[at] ?? 0) > nine) return false
  return first < end
}

const longWords = new Map([
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
])

function wordOf(bytes: Uint8Array, start: number, end: number): boolean | undefined {
  const letter = (bytes[start] ?? 0) | 0x20
  if ((letter !== letterT && letter !== letterF) || end - start > 5) return undefined
  return end - start === 1 ? letter === letterT : longWords.get(String.fromCharCode(...bytes.subarray(start, end)))
}

/** Undoes escapes: in a text of a quote and a backslash, elsewhere of a comma, a space and, where it separates, an equals sign. */
function unescape(
  out: Scratch,
  bytes: Uint8Array,
  { start, end, kind }: { readonly start: number; readonly end: number; readonly kind: number },
): void {
  out.reset(end - start)
  for (let at = start; at < end; at++) {
    const after = at + 1 < end ? (bytes[at + 1] ?? 0) : 0
    if (bytes[at] === backslash && isEscapable(after, kind)) at += 1
    out.bytes[out.length++] = bytes[at] ?? 0
  }
}

function isEscapable(byte: number, kind: number): boolean {
  if (kind === itemKind.text) return byte === quote || byte === backslash
  return byte === comma || byte === space || (byte === equals && kind !== itemKind.measurement)
}
