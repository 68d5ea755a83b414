// Where features begin and end: the elements of `features` in a FeatureCollection, wherever that member stands; one
// Feature alone; one a line, with or without record separators (RFC 8142).

import { Buffer } from 'node:buffer'
import { ArrayFramer } from '../json/framing.ts'
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  openBrace,
  openBracket,
  quote,
  Scratch,
  stringText,
} from '../json/text.ts'
import { brokenFrame, type Framer } from '../record-feed.ts'

const newline = 0x0a
const recordSeparator = 0x1e
/** A name longer than this, escapes included, is not `features`. */
const maxNameBytes = 48

/**
 * What the record handed over is: the whole object, because it has no array `features`; the collection up to the bracket
 * that opens its features; a feature; the collection after the bracket that closes them.
 */
export type BodyPart = 'whole' | 'head' | 'feature' | 'tail'

/** A FeatureCollection or a Feature. Counts brackets only: whether what lies between is JSON, its reader says. */
export class CollectionFramer implements Framer {
  stopped = 0
  readonly terminatorBytes = 0
  part: BodyPart = 'whole'
  private state: 'start' | 'outer' | 'features' | 'done' = 'start'
  private readonly array = new ArrayFramer()
  // The outer object, byte by byte.
  private depth = 0
  private inString = false
  private escaped = false
  /** The string last begun in the outer object itself, which may be a name. */
  private readonly name: number[] = []
  /** True between the name `features` and its value. */
  private atFeatures = false

  get line(): number {
    return this.array.line
  }

  set line(line: number) {
    this.array.line = line
  }

  /** True when nothing has begun yet. */
  get empty(): boolean {
    return this.state === 'start'
  }

  /** True when the features have begun and the collection has not ended. */
  get unclosed(): boolean {
    return this.state === 'features'
  }

  begin(bytes: Uint8Array, from: number): number {
    if (this.state !== 'features') return this.beginOuter(bytes, from)
    const at = this.array.begin(bytes, from)
    this.part = 'feature'
    if (at !== brokenFrame) return at
    this.stopped = this.array.stopped
    if (this.array.state !== 'done') return brokenFrame
    this.state = 'outer'
    this.part = 'tail'
    return this.stopped
  }

  private beginOuter(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (byte === newline) this.line += 1
      if (isSpace(byte)) continue
      this.stopped = at
      if (this.state !== 'start' || byte !== openBrace) return brokenFrame
      this.state = 'outer'
      return at
    }
    return -1
  }

  end(bytes: Uint8Array, from: number): number {
    if (this.state === 'features') return this.array.end(bytes, from)
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (this.inString) this.inside(byte)
      else if (byte === newline) this.line += 1
      else if (!isSpace(byte) && this.outer(byte)) return at + 1
    }
    return -1
  }

  passed(bytes: Uint8Array, from: number, to: number): void {
    this.array.passed(bytes, from, to)
  }

  /** A byte of a string. */
  private inside(byte: number): void {
    if (!this.escaped && byte === quote) {
      this.inString = false
      return
    }
    this.escaped = !this.escaped && byte === backslash
    if (this.depth === 1 && this.name.length <= maxNameBytes) this.name.push(byte)
  }

  /** A byte of the outer object, outside of strings; true when the part ends with it. */
  private outer(byte: number): boolean {
    const { atFeatures } = this
    this.atFeatures = false
    switch (byte) {
      case quote:
        this.inString = true
        this.name.length = 0
        break
      case colon:
        this.atFeatures = this.depth === 1 && this.part === 'whole' && this.isFeatures()
        break
      case openBracket:
        if (atFeatures) {
          this.part = 'head'
          this.state = 'features'
          this.array.state = 'first'
          return true
        }
        this.depth += 1
        break
      case openBrace:
        this.depth += 1
        break
      case closeBrace:
      case closeBracket:
        this.depth -= 1
        if (this.depth <= 0) this.state = 'done'
        return this.depth <= 0
      default:
        break
    }
    return false
  }

  private isFeatures(): boolean {
    if (this.name.length > maxNameBytes) return false
    const bytes = Uint8Array.from(this.name)
    return stringText(new Scratch(), bytes, 0, bytes.length) === 'features'
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === newline || byte === 0x0d || byte === 0x09
}

/** One record a line; after a record separator, up to the next one. */
export class SequenceFramer implements Framer {
  line = 1
  stopped = 0
  terminatorBytes: 0 | 1 = 1
  /** True when the record begun goes up to a separator and not up to the end of its line. */
  separated = false

  begin(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (byte === recordSeparator) this.separated = true
      else if (byte !== 0x20 && byte !== 0x09) return at
    }
    return -1
  }

  /** A record that was read with the end of its line. */
  passed(): void {
    this.line += 1
  }

  end(bytes: Uint8Array, from: number): number {
    this.terminatorBytes = this.separated ? 0 : 1
    // Several times as fast as the method that every Uint8Array has.
    const end = Buffer.prototype.indexOf.call(bytes, this.separated ? recordSeparator : newline, from)
    if (this.separated) {
      const stop = end < 0 ? bytes.length : end
      for (let at = bytes.indexOf(newline, from); at >= 0 && at < stop; at = bytes.indexOf(newline, at + 1)) {
        this.line += 1
      }
    }
    if (end >= 0) this.separated = false
    return end
  }
}
