// JSON and NDJSON as formats of ingest, and inference over them and GeoJSON: the classes of the values of each key in
// the first records.

import type { Format, InferOptions, Inferred, Inferrer } from '../format.ts'
import { classOfTimeText, noteInteger, Sample, type SampledColumn, sampleRecords, valueClass } from '../inference.ts'
import { NumberScan, scanNumber } from '../number-scan.ts'
import { firstInvalidUtf8, type Framer, RecordFeed, type RecordSink } from '../record-feed.ts'
import { JsonChecker } from './checker.ts'
import { ArrayFramer, LineFramer } from './framing.ts'
import { ArrayReader, LineReader } from './reader.ts'
import {
  backslash,
  closeBrace,
  colon,
  comma,
  holdsLineEnd,
  openBrace,
  quote,
  scanString,
  Scratch,
  skipSpace,
  StringScan,
  stringText,
  unescapeString,
} from './text.ts'

/** Is told a member of an object, whose value is from `at` to `after`. */
export type Visit = (name: string, at: number, after: number) => void

export class ObjectInferrer implements Inferrer, RecordSink {
  protected readonly sample: Sample
  private readonly feed: RecordFeed
  private readonly checker: JsonChecker
  private readonly string = new StringScan()
  private readonly number = new NumberScan()
  private readonly scratch = new Scratch()
  /** True when there is no use in reading on. */
  private done = false

  constructor(options: InferOptions, framer: Framer) {
    this.sample = new Sample(options)
    this.feed = new RecordFeed(framer, this, options.recordBytes)
    this.checker = new JsonChecker(options.jsonDepth)
  }

  push(chunk: Uint8Array): boolean {
    if (!this.done) this.feed.push(chunk)
    return !this.done
  }

  finish(): Inferred {
    if (!this.done) this.feed.finish()
    return this.sample.infer(undefined, false)
  }

  record(bytes: Uint8Array, start: number, end: number): void {
    let at = skipSpace(bytes, start, end)
    while (at < end && !this.done) {
      this.sample.records += 1
      this.done = this.sample.records >= sampleRecords
      if (this.feed.utf8.dirty && firstInvalidUtf8(bytes, at, end) >= 0) return
      // A faulty record says nothing: the reader of the body will refuse it.
      const after = this.checker.check(bytes, at, end, 1)
      const next = after < 0 ? end : skipSpace(bytes, after, end)
      if (after < 0 || (next < end && !holdsLineEnd(bytes, after, next))) return
      if (bytes[at] === openBrace) this.learn(bytes, at, after)
      at = next
    }
  }

  oversized(): void {
    this.sample.records += 1
  }

  broken(): void {
    // The reader says what is wrong.
    this.sample.records += 1
    this.done = true
  }

  /** Learns from the object `bytes[at, end)`. */
  protected learn(bytes: Uint8Array, at: number, end: number): void {
    this.visit(bytes, at, end, (name, from, after) => this.value(name, bytes, from, after))
  }

  /** Walks over the members of an object that is known to be well-formed. */
  protected visit(bytes: Uint8Array, open: number, end: number, visit: Visit): void {
    let at = skipSpace(bytes, open + 1, end)
    while (at < end && bytes[at] === quote) {
      const keyEnd = scanString(this.string, bytes, at, end)
      const name = stringText(this.scratch, bytes, this.string.start, this.string.end)
      at = skipSpace(bytes, keyEnd, end)
      if (bytes[at] !== colon) return
      at = skipSpace(bytes, at + 1, end)
      const after = this.checker.check(bytes, at, end, 2)
      if (after < 0) return
      visit(name, at, after)
      at = skipSpace(bytes, after, end)
      if (bytes[at] === closeBrace) return
      if (bytes[at] === comma) at = skipSpace(bytes, at + 1, end)
    }
  }

  /** Learns from the value `bytes[at, after)` of a column. */
  protected value(name: string, bytes: Uint8Array, at: number, after: number): void {
    const column = this.sample.column(name)
    if (column !== undefined) this.note(column, bytes, at, after)
  }

  private note(column: SampledColumn, bytes: Uint8Array, at: number, after: number): void {
    const byte = bytes[at] ?? 0
    if (byte === 0x6e) return
    if (byte === 0x74 || byte === 0x66) column.classes |= valueClass.bool
    else if (byte === quote) {
      const first = bytes[at + 1] ?? 0
      // Dates and times begin with a digit: other texts, which may be long, need no look.
      if (first !== backslash && (first < 0x30 || first > 0x39)) column.classes |= valueClass.text
      else {
        unescapeString(this.scratch, bytes, at + 1, after - 1)
        column.classes |= classOfTimeText(this.scratch.bytes, 0, this.scratch.length)
      }
    } else if (scanNumber(this.number, bytes, at, after, false)) {
      if (this.number.integral) {
        column.classes |= valueClass.integer
        noteInteger(column, this.number, bytes)
      } else column.classes |= valueClass.number
    } else column.classes |= valueClass.text
  }
}

const record = '{"event_time":"2026-01-31T12:00:00Z","sensor":"s1","celsius":21.5}'

export const json: Format = {
  name: 'json',
  title: 'JSON',
  mediaTypes: ['application/json'],
  extensions: ['json'],
  about: 'an array of objects, or one',
  example: `[${record}]`,
  isLines: false,
  createReader: (options) => new ArrayReader(options),
  createInferrer: (options) => new ObjectInferrer(options, new ArrayFramer()),
}

export const ndjson: Format = {
  name: 'ndjson',
  title: 'NDJSON',
  mediaTypes: ['application/x-ndjson', 'application/jsonl', 'application/ndjson'],
  extensions: ['jsonl', 'ndjson'],
  about: 'one object a line',
  example: `${record}\n`,
  isLines: true,
  createReader: (options) => new LineReader(options),
  createInferrer: (options) => new ObjectInferrer(options, new LineFramer()),
}
