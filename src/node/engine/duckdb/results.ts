// From a result of the engine to an answer: its rows as text in an output format (libraries/columnar/outputs/layouts.ts), chunk by chunk,
// counted while they are found: the engine makes no more of them than are read. The binding ends a streaming result silently when
// the query fails; what tells the two ends apart is that a result that failed is no streaming result any more.

import type * as duckdb from '@duckdb/node-api'
import { compareCodePoints } from '../../../libraries/base/json/canonical.ts'
import { must } from '../../../libraries/base/assert.ts'
import { nextTurn } from '../../../libraries/base/clock.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { jsonLayoutOf, type OutputRows, type OutputSink } from '../../../libraries/columnar/outputs/layouts.ts'
import { stringToken } from '../../../libraries/columnar/outputs/value-text.ts'
import { cellsOf } from './cells.ts'
import { chunksOf, rowGroups, rowSizes } from './groups.ts'
import type { PlainJob } from '../messages.ts'

export interface Rendered {
  /** JSON text in order. */
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
  readonly rows: number
  readonly truncated: boolean
}

export interface RenderOptions extends Pick<PlainJob, 'dataFormat' | 'keyOrder' | 'ascii' | 'isSigned'> {
  /** Output names of the caller's own statement. */
  readonly names: readonly string[]
  /** Rows to write; one more row in the result means that it is truncated. */
  readonly limit: number
  readonly resultBytes: number
}

/** Undefined where the query failed on its way. Throws NodeError `ResultTooLarge`, `QueryNotAllowed` (a type without JSON form), `SqlValue`. */
export async function renderResult(result: duckdb.DuckDBResult, options: RenderOptions): Promise<Rendered | undefined> {
  const { limit, ascii, isSigned = false } = options
  const layout = must(jsonLayoutOf(options.dataFormat), 'a job names a layout')
  const types = result.columnTypes()
  const columns = types.map((type, index) => {
    const name = options.names[index] ?? ''
    const form = { structsAsArrays: layout.structsAsArrays, ascii, isSigned }
    return { index, name, key: `${stringToken(name, ascii)}:`, cellsOf: cellsOf(type, form, name) }
  })
  if (layout.isKeyed && options.keyOrder === 'canonical') columns.sort((a, b) => compareCodePoints(a.name, b.name))
  const sink = new BoundedPieces(options.resultBytes)
  const keys = columns.map(({ key }) => key)
  const writer = layout.begin(sink, keys)
  const { isStreaming } = result
  let rows = 0
  for await (const chunk of chunksOf(result, false)) {
    const count = Math.max(0, Math.min(chunk.rowCount, limit - rows))
    const sizes = rowSizes(chunk, types, count)
    sink.check(sizes.reduce((sum, size) => sum + size, 0))
    for (const { from, to, within } of rowGroups(sizes)) {
      const cells: OutputRows['cells'] = (at, out) => {
        const column = must(columns[at], 'one key for each column')
        const write = column.cellsOf(chunk.getColumnVector(column.index), to, out, within)
        return from === 0 ? write : (row) => write(from + row)
      }
      writer.rows({ count: to - from, cells })
      // Between two groups, what this process is told is heard.
      if (to < count) await nextTurn()
    }
    rows += chunk.rowCount
  }
  if (result.isStreaming !== isStreaming) return undefined
  writer.end()
  return { pieces: sink.pieces, bytes: sink.bytes, rows: Math.min(rows, limit), truncated: rows > limit }
}

/** Collects bytes up to a bound. */
class BoundedPieces implements OutputSink {
  readonly pieces: Uint8Array[] = []
  bytes = 0
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  check(waitingBytes: number): void {
    if (this.bytes + waitingBytes <= this.#most) return
    throw new NodeError('ResultTooLarge', `The answer is larger than ${this.#most} bytes.`, {
      hint: 'Ask for fewer rows with "limit", or for fewer columns.',
      limit: { name: 'resultBytes', value: this.#most, unit: 'bytes' },
    })
  }

  write(piece: Uint8Array): void {
    this.check(piece.length)
    this.bytes += piece.length
    this.pieces.push(piece)
  }
}
