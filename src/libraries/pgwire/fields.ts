// What the formats of the protocol share: fields with their lengths, and rows gathered into pieces.

import { must } from '../base/assert.ts'
import type { ByteBuffer } from '../base/byte-buffer.ts'
import { NodeError } from '../base/errors.ts'
import { isPresent } from '../columnar/arrow/columns.ts'
import type { FileColumn } from '../columnar/outputs/file-format.ts'
import type { Column, RecordBatch } from '../model/schema.ts'
import { binaryWriter } from './binary-values.ts'
import { putInt16, putInt32, putInt64, setInt32 } from './integers.ts'
import { countsOf, textWriter, type ValueWriter } from './text-values.ts'
import { pgTypeOf, typeAs } from './types.ts'

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

/** How a column is written: as its client reads it. */
export interface ColumnForm {
  readonly isBinary: boolean
  /** The oid of the type that the client was told; undefined: that of the answer. */
  readonly told: number | undefined
}

/** PostgreSQL's error for rows that are not those that were told. */
export function otherThanTold(): NodeError {
  return new NodeError('QueryNotAllowed', 'cached plan must not change result type', {
    hint: 'Prepare the statement again, or cast its parameters and columns.',
  })
}

/** Writers of the values of each column, nulls included, each with its length before it. */
export function fieldWriters(
  batch: RecordBatch,
  columns: readonly FileColumn[],
  forms: readonly ColumnForm[],
  out: ByteBuffer,
): readonly ValueWriter[] {
  return columns.map((facts, at) => {
    const column = must(batch.columns[at], 'a column of the batch')
    return fieldWriter(column, valueWriter(column, facts, must(forms[at], 'a form of the column'), out), out)
  })
}

function valueWriter(column: Column, facts: FileColumn, { isBinary, told }: ColumnForm, out: ByteBuffer): ValueWriter {
  const { type } = pgTypeOf(facts)
  const wanted = typeAs(facts, told).type
  if (!isBinary || wanted.name === 'text') return textWriter(column, facts, out)
  if (wanted === type) return binaryWriter(column, facts, out)
  const areIntegers = [wanted, type].every(({ name }) => /^int[248]$/.test(name))
  const put = { 2: putInt16, 4: putInt32, 8: putInt64 }[wanted.length]
  const count = areIntegers ? countsOf(column) : (): undefined => undefined
  const end = 2 ** (8 * wanted.length - 1)
  return (row) => {
    const value = count(row)
    if (put === undefined || value === undefined || value >= end || value < -end) throw otherThanTold()
    put(out, value)
  }
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
