// Byte arrays in a data page, read piece by piece into a sink, which is a column's bytes and offsets while it grows: one
// reader per encoding. A reader stops early where a piece would grow beyond what its column may take, since a dictionary
// can make a hundred kilobytes of every value. Source: Apache Parquet, Encodings.

import { copyRange, grown, grownWords } from '../../base/bytes.ts'
import { DeltaReader } from './delta.ts'
import { checkIndices, type FixedValues, indexRuns, mostValues } from './fixed-values.ts'
import { damaged } from './refusals.ts'
import type { RunReader } from './runs.ts'

const tooShort = 'has a page that ends too early'

/** Byte arrays, one after the other: value `i` is `values[offsets[i], offsets[i + 1])`. */
export class BytesSink {
  values: Uint8Array
  offsets: Int32Array
  count = 0
  used = 0

  constructor(values = 256, bytes = 1024) {
    this.values = new Uint8Array(bytes)
    this.offsets = new Int32Array(values + 1)
  }

  /** Makes room for `count` more values. */
  reserve(count: number): void {
    const needed = this.count + count + 1
    if (needed <= this.offsets.length) return
    this.offsets = grownWords(this.offsets, Math.max(needed, 2 * this.offsets.length))
  }

  /** Appends bytes [start, end) of `source` as a value; its place is reserved. */
  append(source: Uint8Array, start: number, end: number): void {
    const used = this.used + end - start
    if (used > this.values.length) this.grow(used)
    copyRange(this.values, this.used, source, start, end)
    this.used = used
    this.offsets[++this.count] = used
  }

  /** Makes room for `bytes` in all. */
  grow(bytes: number): void {
    this.values = grown(this.values.subarray(0, this.used), Math.max(bytes, 2 * this.values.length))
  }
}

/** The values of one page, nulls left out, in order. Throws DecodeError where the page does not hold them. */
export interface ByteValues {
  /**
   * Appends the next `count` (at most `mostValues`) values, or fewer once the sink holds `mostBytes`; at least one. Says
   * how many.
   */
  read(sink: BytesSink, count: number, mostBytes: number): number
  /** True when the page holds nothing more: what is left over in a page is a sign of damage. */
  readonly isAtEnd: boolean
}

/** Values behind their lengths. */
export class PlainBytes implements ByteValues {
  private readonly page: Uint8Array
  private readonly view: DataView
  private at = 0

  constructor(page: Uint8Array) {
    this.page = page
    this.view = new DataView(page.buffer, page.byteOffset, page.byteLength)
  }

  get isAtEnd(): boolean {
    return this.at === this.page.length
  }

  read(sink: BytesSink, count: number, mostBytes: number): number {
    const { page, view } = this
    sink.reserve(count)
    let { at } = this
    let done = 0
    while (done < count) {
      if (at + 4 > page.length) damaged(tooShort)
      const end = at + 4 + view.getUint32(at, true)
      if (end > page.length) damaged(tooShort)
      if (done > 0 && sink.used + end - at > mostBytes) break
      sink.append(page, at + 4, end)
      at = end
      done++
    }
    this.at = at
    return done
  }
}

/** A dictionary page: where each of its values stands. */
export interface BytesDictionary {
  readonly count: number
  readonly bytes: Uint8Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

/** A dictionary page of `count` PLAIN byte arrays. */
export function bytesDictionary(page: Uint8Array, count: number): BytesDictionary {
  if (!(count >= 0 && 4 * count <= page.length)) return damaged(tooShort)
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength)
  const starts = new Int32Array(count)
  const ends = new Int32Array(count)
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + 4 > page.length) damaged(tooShort)
    const end = at + 4 + view.getUint32(at, true)
    if (end > page.length) damaged(tooShort)
    starts[i] = at + 4
    ends[i] = end
    at = end
  }
  return { count, bytes: page, starts, ends }
}

/** A dictionary page of `count` values of `width` bytes. */
export function fixedBytesDictionary(page: Uint8Array, count: number, width: number): BytesDictionary {
  if (!(count >= 0 && count * width <= page.length)) return damaged(tooShort)
  const starts = Int32Array.from({ length: count }, (_, i) => i * width)
  return { count, bytes: page, starts, ends: starts.map((start) => start + width) }
}

const pieceIndices = 1024

/** Indices into a dictionary. */
export class DictionaryBytes implements ByteValues {
  private readonly runs: RunReader
  private readonly dictionary: BytesDictionary
  /** Indices that were read and not used: `[head, tail)`. */
  private readonly indices = new Int32Array(pieceIndices)
  private head = 0
  private tail = 0

  constructor(page: Uint8Array, dictionary: BytesDictionary) {
    this.runs = indexRuns(page)
    this.dictionary = dictionary
  }

  get isAtEnd(): boolean {
    return this.head === this.tail && this.runs.isAtEnd
  }

  read(sink: BytesSink, count: number, mostBytes: number): number {
    const { dictionary, indices } = this
    const { bytes, starts, ends } = dictionary
    sink.reserve(count)
    let done = 0
    while (done < count) {
      if (this.head === this.tail) {
        this.tail = Math.min(pieceIndices, count - done)
        this.head = 0
        this.runs.read(indices, 0, this.tail)
        checkIndices(indices, this.tail, dictionary.count)
      }
      const stop = Math.min(this.tail, this.head + count - done)
      for (let i = this.head; i < stop; i++) {
        const index = indices[i] ?? 0
        const start = starts[index] ?? 0
        const end = ends[index] ?? 0
        if (done > 0 && sink.used + end - start > mostBytes) {
          this.head = i
          return done
        }
        sink.append(bytes, start, end)
        done++
      }
      this.head = stop
    }
    return done
  }
}

