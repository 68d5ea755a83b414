// A frame of the file log: `u32 length | u32 crc32c | u64 position | u64 durable mark at writing | bytes`,
// little-endian. The checksum covers length, position, mark and bytes. The mark is the position below which
// everything was durable when the frame was written: what lets an opener tell a torn tail from damage.

import { crc32c } from './crc32c.ts'
import { readU32, readU64, writeU32, writeU64 } from './little-endian.ts'

export const frameHeaderBytes = 24

/** Largest message that the file log takes; a larger length in a frame is nonsense. */
export const maxMessageBytes = 16 * 1024 * 1024

export interface FrameHeader {
  readonly position: number
  readonly mark: number
  /** Length of the message in bytes. */
  readonly length: number
}

/** Writes the frame of `message` at `at` of `out`; returns the offset after it. */
export function writeFrame(
  out: Uint8Array,
  at: number,
  frame: { readonly position: number; readonly mark: number; readonly message: Uint8Array },
): number {
  writeU32(out, at, frame.message.length)
  writeU64(out, at + 8, frame.position)
  writeU64(out, at + 16, frame.mark)
  const bytesAt = at + frameHeaderBytes
  out.set(frame.message, bytesAt)
  const end = bytesAt + frame.message.length
  writeU32(out, at + 4, frameCrc(out, at, end))
  return end
}

/**
 * Header of the frame at `at`, or undefined when the bytes there cannot be one: too few, a length above the largest,
 * a position or mark beyond 2^53, a mark above the position. The checksum is not looked at.
 */
export function readFrameHeader(bytes: Uint8Array, at: number): FrameHeader | undefined {
  if (at + frameHeaderBytes > bytes.length) return undefined
  const length = readU32(bytes, at)
  const position = readU64(bytes, at + 8)
  const mark = readU64(bytes, at + 16)
  if (length > maxMessageBytes || position > Number.MAX_SAFE_INTEGER || mark > position) return undefined
  return { position, mark, length }
}

/** True when the frame of `header`, all of whose bytes lie at `at`, has the right checksum. */
export function frameIsIntact(bytes: Uint8Array, at: number, header: FrameHeader): boolean {
  return readU32(bytes, at + 4) === frameCrc(bytes, at, at + frameHeaderBytes + header.length)
}

function frameCrc(bytes: Uint8Array, at: number, end: number): number {
  return crc32c(bytes, at + 8, end, crc32c(bytes, at, at + 4))
}
