// Unsigned varints of the multiformats family: seven bits a byte, low bits first, at most nine bytes, shortest form.
// Source: https://github.com/multiformats/unsigned-varint

import { assert } from '../lib/assert.ts'
import { DecodeError } from '../model/errors.ts'

const maxVarintBytes = 9

/** Bytes of a safe non-negative integer. */
export function encodeVarint(value: number): Uint8Array {
  assert(Number.isSafeInteger(value) && value >= 0, 'a varint holds a safe non-negative integer')
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

/** Reads the varint at `at`. Throws DecodeError when it does not end, is longer than needed or passes 2^53-1. */
export function decodeVarint(bytes: Uint8Array, at = 0): { readonly value: number; readonly next: number } {
  let value = 0
  let scale = 1
  for (let i = 0; i < maxVarintBytes; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) throw new DecodeError('varint', 'ends early', at + i)
    value += (byte & 0x7f) * scale
    scale *= 0x80
    if (byte < 0x80) {
      if (byte === 0 && i > 0) throw new DecodeError('varint', 'is not in its shortest form', at)
      if (!Number.isSafeInteger(value)) throw new DecodeError('varint', 'is over 2^53-1', at)
      return { value, next: at + i + 1 }
    }
  }
  throw new DecodeError('varint', `is longer than ${maxVarintBytes} bytes`, at)
}
