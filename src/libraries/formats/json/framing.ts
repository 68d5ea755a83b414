// Where records begin and end in JSON texts: one a line; the elements of an array; the features of a FeatureCollection,
// wherever that member stands; one feature a line, with or without record separators (RFC 8142).

import { Buffer } from 'node:buffer'
import { brokenFrame, type Framer } from '../record-feed.ts'
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
  Scratch,
  stringText,
} from './text.ts'

const newline = 0x0a

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === newline || byte === 0x0d || byte === 0x09
}

/** One record a line. */
export class LineFramer implements Framer {
  line = 1
  stopped = 0
  readonly terminatorBytes = 1

  begin(bytes: Uint8Array, at: number): number {
    return at < bytes.length ? at : -1
  }

  /** Its record was read without asking where the line ends. */
  passed(): void {
    this.line += 1
  }

  end(bytes: Uint8Array, at: number): number {
    return bytes.indexOf(newline, at)
  }
}

/** What may come next between the elements. */
type ArrayState = 'start' | 'first' | 'element' | 'comma' | 'done'

const plain = 0
const opening = 1
const closing = 2
const quoting = 3
const lineEnd = 4
const byteClass = new Uint8Array(256)
byteClass[openBrace] = opening
byteClass[openBracket] = opening
byteClass[closeBrace] = closing
byteClass[closeBracket] = closing
byteClass[quote] = quoting
byteClass[newline] = lineEnd

/** The elements of one array, or one object alone. Counts brackets only: whether an element is JSON, its reader says. */
export class ArrayFramer implements Framer {
  line = 1
  stopped = 0
  readonly terminatorBytes = 0
  state: ArrayState = 'start'
  /** True when the body is one object. */
  single = false
  protected depth = 0
  protected inString = false
  protected escaped = false
  /** True inside of an element that is a number, a literal, or no JSON at all. */
  private bare = false
  /** The first line end at or after a place in some bytes. */
  private lineIn: Uint8Array | undefined = undefined
  private lineAt = 0

  begin(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (byte === newline) this.line += 1
      if (isSpace(byte)) continue
      const next = this.structure(byte)
      if (next === 'between') continue
      this.stopped = at
      return next === 'element' ? at : brokenFrame
    }
    return -1
  }

  /** What a byte between elements is: part of the array, the first of an element, or out of place. */
  protected structure(byte: number): 'between' | 'element' | 'broken' {
    switch (this.state) {
      case 'start':
        if (byte === openBracket) {
          this.state = 'first'
          return 'between'
        }
        if (byte !== openBrace) return 'broken'
        this.single = true
        return this.element(byte)
      case 'first':
      case 'element':
        if (byte === closeBracket && this.state === 'first') {
          this.state = 'done'
          return 'between'
        }
        if (byte === closeBracket || byte === comma || byte === closeBrace) return 'broken'
        return this.element(byte)
      case 'comma':
        if (byte === comma) {
          this.state = 'element'
          return 'between'
        }
        if (byte !== closeBracket) return 'broken'
        this.state = 'done'
        return 'between'
      default:
        return 'broken'
    }
  }

  private element(byte: number): 'element' {
    this.state = this.single ? 'done' : 'comma'
    this.depth = 0
    this.inString = false
    this.escaped = false
    this.bare = byteClass[byte] !== opening && byte !== quote
    return 'element'
  }

  end(bytes: Uint8Array, from: number): number {
    if (this.bare) return this.bareEnd(bytes, from)
    const { length } = bytes
    let { depth } = this
    let at = from
    while (at < length) {
      if (this.inString) {
        at = this.stringEnd(bytes, at)
        if (at < 0) break
        if (depth === 0) return at
        continue
      }
      const kind = byteClass[bytes[at] ?? 0]
      at += 1
      if (kind === plain) continue
      if (kind === opening) depth += 1
      else if (kind === closing) {
        depth -= 1
        if (depth === 0) return at
      } else if (kind === quoting) this.inString = true
      else this.line += 1
    }
    this.depth = depth
    return -1
  }

  passed(bytes: Uint8Array, from: number, to: number): void {
    if (this.lineIn !== bytes || this.lineAt < from) this.seekLine(bytes, from)
    if (this.lineAt >= to) return
    for (let at = this.lineAt; at < to; at++) if (bytes[at] === newline) this.line += 1
    this.seekLine(bytes, to)
  }

  private seekLine(bytes: Uint8Array, from: number): void {
    // Several times as fast as the method that every Uint8Array has.
    const at = Buffer.prototype.indexOf.call(bytes, newline, from)
    this.lineIn = bytes
    this.lineAt = at < 0 ? Number.POSITIVE_INFINITY : at
  }

  /** Index after the closing quote, or -1. */
  private stringEnd(bytes: Uint8Array, from: number): number {
    const { length } = bytes
    let at = from
    if (this.escaped) {
      at += 1
      this.escaped = false
    }
    while (at < length) {
      const byte = bytes[at] ?? 0
      at += 1
      if (byte === quote) {
        this.inString = false
        return at
      }
      if (byte === backslash) {
        if (at === length) this.escaped = true
        at += 1
      }
    }
    return -1
  }

  private bareEnd(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (byte === comma || byte === closeBracket || byte === closeBrace || byte <= 0x20) return at
    }
    return -1
  }
}

