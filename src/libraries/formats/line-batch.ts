// A batch of a stream as bytes: whole records that follow one another, after the header where the format has one; where
// each of its records lies, to name one, or to cut the batch at one.

import type { RecordEnds } from './line-ends.ts'
import { concatBytes } from '../base/bytes.ts'

type LineBatchFacts = Pick<LineBatch, 'first' | 'last' | 'rows' | 'bytes' | 'headerBytes'>

export class LineBatch {
  /** Numbers of its first and last record; a blank line uses up a number. */
  readonly first: number
  readonly last: number
  /** Records that are no blank lines. */
  readonly rows: number
  /** The header, then the records. */
  readonly bytes: Uint8Array
  readonly headerBytes: number
  readonly #endsAfter: (header: Uint8Array) => RecordEnds

  constructor(
    { first, last, rows, bytes, headerBytes }: LineBatchFacts,
    endsAfter: (header: Uint8Array) => RecordEnds,
  ) {
    this.first = first
    this.last = last
    this.rows = rows
    this.bytes = bytes
    this.headerBytes = headerBytes
    this.#endsAfter = endsAfter
  }

  /**
   * The records before `number`, and the others; each undefined where none of them is a row. `blank`: the others, where they
   * are blank lines alone, whose numbers are used up all the same.
   */
  split(number: number): Readonly<Record<'before' | 'rest' | 'blank', LineBatch | undefined>> {
    if (number > this.last) return { before: this, rest: undefined, blank: undefined }
    let at = this.headerBytes
    let rows = 0
    for (const record of this.#records()) {
      if (record.number === number) break
      if (!record.isBlank) rows++
      at = record.end
    }
    const header = this.bytes.subarray(0, this.headerBytes)
    const before = this.#part({ first: this.first, last: number - 1, rows, bytes: this.bytes.subarray(0, at) })
    const bytes = concatBytes([header, this.bytes.subarray(at)])
    const others = this.#part({ first: number, last: this.last, rows: this.rows - rows, bytes })
    const [rest, blank] = others.rows > 0 ? [others] : [undefined, others]
    return { before: before.rows > 0 ? before : undefined, rest, blank }
  }

  /** The same behind blank lines that come before it. */
  behind(blank: LineBatch): LineBatch {
    const { first } = blank
    const [header, own] = [this.bytes.subarray(0, this.headerBytes), this.bytes.subarray(this.headerBytes)]
    const bytes = concatBytes([header, blank.bytes.subarray(blank.headerBytes), own])
    return this.#part({ first, last: this.last, rows: this.rows, bytes })
  }

  /** Number of the record that `line` of the bytes, from 1 on, is in; undefined for a line of the header. */
  numberAt(line: number): number | undefined {
    const header = this.bytes.subarray(0, this.headerBytes)
    let next = 1 + newlines(header)
    if (line < next) return undefined
    for (const { number, start, end } of this.#records()) {
      next += newlines(this.bytes.subarray(start, end))
      // One that ends before a separator may end within a line.
      if (line < next || (line === next && this.bytes[end - 1] !== newline)) return number
    }
    return this.last
  }

  /** Number of a row, from 0 on. */
  numberOf(row: number): number | undefined {
    let rows = 0
    for (const { number, isBlank } of this.#records()) if (!isBlank && rows++ === row) return number
    return undefined
  }

  #part(facts: Omit<LineBatchFacts, 'headerBytes'>): LineBatch {
    return new LineBatch({ ...facts, headerBytes: this.headerBytes }, this.#endsAfter)
  }

  *#records(): Generator<{ readonly number: number; start: number; end: number; isBlank: boolean }> {
    // As in its own chunk: what finds the ends is told of every one from the first byte on.
    const body = this.bytes.subarray(this.headerBytes)
    const ends = this.#endsAfter(this.bytes.subarray(0, this.headerBytes))
    for (let number = this.first, at = 0; at < body.length; number++) {
      const found = ends.next(body, at)
      const end = found < 0 ? body.length : found
      const isBlank = ends.isBlank(body, at, end)
      yield { number, start: this.headerBytes + at, end: this.headerBytes + end, isBlank }
      at = end
    }
  }
}

/** Line feeds in `bytes`. */
export function newlines(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count++
  return count
}

const newline = 0x0a
