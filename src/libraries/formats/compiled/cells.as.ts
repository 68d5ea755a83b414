// AssemblyScript: reads lines of CSV or TSV into columns, by the places of their cells. Numbers that are spelt as none are
// printed, white space around values and line ends in quotes are not taken.

import {
  codeOfBool,
  codeOfDate,
  codeOfFloat,
  codeOfInteger,
  codeOfString,
  codeOfTimestamp,
  columnCode,
  columnPattern,
  columnRequired,
  columnRows,
  columnText,
  columnValues,
} from './layout'
import { clearBit, endText, putNulls, setBit } from './rows.as'
import { putDate, putInstant, putPatterned } from './times.as'
import { putNumber } from './values.as'

let cells: usize = 0
let cellsEnd: usize = 0
let separator: u32 = 0

/** The addresses of the columns of so many cells; 0: one that must be empty. */
export function prepareCells(first: usize, count: usize, byte: u32): void {
  cells = first
  cellsEnd = first + (count << 2)
  separator = byte
}

/**
 * Reads the record at `at`: the index after its line end, or 0. One without a value that is no text may be a blank line, or
 * the header once more.
 */
export function cellRecord(at: usize, row: i32): usize {
  let isValued = false
  let cell = cells
  while (true) {
    const column = load<usize>(cell)
    let end = <u32>load<u8>(at)
    if (end == separator || end == 0x0a || end == 0x0d) {
      if (column != 0 && !putEmpty(column, row)) return 0
    } else {
      if (column == 0) return 0
      store<i32>(column, row + 1, columnRows)
      const code = load<i32>(column, columnCode)
      if (code == codeOfString) at = end == 0x22 ? putQuoted(column, at + 1, row) : putPlain(column, at, row)
      else {
        isValued = true
        at = end == 0x22 ? closed(putValue(column, code, at + 1, row)) : putValue(column, code, at, row)
      }
      if (at == 0) return 0
      end = <u32>load<u8>(at)
    }
    at += 1
    cell += 4
    if (cell == cellsEnd) {
      if (end == 0x0d) end = <u32>load<u8>(at++)
      return end == 0x0a && isValued ? at : 0
    }
    if (end != separator) return 0
  }
}

function putEmpty(column: usize, row: i32): bool {
  if (load<i32>(column, columnRequired) != 0) return false
  store<i32>(column, row, columnRows)
  putNulls(column, row + 1)
  return true
}

/** The index after the quote at `at`, or 0. */
export function closed(at: usize): usize {
  return at != 0 && load<u8>(at) == 0x22 ? at + 1 : 0
}

/** Reads what is no text: the index after it, or 0. */
function putValue(column: usize, code: i32, at: usize, row: i32): usize {
  const pattern = load<usize>(column, columnPattern)
  if (pattern != 0) return putPatterned(column, pattern, code, at, row)
  if (code == codeOfInteger || code == codeOfFloat) return putNumber(column, at, row, false)
  if (code == codeOfTimestamp) {
    const after = putInstant(column, at, row)
    return after == 0 ? putNumber(column, at, row, false) : after
  }
  if (code == codeOfDate) return putDate(column, at, row)
  return code == codeOfBool ? putWord(column, at, row) : 0
}

/** Reads `true` or `false`, in any case. */
function putWord(column: usize, at: usize, row: i32): usize {
  const four = load<u32>(at) | 0x20202020
  const values = load<usize>(column, columnValues)
  if (four == 0x65757274) {
    setBit(values, row)
    return at + 4
  }
  if (four != 0x736c6166 || (load<u8>(at, 4) | 0x20) != 0x65) return 0
  clearBit(values, row)
  return at + 5
}

/** Copies a cell without quotes: the index after it, or 0. */
function putPlain(column: usize, at: usize, row: i32): usize {
  let to = load<usize>(column, columnText)
  const between = i8x16.splat(<i8>separator)
  while (true) {
    const word = v128.load(at)
    v128.store(to, word)
    const ends = v128.or(i8x16.eq(word, between), i8x16.eq(word, i8x16.splat(0x22)))
    const stops = i8x16.bitmask(v128.or(ends, i8x16.lt_u(word, i8x16.splat(0x0e))))
    if (stops == 0) {
      at += 16
      to += 16
      continue
    }
    const length = <usize>ctz(stops)
    at += length
    to += length
    const byte = <u32>load<u8>(at)
    if (byte == separator || byte == 0x0a || byte == 0x0d) break
    if (byte == 0x22 || byte == 0) return 0
    at += 1
    to += 1
  }
  endText(column, row, to)
  return at
}

/** Copies a cell up to its closing quote: the index after that, or 0. */
function putQuoted(column: usize, at: usize, row: i32): usize {
  let to = load<usize>(column, columnText)
  while (true) {
    const word = v128.load(at)
    v128.store(to, word)
    const ends = v128.or(i8x16.eq(word, i8x16.splat(0x22)), i8x16.eq(word, i8x16.splat(0x0a)))
    const stops = i8x16.bitmask(ends)
    if (stops == 0) {
      at += 16
      to += 16
      continue
    }
    const length = <usize>ctz(stops)
    at += length
    to += length
    if (load<u8>(at) != 0x22) return 0
    if (load<u8>(at, 1) != 0x22) break
    at += 2
    to += 1
  }
  endText(column, row, to)
  return at + 1
}
