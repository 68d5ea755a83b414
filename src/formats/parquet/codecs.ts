// Compressed pages undone: node:zlib does gzip, Brotli and Zstandard, in its threads where a page is large; Snappy and LZ4
// are ours. A page never inflates beyond what its header says. Source: Apache Parquet, Compression.

import type { Transform } from 'node:stream'
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createUnzip,
  createZstdDecompress,
  unzipSync,
  zstdDecompressSync,
} from 'node:zlib'
import { DecodeError } from '../../model/errors.ts'
import { lz4Uncompress, lz4UncompressFrames } from '../../parquet/lz4.ts'
import { damaged, unsupported } from '../../parquet/refusals.ts'
import { snappyUncompress } from '../../parquet/snappy.ts'

/** Pages of more bytes than these are inflated beside the event loop. */
const largeBytes = 1024 * 1024
const chunkSize = 256 * 1024

const otherSize = 'has a page of another size than its header says'

/** Names of the codecs, by their numbers in parquet.thrift. */
const codecNames = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'LZO', 'BROTLI', 'LZ4', 'ZSTD', 'LZ4_RAW']

/** Throws UnsupportedParquet for a codec that is not read. */
export function checkCodec(codec: number): void {
  if (codec === 3 || codecNames[codec] === undefined) {
    unsupported(`is compressed with ${codecNames[codec] ?? `the unknown codec ${codec}`}, which is not read here`)
  }
}

/** Turns a page as stored into its `length` bytes. Throws DecodeError for a page that is not what it says. */
export async function inflatePage(codec: number, stored: Uint8Array, length: number): Promise<Uint8Array> {
  const page = await uncompressed(codec, stored, length)
  if (page.length !== length) damaged(otherSize)
  return page
}

async function uncompressed(codec: number, stored: Uint8Array, length: number): Promise<Uint8Array> {
  switch (codecNames[codec]) {
    case 'UNCOMPRESSED':
      return stored
    case 'SNAPPY':
      return snappyUncompress(stored, length)
    case 'LZ4_RAW':
      return lz4Uncompress(stored, length)
    case 'LZ4':
      return lz4UncompressFrames(stored, length)
    default:
      break
  }
  try {
    return await byZlib(codec, stored, length)
  } catch (error) {
    if (!(error instanceof Error) || error instanceof DecodeError) throw error
    // The output would be longer than the header says.
    if ('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') return damaged(otherSize)
    return damaged(`has a page that is no sound ${codecNames[codec]} (${error.message})`)
  }
}

function byZlib(codec: number, stored: Uint8Array, length: number): Promise<Uint8Array> | Uint8Array {
  const options = { maxOutputLength: length }
  const isLarge = length > largeBytes
  switch (codecNames[codec]) {
    case 'GZIP':
      return isLarge ? inLargeSteps(createUnzip({ chunkSize }), stored, length) : unzipSync(stored, options)
    case 'BROTLI':
      return isLarge
        ? inLargeSteps(createBrotliDecompress({ chunkSize }), stored, length)
        : brotliDecompressSync(stored, options)
    case 'ZSTD':
      return isLarge
        ? inLargeSteps(createZstdDecompress({ chunkSize }), stored, length)
        : zstdDecompressSync(stored, options)
    default:
      checkCodec(codec)
      return stored
  }
}

/** Inflates in the threads of zlib, chunk by chunk into place. */
async function inLargeSteps(stream: Transform, stored: Uint8Array, length: number): Promise<Uint8Array> {
  const out = new Uint8Array(length)
  let used = 0
  stream.end(stored)
  // A stream may be of anything; those of zlib are of bytes.
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    if (used + chunk.length > length) return damaged(otherSize)
    out.set(chunk, used)
    used += chunk.length
  }
  return out.subarray(0, used)
}
