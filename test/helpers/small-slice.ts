// Slices of a few rows, made without a builder, for chains of very many: a row a second, each of one of seventeen cities.

import { zstdCompressSync } from 'node:zlib'
import { constantColumn, int64RangeColumn, makeColumn } from '../../src/libraries/columnar/arrow/columns.ts'
import { createLogicalHash } from '../../src/libraries/columnar/arrow/logical-hash.ts'
import { sha3Hash } from '../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { concatBytes, utf8 } from '../../src/libraries/base/bytes.ts'
import type { AddData } from '../../src/libraries/model/events.ts'
import type { Column } from '../../src/libraries/model/schema.ts'
import { encodeSlice } from '../../src/libraries/columnar/parquet/write-slice.ts'
import { baseMs, schemaOf } from '../node/builder/support.ts'

const { fields } = schemaOf()
const compress = (bytes: Uint8Array): Uint8Array => zstdCompressSync(bytes)
const cities = Array.from({ length: 17 }, (_, city) => utf8(`city ${city}`))

export interface SmallSlice {
  readonly bytes: Uint8Array
  readonly about: NonNullable<AddData['newData']>
}

/** Slice `number` of those that have `rows` rows each, under the schema of tests. */
export function smallSlice(number: number, rows: number): SmallSlice {
  const first = number * rows
  const [offset, operation, systemTime] = fields
  const texts = Array.from({ length: rows }, (_, row) => must(cities[(first + row) % cities.length], 'a city'))
  const offsets = new Int32Array(rows + 1)
  for (const [row, text] of texts.entries()) offsets[row + 1] = (offsets[row] ?? 0) + text.length
  const numbersOf = (value: (row: number) => number): Uint8Array =>
    new Uint8Array(BigInt64Array.from({ length: rows }, (_, row) => BigInt(value(first + row))).buffer)
  const own = { rows, nullCount: 0 }
  const columns: Column[] = [
    int64RangeColumn(must(offset, 'an offset column').name, first, rows),
    constantColumn(must(operation, 'an operation column'), 0, rows),
    constantColumn(must(systemTime, 'a system-time column'), baseMs + (first + rows) * 1000, rows),
    constantColumn(must(fields[3], 'an event-time column'), 0, rows),
    makeColumn({ ...own, name: 'city', type: { kind: 'String' }, nullable: true, offsets, values: concatBytes(texts) }),
    { ...own, name: 'n', type: { kind: 'Int64' }, nullable: true, values: numbersOf((row) => row) },
  ]
  const times = { ...must(columns[3], 'an event-time column'), values: numbersOf((row) => baseMs + row * 1000) }
  const batch = { rows, columns: columns.with(3, times) }
  const bytes = concatBytes(encodeSlice({ fields, compress }, [batch]))
  const hash = createLogicalHash(fields)
  hash.update(batch)
  const offsetInterval = { start: first, end: first + rows - 1 }
  return {
    bytes,
    about: { logicalHash: hash.digest(), physicalHash: sha3Hash(bytes), offsetInterval, size: bytes.length },
  }
}
