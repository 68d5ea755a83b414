// Slices of our own writer through the engine: every type that a reader of ours can store, with its exact values.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type ColumnBuilder, createColumnBuilder } from '../../../src/libraries/columnar/arrow/column-builder.ts'
import {
  type DataType,
  defaultVocabulary,
  type Field,
  optional,
  systemFields,
} from '../../../src/libraries/model/schema.ts'
import { encodeSlice } from '../../../src/libraries/columnar/parquet/write-slice.ts'
import { appendText } from '../../helpers/slices.ts'
import { ask, useBench } from './helpers.ts'

const bench = useBench()

/** Type, how the first row is written (the second is null), the token that comes back, the engine's own type. */
const columns: readonly (readonly [DataType, (column: ColumnBuilder) => void, string, string])[] = [
  [{ kind: 'Bool' }, (c) => c.appendBool(true), 'true', 'BOOLEAN'],
  [{ kind: 'Int8' }, (c) => c.appendInt32(-128), '-128', 'TINYINT'],
  [{ kind: 'Int16' }, (c) => c.appendInt32(-32768), '-32768', 'SMALLINT'],
  [{ kind: 'Int32' }, (c) => c.appendInt32(-1), '-1', 'INTEGER'],
  [{ kind: 'Int64' }, (c) => c.appendBigInt64(9_223_372_036_854_775_807n), '9223372036854775807', 'BIGINT'],
  [{ kind: 'UInt8' }, (c) => c.appendInt32(255), '255', 'UTINYINT'],
  [{ kind: 'UInt16' }, (c) => c.appendInt32(65_535), '65535', 'USMALLINT'],
  [{ kind: 'UInt32' }, (c) => c.appendInt32(-1), '4294967295', 'UINTEGER'],
  [{ kind: 'UInt64' }, (c) => c.appendBigInt64(-1n), '18446744073709551615', 'UBIGINT'],
  [{ kind: 'Float32' }, (c) => c.appendFloat64(0.1), '0.1', 'FLOAT'],
  [{ kind: 'Float64' }, (c) => c.appendFloat64(1e21), '1e+21', 'DOUBLE'],
  [{ kind: 'String' }, (c) => appendText(c, 'é"'), '"é\\""', 'VARCHAR'],
  [{ kind: 'Binary' }, (c) => c.appendBytes(new Uint8Array([0, 255]), 0, 2), '"00ff"', 'BLOB'],
  [{ kind: 'Date' }, (c) => c.appendInt32(-1), '"1969-12-31"', 'DATE'],
  [
    { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' },
    (c) => c.appendInt64(1_725_313_800_120),
    '"2024-09-02T21:50:00.120Z"',
    'TIMESTAMP WITH TIME ZONE',
  ],
  [
    { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' },
    (c) => c.appendInt64(1_725_313_800_000_001),
    '"2024-09-02T21:50:00.000001Z"',
    'TIMESTAMP WITH TIME ZONE',
  ],
  [{ kind: 'Decimal', precision: 9, scale: 2 }, (c) => c.appendDecimal(-5n), '"-0.05"', 'DECIMAL(9,2)'],
  [
    { kind: 'Decimal', precision: 38, scale: 9 },
    (c) => c.appendDecimal(12_345_678_901_234_567_890_123_456_789n),
    '"12345678901234567890.123456789"',
    'DECIMAL(38,9)',
  ],
  [
    { kind: 'List', itemType: { kind: 'Option', inner: { kind: 'Int64' } } },
    (c) => {
      c.items?.appendInt64(7)
      c.items?.appendNull()
      c.endList()
    },
    '[7,null]',
    'BIGINT[]',
  ],
  [{ kind: 'Time', unit: 'Microsecond' }, (c) => c.appendInt64(78_600_500_000), '"21:50:00.500"', 'TIME'],
]

test.each(columns)('%o comes back exactly, and null as null', async (type, append, token, engineType) => {
  const fields: Field[] = [...systemFields(defaultVocabulary), { name: 'a', type: optional(type) }]
  const builders = fields.map((field) => createColumnBuilder(field, 2))
  for (let row = 0; row < 2; row++) {
    for (const [index, builder] of builders.entries()) {
      if (index === 0) builder.appendInt64(row)
      else if (index === 1) builder.appendInt32(0)
      else if (index < 4) builder.appendInt64(1_725_313_800_000)
      else if (row === 0) append(builder)
      else builder.appendNull()
    }
  }
  const batch = { rows: 2, columns: builders.map((builder) => builder.finish()) }
  const path = join(bench.root, `slice-${JSON.stringify(type).replace(/\W/g, '')}`)
  writeFileSync(path, Buffer.concat(encodeSlice({ fields, compress: zstdCompressSync }, [batch])))
  const tables = { 'a/b': { files: [path], schema: { fields } } }
  // Bounds in the footer are no answers.
  const isNested = type.kind === 'List'
  const largest = await ask(bench.engine, 'SELECT max(a), min(a) FROM "a/b"', { tables })
  expect(isNested || largest === `[[${token},${token}]]`).toBe(true)
  const answer = await ask(bench.engine, 'SELECT offset, event_time, a, typeof(a) FROM "a/b"', { tables })
  const time = '"2024-09-02T21:50:00Z"'
  expect(answer).toBe(`[[0,${time},${token},"${engineType}"],[1,${time},null,"${engineType}"]]`)
})
