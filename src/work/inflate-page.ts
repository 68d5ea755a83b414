// Zstandard pages of slices, for what reads them in threads.

import { zstdDecompressSync } from 'node:zlib'

/** Inflates one page; never to more than the file says. In one piece: by default they are put together from 16 KiB each. */
export function inflatePage(bytes: Uint8Array, length: number): Uint8Array {
  return zstdDecompressSync(bytes, { maxOutputLength: Math.max(length, 1), chunkSize: Math.max(length, 64) })
}
