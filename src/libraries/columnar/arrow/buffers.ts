// Buffers of columns: bitmaps (LSB first), ranges of bytes, and whether the bytes of a String column are text.

import { copyRange, decodeUtf8 } from '../../base/bytes.ts'

/** True when bit `index` is set, LSB first. */
export function bitAt(bits: Uint8Array, index: number): boolean {
  return (((bits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1
}

/** Sets bit `index`. */
export function setBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
}

/** Bits set in the first `count` bits. */
export function countBits(bits: Uint8Array, count: number): number {
  let total = 0
  const whole = count >> 3
  for (let i = 0; i < whole; i++) total += bitCounts[bits[i] ?? 0] ?? 0
  const rest = count & 7
  return rest === 0 ? total : total + (bitCounts[(bits[whole] ?? 0) & ((1 << rest) - 1)] ?? 0)
}

const bitCounts = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0
  for (let bits = byte; bits !== 0; bits >>= 1) count += bits & 1
  return count
})

/** Copies `count` bits from `source` (starting at bit `from`) into `target` (starting at bit `at`). */
export function copyBits(target: Uint8Array, at: number, source: Uint8Array, from: number, count: number): void {
  let done = 0
  if ((at & 7) === 0 && (from & 7) === 0) {
    const whole = count >> 3
    target.set(source.subarray(from >> 3, (from >> 3) + whole), at >> 3)
    done = whole << 3
  }
  while (done < count) {
    const bitTo = (at + done) & 7
    const bitFrom = (from + done) & 7
    const step = Math.min(8 - bitTo, 8 - bitFrom, count - done)
    const mask = (1 << step) - 1
    const bits = ((source[(from + done) >> 3] ?? 0) >> bitFrom) & mask
    const byte = (at + done) >> 3
    target[byte] = ((target[byte] ?? 0) & ~(mask << bitTo)) | (bits << bitTo)
    done += step
  }
}

/** Bits [from, from + count) moved to the front; a view where the start and the end fall on bytes, else a copy. */
export function cutBits(bits: Uint8Array, from: number, count: number): Uint8Array {
  const length = (count + 7) >> 3
  if ((from & 7) === 0 && (count & 7) === 0) return bits.subarray(from >> 3, (from >> 3) + length)
  const out = new Uint8Array(length)
  copyBits(out, 0, bits, from, count)
  return out
}

/** Sets `count` bits from bit `at` on. */
export function setBits(bits: Uint8Array, at: number, count: number): void {
  const end = at + count
  let bit = at
  while (bit < end) {
    if ((bit & 7) === 0 && end - bit >= 8) {
      bits.fill(255, bit >> 3, end >> 3)
      bit = (end >> 3) << 3
    } else {
      setBit(bits, bit++)
    }
  }
}

/** Clears the bits [from, to). */
export function clearBits(bits: Uint8Array, from: number, to: number): void {
  for (let bit = from; bit < to;) {
    if ((bit & 7) === 0 && to - bit >= 8) {
      bits.fill(0, bit >> 3, to >> 3)
      bit = (to >> 3) << 3
    } else {
      bits[bit >> 3] = (bits[bit >> 3] ?? 0) & ~(1 << (bit & 7))
      bit++
    }
  }
}

/** Bytes with a view of them. */
export interface ViewedBytes {
  readonly bytes: Uint8Array
  readonly view: DataView
}

export function viewed(bytes: Uint8Array): ViewedBytes {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) }
}

const wordBytes = 8
const longestByWords = 256

/**
 * Copies bytes [start, end) of `source` to `at`, short ones in words: up to seven bytes behind them change too. So ranges
 * that follow one another in `out` are to be copied in order.
 */
export function copyInOrder(out: ViewedBytes, at: number, source: ViewedBytes, start: number, end: number): void {
  const length = end - start
  const hasRoom = end + wordBytes <= source.bytes.length && at + length + wordBytes <= out.bytes.length
  if (!hasRoom || length > longestByWords) return copyRange(out.bytes, at, source.bytes, start, end)
  const [to, from] = [out.view, source.view]
  for (let i = 0; i < length; i += wordBytes) to.setBigUint64(at + i, from.getBigUint64(start + i, true), true)
}

/** True when `values` is UTF-8 and each offset stands between characters. */
export function isText(values: Uint8Array, offsets: Int32Array): boolean {
  const firstHigh = asciiPrefix(values)
  if (firstHigh === values.length) return true
  try {
    decodeUtf8(values.subarray(firstHigh))
  } catch {
    return false
  }
  for (const offset of offsets) {
    if (offset < values.length && ((values[offset] ?? 0) & 0xc0) === 0x80) return false
  }
  return true
}

/** The bits that no ASCII has, as the 32-bit integer that words are: fast before the loop is compiled, too. */
const highBits = 0x80808080 | 0

/** Length of the leading bytes below 0x80. */
function asciiPrefix(bytes: Uint8Array): number {
  let i = 0
  if (bytes.length > 64) {
    for (; (bytes.byteOffset + i) % 4 !== 0; i++) if ((bytes[i] ?? 0) >= 0x80) return i
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + i, (bytes.length - i) >> 2)
    let word = 0
    while (word < words.length && ((words[word] ?? 0) & highBits) === 0) word++
    i += word << 2
  }
  while (i < bytes.length && (bytes[i] ?? 0) < 0x80) i++
  return i
}
