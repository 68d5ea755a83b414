// Items of lists in a Parquet file are counted before any is read: a few bytes may stand for hundreds of millions.

import { expect, test } from 'vitest'
import { CellCount } from '../../../../src/libraries/columnar/file-limits.ts'
import { openParquet } from '../../../../src/libraries/formats/parquet/format.ts'
import { columnOf } from '../../columnar/arrow/columns-helper.ts'
import { collected, optionalField } from '../reading.ts'
import { bodyOf, fixture, limits } from '../../columnar/parquet/parquet-helper.ts'

const tooMany = expect.objectContaining({ kind: 'BodyTooLarge' })

test('a file of 10 KB with 400,000 lists of 1,000 items is refused by its footer', async () => {
  const body = bodyOf(fixture('equal-items.parquet'))
  let reads = 0
  const file = await openParquet({ ...body, at: (start, end) => (reads++, body.at(start, end)) }, { limits })
  reads = 0
  expect(() => file.batches([0])).toThrow(tooMany)
  expect(reads).toBe(0)
})

test('of a column that nobody wants no item counts', async () => {
  const file = await openParquet(bodyOf(fixture('equal-items.parquet')), { limits })
  const rows = (await collected(file.batches([]))).reduce((sum, batch) => sum + batch.rows, 0)
  expect(rows).toBe(400_000)
})

test('a large file may have more values', async () => {
  const file = await openParquet(bodyOf(fixture('equal-items.parquet')), {
    limits: { ...limits, inflatedRatio: 10 ** 6 },
  })
  expect(() => file.batches([0])).not.toThrow()
})

test('texts count by their length, where they are longer than values', () => {
  const texts = columnOf(optionalField('s', { kind: 'String' }), ['x'.repeat(8 * 1024 * 1024)])
  const cells = new CellCount(1, 200)
  for (let batch = 0; batch < 63; batch++) cells.takeBatch({ rows: 1, columns: [texts] })
  expect(() => cells.takeBatch({ rows: 1, columns: [texts] })).toThrow(
    expect.objectContaining({ kind: 'BodyTooLarge' }),
  )
})
