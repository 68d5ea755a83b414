// Writing a slice in steps: the same file, and a step for each column of a large row group.

import { expect, test } from 'vitest'
import { createColumnBuilder } from '../../src/arrow/column-builder.ts'
import { int64RangeColumn } from '../../src/arrow/columns.ts'
import type { RecordBatch } from '../../src/model/record-batch.ts'
import { createSliceWriter } from '../../src/parquet/write-slice.ts'

const names = ['a', 'b', 'c']
const fields = names.map((name) => ({ name, type: { kind: 'Int64' as const } }))

function batch(rows: number): RecordBatch {
  return { rows, columns: names.map((name, i) => int64RangeColumn(name, 1000 * i, rows)) }
}

/** The file and the number of steps that were taken. */
function writeInSteps(batches: readonly RecordBatch[]): { file: Uint8Array; steps: number } {
  const writer = createSliceWriter({ fields })
  let steps = 0
  for (const one of batches) for (const _ of writer.addInSteps(one)) steps++
  const finishing = writer.finishInSteps()
  for (;;) {
    const { done, value } = finishing.next()
    if (done === true) return { file: Buffer.concat(value), steps }
    steps++
  }
}

function writeAtOnce(batches: readonly RecordBatch[]): Uint8Array {
  const writer = createSliceWriter({ fields })
  for (const one of batches) writer.add(one)
  return Buffer.concat(writer.finish())
}

test('a slice written in steps is the same file, with a turn after each column of a large row group', () => {
  const batches = [batch(100_000), batch(40_000)]
  const { file, steps } = writeInSteps(batches)
  expect(file).toEqual(writeAtOnce(batches))
  // Two row groups: 131,072 rows and the rest.
  expect(steps).toBe(2 * names.length)
})

test('a small slice is written without a step', () => {
  const { file, steps } = writeInSteps([batch(10)])
  expect(file).toEqual(writeAtOnce([batch(10)]))
  expect(steps).toBe(0)
})

test('one long text is written in steps', () => {
  const builder = createColumnBuilder({ name: 'text', type: { kind: 'String' } })
  builder.appendText('long '.repeat(500_000))
  const texts: RecordBatch = { rows: 1, columns: [builder.finish()] }
  const writer = createSliceWriter({ fields: [{ name: 'text', type: { kind: 'String' } }] })
  expect([...writer.addInSteps(texts)]).toHaveLength(0)
  expect([...writer.finishInSteps()]).toHaveLength(3)
})
