// Integers in network order, into a buffer.

import type { ByteBuffer } from '../base/byte-buffer.ts'

export function putInt16(out: ByteBuffer, value: number): void {
  out.reserve(2)
  out.bytes[out.at++] = value >> 8
  out.bytes[out.at++] = value
}

export function putInt32(out: ByteBuffer, value: number): void {
  out.reserve(4)
  setInt32(out.bytes, out.at, value)
  out.at += 4
}

/** A safe integer as one of 64 bits. */
export function putInt64(out: ByteBuffer, value: number): void {
  putInt32(out, Math.floor(value / 2 ** 32))
  putInt32(out, value % 2 ** 32)
}

export function setInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >> 24
  bytes[at + 1] = value >> 16
  bytes[at + 2] = value >> 8
  bytes[at + 3] = value
}
