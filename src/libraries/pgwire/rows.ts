// The rows of an answer as messages of PostgreSQL's protocol: one RowDescription, then a DataRow for each. A piece holds whole messages.
// Source: https://www.postgresql.org/docs/current/protocol-message-formats.html

import { ByteBuffer } from '../base/byte-buffer.ts'
import { utf8 } from '../base/bytes.ts'
import { NodeError } from '../base/errors.ts'
import type { FileColumn, FileFormat, FileTools, PostgresForm } from '../columnar/outputs/file-format.ts'
import type { RecordBatch } from '../model/schema.ts'
import { checkCount, type ColumnForm, fieldWriters, otherThanTold, pgFacts, piecesOf, startBytes } from './fields.ts'
import { putInt16, putInt32, setInt32 } from './integers.ts'
import type { ValueWriter } from './text-values.ts'
import { pgTypeOf, typeAs } from './types.ts'

/** `begin` throws NodeError `InvalidRequest` where forms are not one for all columns or one for each, or columns are too many. */
export const pgRows: FileFormat = {
  ...pgFacts,
  name: 'PgRows',
  module: import.meta.url,
  begin: (columns, options, { parameterTypes }) => {
    checkCount(columns)
    const forms = formsOf(columns, options.postgres ?? {})
    const out = new ByteBuffer(startBytes)
    if (parameterTypes !== undefined) describeParameters(out, parameterTypes)
    describeRow(out, columns, forms)
    return {
      rows: (batch) => piecesOf(batch, out, dataRows(batch, columns, forms, out), () => out.take()),
      end: () => (out.at === 0 ? [] : [out.take()]),
    }
  },
}

/** In which form each column is. */
function formsOf({ length }: readonly FileColumn[], { binaryColumns = [], told }: PostgresForm): readonly ColumnForm[] {
  if (told !== undefined && told.length !== length) throw otherThanTold()
  if (binaryColumns.length > 1 && binaryColumns.length !== length) {
    throw new NodeError(
      'InvalidRequest',
      `The answer has ${length} columns; forms are given of ${binaryColumns.length}.`,
      { hint: 'Give one form for all columns, or one for each.' },
    )
  }
  const isBinary = (at: number): boolean => binaryColumns[binaryColumns.length === 1 ? 0 : at] ?? false
  return Array.from({ length }, (_, at) => ({ isBinary: isBinary(at), told: told?.[at] }))
}

const unknownOid = 705

/** ParameterDescription: the types of `$1`, `$2` and so on. */
function describeParameters(out: ByteBuffer, parameters: NonNullable<FileTools['parameterTypes']>): void {
  const numbers = parameters.map(({ name }) => Number(name))
  const start = out.at
  out.byte(0x74)
  putInt32(out, 0)
  const count = Math.max(0, ...numbers)
  putInt16(out, count)
  for (let number = 1; number <= count; number++) {
    const column = parameters[numbers.indexOf(number)]?.column
    putInt32(out, column === undefined ? unknownOid : pgTypeOf(column).type.oid)
  }
  setInt32(out.bytes, start + 1, out.at - start - 1)
}

function describeRow(out: ByteBuffer, columns: readonly FileColumn[], forms: readonly ColumnForm[]): void {
  const start = out.at
  out.byte(0x54)
  putInt32(out, 0)
  putInt16(out, columns.length)
  for (const [at, column] of columns.entries()) {
    const form = forms[at]
    const { type, modifier } = typeAs(column, form?.told)
    out.raw(utf8(column.name))
    out.byte(0)
    // Of no table, and of none of its columns.
    putInt32(out, 0)
    putInt16(out, 0)
    putInt32(out, type.oid)
    putInt16(out, type.length)
    putInt32(out, modifier)
    putInt16(out, form?.isBinary === true ? 1 : 0)
  }
  setInt32(out.bytes, start + 1, out.at - start - 1)
}

function dataRows(
  batch: RecordBatch,
  columns: readonly FileColumn[],
  forms: readonly ColumnForm[],
  out: ByteBuffer,
): ValueWriter {
  const fields = fieldWriters(batch, columns, forms, out)
  return (row) => {
    const start = out.at
    out.byte(0x44)
    putInt32(out, 0)
    putInt16(out, fields.length)
    for (let at = 0; at < fields.length; at++) fields[at]?.(row)
    setInt32(out.bytes, start + 1, out.at - start - 1)
  }
}
