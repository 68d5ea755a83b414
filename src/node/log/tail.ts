// The newest durable entries of one partition in memory, and the wake-up of readers that wait for more.
// The memory log keeps all of its entries here; the file log the last few MiB, so that a builder that keeps up never
// reads from disk.

import { assert, must } from '../../libraries/base/assert.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { LogEntry } from './event-log.ts'

/** Most bytes that one step of a reader hands over (a single larger entry is a step of its own). */
export const readStepBytes = 1024 * 1024
/** Most entries that one step of a reader hands over. */
export const readStepEntries = 4096

export class Tail {
  readonly #keepBytes: number
  /** Those that were dropped hold no message. */
  #entries: (LogEntry | undefined)[] = []
  /** Index in `#entries` of the oldest entry still kept. */
  #oldest = 0
  #bytes = 0
  #end: number
  #closed = false
  readonly #waiting = new Set<() => void>()

  /** An empty tail at position `end` that keeps about `keepBytes` of entries. */
  constructor(end: number, keepBytes = Number.POSITIVE_INFINITY) {
    this.#end = end
    this.#keepBytes = keepBytes
  }

  /** Position of the next entry: all below are durable. */
  get end(): number {
    return this.#end
  }

  /** Position of the oldest entry kept; `end` when none is. */
  get start(): number {
    return this.#end - (this.#entries.length - this.#oldest)
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Adds durable messages and wakes the readers. */
  push(messages: readonly Uint8Array[]): void {
    for (const bytes of messages) {
      this.#entries.push({ position: this.#end, bytes })
      this.#end++
      this.#bytes += bytes.length
    }
    while (this.#bytes > this.#keepBytes) this.#dropOldest()
    this.#compact()
    this.#wake()
  }

  /** Entries from `from` on, as many as one step may have and none at or above `below`; undefined if not kept. */
  entriesFrom(from: number, below: number): LogEntry[] | undefined {
    if (from < this.start) return undefined
    const out: LogEntry[] = []
    let bytes = 0
    let index = this.#oldest + (from - this.start)
    for (const stop = index + Math.min(below - from, readStepEntries); index < stop; index++) {
      const entry = this.#entries[index]
      if (entry === undefined || (out.length > 0 && bytes + entry.bytes.length > readStepBytes)) break
      bytes += entry.bytes.length
      out.push(entry)
    }
    return out
  }

  /** The message at `position`, or undefined if it is not kept. */
  get(position: number): Uint8Array | undefined {
    return position < this.start ? undefined : this.#entries[this.#oldest + (position - this.start)]?.bytes
  }

  /** Drops entries below `floor`. */
  dropBelow(floor: number): void {
    assert(floor <= this.#end, 'a tail cannot drop what it does not have')
    while (this.start < floor) this.#dropOldest()
    this.#compact()
  }

  /** Resolves when `end` is above `position`, the tail is closed or `signal` aborts. */
  async waitAbove(position: number, signal?: AbortSignal): Promise<void> {
    while (this.#end <= position && !this.#closed && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#waiting.delete(done)
          signal?.removeEventListener('abort', done)
          resolve()
        }
        this.#waiting.add(done)
        signal?.addEventListener('abort', done, { once: true })
      })
    }
  }

  /** Wakes the readers for the last time. */
  close(): void {
    this.#closed = true
    this.#wake()
  }

  #wake(): void {
    for (const done of this.#waiting) done()
  }

  #dropOldest(): void {
    this.#bytes -= must(this.#entries[this.#oldest], 'there is an oldest entry').bytes.length
    this.#entries[this.#oldest] = undefined
    this.#oldest++
  }

  #compact(): void {
    if (this.#oldest < 1024 || this.#oldest * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#oldest)
    this.#oldest = 0
  }
}

/** Throws HaltError `LogTruncated` or `LogRegressed` unless a reader may start at `from`. */
export function checkInRange(from: number, start: number, end: number): void {
  if (from < start) throw truncated(from, start)
  if (from > end) throw new HaltError('LogRegressed', `the log ends at position ${end}, before ${from}`)
}

/** The message at `from` is no longer kept. */
export function truncated(from: number, start: number): HaltError {
  return new HaltError('LogTruncated', `the log starts at position ${start}, after ${from}`)
}
