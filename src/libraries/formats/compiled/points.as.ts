// AssemblyScript: reads points of line protocol into columns. Escapes, control characters, comments, white space where none has to be, and values
// of a type that the column has not are not taken.

import {
  codeOfBool,
  codeOfFloat,
  codeOfInteger,
  codeOfString,
  codeOfTimestamp,
  columnCode,
  columnLeast,
  columnMost,
  columnEpoch,
  columnRows,
  columnText,
  columnValues,
  keyColumn,
  keyLength,
} from './layout'
import { keyAt } from './keys.as'
import { clearBit, endText, putNulls, setBit } from './rows.as'
import { countCut } from './times.as'
import { putNumber, putString } from './values.as'

const mostTimeDigits: usize = 19

let measurements: usize = 0
let times: usize = 0
let fraction: u64 = 0

/** The columns of measurements and timestamps; how many units of a timestamp are one of its column, 0 where they are not more than one. */
export function preparePoints(ofMeasurements: usize, ofTimes: usize, unitsInOne: u32): void {
  measurements = ofMeasurements
  times = ofTimes
  fraction = unitsInOne
}

/** Reads the point at `at`: the index after its line end, or 0. */
export function pointRecord(at: usize, row: i32): usize {
  // A number sign begins a comment.
  if (load<u8>(at) == 0x23) return 0
  store<i32>(measurements, row + 1, columnRows)
  at = putName(measurements, at, row)
  let last: usize = 0
  let isField = false
  while (at != 0) {
    if (load<u8>(at) != 0x2c) {
      if (isField) return endOf(at, row)
      // After a measurement or a tag there is a space, then.
      isField = true
    }
    at += 1
    last = keyAt(at, last)
    if (last == 0) return 0
    at += load<usize>(last, keyLength)
    const column = load<usize>(last, keyColumn)
    const rows = load<i32>(column, columnRows)
    // A name that stands twice.
    if (rows > row) return 0
    if (rows < row) putNulls(column, row)
    store<i32>(column, row + 1, columnRows)
    if (isField) at = putField(column, at, row)
    else at = load<i32>(column, columnCode) == codeOfString ? putName(column, at, row) : 0
  }
  return 0
}

/** What follows the fields at `at`: the index after the line end, or 0. */
function endOf(at: usize, row: i32): usize {
  if (load<u8>(at) == 0x20) {
    at = putTime(at + 1, row)
    if (at == 0) return 0
  }
  if (load<u8>(at) == 0x0d) at += 1
  return load<u8>(at) == 0x0a ? at + 1 : 0
}

/** Copies a measurement or the value of a tag: the index after it, or 0. */
function putName(column: usize, at: usize, row: i32): usize {
  const from = at
  let to = load<usize>(column, columnText)
  while (true) {
    const word = v128.load(at)
    v128.store(to, word)
    const between = v128.or(i8x16.eq(word, i8x16.splat(0x2c)), i8x16.lt_u(word, i8x16.splat(0x21)))
    const others = v128.or(i8x16.eq(word, i8x16.splat(0x3d)), i8x16.eq(word, i8x16.splat(0x5c)))
    const stops = i8x16.bitmask(v128.or(between, others))
    if (stops == 0) {
      at += 16
      to += 16
      continue
    }
    const length = <usize>ctz(stops)
    at += length
    to += length
    break
  }
  const byte = <u32>load<u8>(at)
  if (at == from || (byte != 0x2c && byte != 0x20)) return 0
  endText(column, row, to)
  return at
}

/** Reads the value of a field: the index after it, or 0. */
function putField(column: usize, at: usize, row: i32): usize {
  const code = load<i32>(column, columnCode)
  const byte = <u32>load<u8>(at)
  if (code == codeOfFloat) return putNumber(column, at, row, true)
  if (code == codeOfInteger) {
    const after = putNumber(column, at, row, true)
    if (after == 0) return 0
    const suffix = <u32>load<u8>(after)
    return suffix == 0x69 || (suffix == 0x75 && byte != 0x2d) ? after + 1 : after
  }
  if (code == codeOfBool) return putWord(load<usize>(column, columnValues), at, row)
  return code == codeOfString && byte == 0x22 ? putString(column, at + 1, row, false) : 0
}

/** Reads a boolean as the protocol spells them: the index after it, or 0. */
function putWord(values: usize, at: usize, row: i32): usize {
  const first = <u32>load<u8>(at)
  const second = <u32>load<u8>(at, 1)
  const isShort = second == 0x2c || second == 0x20 || second == 0x0a || second == 0x0d
  const four = load<u32>(at)
  const last = <u32>load<u8>(at, 4)
  if (isShort ? first == 0x74 || first == 0x54 : four == 0x65757274 || four == 0x65757254 || four == 0x45555254) {
    setBit(values, row)
    return at + (isShort ? 1 : 4)
  }
  const isLong = ((four == 0x736c6166 || four == 0x736c6146) && last == 0x65) || (four == 0x534c4146 && last == 0x45)
  if (isShort ? first != 0x66 && first != 0x46 : !isLong) return 0
  clearBit(values, row)
  return at + (isShort ? 1 : 5)
}

/** Reads a timestamp: the index after it, or 0. */
function putTime(at: usize, row: i32): usize {
  if (load<i32>(times, columnCode) != codeOfTimestamp) return 0
  const from = at
  let time: u64 = 0
  let digit = <u32>load<u8>(at) - 0x30
  while (digit <= 9) {
    time = time * 10 + digit
    digit = <u32>load<u8>(++at) - 0x30
  }
  if (at == from || at - from > mostTimeDigits) return 0
  if (time < load<u64>(times, columnLeast) || time > load<u64>(times, columnMost)) return 0
  const rows = load<i32>(times, columnRows)
  if (rows < row) putNulls(times, row)
  store<i32>(times, row + 1, columnRows)
  const to = load<usize>(times, columnValues) + ((<usize>row) << 3)
  if (fraction == 0) {
    const epoch = load<u32>(times, columnEpoch)
    if (epoch == 0) return 0
    store<u64>(to, time * <u64>epoch)
    return at
  }
  const whole = time / fraction
  store<u64>(to, whole)
  if (whole * fraction != time) countCut(times, row)
  return at
}
