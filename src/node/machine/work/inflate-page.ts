// Zstandard pages of slices, for what reads them in threads.

import { zstdDecompressSync } from 'node:zlib'

/** More is not set aside because a file claims it. */
const pieceBytes = 16 * 1024 * 1024

/** Inflates one page; never to more than the file says. In one piece: by default they are put together from 16 KiB each. */
export function inflatePage(bytes: Uint8Array, length: number): Uint8Array {
  const chunkSize = Math.min(Math.max(length, 64), pieceBytes)
  return zstdDecompressSync(bytes, { maxOutputLength: Math.max(length, 1), chunkSize })
}
