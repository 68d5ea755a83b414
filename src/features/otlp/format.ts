// OpenTelemetry logs as formats of ingest: an export is a body, a log record a row, read as a line of JSON when the body is
// complete (docs/decisions/senders.md#opentelemetry-logs).

import { must } from '../../libraries/base/assert.ts'
import { NodeError, type RecordError } from '../../libraries/base/errors.ts'
import type { Field } from '../../libraries/model/schema.ts'
import { tablePlan } from '../../libraries/formats/column-plan.ts'
import type {
  Inferred,
  Inferrer,
  InferOptions,
  ParsedBody,
  ReaderOptions,
  StreamFacts,
  StreamFormat,
} from '../../libraries/formats/format.ts'
import { FaultLog } from '../../libraries/formats/fault-log.ts'
import { ndjson } from '../../libraries/formats/json/format.ts'
import { LineFramer } from '../../libraries/formats/json/framing.ts'
import { ObjectReader } from '../../libraries/formats/json/objects.ts'
import { JsonRecordReader } from '../../libraries/formats/json/record.ts'
import { readJsonLogs } from './json.ts'
import { type LogSink, numberedColumns, type RowOptions } from './log-record.ts'
import { ExportBytes, LogRows } from './log-rows.ts'
import { readProtobufLogs } from './protobuf.ts'
import { otlpJsonFacts, otlpProtobufFacts } from './facts.ts'

type ReadLogs = (bytes: Uint8Array, sink: LogSink) => void

/** Rows are added while the export is walked over, when all of it is there. */
class LogsReader extends ObjectReader {
  readonly #read: ReadLogs
  readonly #export = new ExportBytes()
  /** Records that can be read and do not fit. */
  readonly #misfits = new FaultLog()
  #met = 0

  constructor(read: ReadLogs, options: ReaderOptions) {
    super(options, new LineFramer(), tablePlan(options), (own) => new JsonRecordReader(own))
    this.#read = read
  }

  override get fits(): boolean {
    return super.fits && this.#misfits.total === 0
  }

  override push(chunk: Uint8Array): void {
    this.#export.push(chunk)
  }

  override finish(): ParsedBody {
    const bytes = this.#export.all()
    this.columns.sentBytes = bytes.length
    this.#read(
      bytes,
      new LogRows(bytes.length, rowOptions(this.options, this.options.fields), (line) => this.#add(line)),
    )
    const { errors, total } = this.#misfits
    if (total === 0) return super.finish()
    if (this.options.leavesOutMisfits !== true) throw this.#misfits.toError(this.options.valueless !== undefined)
    return { ...super.finish(), misfits: { errors, total } }
  }

  override record(): void {
    // No bytes go through the feed.
  }

  #add(line: Uint8Array): boolean {
    if (this.attempt(line, 0) < 0) this.#misfits.addBare(this.#misfitOf(line))
    this.#met += 1
    return true
  }

  /** Why the line of a record does not fit; told of some. A record has a number here, and no line. */
  #misfitOf(line: Uint8Array): RecordError {
    const [first] = this.#misfits.errors
    if (first !== undefined && this.#misfits.errors.length < this.#misfits.total) return first
    const rows = ndjson.createReader(this.options)
    try {
      rows.push(line)
      rows.finish()
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      const { line: _line, byteOffset: _byteOffset, ...rest } = must(error.details.errors?.[0], 'a fault')
      return { ...rest, record: this.#met }
    }
    throw new TypeError('a record that does not fit has a fault')
  }
}

class LogsInferrer implements Inferrer {
  readonly #read: ReadLogs
  readonly #export = new ExportBytes()
  readonly #options: InferOptions

  constructor(read: ReadLogs, options: InferOptions) {
    this.#read = read
    // The sender says which numbers are integers.
    this.#options = { ...inNanoseconds(options), integers: options.integers ?? 'int64' }
  }

  push(chunk: Uint8Array): boolean {
    this.#export.push(chunk)
    return true
  }

  finish(): Inferred {
    const rows = ndjson.createInferrer(this.#options)
    const bytes = this.#export.all()
    this.#read(
      bytes,
      new LogRows(bytes.length, rowOptions(this.#options, this.#options.known ?? []), (line) => rows.push(line)),
    )
    return rows.finish()
  }
}

function rowOptions({ vocabulary, flatten }: InferOptions | ReaderOptions, columns: readonly Field[]): RowOptions {
  const numbered = numberedColumns(columns.map(({ name }) => name))
  return { eventTimeColumn: vocabulary.eventTimeColumn, flatten: flatten === true, numbered }
}

function inNanoseconds<T extends InferOptions | ReaderOptions>(options: T): T {
  return { ...options, eventTimeUnit: 'ns' }
}

function logsFormat(read: ReadLogs, facts: StreamFacts): StreamFormat {
  return {
    ...facts,
    module: import.meta.url,
    createReader: (options) => new LogsReader(read, inNanoseconds(options)),
    createInferrer: (options) => new LogsInferrer(read, options),
  }
}

export const otlpJson: StreamFormat = logsFormat(readJsonLogs, otlpJsonFacts)
export const otlpProtobuf: StreamFormat = logsFormat(readProtobufLogs, otlpProtobufFacts)
