// The same table as an Arrow file and as a Parquet file gives the same columns with the same text of nested values, though
// each has its own way to them (test/fixtures/parquet/make.py).

import { expect, test } from 'vitest'
import type { Field } from '../../../../src/libraries/model/schema.ts'
import { formatNamed } from '../../../helpers/formats.ts'
import { readFileBody } from '../../formats/reading.ts'
import { columnTexts, fixture } from './parquet-helper.ts'

async function readAs(name: string, file: string): Promise<{ fields: readonly Field[]; columns: unknown[][] }> {
  const format = formatNamed(name)
  if (format.kind !== 'file') throw new Error(`${name} is read as a file`)
  const { inferred, body } = await readFileBody(format, Buffer.from(fixture(file)))
  const columns: unknown[][] = []
  for (const batch of body.batches) {
    for (const [i, column] of batch.columns.entries()) (columns[i] ??= []).push(...columnTexts(column))
  }
  return { fields: inferred.fields, columns }
}

test('nested columns of Arrow and of Parquet are the same text', async () => {
  const parquet = await readAs('parquet', 'nested-v2.parquet')
  expect(parquet.fields.length).toBeGreaterThan(20)
  expect(parquet).toEqual(await readAs('arrow', 'nested.arrow'))
})
