// What the pages of a file are read with: bytes of the body, decompression and checksums that let other work have its turn,
// and a count of the memory that open pages take. node:zlib does gzip, Brotli and Zstandard, in its threads where a page is
// large; Snappy and LZ4 are ours. A page never inflates beyond what its header says. Source: Apache Parquet, Compression.

import type { Transform } from 'node:stream'
import {
  brotliDecompressSync,
  crc32,
  createBrotliDecompress,
  createUnzip,
  createZstdDecompress,
  unzipSync,
  zstdDecompressSync,
} from 'node:zlib'
import { nextTurn } from '../../base/clock.ts'
import { DecodeError, NodeError } from '../../base/errors.ts'
import { lz4Uncompress, lz4UncompressFrames, snappyUncompress } from '../../columnar/parquet/block-codecs.ts'
import type { CountedPages } from '../../columnar/parquet/chunk-pages.ts'
import { damaged, unsupported } from '../../columnar/parquet/refusals.ts'
import type { BodyFile } from '../../columnar/body-file.ts'

/** One page, inflated. */
const mostPageBytes = 64 * 1024 * 1024
/** The pages that are open at the same time, one of each column, with dictionaries. */
const mostOpenBytes = 256 * 1024 * 1024
/** What all columns together read ahead. */
const windowsBytes = 16 * 1024 * 1024
const [leastWindowBytes, mostWindowBytes] = [16 * 1024, 1024 * 1024]
/** Bytes inflated or summed after which other work has its turn. */
const turnBytes = 2 * 1024 * 1024

/** Reads pages of `file`, of `columns` columns side by side. Throws NodeError `BodyTooLarge` for pages that are too large. */
export function pageSource(file: BodyFile, columns: number): CountedPages {
  let open = 0
  let done = 0
  const turn = async (bytes: number): Promise<void> => {
    done += bytes
    if (done < turnBytes) return
    done = 0
    await nextTurn()
    file.demandCaller()
  }
  return {
    at: (start, end) => file.at(start, end),
    inflate: async (codec, stored, length) => {
      const page = await inflatePage(codec, stored, length)
      await turn(length)
      return page
    },
    crc32: async (bytes) => {
      let sum = 0
      for (let at = 0; at < bytes.length; at += turnBytes) {
        const piece = bytes.subarray(at, at + turnBytes)
        sum = crc32(piece, sum)
        await turn(piece.length / 4)
      }
      return sum
    },
    windowBytes: Math.max(leastWindowBytes, Math.min(mostWindowBytes, Math.floor(windowsBytes / Math.max(1, columns)))),
    demandCaller: () => file.demandCaller(),
    isCrowded: () => open > mostOpenBytes - mostPageBytes,
    hold: (bytes) => {
      if (bytes > mostPageBytes)
        throw tooLarge(`A page of the file has ${bytes} bytes`, 'pageBytes', mostPageBytes, columns)
      if (bytes > 0 && open + bytes > mostOpenBytes) {
        const what = `The pages of ${columns} columns, which are read side by side, are too large`
        throw tooLarge(what, 'openPageBytes', mostOpenBytes, columns)
      }
      open += bytes
    },
  }
}

function tooLarge(what: string, name: string, value: number, columns: number): NodeError {
  // Half of what is set apart, since texts make pages larger than they were told to be.
  const pageBytes = Math.min(1024 * 1024, Math.floor(mostOpenBytes / 2 / Math.max(1, columns)))
  return new NodeError('BodyTooLarge', `${what}. Nothing was stored.`, {
    limit: { name, value, unit: 'bytes' },
    hint: `Write the file with pages of at most ${pageBytes} bytes (pyarrow: data_page_size=${pageBytes}).`,
  })
}

/** Pages of more bytes than these are inflated beside the event loop. */
const largeBytes = 1024 * 1024
const chunkSize = 256 * 1024

const otherSize = 'has a page of another size than its header says'

/** Names of the codecs, by their numbers in parquet.thrift. */
const codecNames = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'LZO', 'BROTLI', 'LZ4', 'ZSTD', 'LZ4_RAW']

/** Why a codec is not read, to follow the name of a column; undefined for one that is. */
export function codecFault(codec: number): string | undefined {
  if (codec !== 3 && codecNames[codec] !== undefined) return undefined
  return `is compressed with ${codecNames[codec] ?? `the unknown codec ${codec}`}, which is not read here`
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
      return unsupported(codecFault(codec) ?? 'is compressed in an unknown way')
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
