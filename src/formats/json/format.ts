// JSON and NDJSON as formats of ingest, and inference over them and GeoJSON: the classes of the values of each key in
// the first records.

import type { Format, InferOptions } from '../format.ts'
import { BodyInferrer, classOfTimeText, noteInteger, type SampledColumn, valueClass } from '../inference.ts'
import { scanNumber } from '../number-scan.ts'
import type { Framer } from '../record-feed.ts'
import { ArrayFramer, LineFramer } from './framing.ts'
import { ArrayReader, LineReader } from './reader.ts'
import { letterN } from './record.ts'
import { JsonScanner } from './scanner.ts'
import { backslash, closeBrace, holdsLineEnd, openBrace, quote, skipSpace, stringText, unescapeString } from './text.ts'

/** Is told a member of an object, whose value is from `at` to `after`. */
export type Visit = (name: string, at: number, after: number) => void

export class ObjectInferrer extends BodyInferrer {
  private readonly scanner: JsonScanner

  constructor(options: InferOptions, framer: Framer) {
    super(options, framer)
    this.scanner = new JsonScanner(options.jsonDepth)
  }

  override record(bytes: Uint8Array, start: number, end: number): void {
    let at = skipSpace(bytes, start, end)
    while (at < end && !this.done) {
      this.count()
      if (this.isInvalidUtf8(bytes, at, end)) return
      // A faulty record says nothing: the reader of the body will refuse it.
      const after = this.scanner.check(bytes, at, end, 1)
      const next = after < 0 ? end : skipSpace(bytes, after, end)
      if (after < 0 || (next < end && !holdsLineEnd(bytes, after, next))) return
      if (bytes[at] === openBrace) this.learn(bytes, at, after)
      at = next
    }
  }

  /** Learns from the object `bytes[at, end)`. */
  protected learn(bytes: Uint8Array, at: number, end: number): void {
    this.visit(bytes, at, end, (name, from, after) => this.value(name, bytes, from, after))
  }

  /** Walks over the members of an object that is known to be well-formed. */
  protected visit(bytes: Uint8Array, open: number, end: number, visit: Visit): void {
    const { scanner } = this
    let at = scanner.first(bytes, open, end, closeBrace)
    while (at > 0) {
      const nameEnd = scanner.name(bytes, at, end)
      const name = stringText(scanner.scratch, bytes, at + 1, nameEnd - 1)
      at = scanner.colon(bytes, nameEnd, end)
      const after = scanner.check(bytes, at, end, 2)
      visit(name, at, after)
      at = scanner.next(bytes, after, end, closeBrace)
    }
  }

  /** Learns from the value `bytes[at, after)` of a column. */
  protected value(name: string, bytes: Uint8Array, at: number, after: number): void {
    const column = this.sample.column(name)
    if (column !== undefined) this.learnValue(column, bytes, at, after)
  }

  private learnValue(column: SampledColumn, bytes: Uint8Array, at: number, after: number): void {
    const { scratch, number } = this.scanner
    const byte = bytes[at] ?? 0
    if (byte === letterN) return
    if (byte === 0x74 || byte === 0x66) column.classes |= valueClass.bool
    else if (byte === quote) {
      const first = bytes[at + 1] ?? 0
      // Dates and times begin with a digit: other texts, which may be long, need no look.
      if (first !== backslash && (first < 0x30 || first > 0x39)) column.classes |= valueClass.text
      else {
        unescapeString(scratch, bytes, at + 1, after - 1)
        column.classes |= classOfTimeText(scratch.bytes, 0, scratch.length)
      }
    } else if (!scanNumber(number, bytes, at, after, false)) column.classes |= valueClass.text
    else if (!number.integral) column.classes |= valueClass.number
    else {
      column.classes |= valueClass.integer
      noteInteger(column, number, bytes)
    }
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
