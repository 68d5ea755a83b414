// AssemblyScript: reads lines of flat JSON objects, of cells, or of points, into columns, and stops before a record that it does not
// surely understand, which TypeScript then reads. The input, which is UTF-8, is followed by line feeds: each loop stops at one,
// so none asks where the input ends.

import {
  codeOfBool,
  codeOfDate,
  codeOfFloat,
  codeOfInteger,
  codeOfString,
  codeOfTimestamp,
  columnBytes,
  columnCode,
  columnCuts,
  columnNulls,
  columnRequired,
  columnRows,
  columnValues,
  keyColumn,
  keyLength,
  recordsOfCells,
  recordsOfObjects,
} from './layout'
import { cellRecord, closed, prepareCells } from './cells.as'
import { setPowers } from './doubles.as'
import { beginKeys, keyAt, prepareKeys, unknownKey } from './keys.as'
import { pointRecord, preparePoints } from './points.as'
import { clearBit, putNulls, setBit } from './rows.as'
import { beginTimes, columnLastCut, prepareSpans, putDate, putInstant, unknownTime } from './times.as'
import { putNumber, putString, setDecimal } from './values.as'

export { prepareCells, prepareKeys, preparePoints, prepareSpans, setPowers, unknownKey, unknownTime }

let columns: usize = 0
let columnsEnd: usize = 0
let records: i32 = recordsOfObjects
let stopped: usize = 0

/** The columns, so many, and one of `recordsOf…`; the decimal sign of numbers. */
export function prepare(firstColumn: usize, count: usize, kind: i32, decimal: u32): void {
  setDecimal(decimal)
  columns = firstColumn
  columnsEnd = firstColumn + count * columnBytes
  records = kind
}

/** Where the last run stopped: at the record that it did not take, or at the end. */
export function stoppedAt(): usize {
  return stopped
}

/**
 * Reads the records of [at, end): how many. No more than `mostRows`, and none once they have `mostBytes` without their line
 * ends.
 */
export function run(at: usize, end: usize, mostRows: i32, mostBytes: i32): i32 {
  beginKeys()
  beginTimes()
  let row = 0
  let bytes = 0
  for (let column = columns; column < columnsEnd; column += columnBytes) {
    store<i32>(column, 0, columnRows)
    store<i32>(column, 0, columnNulls)
    store<i32>(column, 0, columnCuts)
  }
  while (row < mostRows && bytes < mostBytes && at < end) {
    const after = recordAt(at, row)
    // A line feed behind the end does not belong to the input.
    if (after == 0 || after > end) {
      undo(row)
      break
    }
    bytes += <i32>(after - 1 - at)
    at = after
    row += 1
  }
  stopped = at
  for (let column = columns; column < columnsEnd; column += columnBytes) {
    if (load<i32>(column, columnRows) > 0) putNulls(column, row)
  }
  return row
}

/** Reads the record at `at`: the index after its line end, or 0. */
function recordAt(at: usize, row: i32): usize {
  if (records == recordsOfCells) return cellRecord(at, row)
  if (records == recordsOfObjects) return load<u8>(at) == 0x7b ? record(at, row) : 0
  const after = pointRecord(at, row)
  return after != 0 && isComplete(row) ? after : 0
}

/** Drops what columns have of a row: with it the run ends, so what was written of it is not looked at. */
function undo(row: i32): void {
  for (let column = columns; column < columnsEnd; column += columnBytes) {
    if (load<i32>(column, columnRows) <= row) continue
    store<i32>(column, row, columnRows)
    const cuts = load<i32>(column, columnCuts)
    if (cuts > 0 && load<i32>(column, columnLastCut) == row) store<i32>(column, cuts - 1, columnCuts)
  }
}

function skipSpace(at: usize): usize {
  let byte = <u32>load<u8>(at)
  while (byte == 0x20 || byte == 0x0d || byte == 0x09) byte = <u32>load<u8>(++at)
  return at
}

/** The same for an object. */
function record(at: usize, row: i32): usize {
  let last: usize = 0
  let found: usize = 0
  at = skipSpace(at + 1)
  while (true) {
    const key = keyAt(at, last)
    if (key == 0) return 0
    last = key
    const column = load<usize>(key, keyColumn)
    at = skipSpace(at + load<usize>(key, keyLength))
    if (load<u8>(at) != 0x3a) return 0
    at = skipSpace(at + 1)
    const rows = load<i32>(column, columnRows)
    // A name that stands twice.
    if (rows > row) return 0
    if (rows < row) putNulls(column, row)
    store<i32>(column, row + 1, columnRows)
    at = value(column, at, row)
    if (at == 0) return 0
    found += 1
    at = skipSpace(at)
    const byte = <u32>load<u8>(at)
    at += 1
    if (byte == 0x2c) at = skipSpace(at)
    else if (byte == 0x7d) break
    else return 0
  }
  if (found * columnBytes < columnsEnd - columns && !isComplete(row)) return 0
  at = skipSpace(at)
  return load<u8>(at) == 0x0a ? at + 1 : 0
}

/** Whether each column that must have a value in a row has it. */
function isComplete(row: i32): bool {
  for (let column = columns; column < columnsEnd; column += columnBytes) {
    if (load<i32>(column, columnRequired) != 0 && load<i32>(column, columnRows) <= row) return false
  }
  return true
}

/** Reads a value into the column: the index after it, or 0. */
function value(column: usize, at: usize, row: i32): usize {
  const byte = <u32>load<u8>(at)
  const code = load<i32>(column, columnCode)
  if (byte == 0x22) {
    if (code == codeOfString) return putString(column, at + 1, row, true)
    if (code == codeOfTimestamp) return closed(putInstant(column, at + 1, row))
    return code == codeOfDate ? closed(putDate(column, at + 1, row)) : 0
  }
  if (byte - 0x30 <= 9 || byte == 0x2d) {
    const isNumeric = code == codeOfInteger || code == codeOfFloat || code == codeOfString || code == codeOfTimestamp
    return isNumeric ? putNumber(column, at, row, true) : 0
  }
  const four = load<u32>(at)
  if (four == 0x6c6c756e) {
    if (load<i32>(column, columnRequired) != 0) return 0
    store<i32>(column, row, columnRows)
    putNulls(column, row + 1)
    return at + 4
  }
  if (code != codeOfBool) return 0
  if (four == 0x65757274) {
    setBit(load<usize>(column, columnValues), row)
    return at + 4
  }
  if (four != 0x736c6166 || load<u8>(at, 4) != 0x65) return 0
  clearBit(load<usize>(column, columnValues), row)
  return at + 5
}
