// Physical values become those of our columns: short integers, decimals of 16 bytes, half floats, the 96-bit times of Spark
// and Impala; each says which value is the first that its type cannot hold. And UUIDs, as texts.
// Source: Apache Parquet, LogicalTypes; INT96: https://github.com/apache/parquet-format/blob/master/LogicalTypes.md;
// RFC 9562 §4

import { maxInt64, minInt64 } from '../arrow/numbers.ts'
import { BytesSink, type ByteValues } from './byte-values.ts'
import { copyBigEndian } from './page-values.ts'

/** Writes `count` packed values of `from` to `out`, from byte `at` on. The place of the first that does not fit, or -1. */
export type Convert = (from: Uint8Array, count: number, out: Uint8Array, at: number) => number

/** INT32 as integers of 1 or 2 bytes. */
export function shortIntegers(bits: 8 | 16, isSigned: boolean): Convert {
  const least = isSigned ? -(2 ** (bits - 1)) : 0
  const most = isSigned ? 2 ** (bits - 1) - 1 : 2 ** bits - 1
  return (from, count, out, at) => {
    const words = new Int32Array(from.buffer, from.byteOffset, count)
    const to = bits === 8 ? out : new Uint16Array(out.buffer, out.byteOffset)
    const start = bits === 8 ? at : at >> 1
    for (let i = 0; i < count; i++) {
      const value = words[i] ?? 0
      if (value < least || value > most) return i
      to[start + i] = value
    }
    return -1
  }
}

/** Decimals in INT32 or INT64. */
export function integerDecimals(width: 4 | 8, precision: number): Convert {
  const limit = 10n ** BigInt(precision)
  return (from, count, out, at) => {
    const words = new Int32Array(from.buffer, from.byteOffset, (count * width) >> 2)
    const to = new Int32Array(out.buffer, out.byteOffset + at, 4 * count)
    for (let i = 0; i < count; i++) {
      const low = words[width === 4 ? i : 2 * i] ?? 0
      const high = width === 4 ? low >> 31 : (words[2 * i + 1] ?? 0)
      to[4 * i] = low
      to[4 * i + 1] = high
      to[4 * i + 2] = high >> 31
      to[4 * i + 3] = high >> 31
    }
    return firstBeyond(to, count, limit)
  }
}

/** Decimals in big-endian bytes of one length. */
export function fixedDecimals(width: number, precision: number): Convert {
  const limit = 10n ** BigInt(precision)
  return (from, count, out, at) => {
    for (let i = 0; i < count; i++) copyBigEndian(from, i * width, width, out, at + 16 * i)
    return firstBeyond(new Int32Array(out.buffer, out.byteOffset + at, 4 * count), count, limit)
  }
}

/** Decimals that are 16 bytes already. */
export function wideDecimals(precision: number): Convert {
  const limit = 10n ** BigInt(precision)
  return (from, count, out, at) => {
    out.set(from.subarray(0, 16 * count), at)
    return firstBeyond(new Int32Array(out.buffer, out.byteOffset + at, 4 * count), count, limit)
  }
}

/** The first decimal that has more digits than `limit` allows. Most are judged by a double, those near the limit exactly. */
function firstBeyond(words: Int32Array, count: number, limit: bigint): number {
  const near = Number(limit) * 0.999
  for (let i = 0; i < count; i++) {
    const [w0 = 0, w1 = 0, w2 = 0, w3 = 0] = [words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]]
    const about = w3 * 2 ** 96 + (w2 >>> 0) * 2 ** 64 + (w1 >>> 0) * 2 ** 32 + (w0 >>> 0)
    if (Math.abs(about) < near) continue
    const exact = (BigInt(w3) << 96n) | (BigInt(w2 >>> 0) << 64n) | (BigInt(w1 >>> 0) << 32n) | BigInt(w0 >>> 0)
    if (exact >= limit || exact <= -limit) return i
  }
  return -1
}

/** Half floats as floats of 4 bytes. */
export const halfFloats: Convert = (from, count, out, at) => {
  const view = new DataView(from.buffer, from.byteOffset, 2 * count)
  const to = new Float32Array(out.buffer, out.byteOffset + at, count)
  for (let i = 0; i < count; i++) to[i] = view.getFloat16(2 * i, true)
  return -1
}

const julianDayOf1970 = 2_440_588
const dayNanos = 86_400_000_000_000n

/** INT96, nanoseconds of a day and its Julian day, as nanoseconds since 1970. */
export const int96Times: Convert = (from, count, out, at) => {
  const view = new DataView(from.buffer, from.byteOffset, 12 * count)
  const to = new BigInt64Array(out.buffer, out.byteOffset + at, count)
  for (let i = 0; i < count; i++) {
    const days = BigInt(view.getUint32(12 * i + 8, true) - julianDayOf1970)
    const nanos = days * dayNanos + view.getBigInt64(12 * i, true)
    if (nanos < minInt64 || nanos > maxInt64) return i
    to[i] = nanos
  }
  return -1
}

const uuidBytes = 36

/** UUIDs of 16 bytes as their canonical text. */
export function uuidTexts(values: ByteValues): ByteValues {
  const raw = new BytesSink()
  return {
    get isAtEnd() {
      return values.isAtEnd
    },
    read(sink, count, mostBytes) {
      raw.count = 0
      raw.used = 0
      const room = Math.max(1, Math.floor((mostBytes - sink.used) / uuidBytes))
      const done = values.read(raw, Math.min(count, room), Number.MAX_SAFE_INTEGER)
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
    },
  }
}

function hexDigit(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value
}
