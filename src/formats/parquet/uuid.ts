// UUIDs of 16 bytes become their canonical text. Source: RFC 9562 §4.

import { BytesSink, type ByteValues } from '../../parquet/byte-values.ts'

const uuidBytes = 36

/** UUIDs of 16 bytes as their canonical text. */
export class UuidTexts implements ByteValues {
  private readonly values: ByteValues
  private readonly raw = new BytesSink()

  constructor(values: ByteValues) {
    this.values = values
  }

  get isAtEnd(): boolean {
    return this.values.isAtEnd
  }

  read(sink: BytesSink, count: number, mostBytes: number): number {
    const { raw } = this
    raw.count = 0
    raw.used = 0
    const room = Math.max(1, Math.floor((mostBytes - sink.used) / uuidBytes))
    const done = this.values.read(raw, Math.min(count, room), Number.MAX_SAFE_INTEGER)
    sink.reserve(done)
    if (sink.used + done * uuidBytes > sink.values.length) sink.grow(sink.used + done * uuidBytes)
    const out = sink.values
    for (let i = 0; i < done; i++) {
      for (let b = 0; b < 16; b++) {
        const byte = raw.values[16 * i + b] ?? 0
        out[sink.used++] = hexDigit(byte >> 4)
        out[sink.used++] = hexDigit(byte & 15)
        if (b === 3 || b === 5 || b === 7 || b === 9) out[sink.used++] = 0x2d
      }
      sink.offsets[++sink.count] = sink.used
    }
    return done
  }
}

function hexDigit(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value
}
