// Readers of JSON and NDJSON bodies, and what they share with those of GeoJSON: an object is a record.

import { NodeError } from '../../model/errors.ts'
import { type TablePlan, tablePlan } from '../column-plan.ts'
import { BodyReader, type RecordCore } from '../body-reader.ts'
import type { ReaderOptions } from '../format.ts'
import type { Framer } from '../record-feed.ts'
import { ArrayFramer, LineFramer } from './framing.ts'
import { type JsonRecordOptions, JsonRecordReader } from './record.ts'
import { skipSpace } from './text.ts'

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
export class LineReader extends ObjectReader {
  constructor(options: ReaderOptions) {
    super(options, new LineFramer(), tablePlan(options), (own) => new JsonRecordReader(own))
  }

  record(bytes: Uint8Array, start: number, end: number): void {
    if (skipSpace(bytes, start, end) < end) this.readOnly(bytes, start, end)
  }
}

/** An array of objects, or one object. */
export class ArrayReader extends ObjectReader {
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
