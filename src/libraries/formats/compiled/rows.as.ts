// AssemblyScript: bits, nulls and ends of texts in the columns that the compiled reader fills.

import {
  codeOfBool,
  codeOfString,
  columnBase,
  columnCode,
  columnNulls,
  columnOffsets,
  columnRows,
  columnText,
  columnValidity,
  columnValues,
  columnWidth,
  runRows,
} from './layout'

export function setBit(bits: usize, bit: i32): void {
  const at = bits + (bit >> 3)
  store<u8>(at, load<u8>(at) | <u8>((<u32>1) << (bit & 7)))
}

export function clearBit(bits: usize, bit: i32): void {
  const at = bits + (bit >> 3)
  store<u8>(at, <u8>(<u32>load<u8>(at) & ~((<u32>1) << (bit & 7))))
}

/** Ends the text of a row at the address `end`. */
export function endText(column: usize, row: i32, end: usize): void {
  store<usize>(column, end, columnText)
  store<usize>(load<usize>(column, columnOffsets) + ((<usize>(row + 1)) << 2), end + load<usize>(column, columnBase))
}

/** Nulls up to so many rows. */
export function putNulls(column: usize, to: i32): void {
  const from = load<i32>(column, columnRows)
  if (from >= to) return
  const validity = load<usize>(column, columnValidity)
  const nulls = load<i32>(column, columnNulls)
  if (nulls == 0) memory.fill(validity, 0xff, runRows >> 3)
  for (let row = from; row < to; row++) {
    clearBit(validity, row)
    putNothing(column, row)
  }
  store<i32>(column, nulls + to - from, columnNulls)
  store<i32>(column, to, columnRows)
}

/** What stands where a null is. */
function putNothing(column: usize, row: i32): void {
  const code = load<i32>(column, columnCode)
  if (code == codeOfString) endText(column, row, load<usize>(column, columnText))
  else if (code == codeOfBool) clearBit(load<usize>(column, columnValues), row)
  else {
    const width = load<i32>(column, columnWidth)
    memory.fill(load<usize>(column, columnValues) + <usize>(row * width), 0, width)
  }
}
