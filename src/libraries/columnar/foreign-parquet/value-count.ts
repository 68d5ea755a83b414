// How many values of a file are read at most: a few bytes of a page can stand for millions of equal ones, which cost time
// even where none of them fits. Footers say how many there are, and pages are held to that.

import type { FileColumn } from '../parquet/file-columns.ts'
import { NodeError } from '../../base/errors.ts'
import { mostCells } from '../file-limits.ts'

/** An item of a list is put into its row, and written as text. */
const valuesPerItem = 4

/** What is to be read of a file: its columns, with how many entries each leaf has in all row groups, by the leaf's number. */
export interface ValuesToRead {
  readonly columns: readonly FileColumn[]
  readonly entries: readonly number[]
  readonly rows: number
  readonly fileBytes: number
}

/** Throws NodeError `BodyTooLarge` where the values are too many for the size of the file. */
export function demandFewValues({ columns, entries, rows, fileBytes }: ValuesToRead, inflatedRatio: number): void {
  let values = 0
  for (const { isFlat, leaves } of columns) {
    values += rows
    if (!isFlat) for (const { index } of leaves) values += valuesPerItem * (entries[index] ?? 0)
  }
  const most = mostCells(fileBytes, inflatedRatio)
  if (values <= most) return
  throw new NodeError(
    'BodyTooLarge',
    `The file has ${values} values, an item of a list counted four times; for its size at most ${most} are read.`,
    { hint: 'Send it in smaller files. A file may become at most inflatedRatio times as large (GET /limits).' },
  )
}
