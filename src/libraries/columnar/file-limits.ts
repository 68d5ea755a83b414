// How many values of a file are read at most: a few bytes of a page, a run or a dictionary can stand for millions of equal
// ones, which cost time even where none of them fits.

import { batchBytes } from './arrow/columns.ts'
import { NodeError } from '../base/errors.ts'
import type { RecordBatch } from '../model/schema.ts'

/** What any file may have. */
const leastCells = 64 * 1024 * 1024
/** Texts count by their length. */
const bytesPerCell = 8

/** How many values a file of that size may have. */
export function mostCells(fileBytes: number, inflatedRatio: number): number {
  return Math.max(leastCells, fileBytes * inflatedRatio)
}

export class CellCount {
  readonly #most: number
  #cells = 0

  constructor(fileBytes: number, inflatedRatio: number) {
    this.#most = mostCells(fileBytes, inflatedRatio)
  }

  /** Counts what was read: few rows or few bytes at a time. Throws NodeError `BodyTooLarge`. */
  takeBatch(batch: RecordBatch): void {
    const { rows, columns } = batch
    this.#cells += Math.max(rows * columns.length, Math.ceil(batchBytes(batch) / bytesPerCell))
    if (this.#cells <= this.#most) return
    throw new NodeError(
      'BodyTooLarge',
      `The file has more than ${this.#most} values for its size, a text counted as one each ${bytesPerCell} bytes.`,
      {
        hint: 'Send it in smaller files. A file may become at most inflatedRatio times as large (GET /limits).',
      },
    )
  }
}
