// Bytes that are gathered from chunks until they are needed as one array. Small chunks are copied together, since a chunk
// of one byte keeps some hundred; of a large one that is nearly all wanted the memory is taken over.

import { concatBytes } from './bytes.ts'

const leastBlockBytes = 256
const mostBlockBytes = 64 * 1024
/** Chunks from here on are taken over. */
const wholeBytes = 16 * 1024

export class GatheredBytes {
  #parts: Uint8Array[] = []
  /** The last part is its first `#used` bytes, if there is any. */
  #block: Uint8Array = new Uint8Array(0)
  #used = 0
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    if (bytes.length >= wholeBytes && 2 * bytes.length >= bytes.buffer.byteLength) {
      this.#parts.push(bytes)
      this.#block = new Uint8Array(0)
      this.#used = 0
      return
    }
    for (let rest = bytes; rest.length > 0;) {
      if (this.#used === this.#block.length) this.#begin()
      const piece = rest.subarray(0, this.#block.length - this.#used)
      this.#block.set(piece, this.#used)
      this.#used += piece.length
      this.#parts[this.#parts.length - 1] = this.#block.subarray(0, this.#used)
      rest = rest.subarray(piece.length)
    }
  }

  /** Moves all bytes of `other` behind these. */
  addAll(other: GatheredBytes): void {
    for (const part of other.#parts) this.add(part)
    other.clear()
  }

  /** All bytes, with others around them, as one array. */
  joined(before: Uint8Array, after: Uint8Array): Uint8Array {
    return concatBytes([before, ...this.#parts, after])
  }

  clear(): void {
    this.#parts = []
    this.#block = new Uint8Array(0)
    this.#used = 0
    this.#bytes = 0
  }

  #begin(): void {
    this.#block = new Uint8Array(Math.min(mostBlockBytes, Math.max(leastBlockBytes, 2 * this.#block.length)))
    this.#used = 0
    this.#parts.push(this.#block.subarray(0, 0))
  }
}
