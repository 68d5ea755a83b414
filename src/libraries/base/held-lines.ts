// Lines of an input that has no end, numbered, and held until the node has said that they are durable: what a connection
// that breaks is sent again from. While too much is held nothing more is read.

import { concatBytes } from './bytes.ts'

/** Bytes held before the input is paused. */
const mostBytes = 16 * 1024 * 1024
const lineFeed = 0x0a

interface HeldPiece {
  /** Number of its first line, and of the line after its last. */
  readonly first: number
  readonly next: number
  readonly bytes: Uint8Array
}

export class HeldLines {
  #pieces: HeldPiece[] = []
  #bytes = 0
  #next = 0
  #rest: Uint8Array[] = []
  #hasEnded = false
  #fault: unknown
  #wake: (() => void)[] = []

  /** Number of the first line that is not known to be durable. */
  get first(): number {
    return this.#pieces[0]?.first ?? this.#next
  }

  /** The input has ended and all of it is durable. */
  get isDone(): boolean {
    return this.#hasEnded && this.#pieces.length === 0
  }

  /** Takes in whole lines of `input` until it ends; a line that `stopped` cuts is left out. Never rejects. */
  async fill(input: AsyncIterable<Uint8Array | 'stopped'>): Promise<void> {
    try {
      for await (const chunk of input) {
        if (chunk === 'stopped') this.#rest = []
        else this.#add(chunk)
        while (this.#bytes > mostBytes) await this.#news()
      }
    } catch (error) {
      this.#fault = error
      return this.#ring()
    }
    if (this.#rest.length > 0) this.#add(Uint8Array.of(lineFeed))
    this.#hasEnded = true
    this.#ring()
  }

  /** Lines up to number `last` are durable. */
  release(last: number): void {
    let count = 0
    for (const { next, bytes } of this.#pieces) {
      if (next > last + 1) break
      this.#bytes -= bytes.length
      count++
    }
    this.#pieces.splice(0, count)
    this.#ring()
  }

  /** All that is held, and what comes, until the input ends. Throws what the input has thrown. */
  async *lines(): AsyncGenerator<Uint8Array> {
    for (let at = this.first; ;) {
      const piece = this.#pieces.find(({ first }) => first >= at)
      if (piece !== undefined) {
        at = piece.next
        yield piece.bytes
      } else if (this.#fault !== undefined) throw this.#fault
      else if (this.#hasEnded) return
      else await this.#news()
    }
  }

  #add(chunk: Uint8Array): void {
    const end = chunk.lastIndexOf(lineFeed) + 1
    if (end > 0) {
      const bytes = concatBytes([...this.#rest, chunk.subarray(0, end)])
      const first = this.#next
      for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) this.#next++
      this.#pieces.push({ first, next: this.#next, bytes })
      this.#bytes += bytes.length
      this.#rest = []
    }
    if (end < chunk.length) this.#rest.push(chunk.subarray(end))
    this.#ring()
  }

  #news(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  #ring(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }
}
