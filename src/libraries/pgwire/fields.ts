// What the formats of the protocol share: fields with their lengths, and rows gathered into pieces.

import { must } from '../base/assert.ts'
import type { ByteBuffer } from '../base/byte-buffer.ts'
import { NodeError } from '../base/errors.ts'
import { isPresent } from '../columnar/arrow/columns.ts'
import type { FileColumn } from '../columnar/outputs/file-format.ts'
import type { Column, RecordBatch } from '../model/schema.ts'
import { binaryWriter } from './binary-values.ts'
import { putInt32, setInt32 } from './integers.ts'
import { textWriter, type ValueWriter } from './text-values.ts'

export const startBytes = 64 * 1024
/** A piece ends with the row that reaches so many bytes. */
const pieceBytes = 256 * 1024
const mostColumns = 2 ** 15 - 1

/** What every format of the protocol is: nobody asks for it by a media type. */
export const pgFacts = {
  kind: 'file',
  spellings: [],
  mediaTypes: [],
  extension: '',
  hasSystemColumns: true,
  choices: [],
  hasLists: false,
} as const

/** Throws NodeError `InvalidRequest` for more columns than a message can count. */
export function checkCount({ length }: readonly FileColumn[]): void {
  if (length <= mostColumns) return
  throw new NodeError(
    'InvalidRequest',
    `A row of PostgreSQL's protocol has at most ${mostColumns} columns, not ${length}.`,
  )
}

/** Writers of the values of each column, nulls included, each with its length before it. */
export function fieldWriters(
  batch: RecordBatch,
  columns: readonly FileColumn[],
  isBinary: readonly boolean[],
  out: ByteBuffer,
): readonly ValueWriter[] {
  return columns.map((facts, at) => {
    const column = must(batch.columns[at], 'a column of the batch')
    const write = isBinary[at] === true ? binaryWriter(column, facts, out) : textWriter(column, facts, out)
    return fieldWriter(column, write, out)
  })
}

function fieldWriter(column: Column, write: ValueWriter, out: ByteBuffer): ValueWriter {
  const hasNulls = column.nullCount > 0
  return (row) => {
    if (hasNulls && !isPresent(column, row)) return putInt32(out, -1)
    out.reserve(4)
    out.at += 4
    const start = out.at
    write(row)
    setInt32(out.bytes, start - 4, out.at - start)
  }
}

/** The rows of a batch by `writeRow`; `take` takes what was written out of `out`. */
export function* piecesOf(
  batch: RecordBatch,
  out: ByteBuffer,
  writeRow: ValueWriter,
  take: () => Uint8Array,
): Generator<Uint8Array> {
  for (let row = 0; row < batch.rows; row++) {
    writeRow(row)
    if (out.at >= pieceBytes || row === batch.rows - 1) yield take()
  }
}
