// A file whose columns have more pages than may be open at once (test/fixtures/parquet/make.py): pages are let go and read
// again, and the rows are those that were written.

import { describe, expect, test } from 'vitest'
import { batchBytes } from '../../../../src/libraries/columnar/arrow/columns.ts'
import type { ColumnarFile } from '../../../../src/libraries/formats/columnar.ts'
import { openParquet } from '../../../../src/libraries/formats/parquet/format.ts'
import { bodyOf, columnTexts, fixture, limits } from './parquet-helper.ts'

const bytes = fixture('wide.parquet')
const rows = 20_000
const mib = 1024 * 1024

/** What make.py writes. */
const written: Readonly<Record<string, (i: number) => string | boolean | null>> = {
  long0: () => 'long'.repeat(25),
  long269: () => 'long'.repeat(25),
  zero19: () => '0000000000000000',
  number: (i) => (i % 5 === 4 ? null : String(Math.floor(i / 16))),
  text: (i) => (i % 7 === 6 ? null : `row ${Math.floor(i / 32)} ${'-'.repeat(90)}`),
  word: (i) => `word ${Math.floor(i / 8)} ${'-'.repeat(400)}`,
  truth: (i) => Math.floor(i / 64) % 3 === 0,
  price: (i) => String(Math.floor(i / 16) * 25),
  list: (i) => `[${Array.from({ length: i % 3 }, () => Math.floor(i / 32)).join(',')}]`,
  nothing: () => null,
}

async function firstWrong(file: ColumnarFile, places: readonly number[]): Promise<string | undefined> {
  let first = 0
  for await (const batch of file.batches(places)) {
    expect(batch.rows).toBeLessThanOrEqual(16_384)
    expect(batchBytes(batch)).toBeLessThan(9 * mib)
    for (const column of batch.columns) {
      const expected = written[column.name]
      if (expected === undefined) continue
      const wrong = columnTexts(column).findIndex((value, i) => value !== expected(first + i))
      if (wrong >= 0) return `${column.name} ${first + wrong}`
    }
    first += batch.rows
  }
  return first === rows ? undefined : `rows ${first}`
}

describe('a file of many wide columns', () => {
  test('has the rows that were written, whether all of its pages fit or not', async () => {
    const file = await openParquet(bodyOf(bytes), { limits: { ...limits, inflatedRatio: 4_000 } })
    const places = [...file.fields.keys()]
    expect(await firstWrong(file, places.slice(269))).toBe(undefined)
    expect(await firstWrong(file, places)).toBe(undefined)
  })
})
