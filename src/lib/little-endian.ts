// Unsigned little-endian integers in byte arrays, for frames and messages. Bytes beyond the end read as zeros.

const twoTo32 = 0x1_0000_0000

export function readU32(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
  return (low | ((bytes[at + 3] ?? 0) << 24)) >>> 0
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

/** Exact up to 2^53. */
export function readU64(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at) + readU32(bytes, at + 4) * twoTo32
}

export function writeU64(bytes: Uint8Array, at: number, value: number): void {
  writeU32(bytes, at, value % twoTo32)
  writeU32(bytes, at + 4, Math.floor(value / twoTo32))
}
