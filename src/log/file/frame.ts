// A frame of the file log: `u32 length | u32 crc32c | u64 position | u64 durable mark at writing | bytes`,
// little-endian. The checksum covers the number of the log, length, position, mark and bytes. The mark is the position below which
// everything was durable when the frame was written: what lets an opener tell a torn tail from damage.

import { crc32c } from '../../lib/crc32c.ts'
import { readU32, readU64, writeU32, writeU64 } from '../../lib/little-endian.ts'

export const frameHeaderBytes = 24

/** Largest message that the file log takes; a larger length in a frame is nonsense. */
export const maxMessageBytes = 16 * 1024 * 1024

/** How the frames of a log are written. */
export interface FrameForm {
  /** The log has a number: bit 31 of each length is set, and checksums begin with the number's. */
  readonly isNumbered: boolean
  readonly seed: number
}

/** Set in the length of numbered frames, so that the two forms are never taken for each other. */
const numberedBit = 0x8000_0000

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
  frame: { readonly position: number; readonly mark: number; readonly message: Uint8Array; readonly form: FrameForm },
): number {
  writeU32(out, at, frame.message.length + (frame.form.isNumbered ? numberedBit : 0))
  writeU64(out, at + 8, frame.position)
  writeU64(out, at + 16, frame.mark)
  const bytesAt = at + frameHeaderBytes
  out.set(frame.message, bytesAt)
  const end = bytesAt + frame.message.length
  writeU32(out, at + 4, frameCrc(out, at, end, frame.form))
  return end
}

/**
 * Header of the frame at `at`, or undefined when the bytes there cannot be one: too few, of another form, a length above
 * the largest, a position or mark beyond 2^53, a mark above the position. The checksum is not looked at.
 */
export function readFrameHeader(bytes: Uint8Array, at: number, form: FrameForm): FrameHeader | undefined {
  if (at + frameHeaderBytes > bytes.length) return undefined
  const length = readU32(bytes, at) - (form.isNumbered ? numberedBit : 0)
  if (length < 0) return undefined
  const position = readU64(bytes, at + 8)
  const mark = readU64(bytes, at + 16)
  if (length > maxMessageBytes || position > Number.MAX_SAFE_INTEGER || mark > position) return undefined
  return { position, mark, length }
}

/** True when the frame of `header`, all of whose bytes lie at `at`, has the right checksum. */
export function frameIsIntact(
  bytes: Uint8Array,
  at: number,
  frame: FrameHeader & { readonly form: FrameForm },
): boolean {
  return readU32(bytes, at + 4) === frameCrc(bytes, at, at + frameHeaderBytes + frame.length, frame.form)
}

/**
 * True when the bytes where frame `position` should begin are one of the other form: then the identity of the log is
 * not that of its frames. `bytes` need not hold the whole frame.
 */
export function hasOtherForm(bytes: Uint8Array, { position, form }: { position: number; form: FrameForm }): boolean {
  const other: FrameForm = { isNumbered: !form.isNumbered, seed: 0 }
  const header = readFrameHeader(bytes, 0, other)
  if (header?.position !== position || header.mark > position) return false
  // The number of numbered frames is not known here; that bit of a length says enough.
  if (other.isNumbered) return true
  return frameHeaderBytes + header.length <= bytes.length && frameIsIntact(bytes, 0, { ...header, form: other })
}

function frameCrc(bytes: Uint8Array, at: number, end: number, form: FrameForm): number {
  return crc32c(bytes, at + 8, end, crc32c(bytes, at, at + 4, form.seed))
}
