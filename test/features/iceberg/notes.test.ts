// What a table says of columns that not every engine reads as they are.

import { expect, test } from 'vitest'
import { tableSchemas } from '../../../src/features/iceberg/table-schema.ts'
import { optional } from '../../../src/libraries/model/schema.ts'

test('unsigned integers are noted by what engines make of them', () => {
  const kinds = ['Int64', 'UInt16', 'UInt32', 'UInt64'] as const
  const fields = kinds.map((kind) => ({ name: kind.toLowerCase(), type: optional({ kind }) }))
  expect(tableSchemas([{ fields }]).notes).toEqual([
    'uint16 (UInt16?): not read by Spark',
    'uint32 (UInt32?): not read by Spark; PyIceberg finds no values above 2147483647 by a filter',
    'uint64 (UInt64?): read by DuckDB alone',
  ])
})
