// Canonical JSON: the one spelling of a value that is hashed and signed. Pure ASCII, no white space, members sorted
// by the UTF-8 bytes of their names, number tokens verbatim but for three normalisations.
// Source: measured on deployed Open Data Fabric nodes; `docs/decisions/canonical-form.md` lists the rules and eras.

import { utf8 } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../model/json.ts'

/**
 * Forms of numbers that nodes have signed: `verbatim` is today's and the only one we write; `verbatim-2025` prints
 * exponents without `+`; `exponent-2024` prints every double as `d.dddE±x`.
 */
export const canonicalForms = ['verbatim', 'verbatim-2025', 'exponent-2024'] as const
export type CanonicalForm = (typeof canonicalForms)[number]

/**
 * Canonical text of `value`, ASCII only. Throws DecodeError where `exponent-2024` has no spelling (a number beyond a
 * double); never for the other forms.
 */
export function canonicalText(value: JsonValue, form: CanonicalForm = 'verbatim'): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return quoteAscii(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value instanceof JsonNumber) return numberText(value.token, form)
  if (Array.isArray(value)) return arrayText(value, form)
  return objectText(value, form)
}

/** The bytes of `canonicalText`. */
export function canonicalBytes(value: JsonValue, form: CanonicalForm = 'verbatim'): Uint8Array {
  return utf8(canonicalText(value, form))
}

function arrayText(items: readonly JsonValue[], form: CanonicalForm): string {
  let out = '['
  for (const item of items) out += out.length === 1 ? canonicalText(item, form) : `,${canonicalText(item, form)}`
  return `${out}]`
}

function objectText(members: JsonObject, form: CanonicalForm): string {
  let out = '{'
  for (const name of sortedNames(members)) {
    if (out.length > 1) out += ','
    out += `${quoteAscii(name)}:${canonicalText(members.get(name) ?? null, form)}`
  }
  return `${out}}`
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

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
}

/** `text` in double quotes, everything outside printable ASCII escaped. */
export function quoteAscii(text: string): string {
  if (!/["\\]|[^ -~]/.test(text)) return `"${text}"`
  return `"${text.replace(/["\\]|[^ -~]/g, escapeUnit)}"`
}

function escapeUnit(unit: string): string {
  return shortEscapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
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
