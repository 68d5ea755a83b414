// Reads one number token from bytes into its parts, without making a string: JSON numbers and CSV's looser forms.
// `typed-columns.ts` turns the parts into column values; every digit counts, nothing passes through a double unless
// the double is exact or is the column's type.

import { Buffer } from 'node:buffer'

const minus = 0x2d
const plus = 0x2b
const dot = 0x2e
const zero = 0x30

/** Digits that a double holds exactly. */
const exactDigits = 15
/** Far beyond any exponent that matters; keeps the sum of hostile exponent digits finite. */
const exponentCap = 1e9

const powersOfTen: readonly number[] = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

const words: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
])
/** Of these words; most cells are told from them by one byte. */
const lastLetters: ReadonlySet<number> = new Set(Array.from(words.keys(), (word) => word.charCodeAt(word.length - 1)))

/** The float that is no number which `bytes[start, end)` is, as programs that write CSV spell it: `NaN`, `-inf`, `+Infinity`. */
export function notFinite(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start < 3 || end - start > 9 || !lastLetters.has((bytes[end - 1] ?? 0) | 0x20)) return undefined
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    .toString('latin1')
    .toLowerCase()
  const value = words.get(text.replace(/^[+-]/, ''))
  return value !== undefined && text.startsWith('-') ? -value : value
}

/** The parts of the token last scanned: (-1)^negative × mantissa × 10^-scale, exact while `digits` ≤ 15. */
export class NumberScan {
  start = 0
  /** Index after the token. */
  end = 0
  negative = false
  mantissa = 0
  /** Significant digits, leading zeros not counted. */
  digits = 0
  /** Digits after the point minus the exponent. */
  scale = 0
  /** True when the token has neither point nor exponent. */
  integral = true
}

function readExponent(scan: NumberScan, bytes: Uint8Array, from: number, end: number): boolean {
  let at = from
  const sign = bytes[at] ?? 0
  if (at < end && (sign === minus || sign === plus)) at += 1
  const first = at
  let exponent = 0
  while (at < end) {
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) break
    if (exponent < exponentCap) exponent = exponent * 10 + digit
    at += 1
  }
  scan.end = at
  scan.integral = false
  scan.scale -= sign === minus ? -exponent : exponent
  return at > first
}

/**
 * Scans the longest number at `from` (up to `end`, exclusive) into `scan`; false when there is none.
 * What follows the token is the caller's business. `lenient` also takes `+1`, `.5`, `5.` and leading zeros.
 * Source of the strict grammar: RFC 8259 §6.
 */
export function scanNumber(scan: NumberScan, bytes: Uint8Array, from: number, end: number, lenient: boolean): boolean {
  let at = from
  let byte = bytes[at] ?? 0
  scan.start = from
  scan.negative = byte === minus
  scan.integral = true
  scan.scale = 0
  if (scan.negative || (lenient && byte === plus)) at += 1
  const first = at
  let mantissa = 0
  let digits = 0
  for (; at < end; at++) {
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) break
    if (digits < exactDigits) mantissa = mantissa * 10 + digit
    if (digits > 0 || digit > 0) digits += 1
  }
  const whole = at - first
  if (whole === 0 && !lenient) return false
  if (!lenient && whole > 1 && bytes[first] === zero) at = first + 1
  byte = at < end ? (bytes[at] ?? 0) : 0
  let fraction = 0
  if (byte === dot) {
    at += 1
    const point = at
    for (; at < end; at++) {
      const digit = (bytes[at] ?? 0) - zero
      if (digit < 0 || digit > 9) break
      if (digits < exactDigits) mantissa = mantissa * 10 + digit
      if (digits > 0 || digit > 0) digits += 1
    }
    fraction = at - point
    scan.integral = false
    scan.scale = fraction
    if (fraction === 0 && !lenient) return false
    byte = at < end ? (bytes[at] ?? 0) : 0
  }
  if (whole + fraction === 0) return false
  scan.mantissa = mantissa
  scan.digits = digits
  scan.end = at
  if (byte === 0x65 || byte === 0x45) return readExponent(scan, bytes, at + 1, end)
  return true
}

/** The token's text (it is ASCII). */
export function tokenText(scan: NumberScan, bytes: Uint8Array): string {
  return Buffer.prototype.latin1Slice.call(bytes, scan.start, scan.end)
}

/** The nearest double; infinite when the token is beyond the doubles. */
export function doubleOf(scan: NumberScan, bytes: Uint8Array): number {
  if (scan.digits <= exactDigits) {
    const scale = scan.scale
    let value = scan.mantissa
    // One exact operand divided or multiplied by one exact power of ten rounds once, correctly.
    if (scale === 0) return scan.negative ? -value : value
    if (scale > 0 && scale <= 22) value /= powersOfTen[scale] ?? 1
    else if (scale < 0 && scale >= -22) value *= powersOfTen[-scale] ?? 1
    else return Number(tokenText(scan, bytes))
    return scan.negative ? -value : value
  }
  return Number(tokenText(scan, bytes))
}

