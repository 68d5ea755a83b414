// Values of fixed width in a data page, read piece by piece into packed little-endian memory: one reader per encoding.
// Source: Apache Parquet, Encodings.

import { DeltaReader } from './delta.ts'
import { damaged } from './refusals.ts'
import { RunReader } from './runs.ts'

const tooShort = 'has a page that ends too early'

/** Most values that a reader is asked for at once. */
export const mostValues = 16_384

/** The values of one page, nulls left out, in order. Throws DecodeError where the page does not hold them. */
export interface FixedValues {
  /** Writes the next `count` (at most `mostValues`) values to `out`, from byte `at` on, a multiple of their width. */
  read(out: Uint8Array, at: number, count: number): void
  /** True when the page holds nothing more: what is left over in a page is a sign of damage. */
  readonly isAtEnd: boolean
}

/** Values that follow one another. */
export class PlainFixed implements FixedValues {
  private readonly page: Uint8Array
  private readonly width: number
  private at = 0

  constructor(page: Uint8Array, width: number) {
    this.page = page
    this.width = width
  }

  get isAtEnd(): boolean {
    return this.at === this.page.length
  }

  read(out: Uint8Array, at: number, count: number): void {
    const end = this.at + count * this.width
    if (end > this.page.length) damaged(tooShort)
    out.set(this.page.subarray(this.at, end), at)
    this.at = end
  }
}

/** Booleans, eight a byte, as bytes of 0 and 1. */
export class PlainBooleans implements FixedValues {
  private readonly page: Uint8Array
  private at = 0

  constructor(page: Uint8Array) {
    this.page = page
  }

  get isAtEnd(): boolean {
    return (this.at + 7) >> 3 === this.page.length
  }

  read(out: Uint8Array, at: number, count: number): void {
    const { page } = this
    if (this.at + count > 8 * page.length) damaged(tooShort)
    for (let i = 0, bit = this.at; i < count; i++, bit++) out[at + i] = ((page[bit >> 3] ?? 0) >> (bit & 7)) & 1
    this.at += count
  }
}

/** Booleans as runs, behind their length in bytes. */
export function runBooleans(page: Uint8Array): FixedValues {
  return new RunReader(withLength(page), 1)
}

/** The bytes behind a 4-byte length. */
export function withLength(page: Uint8Array): Uint8Array {
  if (page.length < 4) return damaged(tooShort)
  const length = new DataView(page.buffer, page.byteOffset, page.byteLength).getUint32(0, true)
  if (4 + length > page.length) return damaged('has levels that lie outside of their page')
  return page.subarray(4, 4 + length)
}

/** The values of a dictionary page, where 32-bit words can be read. */
export interface FixedDictionary {
  readonly count: number
  readonly bytes: Uint8Array
}

/** A dictionary page of `count` PLAIN values. */
export function fixedDictionary(page: Uint8Array, count: number, width: number): FixedDictionary {
  if (!(count >= 0 && count * width <= page.length)) return damaged(tooShort)
  const isAligned = page.byteOffset % 4 === 0 && page.byteLength % 4 === 0
  if (isAligned) return { count, bytes: page }
  const bytes = new Uint8Array((count * width + 3) & ~3)
  bytes.set(page.subarray(0, count * width))
  return { count, bytes }
}

/** The runs of indices in a page of a chunk with a dictionary. */
export function indexRuns(page: Uint8Array): RunReader {
  const [width] = page
  return width === undefined ? damaged(tooShort) : new RunReader(page.subarray(1), width)
}

const indices = new Int32Array(mostValues)

/** Indices into a dictionary. */
export class DictionaryFixed implements FixedValues {
  private readonly runs: RunReader
  private readonly dictionary: FixedDictionary
  private readonly width: number

  constructor(page: Uint8Array, dictionary: FixedDictionary, width: number) {
    this.runs = indexRuns(page)
    this.dictionary = dictionary
    this.width = width
  }

  get isAtEnd(): boolean {
    return this.runs.isAtEnd
  }

  read(out: Uint8Array, at: number, count: number): void {
    const { width, dictionary } = this
    this.runs.read(indices, 0, count)
    checkIndices(indices, count, dictionary.count)
    const { buffer, byteOffset, byteLength } = dictionary.bytes
    if (width === 4 || width === 8) {
      const from = new Int32Array(buffer, byteOffset, byteLength >> 2)
      const to = new Int32Array(out.buffer, out.byteOffset + at, (count * width) >> 2)
      if (width === 4) for (let i = 0; i < count; i++) to[i] = from[indices[i] ?? 0] ?? 0
      else {
        for (let i = 0; i < count; i++) {
          const index = 2 * (indices[i] ?? 0)
          to[2 * i] = from[index] ?? 0
          to[2 * i + 1] = from[index + 1] ?? 0
        }
      }
      return
    }
    for (let i = 0; i < count; i++) {
      const start = (indices[i] ?? 0) * width
      for (let b = 0; b < width; b++) out[at + i * width + b] = dictionary.bytes[start + b] ?? 0
    }
  }
}

/** Throws DecodeError for an index that a dictionary of `size` values does not have. */
export function checkIndices(found: Int32Array, count: number, size: number): void {
  let most = 0
  for (let i = 0; i < count; i++) {
    const index = (found[i] ?? 0) >>> 0
    if (index > most) most = index
  }
  if (count > 0 && most >= size) damaged('has an index beyond its dictionary')
}

/** Integers of 4 or 8 bytes as differences. */
export function deltaFixed(page: Uint8Array, width: number): FixedValues {
  const deltas = new DeltaReader(page)
  return {
    get isAtEnd() {
      return deltas.left === 0
    },
    read(out, at, count) {
      const words = new Int32Array(out.buffer, out.byteOffset + at, (count * width) >> 2)
      if (width === 4) deltas.read32(words, 0, count)
      else deltas.read64(words, 0, count)
    },
  }
}

/** The first bytes of all values, then the second ones, and so on. */
export class SplitFixed implements FixedValues {
  private readonly page: Uint8Array
  private readonly width: number
  private readonly values: number
  private at = 0

  constructor(page: Uint8Array, width: number) {
    if (page.length % width !== 0) damaged('has a page of split bytes that is no multiple of its width')
    this.page = page
    this.width = width
    this.values = page.length / width
  }

  get isAtEnd(): boolean {
    return this.at === this.values
  }

  read(out: Uint8Array, at: number, count: number): void {
    const { page, width, values } = this
    if (this.at + count > values) damaged(tooShort)
    for (let b = 0; b < width; b++) {
      const from = b * values + this.at
      for (let i = 0, to = at + b; i < count; i++, to += width) out[to] = page[from + i] ?? 0
    }
    this.at += count
  }
}
