// The event time of rows that came without one: a column of the time at which they were received.

import { must } from '../../base/assert.ts'
import type { Column, DataType, RecordBatch } from '../../model/schema.ts'
import { bitAt } from './buffers.ts'

const dayMs = 86_400_000

function fallbackValue(type: DataType, fallbackMs: number): bigint {
  if (type.kind !== 'Timestamp') return BigInt(Math.floor(fallbackMs / dayMs))
  const ms = BigInt(fallbackMs)
  switch (type.unit ?? 'Millisecond') {
    case 'Second':
      return BigInt(Math.floor(fallbackMs / 1000))
    case 'Millisecond':
      return ms
    case 'Microsecond':
      return ms * 1000n
    default:
      return ms * 1_000_000n
  }
}

/**
 * The batch with its first column (Timestamp or Date) made non-null: missing values become `fallbackMs`, milliseconds
 * since 1970 UTC (its day in a Date column), written into the values of `batch` unless none of them is there.
 */
export function fillEventTime(batch: RecordBatch, fallbackMs: number): RecordBatch {
  const [column, ...others] = batch.columns
  const { validity, ...given } = must(column, 'an event-time column')
  // Columns of nulls share their memory.
  const values = given.nullCount === batch.rows ? new Uint8Array(given.values.length) : given.values
  const whole = { ...given, values }
  const filled: Column = { ...whole, nullable: false, nullCount: 0 }
  if (validity === undefined) return { rows: batch.rows, columns: [filled, ...others] }
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  const isDate = whole.type.kind === 'Date'
  const value = fallbackValue(whole.type, fallbackMs)
  for (let row = 0; row < batch.rows; row++) {
    if (bitAt(validity, row)) continue
    if (isDate) view.setInt32(4 * row, Number(value), true)
    else view.setBigInt64(8 * row, value, true)
  }
  return { rows: batch.rows, columns: [filled, ...others] }
}
