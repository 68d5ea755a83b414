// Encodings of a page's content: PLAIN values, dictionaries, and runs of levels and indices.
// Source: Apache Parquet, Encodings (PLAIN, RLE_DICTIONARY, RLE / bit-packing hybrid).

import { bitAt, copyInOrder, setBit, viewed } from '../arrow/buffers.ts'
import { typedView } from '../arrow/numbers.ts'
import { copyRange } from '../../base/bytes.ts'
import type { LeafValues } from './leaf.ts'
import { varintBytes } from './thrift.ts'

/** The values present, PLAIN. Shares memory with the leaf where nothing has to be left out. */
export function plainValues(leaf: LeafValues): Uint8Array {
  if (leaf.order === 'bits') return plainBits(leaf)
  if (leaf.offsets !== undefined) return plainBytes(leaf, leaf.offsets, nothing)
  const { validity, values, rows, width } = leaf
  if (validity === undefined) return values.subarray(0, rows * width)
  const out = new Uint8Array((rows - leaf.nullCount) * width)
  let at = 0
  let row = 0
  while (row < rows) {
    while (row < rows && !bitAt(validity, row)) row++
    const start = row
    while (row < rows && bitAt(validity, row)) row++
    copyRange(out, at, values, start * width, row * width)
    at += (row - start) * width
  }
  return out
}

const nothing = new Uint8Array(0)

function plainBits({ validity, values, rows, nullCount }: LeafValues): Uint8Array {
  const out = new Uint8Array((rows - nullCount + 7) >> 3)
  let at = 0
  for (let row = 0; row < rows; row++) {
    if (validity !== undefined && !bitAt(validity, row)) continue
    if (bitAt(values, row)) setBit(out, at)
    at++
  }
  return out
}

/** `before` and the values after it: a page of long texts is large, and is not copied once more for what precedes them. */
export function pageOfValues(leaf: LeafValues, before: Uint8Array): readonly Uint8Array[] {
  if (leaf.offsets !== undefined) return [plainBytes(leaf, leaf.offsets, before)]
  return before.length === 0 ? [plainValues(leaf)] : [before, plainValues(leaf)]
}

function plainBytes(
  { validity, values, rows, nullCount }: LeafValues,
  offsets: Int32Array,
  before: Uint8Array,
): Uint8Array {
  // Null rows may have bytes, which are left out; so this is enough.
  const out = viewed(new Uint8Array(before.length + (offsets[rows] ?? 0) + 4 * (rows - nullCount)))
  const source = viewed(values)
  out.bytes.set(before)
  let at = before.length
  for (let row = 0; row < rows; row++) {
    if (validity !== undefined && !bitAt(validity, row)) continue
    const start = offsets[row] ?? 0
    const end = offsets[row + 1] ?? 0
    out.view.setUint32(at, end - start, true)
    copyInOrder(out, at + 4, source, start, end)
    at += 4 + end - start
  }
  return out.bytes.subarray(0, at)
}

/** Distinct values, as a leaf without nulls, and the place of each value present among them. */
export interface Dictionary {
  readonly entries: LeafValues
  readonly indices: Uint16Array
}

const largestDictionary = 4096
// What a dictionary page costs beside its values.
const dictionaryPageBytes = 32

/** A dictionary where it pays: one value throughout, or byte strings with at most 4,096 distinct ones. */
export function dictionaryOf(leaf: LeafValues): Dictionary | undefined {
  const present = leaf.rows - leaf.nullCount
  if (present < 2 || leaf.order === 'bits') return undefined
  const dictionary = leaf.offsets === undefined ? constantDictionary(leaf) : bytesDictionary(leaf, leaf.offsets)
  if (dictionary === undefined) return undefined
  const { entries, indices } = dictionary
  const entryBytes = entries.values.length + (entries.offsets === undefined ? 0 : 4 * entries.rows)
  const encoded = entryBytes + (indices.length * bitWidth(entries.rows - 1)) / 8 + dictionaryPageBytes
  const plain = leaf.offsets === undefined ? present * leaf.width : 4 * present + (leaf.offsets[leaf.rows] ?? 0)
  return encoded < plain ? dictionary : undefined
}

function constantDictionary(leaf: LeafValues): Dictionary | undefined {
  const { validity, values, rows, nullCount, width } = leaf
  let first = 0
  while (validity !== undefined && !bitAt(validity, first)) first++
  const units = width < 4 ? values : typedView(Int32Array, values)
  const count = width < 4 ? width : width / 4
  for (let row = first + 1; row < rows; row++) {
    if (validity !== undefined && !bitAt(validity, row)) continue
    for (let i = 0; i < count; i++) if (units[row * count + i] !== units[first * count + i]) return undefined
  }
  const value = values.subarray(first * width, (first + 1) * width)
  const entries = { ...leaf, rows: 1, nullCount: 0, validity: undefined, values: value, levels: undefined }
  return { entries, indices: new Uint16Array(rows - nullCount) }
}

