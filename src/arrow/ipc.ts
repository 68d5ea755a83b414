// Arrow IPC streams, the payload of log messages: schema message, record batches, end mark. Equal input gives equal
// bytes. The reader checks everything before it hands out a column and shares the input's buffers.
// Source: Apache Arrow columnar format, "IPC streaming format"; metadata version V5, buffers aligned to 8 bytes.

import { assert, must } from '../lib/assert.ts'
import { concatBytes } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import type { Column, RecordBatch } from '../model/record-batch.ts'
import { type Field, innerType } from '../model/schema.ts'
import { FlatBufferReader, type TableCursor } from '../odf/flatbuffer-reader.ts'
import { usedBytes } from './columns.ts'
import { type BatchLayout, ColumnCutter } from './ipc-body.ts'
import { decodeMessage, decodeSchema, encodeSchemaMetadata, messageHeaders, metadataV5 } from './ipc-schema.ts'

const what = 'Arrow stream'
const continuation = 0xffffffff
const endMarkBytes = 8
const maxRows = 2 ** 31 - 1

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
  return schemaMessage(fields)
}

/** The message of one batch. */
export function arrowBatchMessage(fields: readonly Field[], batch: RecordBatch): Uint8Array {
  const plan = planBatch(fields, batch)
  const out = new Uint8Array(plan.bytes)
  writeBatch(out, new DataView(out.buffer), 0, plan)
  return out
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

/** Bytes without which the reader cannot go on, and what their absence means at the end of the stream. */
interface Missing {
  readonly bytes: number
  readonly reason: string
  /** Offset in the stream. */
  readonly at: number
}

/**
 * Reads a stream whose bytes arrive in parts, cut anywhere: never more is held than one message. Batches share memory
 * with the parts that they lie in, which must not change afterwards. Both methods throw DecodeError, whatever the cuts,
 * when anything is amiss: bounds, offsets, UTF-8, null counts, nulls in required columns, types that no column can hold,
 * compression, dictionaries, a missing end mark.
 */
export class ArrowStreamReader {
  #fields: readonly Field[] | undefined
  /** Parts that hold no whole message yet. */
  #held: Uint8Array[] = []
  #heldBytes = 0
  /** Offset in the stream of the first byte held. */
  #at = 0
  #missing: Missing | undefined = { bytes: 8, reason: 'ends without an end mark', at: 0 }

  /** The batches that end in these bytes. */
  push(bytes: Uint8Array): RecordBatch[] {
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    const batches: RecordBatch[] = []
    if (this.#missing !== undefined && this.#heldBytes < this.#missing.bytes) return batches
    const held = this.#held.length === 1 ? bytes : concatBytes(this.#held)
    let from = 0
    while (this.#missing !== undefined) {
      const message = this.#next(held, from)
      if ('reason' in message) {
        this.#missing = message
        break
      }
      from = message.end
      if (message.batch !== undefined) batches.push(message.batch)
    }
    if (this.#missing === undefined && from < held.length) return fail('goes on after its end mark', this.#at + from)
    this.#held = from < held.length ? [held.subarray(from)] : []
    this.#heldBytes = held.length - from
    this.#at += from
    return batches
  }

  /** The columns of a stream that has come to its end. */
  end(): readonly Field[] {
    if (this.#missing !== undefined) return fail(this.#missing.reason, this.#missing.at)
    return this.#fields ?? fail('has no schema', 0)
  }

  /** Reads the message at `from`, where all of it is there. */
  #next(held: Uint8Array, from: number): Missing | { readonly end: number; readonly batch: RecordBatch | undefined } {
    const at = this.#at + from
    const there = held.length - from
    if (there < 8) return { bytes: 8, reason: 'ends without an end mark', at }
    const view = new DataView(held.buffer, held.byteOffset + from, 8)
    if (view.getUint32(0, true) !== continuation) return fail('a message does not begin with its mark', at)
    const metadataBytes = view.getUint32(4, true)
    const body = 8 + metadataBytes
    if (metadataBytes === 0) {
      this.#missing = undefined
      return { end: from + 8, batch: undefined }
    }
    if (there < body) return { bytes: body, reason: 'ends inside a message', at: at + 8 }
    const metadata = held.subarray(from + 8, from + body)
    const reader = new FlatBufferReader(metadata, what)
    const { member, header, bodyBytes } = decodeMessage(reader)
    if (there - body < bodyBytes) return { bytes: body + bodyBytes, reason: 'ends inside a body', at: at + body }
    const end = from + body + bodyBytes
    if (this.#fields === undefined) {
      if (member !== messageHeaders.schema) return fail('does not begin with a schema', 0)
      this.#fields = decodeSchema(reader, header)
      return { end, batch: undefined }
    }
    if (member !== messageHeaders.recordBatch)
      return fail(`a message of kind ${member} is not understood`, this.#at + end)
    return { end, batch: decodeBatch(this.#fields, { metadata, reader, header }, held.subarray(from + body, end)) }
  }
}

interface BatchMessage {
  readonly metadata: Uint8Array
  readonly reader: FlatBufferReader
  readonly header: TableCursor
}

function decodeBatch(fields: readonly Field[], message: BatchMessage, body: Uint8Array): RecordBatch {
  const { reader, header } = message
  const lengthAt = reader.field(header, 0, 8, 8)
  const rows = lengthAt === 0 ? 0 : reader.u64(lengthAt)
  if (typeof rows === 'bigint' || rows > maxRows) return fail('a record batch has impossibly many rows')
  if (reader.field(header, 3, 4, 4) !== 0) return fail('a record batch is compressed')
  const layout: BatchLayout = { nodes: longPairs(message, 1), buffers: longPairs(message, 2) }
  const cutter = new ColumnCutter(body, layout)
  const columns = fields.map((field) => cutter.next(field, rows))
  cutter.end()
  return { rows, columns }
}

/** The vector of two-long structs in `slot` of the header, flat. */
function longPairs({ metadata, reader, header }: BatchMessage, slot: number): number[] {
  const at = reader.field(header, slot, 4, 4)
  if (at === 0) return []
  const start = at + reader.u32(at)
  if (start + 4 > metadata.length) return fail('a vector lies outside of its message')
  const count = reader.u32(start)
  if (start + 4 + 16 * count > metadata.length) return fail('a vector lies outside of its message')
  const out: number[] = []
  for (let i = 0; i < 2 * count; i++) {
    const value = reader.u64(start + 4 + 8 * i)
    if (typeof value === 'bigint') return fail('a length is negative or impossibly large')
    out.push(value)
  }
  return out
}

function fail(reason: string, offset?: number): never {
  throw new DecodeError(what, reason, offset)
}
