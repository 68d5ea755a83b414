// The proof of a row by the upper levels of the tree over all rows is the one that all rows give, and takes no other row group.

import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { concatBytes } from '../../../../src/libraries/base/bytes.ts'
import { int64RangeColumn } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { encodeSlice, rowGroupRows } from '../../../../src/libraries/columnar/parquet/write-slice.ts'
import { isBelow } from '../../../../src/libraries/ledger/roots.ts'
import type { Field } from '../../../../src/libraries/model/schema.ts'
import { rowLeaves } from '../../../../src/node/machine/work/row-leaves.ts'

const fields: Field[] = [{ name: 'n', type: { kind: 'Int64' } }]
const secret = new Uint8Array(32).fill(3)
const start = 1_000

function sliceOf(rows: number): Uint8Array {
  const compress = (bytes: Uint8Array): Uint8Array => zstdCompressSync(bytes)
  return concatBytes(encodeSlice({ fields, compress }, [{ rows, columns: [int64RangeColumn('n', 0, rows)] }]))
}

const places = (rows: number): number[] =>
  [...new Set([0, 1, 255, 256, 257, 511, 512, rows - 257, rows - 2, rows - 1])].filter((at) => at >= 0 && at < rows)

test.each([1, 255, 256, 257, 512, 600])('of %i rows each is shown as by all of them', async (rows) => {
  const slice = sliceOf(rows)
  const { tree } = await rowLeaves(slice, { secret, start })
  expect(tree.tiles.length + tree.rest.length).toBe(32 * (Math.floor(rows / 256) + (rows % 256)))
  for (const at of places(rows)) {
    const wanted = start + at
    const whole = await rowLeaves(slice, { secret, start, wanted })
    const { shown } = await rowLeaves(slice, { secret, start, wanted, tree })
    expect(shown).toEqual(whole.shown)
    expect(shown?.record).toBe(`{"n":${at}}`)
    expect(shown && isBelow(tree.root, shown.leaf, shown.place)).toBe(true)
  }
  expect((await rowLeaves(slice, { secret, start, wanted: start + rows, tree })).shown).toBeUndefined()
})

test('a row of a later row group is shown though the pages of the first one are gone', async () => {
  const rows = rowGroupRows + 300
  const slice = sliceOf(rows)
  const { tree } = await rowLeaves(slice, { secret, start })
  const broken = Uint8Array.from(slice).fill(0xff, 4, 200)
  for (const at of [rowGroupRows, rows - 1]) {
    const { shown } = await rowLeaves(broken, { secret, start, wanted: start + at, tree })
    expect(shown && isBelow(tree.root, shown.leaf, shown.place)).toBe(true)
  }
  await expect(rowLeaves(broken, { secret, start, wanted: start, tree })).rejects.toThrow('column "n"')
  await expect(rowLeaves(broken, { secret, start })).rejects.toThrow('column "n"')
})

test('other rows than those of the tree are below no root of it', async () => {
  const { tree } = await rowLeaves(sliceOf(600), { secret, start })
  const other = { secret: new Uint8Array(32).fill(4), start, wanted: start + 300, tree }
  const { shown } = await rowLeaves(sliceOf(600), other)
  expect(shown && isBelow(tree.root, shown.leaf, shown.place)).toBe(false)
})
