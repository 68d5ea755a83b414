// A Parquet file, by the writer of our slices: row groups of 131,072 rows, compressed with Zstandard.
// Source: https://github.com/apache/parquet-format

import { type Column, type DataType, innerType, optional, type RecordBatch } from '../../model/schema.ts'
import { SliceWriter } from '../../parquet/write-slice.ts'
import { NodeError } from '../../model/errors.ts'
import { type FileColumn, fieldsOf, type FileFormat, type FileWriter } from '../file-format.ts'

export const parquet: FileFormat = {
  kind: 'file',
  name: 'Parquet',
  spellings: ['parquet'],
  mediaTypes: ['application/vnd.apache.parquet', 'application/parquet'],
  extension: 'parquet',
  hasSystemColumns: true,
  choices: ['geometry'],
  hasLists: true,
  begin: (columns, _options, { compress }) => beginParquet(columns, compress),
}

function beginParquet(columns: readonly FileColumn[], compress: (bytes: Uint8Array) => Uint8Array): FileWriter {
  const stored = columns.map((column) => ({ ...column, type: parquetType(column.type) }))
  const writer = new SliceWriter({ fields: fieldsOf(stored), compress })
  return {
    *rows(batch) {
      const whole = inMilliseconds(batch, columns)
      for (const _ of writer.add(whole)) yield* writer.take()
      yield* writer.take()
    },
    *end() {
      const steps = writer.finish()
      for (;;) {
        const { done, value } = steps.next()
        if (done === true) return yield* value
        yield* writer.take()
      }
    },
  }
}

function holdsSeconds(type: DataType): boolean {
  if (type.kind === 'List') return holdsSeconds(innerType(type.itemType))
  return type.kind === 'Timestamp' && type.unit === 'Second'
}

/** Parquet has no timestamps in seconds. */
function parquetType(type: DataType): DataType {
  if (!holdsSeconds(type)) return type
  if (type.kind === 'List') return { ...type, itemType: optional(parquetType(innerType(type.itemType))) }
  return type.kind === 'Timestamp' ? { ...type, unit: 'Millisecond' } : type
}

function inMilliseconds(batch: RecordBatch, columns: readonly FileColumn[]): RecordBatch {
  if (!columns.some(({ type }) => holdsSeconds(type))) return batch
  return { rows: batch.rows, columns: batch.columns.map(columnInMilliseconds) }
}

function columnInMilliseconds(column: Column): Column {
  const type = parquetType(column.type)
  if (type === column.type) return column
  if (column.child !== undefined) return { ...column, type, child: columnInMilliseconds(column.child) }
  if (type.kind !== 'Timestamp') return column
  const { buffer, byteOffset } = column.values
  const seconds = new BigInt64Array(buffer, byteOffset, column.rows)
  const millis = seconds.map((second) => {
    const exact = second * 1000n
    if (BigInt.asIntN(64, exact) !== exact) throw beyondParquet(column.name)
    return exact
  })
  return { ...column, type, values: new Uint8Array(millis.buffer) }
}

function beyondParquet(column: string): NodeError {
  return new NodeError('SqlValue', `A timestamp of the column '${column}' has no place among Parquet's milliseconds.`, {
    hint: 'Cast the column to TIMESTAMP.',
  })
}
