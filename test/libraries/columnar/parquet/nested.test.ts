// Structs, lists and maps become JSON text, whatever is null or empty (test/fixtures/parquet/make.py).

import { expect, test } from 'vitest'
import { fixture, type ReadColumn, readAll } from './parquet-helper.ts'

const expected = JSON.parse(new TextDecoder().decode(fixture('nested.json'))) as ReadColumn[]

for (const version of [1, 2]) {
  test(`nested columns in pages of version ${version} are the values of pyarrow`, async () => {
    const columns = await readAll(fixture(`nested-v${version}.parquet`))
    for (const [i, column] of columns.entries()) expect(column).toEqual(expected[i])
    expect(columns).toHaveLength(expected.length)
  })
}
