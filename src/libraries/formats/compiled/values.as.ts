// AssemblyScript: texts of JSON, and numbers, into columns. A number that this cannot tell exactly is not taken.

import {
  codeOfFloat,
  codeOfInteger,
  codeOfString,
  columnCode,
  columnEpoch,
  columnLeast,
  columnMost,
  columnText,
  columnValues,
  columnWidth,
} from './layout'
import { nearest } from './doubles.as'
import { endText } from './rows.as'

/** Of integers, and of what becomes a double: beyond them 64 bits may not hold them. */
const mostDigits: usize = 18
const mostDoubleDigits: usize = 19
/** Greatest integer up to which doubles hold each. */
const mostExact: u64 = 9007199254740992

/** Byte of the decimal sign. */
let decimal: u32 = 0x2e

export function setDecimal(byte: u32): void {
  decimal = byte
}

/** Copies the text at `at` up to its closing quote: the index after that, or 0. `takesEscapes`: those of JSON. */
export function putString(column: usize, at: usize, row: i32, takesEscapes: bool): usize {
  let to = load<usize>(column, columnText)
  while (true) {
    const word = v128.load(at)
    v128.store(to, word)
    const ends = v128.or(i8x16.eq(word, i8x16.splat(0x22)), i8x16.eq(word, i8x16.splat(0x5c)))
    const stops = i8x16.bitmask(v128.or(ends, i8x16.lt_u(word, i8x16.splat(0x20))))
    if (stops == 0) {
      at += 16
      to += 16
      continue
    }
    const length = <usize>ctz(stops)
    at += length
    to += length
    const byte = <u32>load<u8>(at)
    if (byte == 0x22) break
    if (byte != 0x5c || !takesEscapes) return 0
    to = putEscape(at + 1, to)
    if (to == 0) return 0
    at += load<u8>(at, 1) == 0x75 ? 6 : 2
  }
  endText(column, row, to)
  return at + 1
}

/** Writes what the escape means whose letter is at `at`: the end of what is written, or 0. */
function putEscape(at: usize, to: usize): usize {
  const letter = <u32>load<u8>(at)
  if (letter == 0x75) return putUnit(at + 1, to)
  let byte = letter
  if (letter == 0x62) byte = 0x08
  else if (letter == 0x66) byte = 0x0c
  else if (letter == 0x6e) byte = 0x0a
  else if (letter == 0x72) byte = 0x0d
  else if (letter == 0x74) byte = 0x09
  else if (letter != 0x22 && letter != 0x5c && letter != 0x2f) return 0
  store<u8>(to, <u8>byte)
  return to + 1
}

/** The same for four hexadecimal digits; halves of surrogate pairs are not taken. */
function putUnit(at: usize, to: usize): usize {
  let code: u32 = 0
  for (let i: usize = 0; i < 4; i++) {
    const byte = <u32>load<u8>(at + i)
    let digit = byte - 0x30
    if (digit > 9) {
      digit = (byte | 0x20) - 0x61
      if (digit > 5) return 0
      digit += 10
    }
    code = (code << 4) | digit
  }
  if (code - 0xd800 < 0x800) return 0
  if (code < 0x80) {
    store<u8>(to, <u8>code)
    return to + 1
  }
  if (code < 0x800) {
    store<u8>(to, <u8>(0xc0 | (code >> 6)))
    store<u8>(to, <u8>(0x80 | (code & 63)), 1)
    return to + 2
  }
  store<u8>(to, <u8>(0xe0 | (code >> 12)))
  store<u8>(to, <u8>(0x80 | ((code >> 6) & 63)), 1)
  store<u8>(to, <u8>(0x80 | (code & 63)), 2)
  return to + 3
}

