// Readers of JSON and NDJSON bodies: an object is a record.

import { NodeError } from '../../model/errors.ts'
import { tablePlan } from '../column-plan.ts'
import type { ReaderOptions } from '../format.ts'
import { ArrayFramer, LineFramer } from './framing.ts'
import { ObjectReader } from './object-reader.ts'
import { JsonRecordReader } from './record.ts'
import { skipSpace } from './text.ts'

/** One JSON object a line. */
export class LineReader extends ObjectReader {
  protected readonly objects: JsonRecordReader

  constructor(options: ReaderOptions) {
    super(options, new LineFramer(), tablePlan(options))
    this.objects = new JsonRecordReader(this.recordOptions())
  }

  record(bytes: Uint8Array, start: number, end: number): void {
    if (skipSpace(bytes, start, end) < end) this.readOnly(bytes, start, end)
  }
}

/** An array of objects, or one object. */
export class ArrayReader extends ObjectReader {
  protected readonly objects: JsonRecordReader
  private readonly array: ArrayFramer

  constructor(options: ReaderOptions) {
    const array = new ArrayFramer()
    super(options, array, tablePlan(options))
    this.array = array
    this.objects = new JsonRecordReader(this.recordOptions())
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
