// Finds the lines of line protocol: a line feed ends one, unless it stands inside a quoted field value. Lines without a
// point (blank ones, comments) are left out by the reader.
// Source: https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/

import type { Framer } from '../../libraries/formats/record-feed.ts'
import { backslash, comma, equals, hash, lineFeed, quote, space, tab } from './scan.ts'

/** Where in a line: only a quote that begins the value of a field opens a text. */
const part = { start: 0, series: 1, key: 2, valueStart: 3, value: 4, text: 5, rest: 6 } as const

export class LineProtocolFramer implements Framer {
  line = 1
  stopped = 0
  readonly terminatorBytes = 1
  private part: number = part.start
  /** The byte before was a backslash; in a text, one that stands for itself is none. */
  private isEscaped = false

  /** True where the body has ended inside of a text. */
  get inText(): boolean {
    return this.part === part.text
  }

  begin(bytes: Uint8Array, at: number): number {
    this.part = part.start
    this.isEscaped = false
    return at < bytes.length ? at : -1
  }

  end(bytes: Uint8Array, from: number): number {
    let now = this.part
    let { isEscaped } = this
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (byte === lineFeed) {
        if (now !== part.text) return at
        this.line += 1
      }
      if (byte === backslash) {
        isEscaped = now !== part.text || !isEscaped
        if (now === part.start || now === part.valueStart) now += 1
      } else {
        if (!isEscaped) now = next(now, byte)
        isEscaped = false
      }
    }
    this.part = now
    this.isEscaped = isEscaped
    return -1
  }
}

/** The part that a byte leads to that is not escaped. */
function next(now: number, byte: number): number {
  switch (now) {
    case part.start:
      if (byte === hash) return part.rest
      return byte === space || byte === tab ? part.start : part.series
    case part.series:
      return byte === space ? part.key : part.series
    case part.key:
      return byte === equals ? part.valueStart : part.key
    case part.valueStart:
      return byte === quote ? part.text : afterValue(byte)
    case part.value:
      return afterValue(byte)
    case part.text:
      return byte === quote ? part.value : part.text
    default:
      return part.rest
  }
}

function afterValue(byte: number): number {
  return byte === comma ? part.key : byte === space ? part.rest : part.value
}
