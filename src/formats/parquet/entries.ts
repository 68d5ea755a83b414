// The entries of one leaf of a nested column, read ahead until whole rows are there: levels, and the values that are
// present, packed. Source: Apache Parquet, "Nested Encoding" (the levels of the Dremel paper).

import type { Column, DataType } from '../../model/schema.ts'
import { BytesSink } from '../../parquet/byte-values.ts'
import { entriesBefore, type LeafCursor, pieceEntries } from '../../parquet/leaf-cursor.ts'
import { PackedValues } from './packed-values.ts'

/** What is read ahead of a leaf, in bytes of text values. */
const aheadBytes = 1024 * 1024
const aheadEntries = 16_384

/** Entries `[head, tail)`, of which those of the first `rows` rows are complete. */
export class LeafEntries {
  readonly cursor: LeafCursor
  readonly type: DataType
  head = 0
  tail = 0
  rows = 0
  definition = new Uint8Array(pieceEntries)
  repetition = new Uint8Array(pieceEntries)
  /** The place of the next value among those held. */
  value = 0
  private readonly values: PackedValues | undefined
  private readonly sink = new BytesSink()
  private starts = 0
  /** True when the chunk has no more entries than those at hand. */
  isEnded = false

  constructor(cursor: LeafCursor) {
    this.cursor = cursor
    const { type, reading } = cursor.leaf.leafType
    this.type = type
    if (reading !== 'bytes' && reading !== 'uuid') this.values = new PackedValues(type)
  }

  /** Bytes of text that are held. */
  get bytes(): number {
    return this.sink.used
  }

  /** Reads until a whole row is there, or entries and bytes are `mostEntries` and `mostBytes`. */
  async fill(mostEntries: number, mostBytes: number): Promise<void> {
    this.compact()
    while (this.needsMore(mostEntries, mostBytes)) {
      if (!(await this.cursor.more())) {
        this.isEnded = true
        this.rows = this.starts
        return
      }
      this.readPiece()
    }
  }

  /** The values held as a column; `value` is a row of it. */
  column(): Column {
    const { type, sink, values } = this
    const parts = { name: '', type, nullable: false, nullCount: 0 }
    if (values !== undefined) return { ...parts, rows: values.count, values: values.bytes }
    return { ...parts, rows: sink.count, values: sink.values, offsets: sink.offsets }
  }

  /** Rows of which the first entries have been taken. */
  dropRows(rows: number): void {
    this.rows -= rows
    this.starts -= rows
  }

  private needsMore(mostEntries: number, mostBytes: number): boolean {
    if (this.isEnded) return false
    const held = this.tail - this.head
    if (this.rows > 0) return held < aheadEntries && this.sink.used < aheadBytes
    return held <= mostEntries && this.sink.used <= mostBytes
  }

  /** Forgets what has been taken. */
  private compact(): void {
    const { head, tail, value } = this
    if (head > 0) {
      this.definition.copyWithin(0, head, tail)
      this.repetition.copyWithin(0, head, tail)
      this.head = 0
      this.tail = tail - head
    }
    if (value === 0) return
    this.value = 0
    if (this.values !== undefined) return this.values.drop(value)
    const { sink } = this
    const first = sink.offsets[value] ?? 0
    sink.values.copyWithin(0, first, sink.used)
    for (let i = value; i <= sink.count; i++) sink.offsets[i - value] = (sink.offsets[i] ?? 0) - first
    sink.count -= value
    sink.used -= first
  }

  private readPiece(): void {
    const { cursor, sink, values } = this
    const { leaf, head, isFull } = cursor
    const top = leaf.maxDefinition
    let count = cursor.tail - head
    this.reserve(count)
    const { definition, repetition, tail } = this
    if (isFull) definition.fill(top, tail, tail + count)
    else definition.set(cursor.definition.subarray(head, head + count), tail)
    if (leaf.maxRepetition > 0) repetition.set(cursor.repetition.subarray(head, head + count), tail)
    else repetition.fill(0, tail, tail + count)
    let present = 0
    for (let i = tail; i < tail + count; i++) if (definition[i] === top) present++
    if (present > 0) {
      if (values !== undefined) values.read(cursor, present)
      else {
        const done = cursor.bytes.read(sink, present, sink.used + aheadBytes)
        if (done < present) count = entriesBefore(definition.subarray(tail, tail + count), top, done)
      }
    }
    cursor.head = head + count
    for (let i = tail; i < tail + count; i++) if (repetition[i] === 0) this.starts++
    this.tail = tail + count
    this.rows = Math.max(0, this.starts - 1)
  }

  private reserve(count: number): void {
    const needed = this.tail + count
    if (needed <= this.definition.length) return
    const definition = new Uint8Array(2 * needed)
    const repetition = new Uint8Array(2 * needed)
    definition.set(this.definition.subarray(0, this.tail))
    repetition.set(this.repetition.subarray(0, this.tail))
    this.definition = definition
    this.repetition = repetition
  }
}
