// Which columns of an Arrow schema hold durations. Parquet has no such type: writers leave integers without a unit, and
// say what they were only in the Arrow schema that they put beside.
// Source: Apache Arrow format/Schema.fbs and format/Message.fbs.

import { FlatBufferReader, type TableCursor } from '../odf/flatbuffer-reader.ts'
import { decodeIpcMessage } from './ipc-schema.ts'

const durationType = 18

/** The first column, at any depth, that is a duration, in the schema message `bytes`. Throws DecodeError. */
export function firstDuration(bytes: Uint8Array): string | undefined {
  // The mark and the length before a message, which some writers left out.
  const isFramed = bytes.length >= 8 && bytes.subarray(0, 4).every((byte) => byte === 255)
  const reader = new FlatBufferReader(isFramed ? bytes.subarray(8) : bytes, 'Arrow schema')
  return amongFields(reader, decodeIpcMessage(reader).header, 1)
}

/** The fields stand in `slot` of a schema (1) or of a field (5). */
function amongFields(reader: FlatBufferReader, table: TableCursor, slot: number): string | undefined {
  const at = reader.offset(table, slot)
  if (at === 0) return undefined
  for (const position of reader.offsetVector(at)) {
    const field = reader.table(table, position)
    if (reader.u8Field(field, 2) === durationType) {
      const nameAt = reader.offset(field, 0)
      return nameAt === 0 ? '' : reader.string(nameAt)
    }
    const inside = amongFields(reader, field, 5)
    if (inside !== undefined) return inside
  }
  return undefined
}
