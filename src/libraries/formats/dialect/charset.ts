// Bodies in other character sets than UTF-8, made UTF-8 as they arrive. A byte order mark decides over what was said. What has no
// meaning in its set is refused with its place, never replaced. Source: https://encoding.spec.whatwg.org/#names-and-labels

import { Buffer, isAscii } from 'node:buffer'
import iconv from 'iconv-lite'
import { NodeError } from '../../base/errors.ts'
import { Utf8Watch } from '../utf8-watch.ts'

export interface Charset {
  /** As the Encoding Standard names it, in lower case. */
  readonly name: string
  readonly kind: 'utf-8' | 'utf-16' | 'single' | 'double'
}

/** Sets of one byte a character. Those of the standard that are no sets of their own (replacement, x-user-defined) are none here. */
const singles: ReadonlySet<string> = new Set([
  'ibm866',
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16].map((part) => `iso-8859-${part}`),
  'koi8-r',
  'koi8-u',
  'macintosh',
  'windows-874',
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((page) => `windows-125${page}`),
])
const doubles: ReadonlySet<string> = new Set(['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'gb18030', 'big5'])

/** The character set of a label of the Encoding Standard, in any case; undefined where bodies in it are not read. */
export function charsetNamed(label: string): Charset | undefined {
  let name: string
  try {
    name = new TextDecoder(label).encoding.toLowerCase()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
  if (name === 'utf-8') return { name, kind: 'utf-8' }
  if (name === 'utf-16le' || name === 'utf-16be') return { name, kind: 'utf-16' }
  if (singles.has(name)) return { name, kind: 'single' }
  return doubles.has(name) ? { name, kind: 'double' } : undefined
}

/** The text of `bytes` in a set that iconv-lite has a table of; a byte without a meaning is U+FFFD there. */
export function decodedBy(table: string, bytes: Uint8Array): string {
  return iconv.decode(bytes, table)
}

/** Sets that the decoder of Node.js reads as the standard has them, and tables of iconv-lite do not. */
const ofNode: ReadonlySet<string> = new Set(['utf-16le', 'utf-16be', 'macintosh', 'gbk', 'gb18030'])
/** What tables have for bytes without a meaning: control characters of C1 among them. */
const noMeaning = /[\ufffd\u0080-\u009f]/
const questionMark = 0x3f
const lineFeed = 0x0a
const noBytes = new Uint8Array(0)
/** Bytes that a character may lack at most when it has begun. */
const mostBegun = 3

/** The bytes of one body as UTF-8. */
export class BodyText {
  /** Settled once the first bytes are here: by a mark, else as it was said. */
  #charset: Charset | undefined
  readonly #said: Charset
  #first: Uint8Array = noBytes
  /** The beginning of a character of several bytes. */
  #begun: Uint8Array = noBytes
  /** Bytes of the body so far, but those of a character that is not complete. */
  #offset = 0
  /** Line at which the bytes at hand begin. */
  #line = 1
  readonly #utf8 = new Utf8Watch()
  #isAllAscii = true
  #markBytes = 0

  /** `said`: name of its set, where that is not UTF-8. */
  constructor(said: string | undefined) {
    this.#said = (said === undefined ? undefined : charsetNamed(said)) ?? { name: 'utf-8', kind: 'utf-8' }
  }

  /** The set that it is in, as far as that is known. */
  get charset(): Charset {
    return this.#charset ?? this.#said
  }

  /** Whether it is in another set than UTF-8; false as long as nothing is known. */
  get isOther(): boolean {
    return this.#charset !== undefined && this.#charset.kind !== 'utf-8'
  }

  /** Bytes of the body whose text was given, where it is in another set. */
  get offset(): number {
    return this.#offset
  }

  /** Bytes of the mark of another set at its beginning. */
  get markBytes(): number {
    return this.#markBytes
  }

  /** The next bytes, which begin at `line`, as UTF-8. Throws NodeError `RecordsDoNotFit` where a byte has no meaning. */
  push(chunk: Uint8Array, line: number): Uint8Array {
    this.#line = line
    if (this.#charset !== undefined) return this.#charset.kind === 'utf-8' ? chunk : this.#decoded(chunk)
    const bytes = this.#first.length === 0 ? chunk : Buffer.concat([this.#first, chunk])
    const [one] = bytes
    if (bytes.length < 3 && (one === undefined || one === 0xef || one >= 0xfe)) {
      this.#first = Uint8Array.from(bytes)
      return noBytes
    }
    return this.#begin(bytes)
  }

  /** What was held back of a body that is over, and ends at `line`. Throws as `push`. */
  rest(line: number): Uint8Array {
    this.#line = line
    const text = this.#charset === undefined ? this.#begin(this.#first) : noBytes
    if (this.#begun.length > 0) throw this.#noText(this.#begun[0], this.#offset, line)
    return text
  }

  /** Throws NodeError `InvalidParameter` where a single-byte set was said of a body that is UTF-8. */
  demandSaid(): void {
    if (this.#charset?.kind !== 'single' || this.#isAllAscii) return
    this.#utf8.finish()
    if (this.#utf8.dirty) return
    throw new NodeError('InvalidParameter', `The body is UTF-8, and charset=${this.#charset.name} was said.`, {
      hint: 'Leave charset out.',
    })
  }

  #begin(bytes: Uint8Array): Uint8Array {
    const mark = markOf(...bytes.subarray(0, 3))
    this.#charset = mark ?? this.#said
    if (this.#charset.kind === 'utf-8') return bytes
    const after = mark === undefined ? bytes : bytes.subarray(2)
    this.#markBytes = bytes.length - after.length
    this.#offset = this.#markBytes
    return this.#decoded(after)
  }

  #decoded(bytes: Uint8Array): Uint8Array {
    const { name, kind } = this.charset
    this.#utf8.push(bytes)
    const isPlain = kind !== 'utf-16' && this.#begun.length === 0 && isAscii(bytes)
    this.#isAllAscii &&= isPlain
    if (isPlain) {
      this.#offset += bytes.length
      return bytes
    }
    const all = this.#begun.length === 0 ? bytes : Buffer.concat([this.#begun, bytes])
    const whole = wholeText(name, all)
    if (whole === undefined) throw this.#noTextIn(name, all)
    this.#offset += whole.bytes
    this.#begun = Uint8Array.from(all.subarray(whole.bytes))
    return whole.utf8
  }

  /** The refusal of bytes of which some are no text, with the place of the first. */
  #noTextIn(name: string, bytes: Uint8Array): NodeError {
    let [good, bad] = [0, bytes.length]
    while (bad - good > 1) {
      const middle = (good + bad) >> 1
      if (wholeText(name, bytes.subarray(0, middle)) === undefined) bad = middle
      else good = middle
    }
    const before = wholeText(name, bytes.subarray(0, good)) ?? { utf8: noBytes, bytes: 0 }
    const lines = before.utf8.reduce((count, byte) => count + Number(byte === lineFeed), 0)
    return this.#noText(bytes[before.bytes], this.#offset + before.bytes, this.#line + lines)
  }

  #noText(byte = 0, byteOffset: number, line: number): NodeError {
    const message = `Byte ${byte.toString(16).toUpperCase()} is no character of ${this.charset.name}.`
    return new NodeError('RecordsDoNotFit', `Line ${line}: ${message} Nothing was stored.`, {
      errors: [{ line, byteOffset, kind: 'InvalidUtf8', message }],
      errorsTotal: 1,
      hint: 'Name the character set of the body with charset.',
    })
  }
}

/** The text of all characters in `bytes`, of which the last may not be complete; undefined where some bytes are no text. */
function wholeText(name: string, bytes: Uint8Array): { readonly utf8: Uint8Array; readonly bytes: number } | undefined {
  if (singles.has(name)) {
    const utf8 = singlesText(tableOf(name), bytes)
    return utf8 && { utf8, bytes: bytes.length }
  }
  for (let end = bytes.length; end >= Math.max(0, bytes.length - mostBegun); end--) {
    const text = textOf(name, bytes.subarray(0, end))
    if (text !== undefined) return { utf8: Buffer.from(text), bytes: end }
  }
  return undefined
}

/** A set of one byte a character. */
interface SingleTable {
  /** What each byte means. */
  readonly codes: Uint16Array
  /** Finds a byte that means something else than in ISO 8859-1, whose bytes are code points. */
  readonly others: RegExp
}

const tables = new Map<string, SingleTable>()
/** Of a byte without a meaning: no character has this code. */
const noCode = 0xffff

function tableOf(name: string): SingleTable {
  const known = tables.get(name)
  if (known !== undefined) return known
  const codeOf = (byte: number): number => textOf(name, Uint8Array.of(byte))?.charCodeAt(0) ?? noCode
  const codes = Uint16Array.from({ length: 0x100 }, (_, byte) => codeOf(byte))
  const others = Array.from(codes.keys()).filter((byte) => codes[byte] !== byte)
  const made = { codes, others: new RegExp(`[${others.map((byte) => `\\x${byte.toString(16)}`).join('')}]`) }
  tables.set(name, made)
  return made
}

/** In UTF-8; undefined where some byte has no meaning. */
function singlesText({ codes, others }: SingleTable, bytes: Uint8Array): Uint8Array | undefined {
  const plain = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  if (!others.test(plain)) return Buffer.from(plain)
  const text = new Uint16Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) {
    const code = codes[bytes[at] ?? 0] ?? noCode
    if (code === noCode) return undefined
    text[at] = code
  }
  return Buffer.from(Buffer.from(text.buffer).toString('utf16le'))
}

/**
 * From whole characters of UTF-8 to the bytes of a set. A letter that is not read back is one that the set lacks: NodeError
 * `InvalidParameter`.
 */
export function encoderOf(name: string): (utf8: Uint8Array) => Uint8Array {
  return (utf8) => {
    const text = Buffer.from(utf8.buffer, utf8.byteOffset, utf8.length).toString()
    const bytes = iconv.encode(text, name)
    if (textOf(name, bytes) === text) return bytes
    const letter = Array.from(text).find((one) => textOf(name, iconv.encode(one, name)) !== one) ?? ''
    const code = letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    throw new NodeError('InvalidParameter', `charset: ${name} has no '${letter}' (U+${code}).`, {
      hint: 'Leave charset out: UTF-8 has every letter. Spreadsheets take it with bom=true.',
    })
  }
}

function textOf(name: string, bytes: Uint8Array): string | undefined {
  if (!ofNode.has(name)) {
    const text = decodedBy(name, bytes)
    return noMeaning.test(text) ? undefined : text
  }
  try {
    return new TextDecoder(name, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function markOf(one = 0, two = 0, three = 0): Charset | undefined {
  if (one === 0xff && two === 0xfe) return { name: 'utf-16le', kind: 'utf-16' }
  if (one === 0xfe && two === 0xff) return { name: 'utf-16be', kind: 'utf-16' }
  return one === 0xef && two === 0xbb && three === 0xbf ? { name: 'utf-8', kind: 'utf-8' } : undefined
}

const sizes = new Map<string, Map<number, number>>()
/** EUC-JP has in two bytes what Shift_JIS has, in three what it lacks; GBK is read as GB18030. */
const sizeTables = new Map([
  ['euc-jp', 'shift_jis'],
  ['gbk', 'gb18030'],
])

/** Bytes that `utf8[start, end)` was in its own set. */
export function sourceBytes({ name, kind }: Charset, utf8: Uint8Array, start: number, end: number): number {
  if (kind === 'utf-8') return end - start
  let bytes = 0
  for (let at = start; at < end; at++) {
    const byte = utf8[at] ?? 0
    if (byte >= 0x80 && byte < 0xc0) continue
    if (kind === 'single' || byte < 0x80) bytes += kind === 'utf-16' ? 2 : 1
    else if (kind === 'utf-16') bytes += byte >= 0xf0 ? 4 : 2
    else bytes += sizeOf(name, utf8, at)
  }
  return bytes
}

/** Of one character of a set of several bytes. */
function sizeOf(name: string, utf8: Uint8Array, at: number): number {
  const sizesOf = sizes.get(name) ?? new Map<number, number>()
  sizes.set(name, sizesOf)
  const text = Buffer.from(utf8.buffer, utf8.byteOffset + at, Math.min(4, utf8.length - at)).toString()
  const code = text.codePointAt(0) ?? 0
  const known = sizesOf.get(code)
  if (known !== undefined) return known
  const encoded = iconv.encode(String.fromCodePoint(code), sizeTables.get(name) ?? name)
  // What iconv-lite does not have, which it says as a question mark, are characters of two bytes.
  const isLacking = encoded[0] === questionMark
  const size = name === 'euc-jp' ? (isLacking ? 3 : 2) : isLacking ? 2 : encoded.length
  sizesOf.set(code, size)
  return size
}
