// What the fold gets to know of a payload: columns and counts, never rows. Made by full validation of the bytes, so
// that every builder comes to the same summary.

import { decodeArrowBatches } from '../codec/arrow-ipc.ts'
import { DecodeError } from '../model/errors.ts'
import type { RecordBatch } from '../model/record-batch.ts'
import { type DataType, innerType } from '../model/schema.ts'

export interface PayloadColumn {
  readonly name: string
  /** Without Option. */
  readonly type: DataType
  readonly hasNulls: boolean
}

/** A pure function of the payload's bytes. */
export interface PayloadSummary {
  readonly columns: readonly PayloadColumn[]
  readonly rows: number
  /** Why the payload is unusable. */
  readonly fault?: string
}

/** Validates an Arrow stream in full and says what is in it. Never throws for bad bytes: `fault` says why. */
export function summarisePayload(payload: Uint8Array): PayloadSummary {
  try {
    const { fields, batches } = decodeArrowBatches(payload)
    let rows = 0
    for (const batch of batches) rows += batch.rows
    const columns = fields.map(({ name, type }, index) => ({
      name,
      type: innerType(type),
      hasNulls: nullsIn(batches, index),
    }))
    return { columns, rows }
  } catch (error) {
    if (error instanceof DecodeError) return { columns: [], rows: 0, fault: error.message }
    throw error
  }
}

function nullsIn(batches: readonly RecordBatch[], index: number): boolean {
  return batches.some((batch) => (batch.columns[index]?.nullCount ?? 0) > 0)
}
