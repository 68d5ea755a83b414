// Columns of texts or bytes, read ahead up to a number of rows or bytes and then cut: how many rows a batch has is known
// only when the bytes of all such columns are.

import { cutBits, isText, setBit, setBits } from '../arrow/buffers.ts'
import { makeColumn } from '../arrow/columns.ts'
import { decodeUtf8 } from '../../base/bytes.ts'
import { type Column, type Field, innerType, isOptional } from '../../model/schema.ts'
import { BytesSink } from './byte-values.ts'
import { entriesBefore, type LeafCursor } from './leaf-cursor.ts'
import { UnfitValue } from './refusals.ts'

/** Rows of one column that were read and not yet cut off. */
export class PendingTexts {
  readonly sink = new BytesSink()
  /** Which rows have a value, once one has none. */
  private validity: Uint8Array | undefined

  get rows(): number {
    return this.sink.count
  }

  /** Notes that the last `count` rows all have a value. */
  markPresent(count: number): void {
    if (this.validity !== undefined) setBits(this.bitmap(this.rows), this.rows - count, count)
  }

  /** Notes which of the last rows have a value: those of level `top`. */
  markLevels(levels: Uint8Array, top: number): void {
    const first = this.rows - levels.length
    const bits = this.bitmap(first)
    for (let i = 0; i < levels.length; i++) if (levels[i] === top) setBit(bits, first + i)
  }

  /** Appends a row: `text`, or null where there is none. */
  append(text: Uint8Array | undefined): void {
    const { sink } = this
    sink.reserve(1)
    if (text === undefined) {
      sink.offsets[++sink.count] = sink.used
      this.bitmap(sink.count - 1)
    } else {
      sink.append(text, 0, text.length)
      this.markPresent(1)
    }
  }

  /** Takes the first `rows` rows as the column `field`. Throws UnfitValue. */
  cut(field: Field, rows: number): Column {
    const { sink } = this
    const type = innerType(field.type)
    const end = sink.offsets[rows] ?? 0
    const isAll = rows === sink.count
    const values = isAll ? sink.values.subarray(0, end) : sink.values.slice(0, end)
    const offsets = isAll ? sink.offsets.subarray(0, rows + 1) : sink.offsets.slice(0, rows + 1)
    if (type.kind === 'String' && !isText(values, offsets)) throw notText(values, offsets)
    let validity = this.validity === undefined ? undefined : cutBits(this.validity, 0, rows)
    let nullCount = 0
    if (validity !== undefined) {
      for (let i = 0; i < rows; i++) if ((((validity[i >> 3] ?? 0) >> (i & 7)) & 1) === 0) nullCount++
      if (nullCount === 0) validity = undefined
    }
    this.drop(rows, end)
    const nullable = isOptional(field.type)
    return makeColumn({ name: field.name, type, nullable, rows, nullCount, validity, values, offsets })
  }

  private drop(rows: number, bytes: number): void {
    const { sink } = this
    const left = sink.count - rows
    if (left === 0) {
      // The column has the memory now; the next rows will need about as much.
      sink.values = new Uint8Array(Math.max(1024, bytes + (bytes >> 3)))
      sink.offsets = new Int32Array(rows + 1)
      this.validity = undefined
    } else {
      sink.values.copyWithin(0, bytes, sink.used)
      for (let i = 0; i <= left; i++) sink.offsets[i] = (sink.offsets[rows + i] ?? 0) - bytes
      if (this.validity !== undefined) this.validity = cutBits(this.validity, rows, left).slice()
    }
    sink.count = left
    sink.used -= bytes
  }

  /** The bitmap with room for all rows; made when the first row without a value comes, `present` rows all having one. */
  private bitmap(present: number): Uint8Array {
    const needed = (this.rows + 7) >> 3
    const { validity } = this
    if (validity !== undefined && needed <= validity.length) return validity
    const grown = new Uint8Array(2 * needed)
    if (validity !== undefined) grown.set(validity)
    else setBits(grown, 0, present)
    this.validity = grown
    return grown
  }
}

/** What is read ahead at most. */
export interface Ahead {
  readonly rows: number
  readonly bytes: number
}

/** Reads entries until `ahead` is reached, one row at least. False where the chunk ends before. */
export async function fillTexts(pending: PendingTexts, cursor: LeafCursor, { rows, bytes }: Ahead): Promise<boolean> {
  while (pending.rows < rows && (pending.rows === 0 || pending.sink.used < bytes)) {
    if (!(await cursor.more())) return false
    readPiece(pending, cursor, rows - pending.rows, bytes)
  }
  return true
}

function readPiece(pending: PendingTexts, cursor: LeafCursor, mostRows: number, mostBytes: number): void {
  const { sink } = pending
  const { head, isFull, leaf } = cursor
  const count = Math.min(mostRows, cursor.tail - head)
  if (isFull) {
    const done = cursor.readBytes(sink, count, mostBytes)
    cursor.head += done
    pending.markPresent(done)
    return
  }
  const levels = cursor.definition.subarray(head, head + count)
  const top = leaf.maxDefinition
  let present = 0
  for (let i = 0; i < count; i++) if (levels[i] === top) present++
  const before = sink.count
  const done = present === 0 ? 0 : cursor.readBytes(sink, present, mostBytes)
  const entries = done === present ? count : entriesBefore(levels, top, done)
  spreadOffsets(sink, before, levels.subarray(0, entries), top)
  cursor.head += entries
  pending.markLevels(levels.subarray(0, entries), top)
}

/** Puts an empty place into the sink for each entry without a value, behind its first `before` values. */
function spreadOffsets(sink: BytesSink, before: number, levels: Uint8Array, top: number): void {
  let from = sink.count
  sink.reserve(before + levels.length - from)
  const { offsets } = sink
  for (let i = levels.length; i > 0; i--) {
    offsets[before + i] = offsets[from] ?? 0
    if (levels[i - 1] === top) from--
  }
  sink.count = before + levels.length
}

/** The fault of a String column whose bytes are no UTF-8. */
function notText(values: Uint8Array, offsets: Int32Array): UnfitValue {
  let row = 0
  for (; row < offsets.length - 2; row++) {
    try {
      decodeUtf8(values.subarray(offsets[row], offsets[row + 1]))
    } catch {
      break
    }
  }
  return new UnfitValue('InvalidUtf8', row, 'holds text; this value is not UTF-8')
}
