// LZ4 as it stands in pages: one block (LZ4_RAW), or blocks behind their sizes as Hadoop writes them (LZ4, deprecated).
// Source: Apache Parquet, Compression.

import { readLongLz4Block } from '../lib/lz4.ts'
import { damaged } from './refusals.ts'

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
  if ((await readLongLz4Block(stored, out, 0)) !== out.length) damaged('has a page that is no sound LZ4')
}
