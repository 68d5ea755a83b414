// Slices and Arrow streams read whole, and text appended to columns: what tests do at once and nodes do in steps.

import { zstdDecompressSync } from 'node:zlib'
import type { ColumnBuilder } from '../../src/libraries/columnar/arrow/column-builder.ts'
import { concatBatches } from '../../src/libraries/columnar/arrow/columns.ts'
import { nullColumn } from '../../src/libraries/columnar/arrow/null-column.ts'
import { ArrowStreamReader } from '../../src/libraries/columnar/arrow/ipc-reader.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import type { Field, RecordBatch } from '../../src/libraries/model/schema.ts'
import { openSlice } from '../../src/libraries/columnar/parquet/read-slice.ts'

export const decompress = (bytes: Uint8Array): Uint8Array => new Uint8Array(zstdDecompressSync(bytes))

/** All rows of a slice as one batch. */
export async function readSlice(bytes: Uint8Array): Promise<RecordBatch> {
  const { fields, batches } = openSlice(bytes, { decompress })
  const parts: RecordBatch[] = []
  for await (const batch of batches) parts.push(batch)
  return oneBatch(fields, parts)
}

/** The schema and the record batches of a whole IPC stream. */
export function decodeArrowBatches(bytes: Uint8Array): { fields: readonly Field[]; batches: RecordBatch[] } {
  const reader = new ArrowStreamReader()
  const batches = reader.push(bytes)
  return { fields: reader.end(), batches }
}

/** The rows of a whole IPC stream as one batch. */
export function decodeArrowStream(bytes: Uint8Array): RecordBatch {
  const { fields, batches } = decodeArrowBatches(bytes)
  return oneBatch(fields, batches)
}

function oneBatch(fields: readonly Field[], batches: readonly RecordBatch[]): RecordBatch {
  return batches.length > 0 ? concatBatches(batches) : { rows: 0, columns: fields.map((field) => nullColumn(field, 0)) }
}

export function appendText(builder: ColumnBuilder, text: string): void {
  const bytes = utf8(text)
  builder.appendBytes(bytes, 0, bytes.length)
}
