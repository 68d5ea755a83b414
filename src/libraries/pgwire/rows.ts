// The rows of an answer as messages of PostgreSQL's protocol: one RowDescription, then a DataRow for each. A piece holds whole messages.
// Source: https://www.postgresql.org/docs/current/protocol-message-formats.html

import { must } from '../base/assert.ts'
import { ByteBuffer } from '../base/byte-buffer.ts'
import { utf8 } from '../base/bytes.ts'
import { NodeError } from '../base/errors.ts'
import { isPresent } from '../columnar/arrow/columns.ts'
import type { FileColumn, FileFormat, FileOptions } from '../columnar/outputs/file-format.ts'
import type { Column, RecordBatch } from '../model/schema.ts'
import { binaryWriter } from './binary-values.ts'
import { putInt16, putInt32, setInt32 } from './integers.ts'
import { textWriter, type ValueWriter } from './text-values.ts'
import { pgTypeOf } from './types.ts'

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

/** `begin` throws NodeError `InvalidRequest` where forms are not one for all columns or one for each, or columns are too many. */
export const pgRows: FileFormat = {
  ...pgFacts,
  name: 'PgRows',
  begin: (columns, options) => {
    checkCount(columns)
    const isBinary = formsOf(columns, options)
    const out = new ByteBuffer(startBytes)
    describeRow(out, columns, isBinary)
    return {
      rows: (batch) => piecesOf(batch, out, dataRows(batch, columns, isBinary, out), () => out.take()),
      end: () => (out.at === 0 ? [] : [out.take()]),
    }
  },
}

/** Throws NodeError `InvalidRequest` for more columns than a message can count. */
export function checkCount({ length }: readonly FileColumn[]): void {
  if (length <= mostColumns) return
  throw new NodeError(
    'InvalidRequest',
    `A row of PostgreSQL's protocol has at most ${mostColumns} columns, not ${length}.`,
  )
}

/** Which columns are in binary form. */
function formsOf({ length }: readonly FileColumn[], { binaryColumns = [] }: FileOptions): readonly boolean[] {
  if (binaryColumns.length === length) return binaryColumns
  if (binaryColumns.length <= 1) return Array.from({ length }, () => binaryColumns[0] ?? false)
  throw new NodeError(
    'InvalidRequest',
    `The answer has ${length} columns; forms are given of ${binaryColumns.length}.`,
    {
      hint: 'Give one form for all columns, or one for each.',
    },
  )
}

function describeRow(out: ByteBuffer, columns: readonly FileColumn[], isBinary: readonly boolean[]): void {
  const start = out.at
  out.byte(0x54)
  putInt32(out, 0)
  putInt16(out, columns.length)
  for (const [at, column] of columns.entries()) {
    const { oid, size, modifier } = pgTypeOf(column)
    out.raw(utf8(column.name))
    out.byte(0)
    // Of no table, and of none of its columns.
    putInt32(out, 0)
    putInt16(out, 0)
    putInt32(out, oid)
    putInt16(out, size)
    putInt32(out, modifier)
    putInt16(out, isBinary[at] === true ? 1 : 0)
  }
  setInt32(out.bytes, start + 1, out.at - start - 1)
}

function dataRows(
  batch: RecordBatch,
  columns: readonly FileColumn[],
  isBinary: readonly boolean[],
  out: ByteBuffer,
): ValueWriter {
  const fields = fieldWriters(batch, columns, isBinary, out)
  return (row) => {
    const start = out.at
    out.byte(0x44)
    putInt32(out, 0)
    putInt16(out, fields.length)
    for (let at = 0; at < fields.length; at++) fields[at]?.(row)
    setInt32(out.bytes, start + 1, out.at - start - 1)
  }
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
