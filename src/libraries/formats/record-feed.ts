// Cuts a body that arrives in chunks into records: a framer finds where each one ends, the feed keeps the beginning
// of a record until its end arrives (never more than the cap), drops a byte order mark, counts offsets and lines.

import { Buffer } from 'node:buffer'
import { BodyText, sourceBytes } from './dialect/charset.ts'
import { RecordPlace } from './fault-log.ts'
import { Utf8Watch } from './utf8-watch.ts'

/** Finds records in bytes. Keeps its own state across chunks; both methods return -1 when the bytes end first. */
export interface Framer {
  /** 1-based line at the place reached. */
  line: number
  /** Bytes that end a record and do not belong to it. */
  readonly terminatorBytes: 0 | 1
  /** Index of the next record's first byte at or after `at`; `brokenFrame` when no record can begin there. */
  begin(bytes: Uint8Array, at: number): number
  /** Index after the record's last byte. */
  end(bytes: Uint8Array, at: number): number
  /** Where `begin` or `end` stopped, after `brokenFrame`. */
  stopped: number
  /** The record `bytes[from, to)` was read without asking for its end: counts its lines. Framers without this are always asked. */
  passed?(bytes: Uint8Array, from: number, to: number): void
}

export const brokenFrame = -2

/** Takes the records that the feed finds. */
export interface RecordSink {
  /** `bytes[start, end)` is a record; `last` when the body ended without the record's end. */
  record(bytes: Uint8Array, start: number, end: number, last: boolean): void
  /**
   * Takes a record that begins at `start` and may not end in `bytes`: index after it, or -1 when it has to be framed
   * first. Saves looking at every byte twice where only a reader can tell the end.
   */
  attempt?(bytes: Uint8Array, start: number): number
  /** Takes records from `at` on that it can read without any of this: index after the last one's terminator. */
  many?(bytes: Uint8Array, at: number): number
  /** A record of `length` bytes was over the cap and is not at hand. */
  oversized(length: number, last: boolean): void
  /** Nothing from `bytes[at]` on can be read; nothing more is handed over. */
  broken(bytes: Uint8Array, at: number): void
}

const byteOrderMark = [0xef, 0xbb, 0xbf]
const empty = new Uint8Array(0)

/** Bytes for a record; small ones from the pool that Node keeps, because most bodies are one small record. */
function newBytes(length: number): Uint8Array {
  const { buffer, byteOffset } = Buffer.allocUnsafe(length)
  return new Uint8Array(buffer, byteOffset, length)
}

export class RecordFeed {
  /** Where the record handed over lies. */
  readonly place: RecordPlace = new RecordPlace()
  readonly utf8: Utf8Watch = new Utf8Watch()
  private readonly framer: Framer
  private readonly sink: RecordSink
  private readonly recordBytes: number
  private readonly text: BodyText
  /** Offset in the body of the first byte of the chunk being read. */
  private base = 0
  /** Bytes of a byte order mark matched so far; 3 when that question is settled. */
  private mark = 0
  /** Beginning of a record whose end has not arrived; `kept` bytes of it. */
  private carry: Uint8Array = empty
  private kept = 0
  private open = false
  private openLength = 0
  private halted = false

  constructor(
    framer: Framer,
    sink: RecordSink,
    { recordBytes, charset }: { readonly recordBytes: number; readonly charset?: string },
  ) {
    this.framer = framer
    this.sink = sink
    this.recordBytes = recordBytes
    this.text = new BodyText(charset)
  }

  /** The end of the bytes so far. */
  get end(): { readonly line: number; readonly offset: number } {
    return { line: this.framer.line, offset: this.base }
  }

  push(sent: Uint8Array): void {
    const buffer = this.text.push(sent, this.framer.line)
    if (this.text.isOther && this.base === 0) this.base = this.text.markBytes
    // One class of array keeps the readers' loops fast, and `slice` of a Buffer would not copy.
    const chunk = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
    const rest = this.mark === 3 ? chunk : this.passMark(chunk)
    if (rest.length > 0 && !this.halted) this.read(rest)
  }