/** Reads the number at `at`: the index after it, or 0. `takesBare`: with an exponent that has neither a sign nor a point before it, too. */
export function putNumber(column: usize, at: usize, row: i32, takesBare: bool): usize {
  const start = at
  const isNegative = load<u8>(at) == 0x2d
  if (isNegative) at += 1
  let first = at
  let mantissa: u64 = 0
  let digit = <u32>load<u8>(at) - 0x30
  if (digit > 9) return 0
  // Nothing but a point or an exponent may follow a zero: a digit ends the number, and then the record.
  if (digit == 0) digit = <u32>load<u8>(++at) - 0x30
  else {
    do {
      mantissa = mantissa * 10 + digit
      digit = <u32>load<u8>(++at) - 0x30
    } while (digit <= 9)
  }
  let scale: i32 = 0
  let isIntegral = true
  if (digit + 0x30 == decimal) {
    const point = ++at
    digit = <u32>load<u8>(at) - 0x30
    if (digit > 9) return 0
    if (mantissa == 0) {
      while (digit == 0) digit = <u32>load<u8>(++at) - 0x30
      first = at
    } else first += 1
    while (digit <= 9) {
      mantissa = mantissa * 10 + digit
      digit = <u32>load<u8>(++at) - 0x30
    }
    scale = <i32>(at - point)
    isIntegral = false
  }
  const digits = at - first
  if (((digit + 0x30) | 0x20) == 0x65) {
    if (!takesBare && isIntegral && <u32>load<u8>(at, 1) - 0x30 <= 9) return 0
    at = exponentEnd(at + 1)
    if (at == 0) return 0
    scale -= exponent
    isIntegral = false
  }
  const code = load<i32>(column, columnCode)
  if (code == codeOfString) {
    const to = load<usize>(column, columnText)
    memory.copy(to, start, at - start)
    endText(column, row, to + (at - start))
    return at
  }
  const to = load<usize>(column, columnValues)
  const width = load<i32>(column, columnWidth)
  if (code == codeOfFloat) {
    // Long integers are looked at more closely.
    if (digits > mostDoubleDigits || (isIntegral && mantissa > mostExact)) return 0
    const double = nearest(mantissa, -scale)
    return putFloat(to, row, width, isNegative ? -double : double, isIntegral) ? at : 0
  }
  if (digits > mostDigits || !isIntegral || (isNegative && mantissa == 0)) return 0
  const integer = isNegative ? -(<i64>mantissa) : <i64>mantissa
  if (integer < load<i64>(column, columnLeast) || integer > load<i64>(column, columnMost)) return 0
  if (code == codeOfInteger) putInteger(to, row, width, integer)
  else {
    const epoch = load<u32>(column, columnEpoch)
    if (epoch == 0) return 0
    store<i64>(to + ((<usize>row) << 3), integer * <i64>epoch)
  }
  return at
}

/** Set by `exponentEnd`. */
let exponent: i32 = 0

/** Reads an exponent of at most three digits after its letter: the index after it, or 0. */
function exponentEnd(at: usize): usize {
  const sign = <u32>load<u8>(at)
  if (sign == 0x2b || sign == 0x2d) at += 1
  const start = at
  let read: i32 = 0
  let digit = <u32>load<u8>(at) - 0x30
  while (digit <= 9 && at - start < 4) {
    read = read * 10 + <i32>digit
    digit = <u32>load<u8>(++at) - 0x30
  }
  if (at == start || at - start == 4) return 0
  exponent = sign == 0x2d ? -read : read
  return at
}

function putFloat(values: usize, row: i32, width: i32, double: f64, isIntegral: bool): bool {
  if (isNaN(double)) return false
  if (width == 8) {
    store<f64>(values + ((<usize>row) << 3), double)
    return true
  }
  const single = <f32>double
  if (isIntegral ? <f64>single != double : abs(double) > 1e38) return false
  store<f32>(values + ((<usize>row) << 2), single)
  return true
}

function putInteger(values: usize, row: i32, width: i32, integer: i64): void {
  if (width == 8) store<i64>(values + ((<usize>row) << 3), integer)
  else if (width == 4) store<i32>(values + ((<usize>row) << 2), <i32>integer)
  else if (width == 2) store<i16>(values + ((<usize>row) << 1), <i16>integer)
  else store<i8>(values + <usize>row, <i8>integer)
}
