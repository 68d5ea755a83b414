// Undoes Snappy, and LZ4 as it stands in pages: one block (LZ4_RAW), or blocks behind their sizes as Hadoop writes them
// (LZ4, deprecated). Sources: https://github.com/google/snappy/blob/main/format_description.txt; Apache Parquet, Compression.

import { nextTurn } from '../../base/clock.ts'
import { readLongLz4Block } from '../../base/lz4.ts'
import { damaged } from './refusals.ts'

const noSnappy = 'has a page that is no sound SNAPPY'
/** Bytes of output after which other work has its turn. */
const turnBytes = 2 * 1024 * 1024

/** The `length` bytes of `stored`. Throws DecodeError unless it holds exactly these. */
export async function snappyUncompress(stored: Uint8Array, length: number): Promise<Uint8Array> {
  const reader = new SnappyReader(stored, length)
  while (!reader.read(turnBytes)) await nextTurn()
  return reader.out
}

class SnappyReader {
  readonly out: Uint8Array
  private readonly stored: Uint8Array
  private at = 0
  private used = 0

  constructor(stored: Uint8Array, length: number) {
    this.stored = stored
    let said = 0
    for (let scale = 1, byte = 128; byte >= 128; scale *= 128) {
      if (this.at >= stored.length || scale > 2 ** 28) damaged(noSnappy)
      byte = stored[this.at++] ?? 0
      said += (byte & 127) * scale
    }
    if (said !== length) damaged('has a page of another size than its header says')
    this.out = new Uint8Array(length)
  }

  /** Goes on for about `most` bytes of output; true at the end. */
  read(most: number): boolean {
    const { stored, out } = this
    let { at, used } = this
    const stop = Math.min(out.length, used + most)
    while (used < stop) {
      if (at >= stored.length) damaged(noSnappy)
      const tag = stored[at++] ?? 0
      const kind = tag & 3
      let length = (tag >> 2) + 1
      if (kind === 0) {
        if (length > 60) {
          const bytes = length - 60
          length = 1
          for (let i = 0; i < bytes; i++) length += (stored[at + i] ?? 0) * 2 ** (8 * i)
          at += bytes
        }
        if (length > stored.length - at || length > out.length - used) damaged(noSnappy)
        if (length > 32) out.set(stored.subarray(at, at + length), used)
        else for (let i = 0; i < length; i++) out[used + i] = stored[at + i] ?? 0
        at += length
        used += length
        continue
      }
      let offset: number
      if (kind === 1) {
        length = ((tag >> 2) & 7) + 4
        offset = ((tag >> 5) << 8) | (stored[at] ?? 0)
        at += 1
      } else {
        offset = (stored[at] ?? 0) | ((stored[at + 1] ?? 0) << 8)
        at += 2
        if (kind === 3) {
          offset += ((stored[at] ?? 0) | ((stored[at + 1] ?? 0) << 8)) * 65_536
          at += 2
        }
      }
      if (at > stored.length || offset === 0 || offset > used || length > out.length - used) damaged(noSnappy)
      // Bytes that are being written may be read again.
      const from = used - offset
      for (let i = 0; i < length; i++) out[used + i] = out[from + i] ?? 0
      used += length
    }
    this.at = at
    this.used = used
    if (used < out.length) return false
    if (at !== stored.length) damaged(noSnappy)
    return true
  }
}

/** The `length` bytes of one block. Throws DecodeError unless it holds exactly these. */
export async function lz4Uncompress(stored: Uint8Array, length: number): Promise<Uint8Array> {
  const out = new Uint8Array(length)
  await readBlock(stored, out)
  return out
}

/**
 * The `length` bytes of blocks behind two sizes each, big-endian: inflated, then stored. Some writers left the sizes out;
 * they are known by sizes that cannot be.
 */
export async function lz4UncompressFrames(stored: Uint8Array, length: number): Promise<Uint8Array> {
  if (!isFramed(stored, length)) return lz4Uncompress(stored, length)
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  const out = new Uint8Array(length)
  let used = 0
  for (let at = 0; at < stored.length;) {
    const inflatedBytes = view.getUint32(at)
    const storedBytes = view.getUint32(at + 4)
    at += 8
    await readBlock(stored.subarray(at, at + storedBytes), out.subarray(used, used + inflatedBytes))
    at += storedBytes
    used += inflatedBytes
  }
  return out
}

/** Whether the sizes of blocks add up to those of the page. */
function isFramed(stored: Uint8Array, length: number): boolean {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  let [at, used] = [0, 0]
  while (at + 8 <= stored.length) {
    used += view.getUint32(at)
    at += 8 + view.getUint32(at + 4)
  }
  return at === stored.length && used === length
}

async function readBlock(stored: Uint8Array, out: Uint8Array): Promise<void> {
  if ((await readLongLz4Block(stored, out, 0)) !== out.length) damaged('has a page that is no sound LZ4')
}
