// Where records of CSV end: at a line end outside of quotes. Source: RFC 4180; LF alone ends a record too.

import { comma, quote } from '../json/text.ts'
import type { Framer } from '../record-feed.ts'

const newline = 0x0a

/** Where in a cell the last byte read stands. */
type CellState = 'start' | 'plain' | 'quoted' | 'after-quote'

export class CsvFramer implements Framer {
  line = 1
  stopped = 0
  readonly terminatorBytes = 1
  /** Line of the quote that opened the last quoted cell, and its distance from the start of the record. */
  quoteLine = 0
  quoteDistance = 0
  private state: CellState = 'start'
  private recordLength = 0
  /** Index of the next quote in the bytes at hand, at or after the last place it was needed; -1: not looked for. */
  private nextQuote = -1

  /** True when the bytes so far end inside of quotes. */
  get inQuotes(): boolean {
    return this.state === 'quoted'
  }

  begin(bytes: Uint8Array, at: number): number {
    if (at === 0) this.nextQuote = -1
    if (at >= bytes.length) return -1
    this.state = 'start'
    this.recordLength = 0
    return at
  }

  end(bytes: Uint8Array, at: number): number {
    if (at === 0) this.nextQuote = -1
    const lineEnd = bytes.indexOf(newline, at)
    const stop = lineEnd < 0 ? bytes.length : lineEnd
    if (this.state === 'quoted' || this.quoteBefore(bytes, at, stop)) return this.endQuoted(bytes, at)
    if (lineEnd >= 0) return lineEnd
    if (stop > at) this.state = bytes[stop - 1] === comma ? 'start' : 'plain'
    this.recordLength += stop - at
    return -1
  }

  private quoteBefore(bytes: Uint8Array, at: number, stop: number): boolean {
    if (this.nextQuote < at) {
      const found = bytes.indexOf(quote, at)
      this.nextQuote = found < 0 ? bytes.length : found
    }
    return this.nextQuote < stop
  }

  private endQuoted(bytes: Uint8Array, from: number): number {
    const { length } = bytes
    let state = this.state
    let at = from
    for (; at < length; at++) {
      const byte = bytes[at] ?? 0
      if (state === 'quoted') {
        if (byte === quote) state = 'after-quote'
        else if (byte === newline) this.line += 1
      } else if (byte === quote && state !== 'plain') {
        if (state === 'start') {
          this.quoteLine = this.line
          this.quoteDistance = this.recordLength + at - from
        }
        state = 'quoted'
      } else if (byte === newline) break
      else state = byte === comma ? 'start' : 'plain'
    }
    this.state = state
    this.recordLength += at - from
    return at < length ? at : -1
  }
}
