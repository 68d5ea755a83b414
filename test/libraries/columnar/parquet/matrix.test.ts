// Every type × encoding × null pattern, in each codec and page version, as pyarrow wrote them
// (test/fixtures/parquet/make.py).

import { expect, test } from 'vitest'
import { fixture, type ReadColumn, readAll } from './parquet-helper.ts'

const expected = new Map(
  (JSON.parse(new TextDecoder().decode(fixture('matrix.json'))) as ReadColumn[]).map((column) => [column.name, column]),
)

for (const codec of ['none', 'snappy', 'gzip', 'brotli', 'zstd', 'lz4']) {
  for (const version of [1, 2]) {
    test(`${codec}, pages of version ${version}: all values are those of pyarrow`, async () => {
      const columns = await readAll(fixture(`matrix-${codec}-v${version}.parquet`))
      expect(columns.length).toBeGreaterThan(20)
      for (const column of columns) expect(column).toEqual(expected.get(column.name))
    })
  }
}
