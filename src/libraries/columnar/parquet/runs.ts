// Runs: small numbers as repeats and as packed bits, read piece by piece, so that a page of a few bytes that says a
// billion values costs no memory. Levels, indices into dictionaries and booleans stand in pages so.
// Source: Apache Parquet, Encodings, "Run Length Encoding / Bit-Packing Hybrid".

import { damaged } from './refusals.ts'

const tooShort = 'has runs that end too early'

/** The numbers of one page, of `width` bits each, in order. Throws DecodeError for bytes that end before they do. */
export class RunReader {
  private readonly bytes: Uint8Array
  private readonly width: number
  private at = 0
  /** Values left in the run at hand, which repeats `value` or is packed. */
  private left = 0
  private value = 0
  private isPacked = false
  /** Bits of a packed run that were read and not handed out; `held` says how many. */
  private bits = 0
  private held = 0

  constructor(bytes: Uint8Array, width: number) {
    if (width > 32) damaged(`has numbers of ${width} bits in runs`)
    this.bytes = bytes
    this.width = width
  }

  /** The value of the next `count` numbers where one run repeats it, which are then read; else undefined. */
  repeated(count: number): number | undefined {
    if (this.width === 0) return 0
    if (this.left === 0) this.nextRun()
    if (this.isPacked || this.left < count) return undefined
    this.left -= count
    return this.value
  }

  /** Reads `count` numbers into `out` from `start` on. Of 32 bits, the highest is the sign. */
  read(out: Int32Array | Uint8Array, start: number, count: number): void {
    const end = start + count
    if (this.width === 0) {
      out.fill(0, start, end)
      return
    }
    let filled = start
    while (filled < end) {
      if (this.left === 0) this.nextRun()
      const piece = Math.min(this.left, end - filled)
      if (!this.isPacked) out.fill(this.value, filled, filled + piece)
      else if (this.width <= 24) this.unpack(out, filled, filled + piece)
      else this.unpackWide(out, filled, filled + piece)
      this.left -= piece
      filled += piece
    }
  }

  /** True when the run at hand, with what pads it, is the last. */
  get isAtEnd(): boolean {
    const { at, left, width, held, isPacked, bytes } = this
    const rest = isPacked && left > 0 ? Math.ceil((left * width - held) / 8) : 0
    return width === 0 || at + rest === bytes.length
  }

  private nextRun(): void {
    const { bytes, width } = this
    let header = 0
    for (let scale = 1, byte = 128; byte >= 128; scale *= 128) {
      if (this.at >= bytes.length || scale > 2 ** 28) damaged(tooShort)
      byte = bytes[this.at++] ?? 0
      header += (byte & 127) * scale
    }
    if (header < 2) damaged('has a run of no values')
    this.isPacked = header % 2 === 1
    if (this.isPacked) {
      this.left = ((header - 1) / 2) * 8
      this.bits = 0
      this.held = 0
      return
    }
    this.left = header / 2
    const valueBytes = (width + 7) >> 3
    if (this.at + valueBytes > bytes.length) damaged(tooShort)
    let value = 0
    for (let i = 0; i < valueBytes; i++) value |= (bytes[this.at + i] ?? 0) << (8 * i)
    this.at += valueBytes
    this.value = value
  }

  private unpack(out: Int32Array | Uint8Array, start: number, end: number): void {
    const { bytes, width } = this
    const mask = 2 ** width - 1
    let { at, bits, held } = this
    // The last run may be cut behind the last value.
    if (at + Math.ceil(((end - start) * width - held) / 8) > bytes.length) damaged(tooShort)
    for (let i = start; i < end; i++) {
      while (held < width) {
        bits |= (bytes[at++] ?? 0) << held
        held += 8
      }
      out[i] = bits & mask
      bits >>>= width
      held -= width
    }
    this.at = at
    this.bits = bits
    this.held = held
    if (this.left === end - start) this.endPacked()
  }

  private unpackWide(out: Int32Array | Uint8Array, start: number, end: number): void {
    const { bytes, width } = this
    const scale = 2 ** width
    let { at, bits, held } = this
    if (at + Math.ceil(((end - start) * width - held) / 8) > bytes.length) damaged(tooShort)
    for (let i = start; i < end; i++) {
      while (held < width) {
        bits += (bytes[at++] ?? 0) * 2 ** held
        held += 8
      }
      out[i] = bits % scale
      bits = Math.floor(bits / scale)
      held -= width
    }
    this.at = at
    this.bits = bits
    this.held = held
    if (this.left === end - start) this.endPacked()
  }

  /** Groups of eight values end on bytes, so that nothing is held at the end of a run. */
  private endPacked(): void {
    this.bits = 0
    this.held = 0
  }
}
