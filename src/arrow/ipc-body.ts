// The body of an Arrow record batch, cut into columns: the checking half of the IPC reader. Buffers are shared with the
// input wherever alignment allows. Source: Apache Arrow columnar format and format/Message.fbs.

import { copyBytes } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import type { Column } from '../model/record-batch.ts'
import { type Field, innerType, isOptional } from '../model/schema.ts'
import { countBits, fixedWidth, isText, itemName, makeColumn, sliceColumn } from './columns.ts'

/** Field nodes (rows, null count) and buffers (place, length) of a batch, each two numbers, in the order of columns. */
export interface BatchLayout {
  readonly nodes: readonly number[]
  readonly buffers: readonly number[]
}

const what = 'Arrow stream'

/** Cuts a body into columns, one after the other; throws DecodeError at the first thing that does not fit. */
export class ColumnCutter {
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
      return makeColumn({ ...common, values, offsets: undefined, child: undefined })
    }
    if (type.kind === 'Bool') {
      const values = this.take((rows + 7) >> 3, field.name)
      return makeColumn({ ...common, values, offsets: undefined, child: undefined })
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
    return makeColumn({ ...common, values, offsets, child: undefined })
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

function fail(reason: string): never {
  throw new DecodeError(what, reason)
}
