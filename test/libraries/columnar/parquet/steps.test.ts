// Writing a slice in steps: the same file, and a step for each column of a large row group.

import { expect, test } from 'vitest'
import { createColumnBuilder } from '../../../../src/libraries/columnar/arrow/column-builder.ts'
import { int64RangeColumn } from '../../../../src/libraries/columnar/arrow/columns.ts'
import type { RecordBatch } from '../../../../src/libraries/model/schema.ts'
import { encodeSlice, SliceWriter } from '../../../../src/libraries/columnar/parquet/write-slice.ts'
import { appendText } from '../../../helpers/slices.ts'

const names = ['a', 'b', 'c']
const fields = names.map((name) => ({ name, type: { kind: 'Int64' as const } }))

function batch(rows: number): RecordBatch {
  return { rows, columns: names.map((name, i) => int64RangeColumn(name, 1000 * i, rows)) }
}

/** The file and the number of steps that were taken. */
function writeInSteps(batches: readonly RecordBatch[]): { file: Uint8Array; steps: number } {
  const writer = new SliceWriter({ fields })
  let steps = 0
  for (const one of batches) for (const _ of writer.add(one)) steps++
  const finishing = writer.finish()
  for (;;) {
    const { done, value } = finishing.next()
    if (done === true) return { file: Buffer.concat(value), steps }
    steps++
  }
}

test('a slice written in steps is the same file, with a turn after each column of a large row group', () => {
  const batches = [batch(100_000), batch(40_000)]
  const { file, steps } = writeInSteps(batches)
  expect(file).toEqual(Buffer.concat(encodeSlice({ fields }, batches)))
  // Two row groups: 131,072 rows and the rest.
  expect(steps).toBe(2 * names.length)
})

test('a small slice is written without a step', () => {
  const { file, steps } = writeInSteps([batch(10)])
  expect(file).toEqual(Buffer.concat(encodeSlice({ fields }, [batch(10)])))
  expect(steps).toBe(0)
})

test('one long text is written in steps', () => {
  const builder = createColumnBuilder({ name: 'text', type: { kind: 'String' } })
  appendText(builder, 'long '.repeat(500_000))
  const texts: RecordBatch = { rows: 1, columns: [builder.finish()] }
  const writer = new SliceWriter({ fields: [{ name: 'text', type: { kind: 'String' } }] })
  expect([...writer.add(texts)]).toHaveLength(0)
  expect([...writer.finish()]).toHaveLength(3)
})
