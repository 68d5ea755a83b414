// What a built slice is, and how slices are compressed.

import type { Hash } from '../model/events.ts'

/** Named in every checkpoint: slices are byte-identical between builders that share both names. */
export const sliceWriterName = 'slice-1'

/** How slices are compressed (Zstandard); `name` says what decides the bytes (`zstd 1.5.7`). */
export interface Compressor {
  readonly name: string
  compress(bytes: Uint8Array): Uint8Array
  /** The `length` bytes that were compressed. */
  decompress(bytes: Uint8Array, length: number): Uint8Array
}

export interface BuiltSlice {
  /** The file; absent where it was so large that the store has it already. */
  readonly chunks?: readonly Uint8Array[]
  readonly sizeBytes: number
  readonly rows: number
  readonly physicalHash: Hash
  readonly logicalHash: Hash
  /** Latest event time, milliseconds since 1970 UTC; undefined when none lies in the years 0000 to 9999. */
  readonly latestEventMs: number | undefined
}
