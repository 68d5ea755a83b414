// What is read of a file at most. Of values: a few bytes of a page, a run or a dictionary can stand for millions of equal
// ones, which cost time even where none of them fits. Of columns: what a dataset can have.

import { batchBytes } from './arrow/columns.ts'
import { NodeError } from '../base/errors.ts'
import type { RecordBatch } from '../model/schema.ts'

/** What to do about files of too many columns. */
export const fewerColumns = 'Leave columns out, or put what varies into one column of JSON text.'

/** The refusal of more columns than a dataset can have; `what` says so of a file. */
export function tooManyColumns(
  columns: number,
  hint: string,
  what = `A dataset has at most ${columns} columns.`,
): NodeError {
  const limit = { name: 'columns', value: columns, unit: 'columns' }
  return new NodeError('RecordsDoNotFit', `${what} Nothing was stored.`, { limit, hint })
}

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
