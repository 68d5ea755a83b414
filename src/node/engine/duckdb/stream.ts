// A result that leaves while it is found: chunk by chunk into columns, and by the writer of a file format into bytes. The
// engine works on the next chunk while this one is written. The binding ends a streaming result silently when the query
// fails; what tells the two ends apart is that a result that failed is no streaming result any more.

import { constants, zstdCompressSync } from 'node:zlib'
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult, DuckDBType } from '@duckdb/node-api'
import { assert, must } from '../../../libraries/base/assert.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import type { RecordBatch } from '../../../libraries/model/schema.ts'
import { sliceBatch } from '../../../libraries/columnar/arrow/columns.ts'
import type { FileColumn, FileFormat, FileTools, FileWriter } from '../../../libraries/columnar/outputs/file-format.ts'
import { fileFormatOf } from '../../../libraries/columnar/outputs/formats.ts'
import { resultColumn } from './columns.ts'
import { chunksOf, type RowGroup, rowGroups, rowSizes } from './groups.ts'
import type { ResultColumn } from './vectors.ts'
import type { StreamEnd, StreamJob } from '../messages.ts'

/** Where the bytes of a streamed answer go. */
export interface StreamSink {
  /** Bytes that have left this process, and can no more be taken back. */
  readonly sentBytes: number
  /** Resolves when there is room for more. Throws NodeError when nobody wants them any more. */
  write(bytes: Uint8Array): Promise<void>
}

type Wanted = Pick<StreamJob, 'format' | 'module' | 'options' | 'source' | 'limit' | 'isKept'>

export interface StreamOptions extends Wanted {
  /** Output names of the caller's own statement. */
  readonly names: readonly string[]
  readonly exportBytes: number
  /** Of one row. */
  readonly rowBytes: number
}

/** The format of this name: of the library, or of the module of a feature. */
async function loadFormat({ format: name, module }: Pick<Wanted, 'format' | 'module'>): Promise<FileFormat> {
  const exported: object = module === undefined ? {} : await import(module)
  const isWanted = (one: object): one is FileFormat => 'name' in one && one.name === name && 'begin' in one
  return must(fileFormatOf(name) ?? Object.values(exported).find(isWanted), 'a job names a file format')
}

/**
 * Runs `sql` and writes its rows as a file. Throws NodeError `ResultTooLarge`, `QueryNotAllowed` (a type that no answer can
 * hold), `InvalidParameter` (columns that the format cannot hold), `SqlValue`, and what the engine says.
 */
export async function streamResult(
  connection: DuckDBConnection,
  sql: string,
  sink: StreamSink,
  options: StreamOptions,
): Promise<StreamEnd> {
  const result = await connection.stream(sql)
  assert(result.isStreaming, 'a result that streams says so')
  const { names } = options
  const types = result.columnTypes()
  const form = await loadFormat(options)
  const columns = types.map((type, at) => resultColumn(names[at] ?? '', type, form))
  const { writer } = await beginWriter(
    columns.map((column) => column.facts),
    options,
  )
  const out = new BoundedSink(sink, options.exportBytes)
  const end = await writeRows(result, { ...options, types, columns, writer, out })
  if (!result.isStreaming) await failAgain(connection, sql, options.isKept === true ? 0 : sink.sentBytes)
  await out.all(writer.end())
  return end
}

/** Begins a file. Throws as `FileFormat.begin`. */
export async function beginWriter(
  columns: readonly FileColumn[],
  options: Pick<Wanted, 'format' | 'module' | 'options' | 'source'> & Pick<FileTools, 'parameterTypes'>,
): Promise<{ readonly writer: FileWriter }> {
  const format = await loadFormat(options)
  const { charset } = options.options
  const encode = charset && (await import('../../../libraries/formats/dialect/charset.ts')).encoderOf(charset)
  const { source, parameterTypes } = options
  const tools = { compress, ...(encode && { encode }), source, parameterTypes }
  return { writer: format.begin(columns, options.options, tools) }
}

/** What leaves at once is compressed fast; pages fit into one piece of output. */
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: 1024 * 1024 }

function compress(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, zstdOptions)
}

interface Rows extends Pick<StreamOptions, 'limit' | 'rowBytes'> {
  readonly types: readonly DuckDBType[]
  readonly columns: readonly ResultColumn[]
  readonly writer: FileWriter
  readonly out: BoundedSink
}

async function writeRows(
  result: DuckDBResult,
  { types, columns, writer, out, rowBytes, limit = Number.POSITIVE_INFINITY }: Rows,
): Promise<StreamEnd> {
  let rows = 0
  for await (const chunk of chunksOf(result, true)) {
    const wanted = Math.max(0, Math.min(chunk.rowCount, limit - rows))
    const sizes = rowSizes(chunk, types, wanted)
    if (sizes.some((size) => size > rowBytes)) throw rowTooLarge(rowBytes)
    for (const group of rowGroups(sizes)) await out.all(writer.rows(batchOf(chunk, columns, group)))
    rows += chunk.rowCount
  }
  return { rows: Math.min(rows, limit), truncated: rows > limit }
}

function batchOf(
  chunk: DuckDBDataChunk,
  columns: readonly ResultColumn[],
  { from, to, within }: RowGroup,
): RecordBatch {
  const all = columns.map(({ read }, at) => read(chunk.getColumnVector(at), to, within))
  return sliceBatch({ rows: to, columns: all }, from, to)
}

/**
 * Throws why a streaming result failed: nothing tells it but another run, which fails at the same row. Only where nothing
 * was shown: a cut answer has no place for a reason.
 */
async function failAgain(connection: DuckDBConnection, sql: string, shownBytes: number): Promise<never> {
  if (shownBytes === 0) await connection.run(sql)
  throw new NodeError('Internal', 'The query failed while its answer was being sent.', {
    cause: `the engine ended a result after ${shownBytes} bytes were sent`,
  })
}

/** Counts bytes up to a bound. */
class BoundedSink {
  readonly #sink: StreamSink
  readonly #most: number
  #bytes = 0

  constructor(sink: StreamSink, most: number) {
    this.#sink = sink
    this.#most = most
  }

  async all(pieces: Iterable<Uint8Array>): Promise<void> {
    for (const piece of pieces) {
      this.#bytes += piece.length
      if (this.#bytes > this.#most) throw tooLarge(this.#most)
      await this.#sink.write(piece)
    }
  }
}

function rowTooLarge(most: number): NodeError {
  return new NodeError('ResultTooLarge', `A row of the answer is larger than ${most} bytes.`, {
    hint: 'Ask for fewer columns, or for parts of their values.',
    limit: { name: 'resultBytes', value: most, unit: 'bytes' },
  })
}

function tooLarge(most: number): NodeError {
  return new NodeError('ResultTooLarge', `The answer is larger than ${most} bytes.`, {
    hint: 'Ask for a part of the rows with "where" or "limit", or for fewer columns.',
    limit: { name: 'exportBytes', value: most, unit: 'bytes' },
  })
}
