// JSON and NDJSON as formats of ingest: an object is a record. Readers and inferrers, which GeoJSON shares.

import { NodeError } from '../../model/errors.ts'
import { BodyReader, type RecordCore } from '../body-reader.ts'
import { type TablePlan, tablePlan } from '../column-plan.ts'
import type { StreamFormat, InferOptions, ReaderOptions } from '../format.ts'
import { BodyInferrer, classOfTimeText, noteInteger, type SampledColumn, valueClass } from '../inference.ts'
import { scanNumber } from '../number-scan.ts'
import type { Framer } from '../record-feed.ts'
import { ArrayFramer, LineFramer } from './framing.ts'
import { type JsonRecordOptions, JsonRecordReader, letterN } from './record.ts'
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

export abstract class ObjectReader<Objects extends RecordCore = JsonRecordReader> extends BodyReader {
  protected readonly objects: Objects

  constructor(
    options: ReaderOptions,
    framer: Framer,
    plan: TablePlan,
    readerOf: (options: JsonRecordOptions) => Objects,
  ) {
    super(options, framer, plan)
    const { columns, faults, feed } = this
    this.objects = readerOf({ options, columns, faults, place: feed.place })
  }

  override get fits(): boolean {
    return super.fits && !this.objects.metOther
  }

  attempt(bytes: Uint8Array, start: number): number {
    if (this.faults.total > 0 || this.feed.utf8.dirty) return -1
    const after = this.tryRecord(bytes, start)
    if (after < 0 || after - start > this.options.recordBytes) {
      this.columns.undoRow()
      this.objects.undo()
      return -1
    }
    this.records += 1
    this.columns.endRow(after - start)
    return after
  }

  /** Reads the record at `start`: index after it, or -1 where it is not known to be one without a fault. */
  protected tryRecord(bytes: Uint8Array, start: number): number {
    return this.objects.attempt(bytes, start, bytes.length, this.records)
  }

  /** Reads the next record: index after it, or -1 when it could not be read to its end. */
  protected readRecord(bytes: Uint8Array, start: number, end: number): number {
    const record = this.records
    this.records += 1
    return this.invalidUtf8(bytes, start, end, record) ? -1 : this.objects.read(bytes, start, end, record)
  }

  /** Reads the one record that `bytes[start, end)` is, and ends its row; false when where it ends is not known. */
  protected readOnly(bytes: Uint8Array, start: number, end: number): boolean {
    const after = this.readRecord(bytes, start, end)
    const rest = after < 0 ? end : skipSpace(bytes, after, end)
    if (rest < end) this.surplus(bytes, rest, end)
    this.columns.endRow(end - start)
    return after >= 0 || !this.objects.broken
  }

  /** A fault of the last record: something follows it. */
  protected surplus(bytes: Uint8Array, at: number, end: number): void {
    const message = 'Nothing may follow the object on its line.'
    this.fault({ kind: 'MalformedRecord', message, bytes, at, end }, this.records - 1)
  }
}

/** One JSON object a line. */
class LineReader extends ObjectReader {
  constructor(options: ReaderOptions) {
    super(options, new LineFramer(), tablePlan(options), (own) => new JsonRecordReader(own))
  }

  record(bytes: Uint8Array, start: number, end: number): void {
    if (skipSpace(bytes, start, end) < end) this.readOnly(bytes, start, end)
  }
}

/** An array of objects, or one object. */
class ArrayReader extends ObjectReader {
  private readonly array: ArrayFramer

  constructor(options: ReaderOptions) {
    const array = new ArrayFramer()
    super(options, array, tablePlan(options), (own) => new JsonRecordReader(own))
    this.array = array
  }

  record(bytes: Uint8Array, start: number, end: number): void {
    if (!this.readOnly(bytes, start, end)) throw this.error()
  }

  protected override brokenMessage(): string {
    const { state, single } = this.array
    if (state === 'start') {
      throw new NodeError('MalformedBody', 'The body is neither a JSON array of objects nor one object.', {
        hint: 'Send one object a line as application/x-ndjson, rows of text as text/csv.',
      })
    }
    if (single) return 'Something follows the object; send one object a line as application/x-ndjson, or an array.'
    if (state === 'done') return 'Something follows the array.'
    return 'The array is broken here: expected an element, or a comma between two.'
  }

  protected override unclosed(): string | undefined {
    const { state } = this.array
    const open = state === 'first' || state === 'element' || state === 'comma'
    return open ? 'The body ends before the array is closed.' : undefined
  }
}

const record = '{"event_time":"2026-01-31T12:00:00Z","sensor":"s1","celsius":21.5}'

export const json: StreamFormat = {
  kind: 'stream',
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

export const ndjson: StreamFormat = {
  kind: 'stream',
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
