// Whether bytes that arrive in chunks are UTF-8, and where they are not.

import { isUtf8 } from 'node:buffer'
import { copyBytes } from '../base/bytes.ts'
import { firstInvalidUtf8 } from '../base/json/parser.ts'

/** Bytes at the end of `bytes` that begin a character without ending it (0 to 3). */
export function openTail(bytes: Uint8Array): number {
  const length = bytes.length
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) {
      const need = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return need > back ? back : 0
    }
  }
  return 0
}

const noBytes = new Uint8Array(0)

export class Utf8Watch {
  /** True once the body is known to hold an invalid sequence. */
  dirty = false
  private tail: Uint8Array = noBytes

  push(chunk: Uint8Array): void {
    if (this.dirty || chunk.length === 0) return
    let bytes = chunk
    if (this.tail.length > 0) {
      // At most the few bytes that end the open character are needed to judge it; joining 3 + 8 bytes is enough.
      const head = chunk.subarray(0, 8)
      const joined = new Uint8Array(this.tail.length + head.length)
      joined.set(this.tail)
      joined.set(head, this.tail.length)
      let skip = 0
      while (skip < head.length && ((head[skip] ?? 0) & 0xc0) === 0x80) skip += 1
      const character = joined.subarray(0, this.tail.length + skip)
      if (skip === chunk.length && openTail(character) === character.length) {
        this.tail = copyBytes(character)
        return
      }
      if (!isUtf8(character)) this.dirty = true
      bytes = chunk.subarray(skip)
    }
    const open = openTail(bytes)
    if (!isUtf8(open === 0 ? bytes : bytes.subarray(0, bytes.length - open))) this.dirty = true
    this.tail = open === 0 ? noBytes : copyBytes(bytes, bytes.length - open)
  }

  /** The end of the body: an open character is invalid. */
  finish(): void {
    if (this.tail.length > 0) this.dirty = true
  }
}

const blockBytes = 4096

/** Index of the first byte of the first invalid sequence in `bytes[start, end)`, or -1. */
export function invalidUtf8At(bytes: Uint8Array, start: number, end: number): number {
  if (isUtf8(bytes.subarray(start, end))) return -1
  let at = start
  // Whole blocks are passed over at native speed; only the faulty one is walked through.
  while (end - at > blockBytes) {
    const block = bytes.subarray(at, at + blockBytes)
    const closed = block.length - openTail(block)
    if (!isUtf8(block.subarray(0, closed))) break
    at += closed
  }
  return at + firstInvalidUtf8(bytes.subarray(at, end))
}