function bytesDictionary(leaf: LeafValues, offsets: Int32Array): Dictionary | undefined {
  const { validity, values, rows } = leaf
  const present = rows - leaf.nullCount
  const distinct = new DistinctBytes(values, Math.min(present, largestDictionary))
  const indices = new Uint16Array(present)
  let at = 0
  for (let row = 0; row < rows; row++) {
    if (validity !== undefined && !bitAt(validity, row)) continue
    const index = distinct.indexOf(offsets[row] ?? 0, offsets[row + 1] ?? 0)
    if (index < 0) return undefined
    indices[at++] = index
    // A column that hardly repeats is given up early.
    if (at === largestDictionary && distinct.count > largestDictionary / 2) return undefined
  }
  const { count: entryRows } = distinct
  const entries = {
    ...leaf,
    ...distinct.bytes(),
    rows: entryRows,
    nullCount: 0,
    validity: undefined,
    levels: undefined,
  }
  return { entries, indices }
}

/** Distinct ranges of one array of bytes, found by hash (FNV-1a), open addressing. */
class DistinctBytes {
  count = 0
  private readonly values: Uint8Array
  private readonly starts: Int32Array
  private readonly ends: Int32Array
  private readonly table: Uint16Array

  constructor(values: Uint8Array, most: number) {
    this.values = values
    this.starts = new Int32Array(most)
    this.ends = new Int32Array(most)
    this.table = new Uint16Array(2 ** Math.ceil(Math.log2(most * 4)))
  }

  /** Place of the bytes [start, end) among the distinct ones; -1 when they would be one too many. */
  indexOf(start: number, end: number): number {
    const { values, table } = this
    let hash = 0x811c9dc5
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ (values[i] ?? 0), 0x01000193)
    const mask = table.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    for (;;) {
      const entry = (table[slot] ?? 0) - 1
      if (entry < 0) return this.insert(slot, start, end)
      if (this.equals(entry, start, end)) return entry
      slot = (slot + 1) & mask
    }
  }

  /** The distinct ranges, one after the other. */
  bytes(): { values: Uint8Array; offsets: Int32Array } {
    const offsets = new Int32Array(this.count + 1)
    for (let i = 0; i < this.count; i++) {
      offsets[i + 1] = (offsets[i] ?? 0) + (this.ends[i] ?? 0) - (this.starts[i] ?? 0)
    }
    const values = new Uint8Array(offsets[this.count] ?? 0)
    for (let i = 0; i < this.count; i++) values.set(this.values.subarray(this.starts[i], this.ends[i]), offsets[i])
    return { values, offsets }
  }

  private insert(slot: number, start: number, end: number): number {
    if (this.count === this.starts.length) return -1
    this.starts[this.count] = start
    this.ends[this.count] = end
    this.table[slot] = this.count + 1
    return this.count++
  }

  private equals(entry: number, start: number, end: number): boolean {
    const own = this.starts[entry] ?? 0
    if ((this.ends[entry] ?? 0) - own !== end - start) return false
    for (let i = 0; i < end - start; i++) if (this.values[own + i] !== this.values[start + i]) return false
    return true
  }
}

/** Bits that `max` needs. */
export function bitWidth(max: number): number {
  return max === 0 ? 0 : 32 - Math.clz32(max)
}

/** The indices of a dictionary page's values: the bit width in a byte, then one run. */
export function dictionaryIndices({ entries, indices }: Dictionary): Uint8Array {
  const width = bitWidth(entries.rows - 1)
  const run = width === 0 ? repeatedRun(indices.length, 0, 0) : packedRun(indices, width)
  const out = new Uint8Array(1 + run.length)
  out[0] = width
  out.set(run, 1)
  return out
}

/** `count` times one value of at most 8 bits. */
export function repeatedRun(count: number, value: number, width: number): Uint8Array {
  const header = varintBytes(count * 2)
  return Uint8Array.from(width === 0 ? header : [...header, value])
}

/** One bit-packed run of numbers of `width` bits, filled up with zeros to a multiple of eight. */
export function packedRun(numbers: Uint8Array | Uint16Array, width: number): Uint8Array {
  const groups = (numbers.length + 7) >> 3
  const header = varintBytes(groups * 2 + 1)
  const out = new Uint8Array(header.length + groups * width)
  out.set(header)
  let at = header.length
  let bits = 0
  let held = 0
  for (const number of numbers) {
    bits |= number << held
    held += width
    while (held >= 8) {
      out[at++] = bits
      bits >>>= 8
      held -= 8
    }
  }
  if (held > 0) out[at] = bits
  return out
}

/** A validity bitmap as one bit-packed run of levels 0 and 1. */
export function bitmapRun(bits: Uint8Array, rows: number): Uint8Array {
  const groups = (rows + 7) >> 3
  const header = varintBytes(groups * 2 + 1)
  const out = new Uint8Array(header.length + groups)
  out.set(header)
  out.set(bits.subarray(0, groups), header.length)
  if ((rows & 7) !== 0) out[out.length - 1] = (out[out.length - 1] ?? 0) & ((1 << (rows & 7)) - 1)
  return out
}
