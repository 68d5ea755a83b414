// An Arrow IPC stream: the types of the answer's schema, JSON text where a value holds others than plain ones in a list.
// Source: https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format

import { batchBytes, concatBatches } from '../../arrow/columns.ts'
import { arrowBatchMessage, arrowStreamEnd, arrowStreamStart } from '../../arrow/ipc.ts'
import type { RecordBatch } from '../../../model/schema.ts'
import { type FileColumn, fieldsOf, type FileFormat, type FileWriter } from '../file-format.ts'

/** A message has so many rows, or so many bytes, before readers spend their time on messages. */
const messageRows = 32_768
const messageBytes = 1024 * 1024

export const arrow: FileFormat = {
  kind: 'file',
  name: 'Arrow',
  spellings: ['arrow', 'ArrowStream', 'arrow-stream'],
  mediaTypes: ['application/vnd.apache.arrow.stream'],
  extension: 'arrows',
  hasSystemColumns: true,
  choices: [],
  hasLists: true,
  begin: (columns) => beginArrow(columns),
}

function beginArrow(columns: readonly FileColumn[]): FileWriter {
  const fields = fieldsOf(columns)
  let head: Uint8Array[] = [arrowStreamStart(fields)]
  let pending: RecordBatch[] = []
  let rows = 0
  let bytes = 0
  const flush = (): Uint8Array[] => {
    const out = head
    head = []
    if (rows > 0) out.push(arrowBatchMessage(fields, concatBatches(pending)))
    pending = []
    rows = 0
    bytes = 0
    return out
  }
  return {
    rows: (batch) => {
      pending.push(batch)
      rows += batch.rows
      bytes += batchBytes(batch)
      return rows >= messageRows || bytes >= messageBytes ? flush() : []
    },
    end: () => [...flush(), arrowStreamEnd()],
  }
}
