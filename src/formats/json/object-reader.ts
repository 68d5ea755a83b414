// What the readers of JSON, NDJSON and GeoJSON bodies share: records from the feed, each an object into the columns,
// faults with their place.

import type { NodeError, RecordErrorKind } from '../../model/errors.ts'
import type { RecordBatch } from '../../model/record-batch.ts'
import type { TablePlan } from '../column-plan.ts'
import { type Fault, FaultLog, type RecordPlace } from '../fault-log.ts'
import type { ParsedBody, ReaderOptions, RecordReader } from '../format.ts'
import { firstInvalidUtf8, type Framer, RecordFeed, type RecordSink } from '../record-feed.ts'
import { TypedColumns } from '../typed-columns.ts'
import type { JsonRecordOptions } from './record.ts'
import { skipSpace } from './text.ts'

/** Reads one record: see JsonRecordReader, FeatureReader. */
export interface ObjectCore {
  /** True after a fault of syntax: where the object ends is not known. */
  readonly broken: boolean
  /** True once there was something that no column is for, or may have been. */
  readonly metOther: boolean
  read(bytes: Uint8Array, start: number, end: number, record: number): number
  /** Like `read`, but -1 where there would be any fault, which is not noted. */
  attempt(bytes: Uint8Array, start: number, end: number, record: number): number
  /** Makes ready to read the object last attempted again; its row is to be undone. */
  undo(): void
}

export abstract class ObjectReader implements RecordReader, RecordSink {
  /** Records so far, faulty ones included. */
  protected records = 0
  protected readonly faults: FaultLog = new FaultLog()
  protected readonly feed: RecordFeed
  protected readonly columns: TypedColumns
  protected abstract readonly objects: ObjectCore
  private readonly options: ReaderOptions

  constructor(options: ReaderOptions, framer: Framer, plan: TablePlan) {
    this.options = options
    this.columns = new TypedColumns(plan, options)
    this.feed = new RecordFeed(framer, this, options.recordBytes)
  }

  /** What the reader of single records needs. */
  protected recordOptions(): JsonRecordOptions {
    const { unknownFields, jsonDepth, valueless } = this.options
    return {
      columns: this.columns,
      faults: this.faults,
      place: this.feed.place,
      unknownFields,
      jsonDepth,
      ...(valueless === undefined ? {} : { valueless }),
    }
  }

  get fits(): boolean {
    return this.faults.total === 0 && !this.objects.metOther
  }

  push(chunk: Uint8Array): void {
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
    return { records: this.records, batches: this.columns.finish() }
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

  abstract record(bytes: Uint8Array, start: number, end: number): void

  oversized(length: number): void {
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

  /** What is missing at the end of the body, if anything is. */
  protected unclosed(): string | undefined {
    return undefined
  }

  /** Reads the next record: index after it, or -1 when it could not be read to its end. */
  protected readRecord(bytes: Uint8Array, start: number, end: number): number {
    const record = this.records
    this.records += 1
    if (this.feed.utf8.dirty && this.invalidUtf8(bytes, start, end, record)) return -1
    return this.objects.read(bytes, start, end, record)
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

  protected error(): NodeError {
    return this.faults.toError(this.options.valueless !== undefined)
  }

  private invalidUtf8(bytes: Uint8Array, start: number, end: number, record: number): boolean {
    const at = firstInvalidUtf8(bytes, start, end)
    if (at < 0) return false
    const message = 'These bytes are not UTF-8.'
    this.fault({ kind: 'InvalidUtf8', message, bytes, at, end: Math.min(at + 4, end) }, record)
    return true
  }

  protected fault(fault: Fault, record: number): void {
    this.columns.fail()
    this.faults.add(fault, record, this.feed.place)
  }

  /** A fault of the next record whose bytes are not at hand. */
  protected addBare(kind: RecordErrorKind, message: string, place: Pick<RecordPlace, 'line' | 'offset'>): void {
    this.columns.fail()
    this.faults.addBare({ record: this.records, line: place.line, byteOffset: place.offset, kind, message })
  }
}