export const recordSeparator = 0x1e
/** A name longer than this, escapes included, is not `features`. */
const maxNameBytes = 48

/**
 * What the record handed over is: the whole object, because it has no array `features`; the collection up to the bracket
 * that opens its features; a feature; the collection after the bracket that closes them.
 */
export type BodyPart = 'whole' | 'head' | 'feature' | 'tail'

/** A FeatureCollection or a Feature. Counts brackets only: whether what lies between is JSON, its reader says. */
export class CollectionFramer extends ArrayFramer {
  part: BodyPart = 'whole'
  private place: 'start' | 'outer' | 'features' | 'done' = 'start'
  /** The string last begun in the outer object itself, which may be a name. */
  private readonly name: number[] = []
  /** True between the name `features` and its value. */
  private atFeatures = false

  /** True when nothing has begun yet. */
  get empty(): boolean {
    return this.place === 'start'
  }

  /** True when the features have begun and the collection has not ended. */
  get unclosed(): boolean {
    return this.place === 'features'
  }

  override begin(bytes: Uint8Array, from: number): number {
    const at = super.begin(bytes, from)
    if (this.place !== 'features') return at
    this.part = 'feature'
    if (at !== brokenFrame || this.state !== 'done') return at
    this.place = 'outer'
    this.part = 'tail'
    this.depth = 1
    return this.stopped
  }

  protected override structure(byte: number): ReturnType<ArrayFramer['structure']> {
    if (this.place === 'features') return super.structure(byte)
    if (this.place !== 'start' || byte !== openBrace) return 'broken'
    this.place = 'outer'
    return 'element'
  }

  override end(bytes: Uint8Array, from: number): number {
    if (this.place === 'features') return super.end(bytes, from)
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (this.inString) this.inside(byte)
      else if (byte === newline) this.line += 1
      else if (!isSpace(byte) && this.outer(byte)) return at + 1
    }
    return -1
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
    switch (byteClass[byte]) {
      case quoting:
        this.inString = true
        this.name.length = 0
        return false
      case opening:
        if (!atFeatures || byte === openBrace) this.depth += 1
        else {
          this.part = 'head'
          this.place = 'features'
          this.state = 'first'
        }
        return this.part === 'head'
      case closing:
        this.depth -= 1
        if (this.depth <= 0) this.place = 'done'
        return this.depth <= 0
      default:
        this.atFeatures = byte === colon && this.depth === 1 && this.part === 'whole' && this.isFeatures()
        return false
    }
  }

  private isFeatures(): boolean {
    if (this.name.length > maxNameBytes) return false
    const bytes = Uint8Array.from(this.name)
    return stringText(new Scratch(), bytes, 0, bytes.length) === 'features'
  }
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

  /** Its record was read without asking where the line ends. */
  passed(): void {
    this.terminatorBytes = 1
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
