// Reads Arrow IPC streams, the payload of log messages, from untrusted bytes: everything is checked before a column is
// handed out. Buffers are shared with the input wherever alignment allows.
// Source: Apache Arrow columnar format, "IPC streaming format", and format/Message.fbs.

import { concatBytes, copyBytes, freeBytes } from '../../base/bytes.ts'
import { DecodeError } from '../../base/errors.ts'
import { type Column, type Field, innerType, isOptional, type RecordBatch } from '../../model/schema.ts'
import { FlatBufferReader, type TableCursor } from '../../base/flatbuffer-reader.ts'
import { countBits, isText } from './buffers.ts'
import { fixedWidth, itemName, makeColumn, sliceColumn } from './columns.ts'
import { decodeIpcMessage, decodeSchema, longVector, messageHeaders } from './ipc-schema.ts'
import { continuation } from './ipc.ts'

const what = 'Arrow stream'
const maxRows = 2 ** 31 - 1
const noBytes = new Uint8Array(0)

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
  /** Of several parts, those that held the last whole messages. */
  #joined: Uint8Array = noBytes
  #missing: Missing | undefined = { bytes: 8, reason: 'ends without an end mark', at: 0 }

  /** The columns, once the schema has come. */
  get fields(): readonly Field[] | undefined {
    return this.#fields
  }

  /** Bytes of a message that has not come to its end. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** The batches that end in these bytes. */
  push(bytes: Uint8Array): RecordBatch[] {
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    const batches: RecordBatch[] = []
    if (this.#missing !== undefined && this.#heldBytes < this.#missing.bytes) return batches
    const held = this.#held.length === 1 ? bytes : concatBytes(this.#held)
    if (held !== bytes) this.#joined = held
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
    const rest = held.subarray(from)
    this.#held = rest.length === 0 ? [] : [held === bytes ? rest : copyBytes(rest)]
    this.#heldBytes = rest.length
    this.#at += from
    return batches
  }

  /** Frees what parts were joined for: nobody has the batches of the last `push` any more. */
  free(): void {
    freeBytes(this.#joined)
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
    const { member, header, bodyBytes } = decodeIpcMessage(reader)
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
  const rows = reader.u64Field(header, 0)
  if (typeof rows === 'bigint' || rows > maxRows) return fail('a record batch has impossibly many rows')
  if (reader.offset(header, 3) !== 0) return fail('a record batch is compressed')
  const pairs = (slot: number): number[] => longVector(message.metadata, reader, reader.offset(header, slot), 2)
  const layout: BatchLayout = { nodes: pairs(1), buffers: pairs(2) }
  const cutter = new ColumnCutter(body, layout)
  const columns = fields.map((field) => cutter.next(field, rows))
  cutter.end()
  return { rows, columns }
}

/** Field nodes (rows, null count) and buffers (place, length) of a batch, each two numbers, in the order of columns. */
interface BatchLayout {
  readonly nodes: readonly number[]
  readonly buffers: readonly number[]
}

/** Cuts a body into columns, one after the other; throws DecodeError at the first thing that does not fit. */
class ColumnCutter {
  private readonly body: Uint8Array
  private readonly layout: BatchLayout
  private node = 0
  private buffer = 0

  constructor(body: Uint8Array, layout: BatchLayout) {
    this.body = body
    this.layout = layout
  }

  /** The next column; `rows` is what it must have, or undefined for a list's items. */
  next(field: Field, rows: number): Column {
    const type = innerType(field.type)
    const nullable = isOptional(field.type)
    const nodeRows = this.layout.nodes[2 * this.node]
    const declaredNulls = this.layout.nodes[2 * this.node + 1] ?? 0
    this.node++
    if (nodeRows !== rows) return fail(`column "${field.name}" has ${nodeRows ?? 'no'} rows, not ${rows}`)
    const validity = this.validity(rows, declaredNulls, field.name)
    if (validity !== undefined && !nullable) fail(`column "${field.name}" is required and has nulls`)
    const nullCount = validity === undefined ? 0 : declaredNulls
    const common = { name: field.name, type, nullable, rows, nullCount, validity }
    const width = fixedWidth(type)
    if (width !== undefined) {
      const values = this.take(rows * width, field.name)
      return makeColumn({ ...common, values })
    }
    if (type.kind === 'Bool') {
      const values = this.take((rows + 7) >> 3, field.name)
      return makeColumn({ ...common, values })
    }
    const raw = this.offsets(rows, field.name)
    const first = raw[0] ?? 0
    const last = raw[rows] ?? 0
    const offsets = first === 0 ? raw : raw.map((offset) => offset - first)
    if (type.kind === 'List') {
      const items = this.items({ name: itemName, type: type.itemType }, first, last)
      return makeColumn({ ...common, values: new Uint8Array(0), offsets, child: items })
    }
    const values = this.take(last, field.name).subarray(first, last)
    if (type.kind === 'String' && !isText(values, offsets)) fail(`column "${field.name}" is not UTF-8`)
    return makeColumn({ ...common, values, offsets })
  }

  /** Throws unless every node and buffer has been used. */
  end(): void {
    if (2 * this.node !== this.layout.nodes.length) fail('a record batch has more field nodes than columns')
    if (2 * this.buffer !== this.layout.buffers.length) fail('a record batch has more buffers than its columns use')
  }

  private items(field: Field, first: number, last: number): Column {
    const rows = this.layout.nodes[2 * this.node] ?? 0
    if (last > rows) return fail('offsets of a list lie outside of its items')
    return sliceColumn(this.next(field, rows), first, last)
  }

  private validity(rows: number, declaredNulls: number, name: string): Uint8Array | undefined {
    const length = this.layout.buffers[2 * this.buffer + 1] ?? 0
    if (length === 0) {
      this.buffer++
      if (declaredNulls !== 0) fail(`column "${name}" declares nulls without a bitmap`)
      return undefined
    }
    const bits = this.take((rows + 7) >> 3, name)
    if (rows - countBits(bits, rows) !== declaredNulls) fail(`column "${name}" declares a wrong number of nulls`)
    return declaredNulls === 0 ? undefined : bits
  }

  private offsets(rows: number, name: string): Int32Array {
    const declared = this.layout.buffers[2 * this.buffer + 1] ?? 0
    if (rows === 0 && declared === 0) {
      this.buffer++
      return new Int32Array(1)
    }
    const bytes = this.take(4 * (rows + 1), name)
    const offsets =
      bytes.byteOffset % 4 === 0
        ? new Int32Array(bytes.buffer, bytes.byteOffset, rows + 1)
        : new Int32Array(copyBytes(bytes).buffer)
    let last = 0
    for (const offset of offsets) {
      if (offset < last) fail(`offsets of column "${name}" go backwards`)
      last = offset
    }
    return offsets
  }

  /** The next buffer, of which `length` bytes are used. */
  private take(length: number, name: string): Uint8Array {
    const at = this.layout.buffers[2 * this.buffer]
    const declared = this.layout.buffers[2 * this.buffer + 1] ?? 0
    this.buffer++
    if (at === undefined) return fail(`column "${name}" lacks a buffer`)
    if (at + declared > this.body.length) return fail(`a buffer of column "${name}" lies outside of the body`)
    if (declared < length) return fail(`a buffer of column "${name}" is shorter than its rows need`)
    return this.body.subarray(at, at + length)
  }
}

function fail(reason: string, offset?: number): never {
  throw new DecodeError(what, reason, offset)
}
