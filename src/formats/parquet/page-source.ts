// What the pages of a file are read with: bytes of the body, decompression and checksums that let other work have its turn,
// and a count of the memory that open pages take.

import { crc32 } from 'node:zlib'
import { nextTurn } from '../../lib/clock.ts'
import { NodeError } from '../../model/errors.ts'
import type { PageSource } from '../../parquet/chunk-pages.ts'
import type { BodyFile } from '../format.ts'
import { inflatePage } from './codecs.ts'

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
export function pageSource(file: BodyFile, columns: number): PageSource {
  let open = 0
  let done = 0
  const turn = async (bytes: number): Promise<void> => {
    done += bytes
    if (done < turnBytes) return
    done = 0
    await nextTurn()
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
