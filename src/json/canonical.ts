// Canonical JSON: the one spelling of a value that is hashed and signed. Pure ASCII, no white space, members sorted
// by the UTF-8 bytes of their names, number tokens verbatim but for three normalisations.
// Source: measured on deployed Open Data Fabric nodes; `docs/decisions/canonical-form.md` lists the rules and eras.

import { assert } from '../lib/assert.ts'
import { decodeUtf8 } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../model/json.ts'

/**
 * Forms of numbers that nodes have signed: `verbatim` is today's and the only one we write; `verbatim-2025` prints
 * exponents without `+`; `exponent-2024` prints every double as `d.dddE±x`.
 */
export const canonicalForms = ['verbatim', 'verbatim-2025', 'exponent-2024'] as const
export type CanonicalForm = (typeof canonicalForms)[number]

/** Canonical text of `value`, ASCII only. Throws as `canonicalBytes`. */
export function canonicalText(value: JsonValue, form: CanonicalForm = 'verbatim'): string {
  return decodeUtf8(canonicalBytes(value, form))
}

/**
 * The canonical bytes of `value`, ASCII only. Throws DecodeError where `exponent-2024` has no spelling (a number
 * beyond a double); never for the other forms.
 */
export function canonicalBytes(value: JsonValue, form: CanonicalForm = 'verbatim'): Uint8Array {
  const out = new AsciiWriter()
  writeValue(out, value, form)
  return out.written()
}

function writeValue(out: AsciiWriter, value: JsonValue, form: CanonicalForm): void {
  if (value === null) out.ascii('null')
  else if (typeof value === 'string') out.string(value)
  else if (typeof value === 'boolean') out.ascii(value ? 'true' : 'false')
  else if (value instanceof JsonNumber) out.ascii(numberText(value.token, form))
  else if (Array.isArray(value)) writeArray(out, value, form)
  else writeObject(out, value, form)
}

function writeArray(out: AsciiWriter, items: readonly JsonValue[], form: CanonicalForm): void {
  let separator = '['
  for (const item of items) {
    out.ascii(separator)
    writeValue(out, item, form)
    separator = ','
  }
  out.ascii(items.length === 0 ? '[]' : ']')
}

function writeObject(out: AsciiWriter, members: JsonObject, form: CanonicalForm): void {
  let separator = '{'
  for (const name of sortedNames(members)) {
    out.ascii(separator)
    out.string(name)
    out.ascii(':')
    writeValue(out, members.get(name) ?? null, form)
    separator = ','
  }
  out.ascii(members.size === 0 ? '{}' : '}')
}

/** Names in the order of their UTF-8 bytes, which is the order of code points and not that of UTF-16 code units. */
function sortedNames(members: JsonObject): string[] {
  const names = [...members.keys()]
  return names.some((name) => /[\ud800-\udfff]/.test(name)) ? names.sort(compareCodePoints) : names.sort()
}

/** Order of two well-formed texts by code points, which is the order of their UTF-8 bytes. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return codePointRank(x) - codePointRank(y)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above U+FFFF, so they rank after U+E000…U+FFFF. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x2800 : unit
}

function numberText(token: string, form: CanonicalForm): string {
  if (form === 'exponent-2024') return exponentText(token)
  const text = verbatimText(token)
  return form === 'verbatim-2025' ? text.replace('e+', 'e') : text
}

/** `E` becomes `e`, an exponent without sign gets `+`, the integer `-0` becomes `0`; the rest of the token stays. */
function verbatimText(token: string): string {
  if (token === '-0') return '0'
  const at = token.search(/[eE]/)
  if (at < 0) return token
  const exponent = token.slice(at + 1)
  const signed = exponent.startsWith('+') || exponent.startsWith('-') ? exponent : `+${exponent}`
  return `${token.slice(0, at)}e${signed}`
}

const maxU64 = 2n ** 64n - 1n
const minI64 = -(2n ** 63n)

/** Integers of 64 bits stay; every other number is a double in the shortest digits, `2.53707E3`. */
function exponentText(token: string): string {
  if (/^-?\d{1,20}$/.test(token) && token !== '-0') {
    const integer = BigInt(token)
    if (integer >= minI64 && integer <= maxU64) return token
  }
  const number = Number(token)
  if (!Number.isFinite(number)) throw new DecodeError('canonical JSON', 'a number is beyond a double')
  if (Object.is(number, -0)) return '-0E0'
  return number.toExponential().replace('e+', 'E').replace('e-', 'E-')
}

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
class AsciiWriter {
  private buffer = new Uint8Array(1024)
  private length = 0

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