/** Signed decimal digits without trailing zeros and the power of ten they are times; `digits` is '' for zero. */
export interface ExactNumber {
  readonly negative: boolean
  readonly digits: string
  readonly exponent: number
}

/** The token's exact value. */
export function exactNumber(scan: NumberScan, bytes: Uint8Array): ExactNumber {
  const [significand = ''] = tokenText(scan, bytes).split(/[eE]/, 1)
  const digits = significand.replace(/[+.-]/g, '').replace(/^0+/, '')
  let length = digits.length
  while (length > 0 && digits.charCodeAt(length - 1) === zero) length -= 1
  const exponent = digits.length - length - scan.scale
  return { negative: scan.negative, digits: digits.slice(0, length), exponent: length === 0 ? 0 : exponent }
}

export type ScaledResult = bigint | 'fraction' | 'range'

/**
 * The token times 10^`shift` as an integer: 'fraction' when it is none (unless `cut`, which rounds down),
 * 'range' when it has over 40 digits.
 */
export function scaledInteger(number: ExactNumber, shift: number, cut = false): ScaledResult {
  if (number.digits === '') return 0n
  const exponent = number.exponent + shift
  if (number.digits.length + exponent > 40) return 'range'
  let value: bigint
  if (exponent >= 0) value = BigInt(number.digits) * 10n ** BigInt(exponent)
  else if (!cut) return 'fraction'
  else {
    const kept = number.digits.length + exponent
    value = kept > 0 ? BigInt(number.digits.slice(0, kept)) : 0n
    // Digits are dropped, so a negative value moves to the integer below.
    if (number.negative) value += 1n
  }
  return number.negative ? -value : value
}

/** True where `value`, the nearest double (or, with `isSingle`, single) of a token that is written as an integer, is that integer. */
export function isExactInteger(scan: NumberScan, bytes: Uint8Array, value: number, isSingle: boolean): boolean {
  if (isSingle && Math.fround(value) !== value) return false
  if (scan.digits <= exactDigits) return true
  const { digits, exponent } = exactNumber(scan, bytes)
  return BigInt(digits) * 10n ** BigInt(exponent) === BigInt(Math.abs(value))
}

/**
 * True for a token that is written as an integer where `value`, the double (or single) that would be stored, is another number;
 * `isDouble`: the token may be what a program prints for that double.
 */
export function isRounded(
  scan: NumberScan,
  bytes: Uint8Array,
  { value, isSingle, isDouble }: { readonly value: number; readonly isSingle: boolean; readonly isDouble: boolean },
): boolean {
  if (!scan.integral || (scan.digits <= exactDigits && !isSingle)) return false
  if (isExactInteger(scan, bytes, value, isSingle)) return false
  return isSingle || !isDouble || !isShortest(scan, bytes, value)
}

/** True where a program that prints `value`, the nearest double of the token, in as few digits as tell it apart prints these. */
function isShortest(scan: NumberScan, bytes: Uint8Array, value: number): boolean {
  const [shown = ''] = String(Math.abs(value)).split('e', 1)
  return shown.replace('.', '').replace(/^0+|0+$/g, '') === exactNumber(scan, bytes).digits
}

/**
 * True for a token that is spelt as numbers are printed: no plus, no leading zero, no point without digits behind it, no bare
 * exponent (1e5). What is spelt otherwise may be a code or a telephone number.
 */
export function isSpeltAsNumber(scan: NumberScan, bytes: Uint8Array): boolean {
  const sign = bytes[scan.start]
  const first = scan.start + (sign === plus || sign === minus ? 1 : 0)
  if (bytes[first] === zero && isDigit(bytes, first + 1, scan.end)) return false
  if (scan.integral) return sign !== plus
  for (let at = first; at < scan.end; at++) {
    const byte = bytes[at] ?? 0
    if (byte === dot) return isDigit(bytes, at + 1, scan.end)
    if ((byte | 0x20) === 0x65) return !isDigit(bytes, at + 1, scan.end)
  }
  return true
}

function isDigit(bytes: Uint8Array, at: number, end: number): boolean {
  const digit = at < end ? (bytes[at] ?? 0) - zero : -1
  return digit >= 0 && digit <= 9
}

/** The token's magnitude, right to the last few bits of a double; exact where `doubleOf` is. */
export function magnitudeOf(scan: NumberScan): number {
  const { mantissa } = scan
  const scale = scan.scale - (scan.digits > exactDigits ? scan.digits - exactDigits : 0)
  if (scale === 0 || mantissa === 0) return mantissa
  if (scale > 0 && scale <= 22) return mantissa / (powersOfTen[scale] ?? 1)
  return mantissa * 10 ** -scale
}
