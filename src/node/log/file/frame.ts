// A frame of the file log: `u32 length | u32 crc32c | u64 position | u64 durable mark at writing | bytes`,
// little-endian. The checksum covers the number of the log, length, position, mark and bytes. The mark is the position
// below which everything was durable when the frame was written: it lets an opener tell a torn tail from damage.
// The number of a log is in its file `id`: it goes into the checksum of every frame, so that no message can hold bytes
// that pass for a frame of its log.

import { randomBytes } from '../../../libraries/base/ids/native-crypto.ts'
import { fromHex, toHex, utf8 } from '../../../libraries/base/bytes.ts'
import { crc32c, isSealed, joinedCrc32c, rememberSealed, sealedCrc32c } from '../../../libraries/base/crc32c.ts'
import { HaltError } from '../../../libraries/base/errors.ts'

export const frameHeaderBytes = 24

/** Largest message that the file log takes; a larger length in a frame is nonsense. */
export const maxMessageBytes = 16 * 1024 * 1024

/** Set in each length: the checksum begins with that of the log's number, the `seed` of its frames. */
const numberedBit = 0x8000_0000
const twoTo32 = 0x1_0000_0000

export interface FrameHeader {
  readonly position: number
  readonly mark: number
  /** Length of the message in bytes. */
  readonly length: number
  readonly checksum: number
}

/** Writes the frame of `message` at `at` of `out`; returns the offset after it. */
export function writeFrame(
  out: Uint8Array,
  at: number,
  frame: { readonly position: number; readonly mark: number; readonly message: Uint8Array; readonly seed: number },
): number {
  const { position, mark, message, seed } = frame
  const end = at + frameHeaderBytes + message.length
  const view = viewOf(out)
  view.setUint32(at, message.length + numberedBit, true)
  view.setUint32(at + 8, position % twoTo32, true)
  view.setUint32(at + 12, Math.floor(position / twoTo32), true)
  view.setUint32(at + 16, mark % twoTo32, true)
  view.setUint32(at + 20, Math.floor(mark / twoTo32), true)
  out.set(message, at + frameHeaderBytes)
  const sum = isSealed(message) ? sealedCrc32c : crc32c(message)
  view.setUint32(at + 4, joinedCrc32c(headerCrc(out, at, seed), sum, message.length), true)
  return end
}

/**
 * Header of the frame at `at`, or undefined when the bytes there cannot be one: too few, a length without its bit or above
 * the largest, a position or mark beyond 2^53, a mark above the position. The checksum is not looked at.
 */
export function readFrameHeader(bytes: Uint8Array, at: number): FrameHeader | undefined {
  if (at + frameHeaderBytes > bytes.length) return undefined
  const view = viewOf(bytes)
  const length = view.getUint32(at, true) - numberedBit
  if (length < 0) return undefined
  const position = view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * twoTo32
  const mark = view.getUint32(at + 16, true) + view.getUint32(at + 20, true) * twoTo32
  if (length > maxMessageBytes || position > Number.MAX_SAFE_INTEGER || mark > position) return undefined
  return { position, mark, length, checksum: view.getUint32(at + 4, true) }
}

/**
 * The message in the frame of `frame`, all of whose bytes lie at `at`: a view of them, or undefined when the checksum is
 * wrong. Where the message ends with its own checksum, that has been checked with the frame's.
 */
export function messageInFrame(
  bytes: Uint8Array,
  at: number,
  { length, checksum, seed }: FrameHeader & { readonly seed: number },
): Uint8Array | undefined {
  const message = bytes.subarray(at + frameHeaderBytes, at + frameHeaderBytes + length)
  const sum = crc32c(message)
  if (checksum !== joinedCrc32c(headerCrc(bytes, at, seed), sum, length)) return undefined
  if (sum === sealedCrc32c) rememberSealed(message)
  return message
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The checksum of what stands before the message: the number of the log, length, position and mark. */
function headerCrc(bytes: Uint8Array, at: number, seed: number): number {
  return crc32c(bytes, at + 8, at + frameHeaderBytes, crc32c(bytes, at, at + 4, seed))
}

/** Which log a file log is, and what the checksums of its frames begin with. */
export interface LogIdentity {
  readonly id: string
  readonly seed: number
}

// The text of `id`: `<32 hex digits> <16 hex digits> <8 hex digits>`: id, number, and the checksum of both, because with
// a wrong number every frame would look torn.
const identity = /^([0-9a-f]{32}) ([0-9a-f]{16}) ([0-9a-f]{8})\n$/

/** The text of a new log's `id`. */
export function newIdentityText(): string {
  const text = `${toHex(randomBytes(16))} ${toHex(randomBytes(8))}`
  return `${text} ${checksumOf(text)}\n`
}

/** Throws HaltError `LogDamaged` when the text is none of a log's. */
export function parseIdentity(text: string): LogIdentity {
  const [, id = '', number = '', checksum] = identity.exec(text) ?? []
  const bytes = fromHex(number)
  if (bytes === undefined || checksum !== checksumOf(`${id} ${number}`)) {
    throw new HaltError('LogDamaged', 'the file id does not hold the identity of a log')
  }
  return { id, seed: crc32c(bytes) }
}

/** Without its identity the frames of a log cannot be told from torn ones. */
export function withoutIdentity(): HaltError {
  return new HaltError('LogDamaged', 'the file id is missing although there are segments; put it back from a backup')
}

function checksumOf(text: string): string {
  return crc32c(utf8(text)).toString(16).padStart(8, '0')
}
