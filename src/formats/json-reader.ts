// Readers of JSON and NDJSON bodies: records from the feed, each an object into the columns.

import { NodeError, type RecordErrorKind } from '../model/errors.ts'
import type { RecordBatch } from '../model/record-batch.ts'
import { tablePlan } from './column-plan.ts'
import { FaultLog, type RecordPlace } from './fault-log.ts'
import { ArrayFramer, LineFramer } from './json-framing.ts'
import { JsonRecordReader } from './json-record.ts'
import { skipSpace } from './json-text.ts'
import type { ParsedBody, ReaderOptions, RecordReader } from './reader.ts'
import { type Framer, RecordFeed, type RecordSink } from './record-feed.ts'
import { TypedColumns } from './typed-columns.ts'
import { firstInvalidUtf8 } from './utf8-watch.ts'

/** A reader of one JSON object a line. */
export function createNdjsonReader(options: ReaderOptions): RecordReader {
  return new ObjectReader(options, new LineFramer(), undefined)
}

/** A reader of an array of objects, or of one object. */
export function createJsonReader(options: ReaderOptions): RecordReader {
  const framer = new ArrayFramer()
  return new ObjectReader(options, framer, framer)
}

class ObjectReader implements RecordReader, RecordSink {
  private readonly recordBytes: number
  private readonly inferred: boolean
  private readonly array: ArrayFramer | undefined
  private readonly faults = new FaultLog()
  private readonly columns: TypedColumns
  private readonly feed: RecordFeed
  private readonly objects: JsonRecordReader
  private records = 0

  constructor(options: ReaderOptions, framer: Framer, array: ArrayFramer | undefined) {
    const { unknownFields, valueless, jsonDepth } = options
    this.recordBytes = options.recordBytes
    this.inferred = valueless !== undefined
    this.array = array
    this.columns = new TypedColumns(tablePlan(options), options)
    this.feed = new RecordFeed(framer, this, options.recordBytes)
    this.objects = new JsonRecordReader({
      columns: this.columns,
      faults: this.faults,
      place: this.feed.place,
      unknownFields,
      jsonDepth,
      ...(valueless === undefined ? {} : { valueless }),
    })
  }

  push(chunk: Uint8Array): void {
    this.feed.push(chunk)
  }

  take(): readonly RecordBatch[] {
    return this.columns.take()
  }

  finish(): ParsedBody {
    this.feed.finish()
    const state = this.array?.state
    const open = state === 'first' || state === 'element' || state === 'comma'
    if (open) this.addBare('MalformedRecord', 'The body ends before the array is closed.', this.feed.end)
    if (this.faults.total > 0) throw this.error()
    return { records: this.records, batches: this.columns.finish() }
  }

  record(bytes: Uint8Array, start: number, end: number): void {
    if (this.array === undefined && skipSpace(bytes, start, end) === end) return
    const record = this.records
    this.records += 1
    if (this.feed.utf8.dirty && this.invalidUtf8(bytes, start, end, record)) return
    const after = this.objects.read(bytes, start, end, record)
    if (after >= 0) {
      const rest = skipSpace(bytes, after, end)
      if (rest === end) {
        this.columns.endRow(end - start)
        return
      }
      const message = 'Nothing may follow the object on its line.'
      this.fault({ kind: 'MalformedRecord', message, bytes, at: rest, end }, record)
    } else if (this.array !== undefined && this.objects.broken) throw this.error()
    this.columns.endRow(end - start)
  }

  oversized(length: number): void {
    const message = `The record has ${length} bytes; at most ${this.recordBytes} are allowed.`
    this.addBare('RecordTooLarge', message, this.feed.place)
    this.records += 1
  }

  /** Throws: what begins at `at` is no record, and nothing after it can be judged. */
  broken(bytes: Uint8Array, at: number): never {
    if (this.array?.state === 'start') {
      throw new NodeError('MalformedBody', 'The body is neither a JSON array of objects nor one object.', {
        hint: 'Send one object a line as application/x-ndjson, rows of text as text/csv.',
      })
    }
    let message = 'The array is broken here: expected an element, or a comma between two.'
    if (this.array?.single === true) {
      message = 'Something follows the object; send one object a line as application/x-ndjson, or an array.'
    } else if (this.array?.state === 'done') message = 'Something follows the array.'
    // One byte, whatever the chunk holds after it: what is reported must not hang on where chunks are cut.
    const end = (bytes[at] ?? 0x80) < 0x80 ? at + 1 : at
    this.fault({ kind: 'MalformedRecord', message, bytes, at, end }, this.records)
    throw this.error()
  }

  private error(): NodeError {
    return this.faults.toError(this.inferred)
  }

  private invalidUtf8(bytes: Uint8Array, start: number, end: number, record: number): boolean {
    const at = firstInvalidUtf8(bytes, start, end)
    if (at < 0) return false
    this.fault(
      { kind: 'InvalidUtf8', message: 'These bytes are not UTF-8.', bytes, at, end: Math.min(at + 4, end) },
      record,
    )
    return true
  }

  private fault(fault: Parameters<FaultLog['add']>[0], record: number): void {
    this.columns.fail()
    this.faults.add(fault, record, this.feed.place)
  }

  /** A fault of the next record whose bytes are not at hand. */
  private addBare(kind: RecordErrorKind, message: string, place: Pick<RecordPlace, 'line' | 'offset'>): void {
    this.columns.fail()
    this.faults.addBare({ record: this.records, line: place.line, byteOffset: place.offset, kind, message })
  }
}
