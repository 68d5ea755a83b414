// Bodies in other character sets than UTF-8, made UTF-8 as they arrive. A byte order mark decides over what was said. What has no
// meaning in its set is refused with its place, never replaced. Sources: https://encoding.spec.whatwg.org/#names-and-labels; single-byte
// tables are those of iconv-lite.

import { Buffer, isAscii, transcode } from 'node:buffer'
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

const noMeaning = 0xffff
const tables = new Map<string, Uint16Array>()

/** The characters of the bytes of a single-byte set. Control characters of C1 stand for bytes that the set does not have. */
function tableOf(name: string): Uint16Array {
  const known = tables.get(name)
  if (known !== undefined) return known
  const table = new Uint16Array(256)
  for (let byte = 0; byte < 256; byte++) {
    const code = decodedBy(name, Buffer.of(byte)).codePointAt(0) ?? noMeaning
    table[byte] = code === 0xfffd || (code >= 0x80 && code < 0xa0) ? noMeaning : code
  }
  tables.set(name, table)
  return table
}

const newline = 0x0a

/** The bytes of one body as UTF-8. */
export class BodyText {
  /** Settled once the first bytes are here: by a mark, else as it was said. */
  #charset: Charset | undefined
  readonly #said: Charset
  #first: Uint8Array = new Uint8Array(0)
  /** Bytes of the body so far. */
  #offset = 0
  /** Line at which the bytes at hand begin. */
  #line = 1
  #decoder: InstanceType<typeof TextDecoder> | undefined
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

  /** Bytes of the body so far, where each is a character of its own. */
  get offset(): number | undefined {
    return this.#charset?.kind === 'single' ? this.#offset : undefined
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
    const [one, two] = bytes
    if (bytes.length < 3 && (one === undefined || one === 0xef || one >= 0xfe)) {
      this.#first = Uint8Array.from(bytes)
      return new Uint8Array(0)
    }
    return this.#begin(bytes, markOf(one, two, bytes[2]))
  }

  /** What was held back of a body that is over. Throws as `push`. */
  rest(): Uint8Array {
    return this.#charset === undefined ? this.#begin(this.#first, undefined) : this.#ended()
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

  #begin(bytes: Uint8Array, mark: Charset | undefined): Uint8Array {
    this.#charset = mark ?? this.#said
    if (this.#charset.kind === 'utf-8') return bytes
    const after = mark === undefined ? bytes : bytes.subarray(2)
    this.#markBytes = bytes.length - after.length
    this.#offset = this.#markBytes
    return this.#decoded(after)
  }

  #decoded(bytes: Uint8Array): Uint8Array {
    const { name, kind } = this.charset
    if (kind === 'single') return this.#singles(bytes, tableOf(name))
    return this.#tellingPlace(bytes, () => {
      this.#decoder ??= new TextDecoder(name, { fatal: true, ignoreBOM: true })
      return Buffer.from(this.#decoder.decode(bytes, { stream: true }))
    })
  }

  #ended(): Uint8Array {
    return this.#tellingPlace(new Uint8Array(0), () => Buffer.from(this.#decoder?.decode() ?? ''))
  }

  #singles(bytes: Uint8Array, table: Uint16Array): Uint8Array {
    this.#utf8.push(bytes)
    if (isAscii(bytes)) {
      this.#offset += bytes.length
      return bytes
    }
    this.#isAllAscii = false
    const latin1 = this.charset.name === 'windows-1252' ? asLatin1(bytes) : undefined
    if (latin1 !== undefined) {
      this.#offset += bytes.length
      return latin1
    }
    const out = new Uint8Array(3 * bytes.length)
    let length = 0
    for (let at = 0; at < bytes.length; at++) {
      const code = table[bytes[at] ?? 0] ?? noMeaning
      if (code < 0x80) out[length++] = code
      else if (code < 0x800) {
        out[length++] = 0xc0 | (code >> 6)
        out[length++] = 0x80 | (code & 0x3f)
      } else if (code === noMeaning) throw this.#noMeaning(bytes, at)
      else {
        out[length++] = 0xe0 | (code >> 12)
        out[length++] = 0x80 | ((code >> 6) & 0x3f)
        out[length++] = 0x80 | (code & 0x3f)
      }
    }
    this.#offset += bytes.length
    return out.subarray(0, length)
  }

  #tellingPlace(bytes: Uint8Array, decode: () => Uint8Array): Uint8Array {
    try {
      const text = decode()
      this.#offset += bytes.length
      return text
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw this.#refusal(`Bytes of the body are no text in ${this.charset.name}.`, this.#offset, this.#line)
    }
  }

  #noMeaning(bytes: Uint8Array, at: number): NodeError {
    const byte = (bytes[at] ?? 0).toString(16).toUpperCase()
    const lines = bytes.subarray(0, at).reduce((sum, one) => sum + (one === newline ? 1 : 0), 0)
    return this.#refusal(`Byte ${byte} is no character of ${this.charset.name}.`, this.#offset + at, this.#line + lines)
  }

  #refusal(message: string, byteOffset: number, line: number): NodeError {
    return new NodeError('RecordsDoNotFit', `Line ${line}: ${message} Nothing was stored.`, {
      errors: [{ line, byteOffset, kind: 'InvalidUtf8', message }],
      errorsTotal: 1,
      hint: 'Name the character set of the body with charset.',
    })
  }
}

/** Windows-1252 without the bytes in which it is another set than Latin-1; undefined where there are some. */
function asLatin1(bytes: Uint8Array): Uint8Array | undefined {
  const text = transcode(bytes, 'latin1', 'utf8')
  for (let at = text.indexOf(0xc2); at >= 0; at = text.indexOf(0xc2, at + 1))
    if ((text[at + 1] ?? 0) < 0xa0) return undefined
  return text
}

function markOf(one = 0, two = 0, three = 0): Charset | undefined {
  if (one === 0xff && two === 0xfe) return { name: 'utf-16le', kind: 'utf-16' }
  if (one === 0xfe && two === 0xff) return { name: 'utf-16be', kind: 'utf-16' }
  return one === 0xef && two === 0xbb && three === 0xbf ? { name: 'utf-8', kind: 'utf-8' } : undefined
}

const sizes = new Map<string, Map<number, number>>()

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
  const known = sizes.get(name) ?? new Map<number, number>()
  sizes.set(name, known)
  const text = Buffer.from(utf8.buffer, utf8.byteOffset + at, Math.min(4, utf8.length - at)).toString()
  const code = text.codePointAt(0) ?? 0
  const size = known.get(code) ?? iconv.encode(String.fromCodePoint(code), name).length
  known.set(code, size)
  return size
}