/** All lengths first, as differences; then all bytes. */
export class DeltaLengthBytes implements ByteValues {
  private readonly page: Uint8Array
  private readonly lengths: Numbers
  private at: number

  constructor(page: Uint8Array, start = 0) {
    this.page = page
    const deltas = new DeltaReader(page, start)
    this.at = deltas.end()
    this.lengths = new Numbers(deltas)
  }

  get isAtEnd(): boolean {
    return this.at === this.page.length && this.lengths.isAtEnd
  }

  read(sink: BytesSink, count: number, mostBytes: number): number {
    sink.reserve(count)
    let done = 0
    while (done < count) {
      const length = this.lengths.peek(count - done)
      if (done > 0 && sink.used + length > mostBytes) break
      const start = this.next(length)
      sink.append(this.page, start, start + length)
      done++
    }
    return done
  }

  /** The length of the next value, which stays the next one. */
  peekLength(): number {
    return this.lengths.peek(mostValues)
  }

  /** Where the next value begins, whose length is `length`; it is then read. */
  next(length: number): number {
    const start = this.at
    if (!(length >= 0 && start + length <= this.page.length)) damaged(tooShort)
    this.at = start + length
    this.lengths.pass()
    return start
  }
}

/** Each value shares its first bytes with the one before it. */
export class DeltaBytes implements ByteValues {
  private readonly page: Uint8Array
  private readonly prefixes: Numbers
  private readonly suffixes: DeltaLengthBytes
  private last = new Uint8Array(64)
  private lastLength = 0

  constructor(page: Uint8Array) {
    this.page = page
    const deltas = new DeltaReader(page)
    this.suffixes = new DeltaLengthBytes(page, deltas.end())
    this.prefixes = new Numbers(deltas)
  }

  get isAtEnd(): boolean {
    return this.suffixes.isAtEnd && this.prefixes.isAtEnd
  }

  read(sink: BytesSink, count: number, mostBytes: number): number {
    sink.reserve(count)
    let done = 0
    while (done < count) {
      const prefix = this.prefixes.peek(count - done)
      const suffix = this.suffixes.peekLength()
      if (!(prefix >= 0 && prefix <= this.lastLength))
        damaged('has a value that shares more than there is with the one before it')
      const length = prefix + suffix
      if (done > 0 && sink.used + length > mostBytes) break
      const start = this.suffixes.next(suffix)
      this.prefixes.pass()
      if (length > this.last.length) this.last = grown(this.last.subarray(0, prefix), 2 * length)
      copyRange(this.last, prefix, this.page, start, start + suffix)
      this.lastLength = length
      sink.append(this.last, 0, length)
      done++
    }
    return done
  }
}

/** Integers of a delta sequence, one at a time. */
class Numbers {
  private readonly deltas: DeltaReader
  private readonly numbers = new Int32Array(pieceIndices)
  private head = 0
  private tail = 0

  constructor(deltas: DeltaReader) {
    this.deltas = deltas
  }

  peek(wanted: number): number {
    if (this.head === this.tail) {
      this.tail = Math.min(pieceIndices, Math.max(1, Math.min(wanted, this.deltas.left)))
      this.head = 0
      this.deltas.read32(this.numbers, 0, this.tail)
    }
    return this.numbers[this.head] ?? 0
  }

  get isAtEnd(): boolean {
    return this.head === this.tail && this.deltas.left === 0
  }

  pass(): void {
    this.head++
  }
}

/** Values of fixed width as byte arrays. */
export function fixedAsBytes(values: FixedValues, width: number): ByteValues {
  return {
    get isAtEnd() {
      return values.isAtEnd
    },
    read(sink, count, mostBytes) {
      const fitting = Math.min(count, Math.max(1, Math.floor((mostBytes - sink.used) / width)))
      sink.reserve(fitting)
      if (sink.used + fitting * width > sink.values.length) sink.grow(sink.used + fitting * width)
      values.read(sink.values, sink.used, fitting)
      for (let i = 0; i < fitting; i++) {
        sink.used += width
        sink.offsets[++sink.count] = sink.used
      }
      return fitting
    },
  }
}

/** Byte arrays as values of fixed width: `place` writes those of a piece, from byte `at` on. */
export function bytesAsFixed(
  values: ByteValues,
  place: (sink: BytesSink, out: Uint8Array, at: number) => void,
): FixedValues {
  return {
    get isAtEnd() {
      return values.isAtEnd
    },
    read(out, at, count) {
      const sink = new BytesSink(count)
      values.read(sink, count, Number.MAX_SAFE_INTEGER)
      place(sink, out, at)
    },
  }
}

/** Byte arrays that all have the same length. */
export function sameWidth(width: number): Parameters<typeof bytesAsFixed>[1] {
  return (sink, out, at) => {
    for (let i = 0; i <= sink.count; i++) {
      if (sink.offsets[i] !== i * width) damaged(`has a value of another length than ${width} bytes`)
    }
    out.set(sink.values.subarray(0, sink.used), at)
  }
}
