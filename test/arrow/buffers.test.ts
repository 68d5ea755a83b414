// Streams that lie in a Node.js Buffer at any alignment: what a log read from disk hands over.

import { describe, expect, test } from 'vitest'
import { encodeArrowStream } from '../../src/arrow/ipc.ts'
import type { RecordBatch } from '../../src/model/record-batch.ts'
import type { Field } from '../../src/model/schema.ts'
import { decodeArrowStream } from '../helpers/slices.ts'

const fields: readonly Field[] = [
  { name: 'n', type: { kind: 'Int64' } },
  { name: 'city', type: { kind: 'String' } },
]
const batch: RecordBatch = {
  rows: 2,
  columns: [
    {
      name: 'n',
      type: { kind: 'Int64' },
      nullable: false,
      rows: 2,
      nullCount: 0,
      values: new Uint8Array(BigInt64Array.of(7n, -1n).buffer),
    },
    {
      name: 'city',
      type: { kind: 'String' },
      nullable: false,
      rows: 2,
      nullCount: 0,
      values: Buffer.from('OsloRome'),
      offsets: Int32Array.of(0, 4, 8),
    },
  ],
}

describe('an Arrow stream inside a Buffer', () => {
  test('reads the same at every alignment, though slice() of a Buffer is a view', () => {
    const stream = encodeArrowStream(fields, [batch])
    for (let at = 0; at < 16; at++) {
      const pool = Buffer.alloc(stream.length + at + 16, 0xff)
      pool.set(stream, at)
      const decoded = decodeArrowStream(pool.subarray(at, at + stream.length))
      expect([...(decoded.columns[1]?.offsets ?? [])], `at ${at}`).toEqual([0, 4, 8])
      expect([...(decoded.columns[0]?.values ?? [])], `at ${at}`).toEqual([...batch.columns[0]!.values])
    }
  })
})
