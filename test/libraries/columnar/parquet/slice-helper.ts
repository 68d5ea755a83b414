// Writing, hashing and comparing slices: for their tests. DuckDB's values come back as columns-helper has them.

import { zstdCompressSync } from 'node:zlib'
import * as duckdb from '@duckdb/node-api'
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import { createLogicalHash } from '../../../../src/libraries/columnar/arrow/logical-hash.ts'
import { concatBytes } from '../../../../src/libraries/base/bytes.ts'
import { type DataType, type Field, innerType, type RecordBatch } from '../../../../src/libraries/model/schema.ts'
import { encodeSlice } from '../../../../src/libraries/columnar/parquet/write-slice.ts'
import type { Value } from '../arrow/columns-helper.ts'

const compress = (bytes: Uint8Array): Uint8Array => new Uint8Array(zstdCompressSync(bytes))

export function writeSlice(fields: readonly Field[], batches: readonly RecordBatch[], zstd = true): Uint8Array {
  return concatBytes(encodeSlice({ fields, ...(zstd ? { compress } : {}) }, batches))
}

export function hashOf(fields: readonly Field[], batch: RecordBatch): string {
  const hash = createLogicalHash(fields)
  hash.update(batch)
  return hash.digest()
}

export async function connect(): Promise<duckdb.DuckDBConnection> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  await connection.run("SET TimeZone = 'UTC'; SET threads = 1")
  return connection
}

/** DuckDB keeps microseconds in 64 bits, so timestamps have to stay below a third of a million years. */
export function forDuckDb(type: DataType, value: Value): Value {
  const inner = innerType(type)
  if (inner.kind === 'List' && Array.isArray(value)) return value.map((item) => forDuckDb(inner.itemType, item))
  return inner.kind === 'Timestamp' && typeof value === 'bigint' ? value % 10n ** 14n : value
}

export function fromDuckDb(type: DataType, value: DuckDBValue): Value {
  const inner = innerType(type)
  if (value === null) return null
  if (value instanceof duckdb.DuckDBListValue) {
    const itemType = inner.kind === 'List' ? inner.itemType : inner
    return value.items.map((item) => fromDuckDb(itemType, item))
  }
  if (value instanceof duckdb.DuckDBDateValue) return value.days
  if (value instanceof duckdb.DuckDBDecimalValue) return value.value
  if (value instanceof duckdb.DuckDBBlobValue) return new Uint8Array(value.bytes)
  if (value instanceof duckdb.DuckDBTimestampTZValue) {
    return inner.kind === 'Timestamp' && inner.unit === 'Millisecond' ? value.micros / 1000n : value.micros
  }
  if (value instanceof duckdb.DuckDBTimeValue) {
    return inner.kind === 'Time' && inner.unit === 'Millisecond' ? Number(value.micros / 1000n) : value.micros
  }
  return value as Value
}
