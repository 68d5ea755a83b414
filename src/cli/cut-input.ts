// Input without an end (a pipe from another program) as batches: complete records, cut by rows, bytes and age. What
// commands/ingest.ts sends while the input goes on.

import type { Readable } from 'node:stream'
import { systemClock } from '../index.ts'

/** A batch is sent at this size even where its rows are few. */
const mostBytes = 8 * 1024 * 1024
const lineFeed = 0x0a
const quote = 0x22

export interface CutOptions {
  readonly mostRows: number
  /** Time from the first record of a batch until it is sent. */
  readonly mostAgeMs: number
  /** Line ends within quotes belong to a cell. */
  readonly isCsv: boolean
}

export interface CutBatch {
  /** Whole records, each with its line end; the last of the input may have none. */
  readonly bytes: Uint8Array
  /** Lines that are not blank. */
  readonly rows: number
  /** The input has ended and this is all that was left of it. */
  readonly isLast: boolean
}

/** Batches of the lines of `input`, none without a row; while one is being sent nothing more is read. */
export async function* cutInput(input: Readable, options: CutOptions): AsyncGenerator<CutBatch> {
  const lines = new Lines(options.isCsv)
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  let next: Promise<IteratorResult<Uint8Array>> | undefined
  let hasEnded = false
  let firstAtMs: number | undefined
  for (;;) {
    const isFull = lines.rows >= options.mostRows || lines.bytes >= mostBytes
    const ageMs = firstAtMs === undefined ? 0 : systemClock.monotonicMs() - firstAtMs
    if (lines.rows > 0 && (isFull || hasEnded || ageMs >= options.mostAgeMs)) {
      const { bytes, rows } = lines.take(options.mostRows)
      const isLast = hasEnded && lines.rows === 0
      yield { bytes, rows, isLast }
      firstAtMs = lines.rows > 0 ? systemClock.monotonicMs() : undefined
      continue
    }
    if (hasEnded) return
    next ??= chunks.next()
    const chunk = await (firstAtMs === undefined ? next : within(next, options.mostAgeMs - ageMs))
    if (chunk === undefined) continue
    next = undefined
    if (chunk.done === true) {
      hasEnded = true
      lines.end()
    } else lines.add(chunk.value)
    if (lines.rows > 0) firstAtMs ??= systemClock.monotonicMs()
  }
}

/** The first line of CSV with its line end; line ends within quotes belong to a cell. */
export function firstRecord(csv: Uint8Array): Uint8Array {
  let isQuoted = false
  for (const [at, byte] of csv.entries()) {
    if (byte === quote) isQuoted = !isQuoted
    if (byte === lineFeed && !isQuoted) return csv.subarray(0, at + 1)
  }
  return csv
}

/** What `promise` gives, or undefined after some time. */
async function within<T>(promise: Promise<T>, waitMs: number): Promise<T | undefined> {
  const done = new AbortController()
  try {
    return await Promise.race([promise, systemClock.sleep(waitMs, done.signal).then(() => undefined)])
  } finally {
    done.abort()
  }
}

/** Lines that wait, and the beginning of one. */
class Lines {
  readonly #isCsv: boolean
  #whole: { readonly bytes: Uint8Array; readonly isBlank: boolean }[] = []
  #parts: Uint8Array[] = []
  #isQuoted = false
  rows = 0
  bytes = 0

  constructor(isCsv: boolean) {
    this.#isCsv = isCsv
  }

  add(chunk: Uint8Array): void {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      if (this.#isCsv && chunk[at] === quote) this.#isQuoted = !this.#isQuoted
      if (chunk[at] !== lineFeed || this.#isQuoted) continue
      this.#parts.push(chunk.subarray(start, at + 1))
      this.#finishLine()
      start = at + 1
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start))
  }

  /** A last line without its line end is a line too. */
  end(): void {
    if (this.#parts.length > 0) this.#finishLine()
  }

  /** Takes lines with at most `mostRows` rows. */
  take(mostRows: number): { readonly bytes: Uint8Array; readonly rows: number } {
    let rows = 0
    let count = 0
    let bytes = 0
    for (const line of this.#whole) {
      if (!line.isBlank && (rows === mostRows || (rows > 0 && bytes + line.bytes.length > mostBytes))) break
      if (!line.isBlank) rows++
      bytes += line.bytes.length
      count++
    }
    const taken = Buffer.concat(this.#whole.splice(0, count).map((line) => line.bytes))
    this.rows -= rows
    this.bytes -= taken.length
    return { bytes: taken, rows }
  }

  #finishLine(): void {
    const bytes = this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts)
    const isBlank = bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === lineFeed)
    this.#parts = []
    this.#whole.push({ bytes, isBlank })
    this.bytes += bytes.length
    if (!isBlank) this.rows++
  }
}
