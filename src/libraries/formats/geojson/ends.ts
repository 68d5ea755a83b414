// Where features end in a body without end: with their lines, and behind record separators (RFC 8142) with the line that closes the
// text, so that none waits for the one after it, or before the next separator, so that one that is cut takes no other with it.

import type { RecordEnds } from '../line-ends.ts'
import { ArrayFramer, recordSeparator } from '../json/framing.ts'
import { openBrace, skipSpace } from '../json/text.ts'

const newline = 0x0a
/** Blanks, and a byte order mark before the first record. */
const between: readonly number[] = [0x20, 0x09, 0xef, 0xbb, 0xbf]

export class SequenceEnds implements RecordEnds {
  /** What comes next: any record, a text behind its separator, the rest of one, what follows it on its line; or the rest of a line. */
  #state: 'start' | 'separated' | 'text' | 'closed' | 'line' = 'start'
  #text = new ArrayFramer()

  next(bytes: Uint8Array, from: number): number {
    let at = this.#begin(bytes, from)
    if (at === bytes.length) return -1
    const separator = this.#state === 'line' ? -1 : bytes.indexOf(recordSeparator, at)
    const own = separator < 0 ? bytes : bytes.subarray(0, separator)
    if (this.#state === 'text') {
      const after = this.#text.end(own, at)
      if (after >= 0) this.#state = 'closed'
      at = after
    }
    const lineEnd = at < 0 ? -1 : own.indexOf(newline, at)
    const end = lineEnd < 0 ? separator : lineEnd + 1
    if (end >= 0) this.#state = 'start'
    return end
  }

  isBlank(bytes: Uint8Array, from: number, to: number): boolean {
    let at = skipSpace(bytes, from, to)
    while (bytes[at] === recordSeparator && at < to) at = skipSpace(bytes, at + 1, to)
    return at >= to
  }

  /** Index of the first byte that is of the record itself, or `from` where that has come. */
  #begin(bytes: Uint8Array, from: number): number {
    if (this.#state !== 'start' && this.#state !== 'separated') return from
    let at = from
    for (; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (byte === recordSeparator) this.#state = 'separated'
      else if (!between.includes(byte) && (this.#state === 'start' || (byte !== newline && byte !== 0x0d))) break
    }
    if (at === bytes.length) return at
    const isText = this.#state === 'separated' && bytes[at] === openBrace
    this.#state = isText ? 'text' : this.#state === 'start' ? 'line' : 'closed'
    if (isText) (this.#text = new ArrayFramer()).begin(bytes, at)
    return at
  }
}