  /** Hands over what is left as the last record. */
  finish(): void {
    const held = this.text.rest(this.framer.line)
    const rest = this.mark === 3 ? held : this.passMark(held)
    if (rest.length > 0 && !this.halted) this.read(rest)
    this.text.demandSaid()
    if (this.mark > 0 && this.mark < 3) this.read(Uint8Array.from(byteOrderMark.slice(0, this.mark)))
    this.mark = 3
    this.utf8.finish()
    if (!this.open) return
    this.open = false
    if (this.openLength > this.recordBytes) this.sink.oversized(this.openLength, true)
    else {
      this.place.start = 0
      this.sink.record(this.carry, 0, this.kept, true)
    }
  }

  /** Drops a byte order mark at the very start; what merely resembles one is given back. */
  private passMark(chunk: Uint8Array): Uint8Array {
    let at = 0
    while (at < chunk.length && this.mark < 3 && chunk[at] === byteOrderMark[this.mark]) {
      at += 1
      this.mark += 1
    }
    if (this.mark === 3) {
      this.base += sourceBytes(this.text.charset, Uint8Array.from(byteOrderMark), 0, byteOrderMark.length)
      return chunk.subarray(at)
    }
    if (at === chunk.length) return empty
    const seenBefore = this.mark - at
    this.mark = 3
    if (seenBefore > 0) this.read(Uint8Array.from(byteOrderMark.slice(0, seenBefore)))
    return chunk
  }

  private read(chunk: Uint8Array): void {
    const { framer, sink } = this
    this.utf8.push(chunk)
    let at = 0
    while (true) {
      if (!this.open) {
        if (sink.many !== undefined) at = sink.many(chunk, at)
        const start = framer.begin(chunk, at)
        if (start === brokenFrame) {
          this.placeAt(chunk, framer.stopped)
          this.halted = true
          sink.broken(chunk, framer.stopped)
          return
        }
        if (start < 0) break
        this.placeAt(chunk, start)
        this.open = true
        this.openLength = 0
        this.kept = 0
        at = this.attempt(chunk, start)
        if (!this.open) continue
      }
      const end = framer.end(chunk, at)
      if (end < 0) {
        this.keep(chunk, at, chunk.length)
        break
      }
      this.close(chunk, at, end)
      at = end + framer.terminatorBytes
      framer.line += framer.terminatorBytes
    }
    this.base = this.text.isOther ? this.text.offset : this.base + chunk.length
  }

  /** A record begins at `chunk[at]`. */
  private placeAt(chunk: Uint8Array, at: number): void {
    const { place, base, text } = this
    place.start = at
    place.line = this.framer.line
    if (text.isOther) place.follow(base, text.charset, chunk, at)
    else place.offset = base + at
  }

  /** Has the record at `start` read straight away: index after it and its end, or `start`, where it is still open. */
  private attempt(chunk: Uint8Array, start: number): number {
    const { framer, sink } = this
    if (framer.passed === undefined || sink.attempt === undefined) return start
    const end = sink.attempt(chunk, start)
    if (end < 0) return start
    framer.passed(chunk, start, end)
    this.open = false
    return end + framer.terminatorBytes
  }

  /** The open record ends at `end`; its last bytes are `chunk[at, end)`. */
  private close(chunk: Uint8Array, at: number, end: number): void {
    this.open = false
    const length = this.openLength + end - at
    if (length > this.recordBytes) this.sink.oversized(length, false)
    else if (this.openLength === 0) this.sink.record(chunk, at, end, false)
    else {
      this.keep(chunk, at, end)
      this.place.start = 0
      this.sink.record(this.carry, 0, this.kept, false)
    }
  }

  private keep(chunk: Uint8Array, at: number, end: number): void {
    const length = end - at
    this.openLength += length
    if (this.openLength > this.recordBytes) {
      this.carry = empty
      return
    }
    if (this.kept + length > this.carry.length) {
      const grown = newBytes(Math.min(this.recordBytes, Math.max(this.kept + length, 2 * this.carry.length)))
      grown.set(this.carry.subarray(0, this.kept))
      this.carry = grown
    }
    this.carry.set(chunk.subarray(at, end), this.kept)
    this.kept += length
  }
}
