// Items of lists in a Parquet file are counted before they are read: a few bytes may stand for hundreds of millions.

import { expect, test } from 'vitest'
import { CellCount } from '../../../src/formats/parquet/cell-count.ts'

test('a small file has 64 Mi values at most, an item counts as four', () => {
  const cells = new CellCount(15_000, 200)
  cells.takeItems(8 * 1024 * 1024)
  cells.take(32 * 1024 * 1024)
  expect(() => cells.take(1)).toThrow(expect.objectContaining({ kind: 'BodyTooLarge' }))
})

test('a large one has more', () => {
  const cells = new CellCount(1024 * 1024, 200)
  cells.takeItems(50 * 1024 * 1024)
  expect(() => cells.takeItems(1)).toThrow(expect.objectContaining({ kind: 'BodyTooLarge' }))
})
