// Canonical JSON: the one spelling of a value that is hashed and signed. Pure ASCII, no white space, members sorted
// by the UTF-8 bytes of their names, number tokens verbatim but for three normalisations.
// Source: measured on deployed Open Data Fabric nodes. Rules: docs/spec/proof.md#canonical-json.

import { ByteBuffer } from '../byte-buffer.ts'
import { decodeUtf8, utf8 } from '../bytes.ts'
import { JsonNumber, type JsonObject, type JsonValue } from './value.ts'

/** Canonical text of `value`, ASCII only. */
export function canonicalText(value: JsonValue): string {
  return decodeUtf8(canonicalBytes(value))
}

/** The canonical bytes of `value`, ASCII only. */
export function canonicalBytes(value: JsonValue): Uint8Array {
  const out = new ByteBuffer(1024)
  writeValue(out, value)
  return out.take()
}

function writeValue(out: ByteBuffer, value: JsonValue): void {
  if (value === null) out.ascii('null')
  else if (typeof value === 'string') writeString(out, value)
  else if (typeof value === 'boolean') out.ascii(value ? 'true' : 'false')
  else if (value instanceof JsonNumber) out.ascii(numberText(value.token))
  else if (Array.isArray(value)) writeArray(out, value)
  else writeObject(out, value)
}

function writeArray(out: ByteBuffer, items: readonly JsonValue[]): void {
  let separator = '['
  for (const item of items) {
    out.ascii(separator)
    writeValue(out, item)
    separator = ','
  }
  out.ascii(items.length === 0 ? '[]' : ']')
}

function writeObject(out: ByteBuffer, members: JsonObject): void {
  let separator = '{'
  for (const name of sortedNames(members)) {
    out.ascii(separator)
    writeString(out, name)
    out.ascii(':')
    writeValue(out, members.get(name) ?? null)
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

/** `E` becomes `e`, an exponent without sign gets `+`, the integer `-0` becomes `0`; the rest of the token stays. */
function numberText(token: string): string {
  if (token === '-0') return '0'
  const at = token.search(/[eE]/)
  if (at < 0) return token
  const exponent = token.slice(at + 1)
  const signed = exponent.startsWith('+') || exponent.startsWith('-') ? exponent : `+${exponent}`
  return `${token.slice(0, at)}e${signed}`
}

/** Room is made for so many escaped code units at a time, so that a long text does not take six times its size. */
const stretchUnits = 16_384
const [quote, backslash, letterU] = [0x22, 0x5c, 0x75]
const hexDigits = utf8('0123456789abcdef')

/** What stands behind the backslash of each unit of ASCII; 0 for those that stand for themselves. */
const letters = new Uint8Array(0x7f).fill(letterU, 0, 0x20)
for (const [unit, letter] of ['""', '\\\\', '\bb', '\tt', '\nn', '\ff', '\rr'].map(utf8))
  letters[unit ?? 0] = letter ?? 0

/** Appends a JSON string; everything outside printable ASCII is escaped, code unit by code unit. */
function writeString(out: ByteBuffer, text: string): void {
  out.byte(quote)
  for (let start = 0; start < text.length; start += stretchUnits) {
    writeUnits(out, text, start, Math.min(text.length, start + stretchUnits))
  }
  out.byte(quote)
}

function writeUnits(out: ByteBuffer, text: string, start: number, end: number): void {
  out.reserve(6 * (end - start))
  const { bytes } = out
  let { at } = out
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i)
    const letter = unit < 0x7f ? (letters[unit] ?? 0) : letterU
    if (letter === 0) bytes[at++] = unit
    else {
      bytes[at++] = backslash
      bytes[at++] = letter
      if (letter !== letterU) continue
      for (let shift = 12; shift >= 0; shift -= 4) bytes[at++] = hexDigits[(unit >> shift) & 15] ?? 0
    }
  }
  out.at = at
}
