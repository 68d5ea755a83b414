// How many values of a file are read at most: a few bytes of a page, a run or a dictionary can stand for millions of equal
// ones, which cost time even where none of them fits.

import { batchBytes } from '../arrow/columns.ts'
import { NodeError } from '../model/errors.ts'
import type { RecordBatch } from '../model/schema.ts'

/** What any file may have. */
const leastCells = 64 * 1024 * 1024
/** Texts count by their length. */
const bytesPerCell = 8
/** An item of a list is put into its row, and written as text. */
const cellsPerItem = 4

export class CellCount {
  readonly #most: number
  #cells = 0

  constructor(fileBytes: number, inflatedRatio: number) {
    this.#most = Math.max(leastCells, fileBytes * inflatedRatio)
  }

  /** Counts what was read: few rows or few bytes at a time. Throws NodeError `BodyTooLarge`. */
  takeBatch(batch: RecordBatch): void {
    this.take(Math.max(batch.rows * batch.columns.length, Math.ceil(batchBytes(batch) / bytesPerCell)))
  }

  /** Counts values before they are read. Throws NodeError `BodyTooLarge`. */
  take(cells: number): void {
    this.#cells += cells
    if (this.#cells <= this.#most) return
    throw new NodeError(
      'BodyTooLarge',
      `The file has more than ${this.#most} values for its size, an item of a list counted four times, a text as ${bytesPerCell} bytes a value.`,
      {
        hint: 'Send it in smaller files. A file may become at most inflatedRatio times as large (GET /limits).',
      },
    )
  }

  /** Counts entries of a nested column: items of its lists. Throws as `take`. */
  takeItems(items: number): void {
    this.take(cellsPerItem * items)
  }
}
