// Writes Arrow IPC streams, the payload of log messages: schema message, record batches, end mark. Equal input gives
// equal bytes.
// Source: Apache Arrow columnar format, "IPC streaming format"; metadata version V5, buffers aligned to 8 bytes.

import { assert, must } from '../../base/assert.ts'
import { copyBytes } from '../../base/bytes.ts'
import { type Column, type Field, innerType, type RecordBatch } from '../../model/schema.ts'
import { batchBytes, sliceBatch, usedBytes } from './columns.ts'
import { encodeSchemaMetadata, messageHeaders, metadataV5 } from './ipc-schema.ts'

/** Begins each message, and is the end mark with a length of 0. */
export const continuation = 0xffffffff
const endMarkBytes = 8
const cutBytesLeast = 120 * 1024
/** Of a column in each message, which says some 100 bytes of it. */
const cutColumnBytes = 512

// Schema messages by the list of fields that they were made for.
const schemaMessages = new WeakMap<readonly Field[], Uint8Array>()

/**
 * An IPC stream of `batches`, whose columns have the types of `fields` in the same order. Deterministic. The schema
 * message is kept per `fields` array: hand in the same array for the same schema, and do not change it.
 */
export function encodeArrowStream(fields: readonly Field[], batches: readonly RecordBatch[]): Uint8Array {
  const schema = schemaMessage(fields)
  const plans = batches.map((batch) => planBatch(fields, batch))
  let length = schema.length + endMarkBytes
  for (const plan of plans) length += plan.bytes
  const out = new Uint8Array(length)
  const view = new DataView(out.buffer)
  out.set(schema)
  let at = schema.length
  for (const plan of plans) {
    writeBatch(out, view, at, plan)
    at += plan.bytes
  }
  view.setUint32(at, continuation, true)
  return out
}

/**
 * The first bytes of a stream: with one `arrowBatchMessage` for each batch and `arrowStreamEnd` it is what
 * `encodeArrowStream` makes, so that a large stream can be written without being held or encoded at once.
 */
export function arrowStreamStart(fields: readonly Field[]): Uint8Array {
  return copyBytes(schemaMessage(fields))
}

/** The message of one batch. */
export function arrowBatchMessage(fields: readonly Field[], batch: RecordBatch): Uint8Array {
  const plan = planBatch(fields, batch)
  const out = new Uint8Array(plan.bytes)
  writeBatch(out, new DataView(out.buffer), 0, plan)
  return out
}

/** Bytes of rows with so many columns that are cut into several messages. */
export function cutBytes(columns: number): number {
  return Math.max(cutBytesLeast, cutColumnBytes * columns)
}

/**
 * The messages of a batch that is cut, so that a part of the log holds several whole ones, where columns are not many: who
 * reads it joins nothing.
 */
export function arrowBatchMessages(fields: readonly Field[], batch: RecordBatch): Uint8Array[] {
  const rows = Math.ceil(batch.rows / Math.ceil(batchBytes(batch) / cutBytes(fields.length)))
  const messages: Uint8Array[] = []
  for (let at = 0; at < batch.rows; at += rows) {
    messages.push(arrowBatchMessage(fields, sliceBatch(batch, at, Math.min(at + rows, batch.rows))))
  }
  return messages
}

/** The last bytes of a stream. */
export function arrowStreamEnd(): Uint8Array {
  const end = new Uint8Array(endMarkBytes)
  new DataView(end.buffer).setUint32(0, continuation, true)
  return end
}

function schemaMessage(fields: readonly Field[]): Uint8Array {
  const known = schemaMessages.get(fields)
  if (known !== undefined) return known
  const metadata = encodeSchemaMetadata(fields)
  const padded = align8(metadata.length)
  const message = new Uint8Array(8 + padded)
  const view = new DataView(message.buffer)
  view.setUint32(0, continuation, true)
  view.setUint32(4, padded, true)
  message.set(metadata, 8)
  schemaMessages.set(fields, message)
  return message
}

