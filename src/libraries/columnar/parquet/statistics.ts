// Bounds of a leaf in a row group, by which readers skip what they need not read.
// Source: Apache Parquet, parquet.thrift (Statistics, ColumnOrder TypeDefined).

import { bitAt } from '../arrow/buffers.ts'
import { typedView } from '../arrow/numbers.ts'
import { copyBytes } from '../../base/bytes.ts'
import type { Bounds } from './footer.ts'
import type { LeafValues } from './leaf.ts'

const longestBoundBytes = 64

/** Bounds of the values present; undefined when there are none, with a NaN, or when one is longer than 64 bytes. */
export function leafBounds(leaf: LeafValues): Bounds | undefined {
  if (leaf.nullCount === leaf.rows) return undefined
  switch (leaf.order) {
    case 'signed':
      return leaf.width === 4 ? numberBounds(leaf, typedView(Int32Array, leaf.values)) : longBounds(leaf, 0)
    case 'unsigned':
      return leaf.width === 4 ? numberBounds(leaf, typedView(Uint32Array, leaf.values)) : longBounds(leaf, 0x80000000)
    case 'float':
      if (leaf.width === 4) return floatBounds(leaf, typedView(Float32Array, leaf.values))
      return floatBounds(leaf, typedView(Float64Array, leaf.values))
    case 'bits':
      return bitBounds(leaf)
    case 'bytes':
      return rangeBounds(leaf, false)
    case 'bigEndian':
      return rangeBounds(leaf, true)
  }
}

function firstPresent({ validity }: LeafValues): number {
  if (validity === undefined) return 0
  let row = 0
  while (!bitAt(validity, row)) row++
  return row
}

function numberBounds(leaf: LeafValues, numbers: Int32Array | Uint32Array): Bounds {
  const { validity, rows } = leaf
  let min = firstPresent(leaf)
  let max = min
  let least = numbers[min] ?? 0
  let greatest = least
  for (let row = min + 1; row < rows; row++) {
    const value = numbers[row] ?? 0
    if (value >= least && value <= greatest) continue
    if (validity !== undefined && !bitAt(validity, row)) continue
    if (value < least) {
      least = value
      min = row
    } else {
      greatest = value
      max = row
    }
  }
  return fixedBounds(leaf, min, max)
}

/** Bounds of 64-bit integers, by high and low words. `flip` turns the order of the high words to unsigned. */
function longBounds(leaf: LeafValues, flip: number): Bounds {
  const { validity, rows } = leaf
  const words = typedView(Int32Array, leaf.values)
  let min = firstPresent(leaf)
  let max = min
  let leastHigh = (words[2 * min + 1] ?? 0) ^ flip
  let leastLow = (words[2 * min] ?? 0) >>> 0
  let greatestHigh = leastHigh
  let greatestLow = leastLow
  for (let row = min + 1; row < rows; row++) {
    const high = (words[2 * row + 1] ?? 0) ^ flip
    const low = (words[2 * row] ?? 0) >>> 0
    const less = high < leastHigh || (high === leastHigh && low < leastLow)
    const more = high > greatestHigh || (high === greatestHigh && low > greatestLow)
    if ((!less && !more) || (validity !== undefined && !bitAt(validity, row))) continue
    if (less) {
      leastHigh = high
      leastLow = low
      min = row
    } else {
      greatestHigh = high
      greatestLow = low
      max = row
    }
  }
  return fixedBounds(leaf, min, max)
}

function fixedBounds({ values, width }: LeafValues, min: number, max: number): Bounds {
  return {
    min: copyBytes(values, min * width, (min + 1) * width),
    max: copyBytes(values, max * width, (max + 1) * width),
  }
}

function floatBounds(leaf: LeafValues, numbers: Float32Array | Float64Array): Bounds | undefined {
  const { validity, rows, width } = leaf
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  for (let row = 0; row < rows; row++) {
    const value = numbers[row] ?? 0
    if (value >= least && value <= greatest) continue
    if (validity !== undefined && !bitAt(validity, row)) continue
    if (Number.isNaN(value)) return undefined
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  // Zeros of either sign compare equal, so the bounds name the outer one.
  return { min: floatBytes(least === 0 ? -0 : least, width), max: floatBytes(greatest === 0 ? 0 : greatest, width) }
}

function floatBytes(value: number, width: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(width))
  if (width === 4) view.setFloat32(0, value, true)
  else view.setFloat64(0, value, true)
  return new Uint8Array(view.buffer)
}

function bitBounds({ validity, values, rows }: LeafValues): Bounds {
  let min = 1
  let max = 0
  for (let row = 0; row < rows && (min === 1 || max === 0); row++) {
    if (validity !== undefined && !bitAt(validity, row)) continue
    if (bitAt(values, row)) max = 1
    else min = 0
  }
  return { min: Uint8Array.of(min), max: Uint8Array.of(max) }
}

/** Bounds of byte strings, or of big-endian integers, whose first byte has a sign. */
function rangeBounds(leaf: LeafValues, signed: boolean): Bounds | undefined {
  const { validity, values, offsets, rows, width } = leaf
  const start = (row: number): number => (offsets === undefined ? row * width : (offsets[row] ?? 0))
  const compare = signed ? compareSigned : compareBytes
  const first = firstPresent(leaf)
  let minStart = start(first)
  let minEnd = start(first + 1)
  let maxStart = minStart
  let maxEnd = minEnd
  // What both begin with, all between them begin with.
  let shared = 0
  for (let row = first + 1; row < rows; row++) {
    if (validity !== undefined && !bitAt(validity, row)) continue
    const from = start(row)
    const to = start(row + 1)
    let same = 0
    while (same < shared && from + same < to && values[from + same] === values[minStart + same]) same++
    if (compare(values, from + same, to, minStart + same, minEnd) < 0) {
      minStart = from
      minEnd = to
    } else if (compare(values, from + same, to, maxStart + same, maxEnd) > 0) {
      maxStart = from
      maxEnd = to
    } else continue
    if (!signed) shared = sharedBytes(values, [minStart, minEnd], [maxStart, maxEnd])
  }
  if (minEnd - minStart > longestBoundBytes || maxEnd - maxStart > longestBoundBytes) return undefined
  return { min: copyBytes(values, minStart, minEnd), max: copyBytes(values, maxStart, maxEnd) }
}

/** How many bytes two ranges of `values` begin with alike. */
function sharedBytes(
  values: Uint8Array,
  [start, end]: readonly [number, number],
  [otherStart, otherEnd]: readonly [number, number],
): number {
  const most = Math.min(end - start, otherEnd - otherStart)
  let count = 0
  while (count < most && values[start + count] === values[otherStart + count]) count++
  return count
}

/** Order of two ranges of `values`: below, equal to, or above 0. */
function compareBytes(values: Uint8Array, from: number, to: number, otherFrom: number, otherTo: number): number {
  const length = to - from
  const otherLength = otherTo - otherFrom
  const shared = length < otherLength ? length : otherLength
  for (let i = 0; i < shared; i++) {
    const difference = (values[from + i] ?? 0) - (values[otherFrom + i] ?? 0)
    if (difference !== 0) return difference
  }
  return length - otherLength
}

function compareSigned(values: Uint8Array, from: number, to: number, otherFrom: number, otherTo: number): number {
  const difference = ((values[from] ?? 0) ^ 0x80) - ((values[otherFrom] ?? 0) ^ 0x80)
  return difference !== 0 ? difference : compareBytes(values, from + 1, to, otherFrom + 1, otherTo)
}
