// Undoes LZ4: one block (LZ4_RAW), and blocks behind their sizes as Hadoop writes them (LZ4, deprecated).
// Sources: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md; Apache Parquet, Compression.

import { nextTurn } from '../lib/clock.ts'
import { damaged } from './refusals.ts'

const noLz4 = 'has a page that is no sound LZ4'
/** Bytes of output after which other work has its turn. */
const turnBytes = 2 * 1024 * 1024

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
  for (let at = 0; at < stored.length; ) {
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
  const end = stored.length
  let [at, used, turnAt] = [0, 0, turnBytes]
  for (;;) {
    if (at >= end) damaged(noLz4)
    const token = stored[at++] ?? 0
    let length = token >> 4
    if (length === 15) {
      for (let byte = 255; byte === 255; length += byte) {
        if (at >= end) damaged(noLz4)
        byte = stored[at++] ?? 0
      }
    }
    if (length > end - at || length > out.length - used) damaged(noLz4)
    if (length > 32) out.set(stored.subarray(at, at + length), used)
    else for (let i = 0; i < length; i++) out[used + i] = stored[at + i] ?? 0
    at += length
    used += length
    // The last sequence has no match.
    if (at === end) break
    const offset = (stored[at] ?? 0) | ((stored[at + 1] ?? 0) << 8)
    at += 2
    length = (token & 15) + 4
    if ((token & 15) === 15) {
      for (let byte = 255; byte === 255; length += byte) {
        if (at >= end) damaged(noLz4)
        byte = stored[at++] ?? 0
      }
    }
    if (at > end || offset === 0 || offset > used || length > out.length - used) damaged(noLz4)
    const from = used - offset
    if (offset >= length && length > 32) out.copyWithin(used, from, from + length)
    else for (let i = 0; i < length; i++) out[used + i] = out[from + i] ?? 0
    used += length
    if (used >= turnAt) {
      turnAt = used + turnBytes
      await nextTurn()
    }
  }
  if (used !== out.length) damaged(noLz4)
}