/** What a record batch message will hold. `nodes`: rows and null count of each column, depth first. */
interface BatchPlan {
  readonly rows: number
  readonly nodes: number[]
  readonly buffers: Uint8Array[]
  readonly metadataBytes: number
  readonly bodyBytes: number
  readonly bytes: number
}

function planBatch(fields: readonly Field[], batch: RecordBatch): BatchPlan {
  assert(batch.columns.length === fields.length, 'a batch has a column for each field')
  const nodes: number[] = []
  const buffers: Uint8Array[] = []
  for (let i = 0; i < fields.length; i++) {
    const column = must(batch.columns[i], 'a column')
    assert(column.type.kind === innerType(must(fields[i], 'a field').type).kind, 'columns have the types of the fields')
    assert(column.rows === batch.rows, 'columns of a batch have equal length')
    collect(column, nodes, buffers)
  }
  let bodyBytes = 0
  for (const buffer of buffers) bodyBytes += align8(buffer.length)
  const metadataBytes = batchHeadBytes + 8 * nodes.length + 8 + 16 * buffers.length
  return { rows: batch.rows, nodes, buffers, metadataBytes, bodyBytes, bytes: 8 + metadataBytes + bodyBytes }
}

const noBuffer = new Uint8Array(0)

function collect(column: Column, nodes: number[], buffers: Uint8Array[]): void {
  const { rows, validity, offsets } = column
  nodes.push(rows, column.nullCount)
  buffers.push(column.nullCount === 0 || validity === undefined ? noBuffer : validity.subarray(0, (rows + 7) >> 3))
  if (offsets !== undefined) buffers.push(new Uint8Array(offsets.buffer, offsets.byteOffset, 4 * (rows + 1)))
  if (column.child !== undefined) collect(column.child, nodes, buffers)
  else buffers.push(column.values.subarray(0, usedBytes(column)))
}

// The FlatBuffer of a record batch message always has the same shape, so it is laid out here by hand:
//  0 offset of Message (16) · 4 vtable of Message · 16 Message: header, bodyLength, version, header type
// 36 vtable of RecordBatch · 52 RecordBatch: length, nodes, buffers · 76 count of nodes, then nodes of 16 bytes
// then 4 bytes of padding, count of buffers, buffers of 16 bytes.
const batchHeadBytes = 80
const batchHead = new DataView(new ArrayBuffer(batchHeadBytes))
batchHead.setUint32(0, 16, true)
for (const [i, entry] of [12, 20, 16, 18, 4, 8].entries()) batchHead.setUint16(4 + 2 * i, entry, true)
batchHead.setInt32(16, 16 - 4, true)
batchHead.setUint32(20, 52 - 20, true)
batchHead.setInt16(32, metadataV5, true)
batchHead.setUint8(34, messageHeaders.recordBatch)
for (const [i, entry] of [10, 20, 4, 12, 16].entries()) batchHead.setUint16(36 + 2 * i, entry, true)
batchHead.setInt32(52, 52 - 36, true)
batchHead.setUint32(64, 76 - 64, true)
const batchHeadTemplate = new Uint8Array(batchHead.buffer)

function writeBatch(out: Uint8Array, view: DataView, start: number, plan: BatchPlan): void {
  const { nodes, buffers } = plan
  view.setUint32(start, continuation, true)
  view.setUint32(start + 4, plan.metadataBytes, true)
  const head = start + 8
  out.set(batchHeadTemplate, head)
  setInt64(view, head + 24, plan.bodyBytes)
  setInt64(view, head + 56, plan.rows)
  view.setUint32(head + 76, nodes.length / 2, true)
  let at = head + batchHeadBytes
  for (const number of nodes) {
    setInt64(view, at, number)
    at += 8
  }
  view.setUint32(head + 68, at + 4 - (head + 68), true)
  view.setUint32(at + 4, buffers.length, true)
  at += 8
  const body = head + plan.metadataBytes
  let place = 0
  for (const buffer of buffers) {
    setInt64(view, at, place)
    setInt64(view, at + 8, buffer.length)
    at += 16
    out.set(buffer, body + place)
    place += align8(buffer.length)
  }
}

function setInt64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true)
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true)
}

function align8(length: number): number {
  return Math.ceil(length / 8) * 8
}
