// Zstandard pages of slices. Node.js sets 16 KiB aside for each piece that comes out, and holds them for a page of a few bytes:
// of thousands of columns that is more than their rows.

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const pieceBytes = 16 * 1024
const leastPieceBytes = 64
/** More is not set aside because a file claims it. */
const longestPieceBytes = 16 * 1024 * 1024

/** Compresses one page. A short one has room for the longest that may come of it, so that its bytes are the same. */
export function compressPage(bytes: Uint8Array): Uint8Array {
  const most = leastPieceBytes + bytes.length + (bytes.length >> 8)
  return zstdCompressSync(bytes, { chunkSize: Math.min(most, pieceBytes) })
}

/** Inflates one page, in one piece, which is never full; never to more than the file says. */
export function inflatePage(bytes: Uint8Array, length: number): Uint8Array {
  const chunkSize = Math.min(leastPieceBytes + length, longestPieceBytes)
  return zstdDecompressSync(bytes, { maxOutputLength: Math.max(length, 1), chunkSize })
}

/** How slices are compressed by this process. */
export const compressor = {
  name: `zstd ${process.versions['zstd'] ?? 'unknown'}`,
  compress: compressPage,
  decompress: inflatePage,
}
