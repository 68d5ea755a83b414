// JSON and NDJSON as formats of ingest: an object is a record.

import { NodeError } from '../../base/errors.ts'
import { tablePlan } from '../column-plan.ts'
import { CompiledLines } from '../compiled/lines.ts'
import type { EndlessFormat, ReaderOptions, StreamFormat } from '../format.ts'
import { lineEnds } from '../line-ends.ts'
import { ArrayFramer, LineFramer } from './framing.ts'
import { ObjectInferrer, ObjectReader } from './objects.ts'
import { PointedInferrer, PointedReader } from './pointed.ts'
import { JsonRecordReader } from './record.ts'
import { openBrace, skipSpace } from './text.ts'

/** One JSON object a line. */
class LineReader extends ObjectReader {
  private readonly lines: LineFramer

  constructor(options: ReaderOptions) {
    const lines = new LineFramer()
    super(options, lines, tablePlan(options), (own) => new JsonRecordReader(own))
    this.lines = lines
  }

  many(bytes: Uint8Array, at: number): number {
    const after = this.readAhead(bytes, at)
    this.lines.line += this.rowsAhead
    return after
  }

  protected override compiledOf(): CompiledLines | undefined {
    return this.options.only === undefined ? CompiledLines.of(this.columns.plan, this.options) : undefined
  }

  protected override tryRecord(bytes: Uint8Array, start: number): number {
    // Of blank lines, each would be passed over again with those before it.
    return bytes[start] === openBrace ? this.tryLine(bytes, start) : -1
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

  override oversized(length: number, last: boolean): void {
    super.oversized(length, last)
    if (this.array.single) this.faults.hint = 'If its rows are in an array inside, say where: records=/<name>.'
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
  module: import.meta.url,
  name: 'json',
  title: 'JSON',
  mediaTypes: ['application/json', 'application/cloudevents+json', 'application/cloudevents-batch+json'],
  extensions: ['json'],
  about: 'an array of objects, or one',
  parameters: ['charset'],
  example: `[${record}]`,
  isLines: false,
  nesting: 'objects',
  hasRecords: true,
  createReader: (options) =>
    options.records === undefined ? new ArrayReader(options) : new PointedReader(options, options.records),
  createInferrer: (options) =>
    options.records === undefined
      ? new ObjectInferrer(options, new ArrayFramer())
      : new PointedInferrer(options, options.records),
}

export const ndjson: EndlessFormat = {
  kind: 'stream',
  module: import.meta.url,
  name: 'ndjson',
  title: 'NDJSON',
  mediaTypes: ['application/x-ndjson', 'application/jsonl', 'application/ndjson'],
  extensions: ['jsonl', 'ndjson'],
  about: 'one object a line',
  parameters: ['charset'],
  example: `${record}\n`,
  isLines: true,
  nesting: 'objects',
  ends: () => lineEnds,
  createReader: (options) => new LineReader(options),
  createInferrer: (options) => new ObjectInferrer(options, new LineFramer()),
}
