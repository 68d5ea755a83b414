// The bytes of a text vector. Short texts lie in it, long ones elsewhere in the engine's memory: each would be a call of
// the binding. Texts of one page of a file or of one heap lie side by side, so they are fetched by the range instead.

import accessors from '@duckdb/node-api/lib/vectors/dataAccessors.js'
import { copyRange } from '../arrow/buffers.ts'

/** A vector of texts: 16 bytes each, a length and then the text itself or a pointer to it. */
export interface TextVector {
  readonly view: DataView
  readonly rows: number
  readonly isPresent: (row: number) => boolean
}

const entryBytes = 16
/** Texts of up to so many bytes lie in the vector. */
const shortBytes = 12
/**
 * Two texts that begin less than this apart are fetched as one range. What lies between them is then in the pages of
 * memory that hold the one or the other, so that reading it is safe; no page of a machine that Node runs on is smaller.
 */
const gapBytes = 4096

/** A range of the engine's memory. */
interface Range {
  readonly start: number
  end: number
  bytes: Uint8Array | undefined
}

/** All texts one after the other, and where each begins. A row without a value has no bytes. */
export function textBytes(vector: TextVector): { readonly values: Uint8Array; readonly offsets: Int32Array } {
  const { view, rows, isPresent } = vector
  const offsets = new Int32Array(rows + 1)
  const addresses = new Float64Array(rows)
  let long = 0
  let total = 0
  for (let row = 0; row < rows; row++) {
    if (isPresent(row)) {
      const length = view.getUint32(row * entryBytes, true)
      total += length
      if (length > shortBytes) addresses[long++] = addressOf(view, row)
    }
    offsets[row + 1] = total
  }
  const values = new Uint8Array(total)
  const own = new Uint8Array(view.buffer, view.byteOffset, rows * entryBytes)
  const ranges = rangesOf(addresses.subarray(0, long))
  if (long > 0) measure(vector, offsets, ranges)
  let range: Range | undefined
  for (let row = 0; row < rows; row++) {
    const at = offsets[row] ?? 0
    const length = (offsets[row + 1] ?? 0) - at
    if (length === 0) continue
    if (length <= shortBytes) {
      const from = row * entryBytes + 4
      copyRange(values, at, own, from, from + length)
      continue
    }
    const address = addressOf(view, row)
    if (range === undefined || address < range.start || address >= range.end) range = rangeOf(ranges, address)
    range.bytes ??= fetch(range)
    const from = address - range.start
    copyRange(values, at, range.bytes, from, from + length)
  }
  return { values, offsets }
}

/** Pointers of user space are far below 2^53. */
function addressOf(view: DataView, row: number): number {
  const at = row * entryBytes + 8
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32
}

/** Ranges that begin at the given addresses, those of neighbours joined, in order; their ends are not known yet. */
function rangesOf(addresses: Float64Array): Range[] {
  const ranges: Range[] = []
  if (!isAscending(addresses)) addresses.sort()
  let last = Number.NEGATIVE_INFINITY
  for (const address of addresses) {
    if (address - last >= gapBytes) ranges.push({ start: address, end: address, bytes: undefined })
    last = address
  }
  return ranges
}

/** Texts of a page come in order, those of a dictionary do not. */
function isAscending(addresses: Float64Array): boolean {
  for (let i = 1; i < addresses.length; i++) if ((addresses[i] ?? 0) < (addresses[i - 1] ?? 0)) return false
  return true
}

/** Sets the ends of the ranges: where the texts in them end. */
function measure({ view, rows }: TextVector, offsets: Int32Array, ranges: readonly Range[]): void {
  let range: Range | undefined
  let next = 0
  for (let row = 0; row < rows; row++) {
    const length = (offsets[row + 1] ?? 0) - (offsets[row] ?? 0)
    if (length <= shortBytes) continue
    const address = addressOf(view, row)
    if (range === undefined || address < range.start || address >= next) {
      const at = placeOf(ranges, address)
      range = ranges[at] ?? { start: address, end: address, bytes: undefined }
      next = ranges[at + 1]?.start ?? Number.POSITIVE_INFINITY
    }
    range.end = Math.max(range.end, address + length)
  }
}

function rangeOf(ranges: readonly Range[], address: number): Range {
  return ranges[placeOf(ranges, address)] ?? { start: address, end: address, bytes: undefined }
}

/** Number of the last range that does not begin beyond `address`. */
function placeOf(ranges: readonly Range[], address: number): number {
  let low = 0
  let high = ranges.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((ranges[middle]?.start ?? 0) <= address) low = middle
    else high = middle - 1
  }
  return low
}

const entry = new DataView(new ArrayBuffer(entryBytes))

/** The engine's memory, through an entry as a vector would hold it. */
function fetch({ start, end }: Range): Uint8Array {
  entry.setUint32(0, end - start, true)
  entry.setUint32(8, start % 2 ** 32, true)
  entry.setUint32(12, Math.floor(start / 2 ** 32), true)
  return accessors.getStringBytes(entry, 0)
}
