// The rows of an export of OpenTelemetry logs, one line of JSON each, bounded before they are made: what a resource and a
// scope say stands in every row of theirs, so a short body may stand for very many bytes
// (docs/decisions/senders.md#opentelemetry-logs).

import { concatBytes, copyBytes, utf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { JsonObject } from '../../libraries/base/json/value.ts'
import { type LogRecord, type LogSink, recordText, type RowOptions, sharedText } from './log-record.ts'

/** Programs send some hundred records at once. */
const mostBytes = 16 * 1024 * 1024
/** Rows of a small body may take so many bytes, those of others so many times theirs, and never more than the last. */
const leastRowBytes = 16 * 1024 * 1024
const rowBytesRatio = 16
const mostRowBytes = 64 * 1024 * 1024
/** Counted for each row beside its text. */
const bytesOfRow = 128

/** The chunks of an export until it is complete. */
export class ExportBytes {
  readonly #chunks: Uint8Array[] = []
  #bytes = 0

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

  all(): Uint8Array {
    return concatBytes(this.#chunks)
  }
}

/** Makes a line of each record and hands it to `take`, which says false when it wants no more. */
export class LogRows implements LogSink {
  readonly #options: RowOptions
  readonly #take: (line: Uint8Array) => boolean
  readonly #most: number
  #counted = 0
  /** The resource whose text is at hand: it has many scopes. */
  #resource: JsonObject | undefined
  #resourceText = ''
  /** The end of each line, as long as resource and scope stay. */
  #shared: Uint8Array = new Uint8Array()

  /** Of an export of so many bytes. */
  constructor(bytes: number, options: RowOptions, take: (line: Uint8Array) => boolean) {
    this.#options = options
    this.#take = take
    this.#most = Math.min(mostRowBytes, leastRowBytes + rowBytesRatio * bytes)
  }

  /** Throws NodeError `BodyTooLarge` before the rows are made. */
  begin(resource: JsonObject, scope: JsonObject, records: number): void {
    if (resource !== this.#resource) this.#resourceText = sharedText('resource', resource, this.#options)
    this.#resource = resource
    const texts = [this.#resourceText, sharedText('scope', scope, this.#options)].filter((text) => text !== '')
    this.#shared = utf8(`${texts.join(',')}}\n`)
    this.#count(records * (this.#shared.length + bytesOfRow))
  }

  record(record: LogRecord): boolean {
    const own = recordText(record, this.#options)
    const comma = own === '' || this.#shared.length === 2 ? '' : ','
    const start = utf8(`{${own}${comma}`)
    this.#count(start.length)
    return this.#take(concatBytes([start, this.#shared]))
  }

  #count(bytes: number): void {
    this.#counted += bytes
    if (this.#counted <= this.#most) return
    throw new NodeError('BodyTooLarge', `The rows of the export take more than ${this.#most} bytes.`, {
      hint: 'Each row has what its resource and scope say. Let the sender make smaller batches, or say less of its resource.',
      limit: { name: 'otlpRowBytes', value: this.#most, unit: 'bytes' },
    })
  }
}
