// A frame of the file log: `u32 length | u32 crc32c | u64 position | u64 durable mark at writing | bytes`,
// little-endian. The checksum covers length, position, mark and bytes. The mark is the position below which
// everything was durable when the frame was written: what lets an opener tell a torn tail from damage.

import { crc32c } from './crc32c.ts'

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
  const view = new DataView(out.buffer, out.byteOffset + at, frameHeaderBytes)
  view.setUint32(0, frame.message.length, true)
  writeU64(view, 8, frame.position)
  writeU64(view, 16, frame.mark)
  const bytesAt = at + frameHeaderBytes
  out.set(frame.message, bytesAt)
  const end = bytesAt + frame.message.length
  view.setUint32(4, frameCrc(out, at, end), true)
  return end
}

/**
 * Header of the frame at `at`, or undefined when the bytes there cannot be one: too few, a length above the largest,
 * a position or mark beyond 2^53, a mark above the position. The checksum is not looked at.
 */
export function readFrameHeader(bytes: Uint8Array, at: number): FrameHeader | undefined {
  if (at + frameHeaderBytes > bytes.length) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, frameHeaderBytes)
  const length = view.getUint32(0, true)
  const position = readU64(view, 8)
  const mark = readU64(view, 16)
  if (length > maxMessageBytes || position > Number.MAX_SAFE_INTEGER || mark > position) return undefined
  return { position, mark, length }
}

/** True when the frame of `header`, all of whose bytes lie at `at`, has the right checksum. */
export function frameIsIntact(bytes: Uint8Array, at: number, header: FrameHeader): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, frameHeaderBytes)
  return view.getUint32(4, true) === frameCrc(bytes, at, at + frameHeaderBytes + header.length)
}

function frameCrc(bytes: Uint8Array, at: number, end: number): number {
  return crc32c(bytes, at + 8, end, crc32c(bytes, at, at + 4))
}

const twoTo32 = 0x1_0000_0000

function writeU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % twoTo32, true)
  view.setUint32(at + 4, Math.floor(value / twoTo32), true)
}

function readU64(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * twoTo32
}
