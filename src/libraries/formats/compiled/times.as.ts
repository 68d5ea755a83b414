// AssemblyScript: dates and times into columns. Forms that are rare are not taken. Digits finer than the
// column are cut off, and counted.

import {
  codeOfDate,
  columnCutOrder,
  columnCuts,
  columnFirstCut,
  columnUnits,
  columnValues,
  patternHead,
  spanBytes,
  stepOfByte,
  stepOfDigits,
} from './layout'

/** The row of the last time that was cut off. */
export const columnLastCut: usize = 76

// The date last read, as text, and its day: rows that follow one another are of one day, as a rule. At first 1970-01-01.
let lastDate: u64 = 0x2d31302d30373931
let lastEnd: u32 = 0x3130
let lastDay: i32 = 0

/** The number that two digits are, or more than 99. */
function two(at: usize): u32 {
  const tens = <u32>load<u8>(at) - 0x30
  const ones = <u32>load<u8>(at, 1) - 0x30
  return tens > 9 || ones > 9 ? 100 : tens * 10 + ones
}

/** Reads the ten bytes of a date into `lastDay`; false where they are none. */
function isDate(at: usize): bool {
  const date = load<u64>(at)
  const end = <u32>load<u16>(at, 8)
  if (date == lastDate && end == lastEnd) return true
  if (load<u8>(at, 4) != 0x2d || load<u8>(at, 7) != 0x2d) return false
  const century = two(at)
  const ofCentury = two(at + 2)
  const month = two(at + 5)
  const day = two(at + 8)
  if (century > 99 || ofCentury > 99 || month - 1 > 11 || day - 1 > 30) return false
  const year = century * 100 + ofCentury
  if (day > daysIn(year, month)) return false
  // Days from civil; the years are shifted by an era, so that nothing is negative.
  const shifted = <i32>year + 400 - (month <= 2 ? 1 : 0)
  const era = shifted / 400
  const ofEra = shifted - era * 400
  const dayOfYear = (153 * (<i32>month + (month > 2 ? -3 : 9)) + 2) / 5 + <i32>day - 1
  lastDay = (era - 1) * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + dayOfYear - 719_468
  lastDate = date
  lastEnd = end
  return true
}

function daysIn(year: u32, month: u32): u32 {
  if (month != 2) return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
  return (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
}

/** Reads the date at `at`: the index after it, or 0. */
export function putDate(column: usize, at: usize, row: i32): usize {
  if (!isDate(at)) return 0
  store<i32>(load<usize>(column, columnValues) + ((<usize>row) << 2), lastDay)
  return at + 10
}

/** Reads the date and time at `at`: the index after it, or 0. */
export function putInstant(column: usize, at: usize, row: i32): usize {
  if (!isDate(at)) return 0
  const joint = <u32>load<u8>(at, 10)
  if (joint != 0x54 && joint != 0x20) return 0
  const hours = two(at + 11)
  const minutes = two(at + 14)
  const seconds = two(at + 17)
  if (hours > 23 || minutes > 59 || seconds > 59) return 0
  if (load<u8>(at, 13) != 0x3a || load<u8>(at, 16) != 0x3a) return 0
  let time = <i64>lastDay * 86_400 + <i64>(hours * 3600 + minutes * 60 + seconds)
  const units = <i64>load<u32>(column, columnUnits)
  let part: i64 = 0
  let isCut = false
  at += 19
  if (load<u8>(at) == 0x2e) {
    let unit = units
    let digit = <u32>load<u8>(++at) - 0x30
    if (digit > 9) return 0
    do {
      unit /= 10
      if (unit == 0 && digit != 0) isCut = true
      part += <i64>digit * unit
      digit = <u32>load<u8>(++at) - 0x30
    } while (digit <= 9)
  }
  const zone = <u32>load<u8>(at)
  let offset: i64 = 0
  if (zone == 0x5a) at += 1
  else if (zone == 0x2b || zone == 0x2d) {
    const east = two(at + 1)
    const beyond = two(at + 4)
    if (east > 23 || beyond > 59 || load<u8>(at, 3) != 0x3a) return 0
    offset = <i64>(east * 3600 + beyond * 60)
    if (zone == 0x2d) offset = -offset
    at += 6
  } else {
    if (!isInSpan(time)) return 0
    offset = load<i64>(span, 16)
  }
  time -= offset
  // It can carry a time out of the years that there are.
  if (time < -62_167_219_200 || time >= 253_402_300_800) return 0
  store<i64>(load<usize>(column, columnValues) + ((<usize>row) << 3), time * units + part)
  if (isCut) countCut(column, row)
  return at
}

/** Reads the day or time at `at`, as the pattern has it: the index after it, or 0. */
export function putPatterned(column: usize, pattern: usize, code: i32, at: usize, row: i32): usize {
  for (let step = pattern + patternHead; ; step += 2) {
    const kind = <u32>load<u8>(step)
    if (kind == 0) break
    const byte = load<u8>(at++)
    const expected = load<u8>(step, 1)
    if (kind == stepOfByte) {
      if (byte != expected) return 0
      continue
    }
    if (<u32>byte - 0x30 > 9) return 0
    const to = pattern + <usize>expected
    if (kind != stepOfDigits) store<u8>(to, byte)
    else if (<u32>load<u8>(at) - 0x30 <= 9) {
      store<u8>(to, byte)
      store<u8>(to, load<u8>(at++), 1)
    } else {
      store<u8>(to, 0x30)
      store<u8>(to, byte, 1)
    }
  }
  const after = code == codeOfDate ? putDate(column, pattern, row) : putInstant(column, pattern, row)
  return after == 0 ? 0 : at
}

// Local times without a zone that are one instant each, in spans; and that in which the last one was.
let spans: usize = 0
let spansEnd: usize = 0
let span: usize = 0
let unknown: f64 = NaN

export function prepareSpans(first: usize, count: usize): void {
  spans = first
  spansEnd = first + count * spanBytes
  span = first
}

/** The local time that was in none of the spans, at which the last run stopped; NaN: it stopped for another reason. */
export function unknownTime(): f64 {
  return unknown
}

function isInSpan(time: i64): bool {
  if (spans != spansEnd && isIn(time)) return true
  for (span = spans; span < spansEnd; span += spanBytes) if (isIn(time)) return true
  span = spans
  unknown = <f64>time
  return false
}

function isIn(time: i64): bool {
  return time >= load<i64>(span) && time < load<i64>(span, 8)
}

/** Columns with times that were cut off, in this run. */
let cutColumns: i32 = 0

export function beginTimes(): void {
  cutColumns = 0
  unknown = NaN
}

export function countCut(column: usize, row: i32): void {
  const cuts = load<i32>(column, columnCuts)
  if (cuts == 0) {
    store<i32>(column, row, columnFirstCut)
    store<i32>(column, cutColumns, columnCutOrder)
    cutColumns += 1
  }
  store<i32>(column, row, columnLastCut)
  store<i32>(column, cuts + 1, columnCuts)
}
