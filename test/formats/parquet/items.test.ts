// Items of lists in a Parquet file are counted before they are read: a few bytes may stand for hundreds of millions.

import { expect, test } from 'vitest'
import { columnOf } from '../../arrow/columns-helper.ts'
import { optionalField } from '../reading.ts'
import { CellCount } from '../../../src/formats/cell-count.ts'

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

test('texts count by their length, where they are longer than values', () => {
  const texts = columnOf(optionalField('s', { kind: 'String' }), ['x'.repeat(8 * 1024 * 1024)])
  const cells = new CellCount(1, 200)
  for (let batch = 0; batch < 63; batch++) cells.takeBatch({ rows: 1, columns: [texts] })
  expect(() => cells.takeBatch({ rows: 1, columns: [texts] })).toThrow(
    expect.objectContaining({ kind: 'BodyTooLarge' }),
  )
})
