// One leaf of a nested column, read ahead until whole rows are there: the levels of its entries, and a column with a row for
// each entry that stands inside of all its lists. Source: Apache Parquet, "Nested Encoding".

import { concatColumns, sliceColumn } from '../arrow/columns.ts'
import { nullColumn } from '../arrow/null-column.ts'
import { grown } from '../../base/bytes.ts'
import { type Column, type Field, optional } from '../../model/schema.ts'
import { fillTexts, PendingTexts } from '../parquet/bytes-column.ts'
import { readFixedColumn } from '../parquet/fixed-column.ts'
import { type LeafCursor, pieceEntries } from '../parquet/leaf-cursor.ts'
import type { Levels } from '../parquet/levels.ts'
import { damaged } from '../parquet/refusals.ts'

/** What is read ahead of a leaf. */
const aheadEntries = 16_384
const aheadBytes = 1024 * 1024

/** Rows of a leaf that were taken. `column` is undefined where the leaf has the type null. */
export interface TakenRows {
  readonly levels: Levels
  readonly column: Column | undefined
}

export class LeafRows {
  readonly cursor: LeafCursor
  /** Whole rows at hand. */
  rows = 0
  /** True when the chunk has no more entries than those at hand. */
  isEnded = false
  readonly #field: Field
  /** Definition level of entries that are rows of the column. */
  readonly #itemAt: number
  #definition = new Uint8Array(pieceEntries)
  #repetition = new Uint8Array(pieceEntries)
  /** Entries at hand; how many of them were looked at, and the rows of the file and of the column that begin there. */
  #entries = 0
  #seen = 0
  #begun = 0
  #items = 0
  /** Rows of the column at hand: texts, or parts of a column of fixed width. */
  #held = 0
  readonly #texts: PendingTexts | undefined
  #parts: Column[] = []

  /** `itemAt`: the definition level at which the innermost list around the leaf has an item. */
  constructor(cursor: LeafCursor, itemAt: number) {
    const { type, reading } = cursor.leaf.leafType
    this.cursor = cursor
    this.#itemAt = itemAt
    this.#field = { name: cursor.leaf.path, type: optional(type) }
    this.#texts = reading === 'bytes' || reading === 'uuid' ? new PendingTexts() : undefined
  }

  /** True when entries are at hand. */
  get hasMore(): boolean {
    return this.#entries > 0
  }

  /** Reads until a whole row is there, or entries and bytes are `mostEntries` and `mostBytes`. Throws ParquetFault. */
  async fill(mostEntries: number, mostBytes: number): Promise<void> {
    const { cursor } = this
    while (this.#needsMore(mostEntries, mostBytes)) {
      if (cursor.head === cursor.tail) {
        this.isEnded = !(await cursor.more())
        if (!this.isEnded) this.#addLevels()
      }
      await this.#addValues(cursor.tail - cursor.head)
      this.#look()
    }
  }

  /** Takes the first `rows` rows, which are at hand. */
  take(rows: number): TakenRows {
    let [entries, begun, items] = [0, 0, 0]
    for (; entries < this.#seen; entries++) {
      if (this.#repetition[entries] === 0 && begun++ === rows) break
      if ((this.#definition[entries] ?? 0) >= this.#itemAt) items++
    }
    const levels = { definition: this.#definition.slice(0, entries), repetition: this.#repetition.slice(0, entries) }
    this.#definition.copyWithin(0, entries, this.#entries)
    this.#repetition.copyWithin(0, entries, this.#entries)
    this.#entries -= entries
    this.#seen -= entries
    this.#begun -= rows
    this.#items -= items
    this.#held -= items
    this.rows -= rows
    return { levels, column: this.#cut(items) }
  }

  #needsMore(mostEntries: number, mostBytes: number): boolean {
    if (this.isEnded) return false
    const bytes = this.#texts?.sink.used ?? 0
    if (this.rows > 0) return this.#entries < aheadEntries && bytes < aheadBytes
    return this.#entries <= mostEntries && bytes <= mostBytes
  }

  #addLevels(): void {
    const { cursor } = this
    const { isFull, tail, leaf } = cursor
    const needed = this.#entries + tail
    if (needed > this.#definition.length) {
      this.#definition = grown(this.#definition, 2 * needed)
      this.#repetition = grown(this.#repetition, 2 * needed)
    }
    if (isFull) this.#definition.fill(leaf.maxDefinition, this.#entries, needed)
    else this.#definition.set(cursor.definition.subarray(0, tail), this.#entries)
    if (leaf.maxRepetition > 0) this.#repetition.set(cursor.repetition.subarray(0, tail), this.#entries)
    else this.#repetition.fill(0, this.#entries, needed)
    this.#entries = needed
    cursor.keepItems(this.#itemAt)
  }

  /** Reads `count` entries at hand into the column, or fewer long texts. */
  async #addValues(count: number): Promise<void> {
    if (count === 0) return
    const texts = this.#texts
    if (texts === undefined) {
      this.#parts.push(await readFixedColumn(this.cursor, this.#field, count))
      this.#held += count
      return
    }
    await fillTexts(texts, this.cursor, { rows: texts.rows + count, bytes: texts.sink.used + aheadBytes })
    this.#held = texts.rows
  }

  /** Looks at the entries whose values are at hand. */
  #look(): void {
    for (; this.#seen < this.#entries; this.#seen++) {
      if ((this.#definition[this.#seen] ?? 0) >= this.#itemAt) {
        if (this.#items === this.#held) break
        this.#items++
      }
      if (this.#repetition[this.#seen] === 0) this.#begun++
      else if (this.#begun === 0) damaged('continues a list that has not begun')
    }
    const isWhole = this.isEnded && this.#seen === this.#entries
    this.rows = isWhole ? this.#begun : Math.max(0, this.#begun - 1)
  }

  #cut(rows: number): Column | undefined {
    if (this.#texts !== undefined) return this.#texts.cut(this.#field, rows)
    if (this.cursor.leaf.leafType.reading === 'none') return undefined
    if (this.#parts.length === 0) return nullColumn(this.#field, 0)
    const all = concatColumns(this.#parts)
    this.#parts = rows < all.rows ? [sliceColumn(all, rows, all.rows)] : []
    return sliceColumn(all, 0, rows)
  }
}
