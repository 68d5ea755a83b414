// What all readers of text formats share: records from the feed, typed columns out, faults with their place. A format's
// reader says what a record is.

import type { NodeError, RecordErrorKind } from '../base/errors.ts'
import type { RecordBatch } from '../model/schema.ts'
import type { TablePlan } from './column-plan.ts'
import { type CompiledLines, leastCompiled } from './compiled/lines.ts'
import { type Fault, FaultLog, type RecordPlace } from './fault-log.ts'
import type { ParsedBody, ReaderOptions, RecordReader } from './format.ts'
import { type Framer, RecordFeed, type RecordSink } from './record-feed.ts'
import { invalidUtf8At } from './utf8-watch.ts'
import { TypedColumns } from './typed-columns.ts'

/** Reads single records where only that tells where they end. */
export interface RecordCore {
  /** True after a fault of syntax: where the record ends is not known. */
  readonly broken: boolean
  /** True once there was something that no column is for, or may have been. */
  readonly metOther: boolean
  /**
   * Reads the record at `start`, which ends before `end`, as record number `record` (0-based): index after it, or -1 when
   * it could not be read to its end. Faults go to the log; a row is added to the columns, complete unless there was a fault.
   */
  read(bytes: Uint8Array, start: number, end: number, record: number): number
  /** Like `read`, but -1 where there would be any fault, which is not noted. */
  attempt(bytes: Uint8Array, start: number, end: number, record: number): number
  /** Makes ready to read the record last attempted again; its row is to be undone. */
  undo(): void
}

export abstract class BodyReader implements RecordReader, RecordSink {
  /** Records so far, faulty ones included. */
  protected records = 0
  protected readonly options: ReaderOptions
  protected readonly faults: FaultLog = new FaultLog()
  protected readonly feed: RecordFeed
  protected readonly columns: TypedColumns
  /** Records that were read ahead last. */
  protected rowsAhead = 0
  /** Reads ahead of this reader; `null`: not at all. Made for bodies that are not small. */
  private compiled: CompiledLines | null | undefined = undefined

  constructor(options: ReaderOptions, framer: Framer, plan: TablePlan) {
    this.options = options
    this.columns = new TypedColumns(plan, options)
    this.feed = new RecordFeed(framer, this, options)
  }

  get fits(): boolean {
    return this.faults.total === 0
  }

  push(chunk: Uint8Array): void {
    this.columns.sentBytes += chunk.length
    this.feed.push(chunk)
  }

  take(): readonly RecordBatch[] {
    return this.columns.take()
  }

  finish(): ParsedBody {
    this.feed.finish()
    const unclosed = this.unclosed()
    if (unclosed !== undefined) this.addBare('MalformedRecord', unclosed, this.feed.end)
    if (this.faults.total > 0) throw this.error()
    const batches = this.columns.finish()
    const { warnings, earlyRows } = this.columns
    return {
      records: this.records,
      batches,
      ...(warnings.texts.length === 0 ? {} : { warnings: warnings.texts }),
      ...(earlyRows === 0 ? {} : { earlyRows }),
    }
  }

  abstract record(bytes: Uint8Array, start: number, end: number, last: boolean): void

  oversized(length: number, _last: boolean): void {
    const message = `The record has ${length} bytes; at most ${this.options.recordBytes} are allowed.`
    this.addBare('RecordTooLarge', message, this.feed.place)
    this.records += 1
  }

  /** Throws: what begins at `at` is no record, and nothing after it can be judged. */
  broken(bytes: Uint8Array, at: number): never {
    const message = this.brokenMessage()
    // One byte, whatever the chunk holds after it: what is reported must not hang on where chunks are cut.
    const end = (bytes[at] ?? 0x80) < 0x80 ? at + 1 : at
    this.fault({ kind: 'MalformedRecord', message, bytes, at, end }, this.records)
    throw this.error()
  }

  /** What is wrong at a place where no record can begin; may throw an error of its own. */
  protected brokenMessage(): string {
    return 'No record can begin here.'
  }

  /** What reads records ahead of this reader, if anything does. */
  protected compiledOf(): CompiledLines | undefined {
    return undefined
  }

  /** Has records read ahead from the one at `at` on, `rowsAhead` of them: the index after the last one's line end. */
  protected readAhead(bytes: Uint8Array, at: number): number {
    this.rowsAhead = 0
    const isWorthIt = this.compiled !== null && bytes.length - at >= leastCompiled
    if (!isWorthIt || this.faults.total > 0 || this.feed.utf8.dirty) return at
    const compiled = (this.compiled ??= this.compiledOf() ?? null)
    if (compiled === null) return at
    const after = compiled.read(bytes, at, this.columns)
    this.rowsAhead = compiled.rows
    this.records += compiled.rows
    return after
  }

  /** What is missing at the end of the body, if anything is. */
  protected unclosed(): string | undefined {
    return undefined
  }

  protected error(): NodeError {
    return this.faults.toError(this.options.valueless !== undefined)
  }

  /** True, with a fault of `record`, when its bytes are not UTF-8. */
  protected invalidUtf8(bytes: Uint8Array, start: number, end: number, record: number | undefined): boolean {
    const at = this.feed.utf8.dirty ? invalidUtf8At(bytes, start, end) : -1
    if (at < 0) return false
    const message = 'These bytes are not UTF-8.'
    this.fault({ kind: 'InvalidUtf8', message, bytes, at, end: Math.min(at + 4, end) }, record)
    return true
  }

  protected fault(fault: Fault, record: number | undefined): void {
    this.columns.fail()
    this.faults.add(fault, record, this.feed.place)
  }

  /** A fault of the next record whose bytes are not at hand. */
  protected addBare(kind: RecordErrorKind, message: string, place: Pick<RecordPlace, 'line' | 'offset'>): void {
    this.columns.fail()
    this.faults.addBare({ record: this.records, line: place.line, byteOffset: place.offset, kind, message })
  }
}
