// DELTA_BINARY_PACKED: integers as differences in blocks of packed bits, read piece by piece. Arithmetic wraps, in 32 or
// 64 bits, as the format demands. Source: Apache Parquet, Encodings, "Delta Encoding".

import { damaged } from './refusals.ts'

const tooShort = 'has delta-encoded numbers that end too early'
const mostBlockValues = 2 ** 20

/** The integers of one block sequence, in order. Throws DecodeError for bytes that are none. */
export class DeltaReader {
  /** Integers that are left. */
  left: number
  private readonly bytes: Uint8Array
  private at: number
  private readonly miniblocks: number
  private readonly miniblockValues: number
  /** The last value handed out, and the least difference of the block, as halves of 64 bits. */
  private low = 0
  private high = 0
  private minLow = 0
  private minHigh = 0
  private isFirst = true
  /** Where the widths of the block's miniblocks stand, which miniblock comes next, and what is left of the one at hand. */
  private widthsAt = 0
  private miniblock: number
  private inMiniblock = 0
  private width = 0
  private bits = 0
  private held = 0

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
    const block = this.varint()
    this.miniblocks = this.varint()
    this.left = this.varint()
    this.miniblockValues = block / this.miniblocks
    const isSound = block > 0 && block <= mostBlockValues && block % 128 === 0 && this.miniblockValues % 8 === 0
    if (!isSound) damaged('has delta-encoded numbers in blocks of impossible size')
    this.zigzag()
    this.low = this.minLow
    this.high = this.minHigh
    this.miniblock = this.miniblocks
  }

  /** Where the bytes behind the last block begin. Nothing is read. */
  end(): number {
    const start = this.at
    let rest = this.left - 1
    while (rest > 0) {
      this.zigzag()
      const widthsAt = this.at
      this.at += this.miniblocks
      for (let i = 0; i < this.miniblocks && rest > 0; i++) {
        this.at += ((this.bytes[widthsAt + i] ?? 0) * this.miniblockValues) / 8
        rest -= this.miniblockValues
      }
      if (this.at > this.bytes.length) damaged(tooShort)
    }
    const end = this.at
    this.at = start
    return end
  }

  /** Reads `count` integers of 32 bits into `out` from `start` on. */
  read32(out: Int32Array, start: number, count: number): void {
    const end = start + count
    let i = this.begin(count)
    if (i === 1) out[start] = this.low
    i += start
    while (i < end) {
      if (this.inMiniblock === 0) this.nextMiniblock()
      const stop = Math.min(end, i + this.inMiniblock)
      this.inMiniblock -= stop - i
      const { width, minLow } = this
      let { low } = this
      if (width > 24) {
        for (; i < stop; i++) out[i] = low = (low + minLow + this.take(width)) | 0
      } else {
        const { bytes } = this
        const mask = 2 ** width - 1
        let { at, bits, held } = this
        for (; i < stop; i++) {
          while (held < width) {
            bits |= (bytes[at++] ?? 0) << held
            held += 8
          }
          out[i] = low = (low + minLow + (bits & mask)) | 0
          bits >>>= width
          held -= width
        }
        this.at = at
        this.bits = bits
        this.held = held
      }
      this.low = low
    }
  }

  /** Reads `count` integers of 64 bits into the pairs of `out`, lower half first, from pair `start` on. */
  read64(out: Int32Array, start: number, count: number): void {
    const end = start + count
    let i = this.begin(count)
    if (i === 1) {
      out[2 * start] = this.low
      out[2 * start + 1] = this.high
    }
    for (i += start; i < end; i++) {
      if (this.inMiniblock === 0) this.nextMiniblock()
      this.inMiniblock--
      const { width } = this
      const deltaLow = this.take(Math.min(width, 32))
      const deltaHigh = width > 32 ? this.take(width - 32) : 0
      const least = (this.minLow >>> 0) + (deltaLow >>> 0)
      const sum = (this.low >>> 0) + least
      this.high = (this.high + this.minHigh + deltaHigh + Math.floor(sum / 2 ** 32)) | 0
      this.low = sum | 0
      out[2 * i] = this.low
      out[2 * i + 1] = this.high
    }
  }

  /** Takes `count` integers; 1 when the first of all is the first of them, else 0. */
  private begin(count: number): number {
    if (count > this.left) damaged(tooShort)
    this.left -= count
    if (!this.isFirst || count === 0) return 0
    this.isFirst = false
    return 1
  }

  private nextMiniblock(): void {
    const { bytes } = this
    if (this.miniblock === this.miniblocks) {
      this.zigzag()
      this.widthsAt = this.at
      this.at += this.miniblocks
      this.miniblock = 0
    }
    this.width = bytes[this.widthsAt + this.miniblock++] ?? 0
    if (this.width > 64) damaged('has delta-encoded numbers of more than 64 bits')
    if (this.at + (this.width * this.miniblockValues) / 8 > bytes.length) damaged(tooShort)
    this.inMiniblock = this.miniblockValues
    this.bits = 0
    this.held = 0
  }

  /** The next `width` bits, at most 32, as a 32-bit integer. */
  private take(width: number): number {
    if (width > 16) return this.take(16) | (this.take(width - 16) << 16)
    while (this.held < width) {
      this.bits |= (this.bytes[this.at++] ?? 0) << this.held
      this.held += 8
    }
    const value = this.bits & ((1 << width) - 1)
    this.bits >>>= width
    this.held -= width
    return value
  }

  private varint(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 28; scale *= 128) {
      if (this.at >= this.bytes.length) damaged(tooShort)
      const byte = this.bytes[this.at++] ?? 0
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    return damaged('has delta-encoded numbers whose count does not end')
  }

  /** Reads a signed integer of 64 bits into `minLow` and `minHigh`. */
  private zigzag(): void {
    let [low, high] = [0, 0]
    for (let shift = 0, byte = 128; byte >= 128; shift += 7) {
      if (this.at >= this.bytes.length || shift > 63) damaged(tooShort)
      byte = this.bytes[this.at++] ?? 0
      if (shift < 32) low |= (byte & 127) << shift
      if (shift > 25) high |= shift < 32 ? (byte & 127) >> (32 - shift) : (byte & 127) << (shift - 32)
    }
    const sign = -(low & 1)
    this.minLow = ((low >>> 1) | (high << 31)) ^ sign
    this.minHigh = (high >>> 1) ^ sign
  }
}
