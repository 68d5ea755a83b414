// Writes a materialised result as the JSON of an answer's `data`, chunk by chunk, and counts its bytes while it does.
// Only materialised results come here: the binding ends a streaming one silently when the query fails.

import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api'
import { compareCodePoints } from '../json/canonical.ts'
import { must } from '../lib/assert.ts'
import { utf8 } from '../lib/bytes.ts'
import { NodeError } from '../model/errors.ts'
import { type CellWriter, cellWriter } from './duckdb-cells.ts'
import type { PlainJob } from './messages.ts'
import { stringToken } from './value-text.ts'

export interface Rendered {
  /** JSON text in order. */
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
  readonly rows: number
  readonly truncated: boolean
}

export interface RenderOptions {
  /** Output names of the caller's own statement. */
  readonly names: readonly string[]
  readonly dataFormat: PlainJob['dataFormat']
  readonly keyOrder: PlainJob['keyOrder']
  readonly ascii: boolean
  /** Rows to write; one more row in the result means that it is truncated. */
  readonly limit: number
  readonly resultBytes: number
}

interface OutputColumn {
  readonly index: number
  /** `"name":` */
  readonly key: string
  readonly name: string
  readonly write: CellWriter
}

/** Throws NodeError `ResultTooLarge`, `QueryNotAllowed` (a type without JSON form), `SqlValue`. */
export async function renderResult(result: DuckDBResult, options: RenderOptions): Promise<Rendered> {
  const columns = outputColumns(result, options)
  const sink = new ByteCounter(options.resultBytes)
  const write = options.dataFormat === 'JsonSoa' ? writeColumns : writeRows
  const rows = await write({ result, columns, options, sink })
  return {
    pieces: sink.pieces,
    bytes: sink.bytes,
    rows: Math.min(rows, options.limit),
    truncated: rows > options.limit,
  }
}

interface Work {
  readonly result: DuckDBResult
  readonly columns: readonly OutputColumn[]
  readonly options: RenderOptions
  readonly sink: ByteCounter
}

function outputColumns(result: DuckDBResult, options: RenderOptions): OutputColumn[] {
  const form = { structsAsArrays: options.dataFormat === 'JsonAoa', ascii: options.ascii }
  const columns = result.columnTypes().map((type, index) => {
    const name = options.names[index] ?? ''
    return { index, name, key: `${stringToken(name, options.ascii)}:`, write: cellWriter(type, form, name) }
  })
  const keyed = options.dataFormat !== 'JsonAoa'
  return keyed && options.keyOrder === 'canonical' ? columns.sort((a, b) => compareCodePoints(a.name, b.name)) : columns
}

/** Rows as objects or arrays. Returns the number of rows in the result. */
async function writeRows({ result, columns, options, sink }: Work): Promise<number> {
  const keys = options.dataFormat === 'JsonAos' ? columns.map((column) => column.key) : columns.map(() => '')
  const [open, close] = options.dataFormat === 'JsonAos' ? ['{', '}'] : ['[', ']']
  let rows = 0
  sink.write('[')
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) break
    const wanted = Math.min(chunk.rowCount, options.limit - rows)
    const cells = columns.map((column) => cellsOf(chunk, column, wanted))
    let out = ''
    for (let row = 0; row < wanted; row++) {
      out += rows + row === 0 ? open : `,${open}`
      for (let column = 0; column < cells.length; column++) {
        out += (column === 0 ? '' : ',') + (keys[column] ?? '') + (cells[column]?.[row] ?? '')
      }
      out += close
    }
    sink.write(out)
    rows += chunk.rowCount
  }
  sink.write(']')
  return rows
}

/** One array per column; `{}` without rows. Returns the number of rows in the result. */
async function writeColumns({ result, columns, options, sink }: Work): Promise<number> {
  const parts: string[][] = columns.map(() => [])
  let rows = 0
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) break
    const wanted = Math.min(chunk.rowCount, options.limit - rows)
    for (const [at, column] of columns.entries()) {
      const text = cellsOf(chunk, column, wanted).join(',')
      sink.reserve(text.length)
      if (wanted > 0) must(parts[at], 'one list per column').push(text)
    }
    rows += chunk.rowCount
  }
  const body =
    Math.min(rows, options.limit) === 0 ? [] : columns.map(({ key }, at) => `${key}[${parts[at]?.join(',') ?? ''}]`)
  sink.write('{')
  for (const [at, text] of body.entries()) sink.write(at === 0 ? text : `,${text}`)
  sink.write('}')
  return rows
}

/** Tokens of the first `rows` cells of a column. */
function cellsOf(chunk: DuckDBDataChunk, column: OutputColumn, rows: number): string[] {
  const vector = chunk.getColumnVector(column.index)
  const { write } = column
  const cells: string[] = []
  for (let row = 0; row < rows; row++) cells.push(write(vector.getItem(row)))
  return cells
}

/** Collects text as UTF-8 up to a bound. */
class ByteCounter {
  readonly pieces: Uint8Array[] = []
  bytes = 0
  readonly #most: number
  #reserved = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Counts text that is not written yet, so that the bound holds before memory is full. */
  reserve(characters: number): void {
    this.#reserved += characters
    this.#check(this.#reserved)
  }

  write(text: string): void {
    this.#check(this.bytes + text.length)
    const piece = utf8(text)
    this.bytes += piece.length
    this.#check(this.bytes)
    this.pieces.push(piece)
  }

  #check(bytes: number): void {
    if (bytes <= this.#most) return
    throw new NodeError('ResultTooLarge', `The answer is larger than ${this.#most} bytes.`, {
      hint: 'Ask for fewer rows with "limit", or for fewer columns.',
      limit: { name: 'resultBytes', value: this.#most, unit: 'bytes' },
    })
  }
}
