// Pages in each codec, small and so large that they are inflated beside the event loop: whole, cut off, and of another size
// than their header says.

import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { describe, expect, test } from 'vitest'
import { concatBytes } from '../../../../src/libraries/base/bytes.ts'
import { oneColumn } from './craft.ts'
import { readAll, refusal } from './parquet-helper.ts'

const half = (bytes: Uint8Array): [Uint8Array, Uint8Array] => [
  bytes.subarray(0, bytes.length >> 1),
  bytes.subarray(bytes.length >> 1),
]
const codecs: readonly [string, number, (bytes: Uint8Array) => Uint8Array][] = [
  ['SNAPPY', 1, snappyCompress],
  ['GZIP', 2, gzipSync],
  ['GZIP of two members', 2, (bytes) => concatBytes(half(bytes).map((part) => gzipSync(part)))],
  ['GZIP as zlib, which some writers mean', 2, deflateSync],
  ['BROTLI', 4, (bytes) => brotliCompressSync(bytes)],
  ['ZSTD', 6, (bytes) => zstdCompressSync(bytes)],
]

for (const [name, codec, compress] of codecs) {
  describe(name, () => {
    for (const entries of [100, 300_000]) {
      const values = Int32Array.from({ length: entries }, (_, i) => Math.imul(i, 7919) % 5000)
      const bytes = new Uint8Array(values.buffer)
      const stored = compress(bytes)
      const file = (body: Uint8Array, inflatedBytes = bytes.length): Uint8Array => {
        return oneColumn({ entries, body, inflatedBytes }, { codec })
      }

      test(`${entries} values come back`, async () => {
        const [column] = await readAll(file(stored))
        expect(column?.values).toEqual(Array.from(values, String))
      })

      test(`a page of ${entries} values that is not what it says is refused`, async () => {
        const flipped = stored.slice()
        flipped[stored.length >> 1] = (flipped[stored.length >> 1] ?? 0) ^ 255
        const broken = [
          file(stored.subarray(0, stored.length - 9)),
          file(stored, bytes.length - 4),
          file(stored, bytes.length + 4),
          file(new Uint8Array(0)),
        ]
        for (const bad of broken) {
          expect(await refusal(bad)).toMatchObject({
            kind: 'MalformedBody',
            message: expect.stringContaining('The column "n" (row group 0, page 0) has a page'),
          })
        }
        const found = await readAll(file(flipped)).catch((error: unknown) => error)
        expect(found instanceof Error ? found.name : 'NodeError').toBe('NodeError')
      })
    }
  })
}
