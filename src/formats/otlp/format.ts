// OpenTelemetry logs as formats of ingest: an export is a body, a log record a row. Its two forms become lines of NDJSON
// when the body is complete, and are read as such (docs/decisions/otlp.md).

import { concatBytes, copyBytes, utf8 } from '../../lib/bytes.ts'
import { NodeError } from '../../model/errors.ts'
import type { RecordBatch } from '../../model/schema.ts'
import type {
  Inferred,
  Inferrer,
  InferOptions,
  ParsedBody,
  ReaderOptions,
  RecordReader,
  StreamFormat,
} from '../format.ts'
import { ndjson } from '../json/format.ts'
import { readJsonLogs } from './json.ts'
import { type LogRecord, type LogSource, rowText } from './log-record.ts'
import { readProtobufLogs } from './protobuf.ts'

type ReadLogs = (bytes: Uint8Array, take: (record: LogRecord, source: LogSource) => void) => void

/** Programs send some hundred records at once. */
const mostBytes = 16 * 1024 * 1024

/** The chunks of a body until it is complete, and its rows. */
class Export {
  readonly #read: ReadLogs
  readonly #chunks: Uint8Array[] = []
  #bytes = 0

  constructor(read: ReadLogs) {
    this.#read = read
  }

  /** Throws NodeError `BodyTooLarge`. */
  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > mostBytes) {
      throw new NodeError('BodyTooLarge', `An export of logs has at most ${mostBytes} bytes.`, {
        hint: 'Let the sender make smaller batches.',
        limit: { name: 'otlpBytes', value: mostBytes, unit: 'bytes' },
      })
    }
    this.#chunks.push(copyBytes(chunk))
  }

  /** NDJSON. Throws NodeError `MalformedBody`. */
  lines({ vocabulary }: Pick<ReaderOptions, 'vocabulary'>): Uint8Array {
    const lines: string[] = []
    this.#read(concatBytes(this.#chunks), (record, source) => {
      lines.push(rowText(record, source, vocabulary.eventTimeColumn))
    })
    return utf8(lines.join(''))
  }
}

class LogsReader implements RecordReader {
  readonly fits = false
  readonly #export: Export
  readonly #options: ReaderOptions
  readonly #rows: RecordReader

  constructor(read: ReadLogs, options: ReaderOptions) {
    this.#export = new Export(read)
    this.#options = inNanoseconds(options)
    this.#rows = ndjson.createReader(this.#options)
  }

  push(chunk: Uint8Array): void {
    this.#export.push(chunk)
  }

  take(): readonly RecordBatch[] {
    return this.#rows.take()
  }

  finish(): ParsedBody {
    const lines = this.#export.lines(this.#options)
    try {
      this.#rows.push(lines)
      return this.#rows.finish()
    } catch (error) {
      throw withoutLines(error)
    }
  }
}

class LogsInferrer implements Inferrer {
  readonly #export: Export
  readonly #options: InferOptions

  constructor(read: ReadLogs, options: InferOptions) {
    this.#export = new Export(read)
    // The sender says which numbers are integers.
    this.#options = { ...inNanoseconds(options), integers: options.integers ?? 'int64' }
  }

  push(chunk: Uint8Array): boolean {
    this.#export.push(chunk)
    return true
  }

  finish(): Inferred {
    const rows = ndjson.createInferrer(this.#options)
    rows.push(this.#export.lines(this.#options))
    return rows.finish()
  }
}

function inNanoseconds<T extends InferOptions | ReaderOptions>(options: T): T {
  return { ...options, eventTimeUnit: 'ns' }
}

/** A record has a number here, and no line. */
function withoutLines(error: unknown): unknown {
  if (!(error instanceof NodeError) || error.details.errors === undefined) return error
  const errors = error.details.errors.map(({ line: _line, byteOffset: _byteOffset, ...rest }) => rest)
  return new NodeError(error.kind, error.message, { ...error.details, errors })
}

function logsFormat(
  read: ReadLogs,
  names: Pick<StreamFormat, 'name' | 'title' | 'mediaTypes' | 'extensions' | 'about' | 'example'>,
): StreamFormat {
  return {
    kind: 'stream',
    module: import.meta.url,
    ...names,
    isLines: false,
    nesting: 'objects',
    hasOwnTime: true,
    createReader: (options) => new LogsReader(read, options),
    createInferrer: (options) => new LogsInferrer(read, options),
  }
}

export const otlpJson: StreamFormat = logsFormat(readJsonLogs, {
  name: 'otlp-json',
  title: 'OpenTelemetry logs in JSON',
  mediaTypes: ['application/x-otlp-logs+json'],
  extensions: [],
  about: 'an export of logs; a row a log record',
  example:
    '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pump"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1769860800000000000","severityText":"WARN","body":{"stringValue":"dry"}}]}]}]}',
})

export const otlpProtobuf: StreamFormat = logsFormat(readProtobufLogs, {
  name: 'otlp-protobuf',
  title: 'OpenTelemetry logs in protobuf',
  mediaTypes: ['application/x-otlp-logs+protobuf'],
  extensions: [],
  about: 'an export of logs; a row a log record',
  example: '',
})
