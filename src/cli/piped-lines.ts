// A pipe of lines that need not end, cut into batches by rows, bytes and age: each with the place in the pipe where it begins.
// At a signal nothing more is read, and what was read is the last batch.

import { fstatSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { FormatFacts } from '../libraries/formats/format.ts'
import { formatsBut } from '../app/formats.ts'
import { defaultFormat } from '../libraries/formats/registry.ts'
import { systemClock } from '../index.ts'

/** Stdin that another program writes, in a format that can be cut into batches while it comes. */
export interface PipedLines {
  readonly format: FormatFacts
  readonly isCsv: boolean
}

/** What FILE (`-`: stdin) is, where it is such a pipe. */
export function pipedLines(file: string, name: string = defaultFormat.name): PipedLines | undefined {
  const format = formatsBut([]).named(name)
  if (file !== '-' || format.kind === 'file' || !format.isLines || fstatSync(process.stdin.fd).isFile())
    return undefined
  return { format, isCsv: format.hasHeader === true }
}

/** A batch is sent at this size even where its rows are few. */
const mostBytes = 8 * 1024 * 1024
export const lineFeed = 0x0a
const quote = 0x22

interface CutOptions {
  readonly mostRows: number
  /** Time from the first record of a batch until it is sent. */
  readonly mostAgeMs: number
  /** Line ends within quotes belong to a cell. */
  readonly isCsv: boolean
  /** Aborts: nothing more is read. */
  readonly stop: AbortSignal
}

/** What stands before a batch. */
export interface PipePlace {
  /** Lines that are not blank; the first may be a header. */
  readonly rows: number
  readonly lines: number
}

interface CutBatch {
  /** Whole records, each with its line end; the last of the input may have none. */
  readonly bytes: Uint8Array
  readonly before: PipePlace
  /** The input has ended and this is all that was left of it. */
  readonly isLast: boolean
}

/** Batches of the lines of `input`, none without a row; while one is being sent nothing more is read. */
export async function* cutInput(input: Readable, options: CutOptions): AsyncGenerator<CutBatch> {
  const chunks = chunksUntil(input, options.stop)
  try {
    yield* cutChunks(chunks, options)
  } finally {
    // A reader that has stopped does not wait for the other side to end.
    input.destroy()
  }
}

/** What comes until the end of the input, or until `stop` aborts: then `stopped` is the last. */
export async function* chunksUntil(input: Readable, stop: AbortSignal): AsyncGenerator<Uint8Array | 'stopped'> {
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Uint8Array> // no encoding is set
  for (;;) {
    const next = chunks.next()
    const chunk = await orStopped(next, stop)
    if (chunk === 'stopped') {
      // The input is destroyed under this read.
      next.catch(() => {})
      yield 'stopped'
      return
    }
    if (chunk.done === true) return
    yield chunk.value
  }
}

/** What `next` gives, unless `stop` aborts before; it leaves nothing behind, however often it is asked. */
function orStopped<T>(next: Promise<T>, stop: AbortSignal): Promise<T | 'stopped'> {
  return new Promise((resolve, reject) => {
    const onStop = (): void => resolve('stopped')
    if (stop.aborted) onStop()
    stop.addEventListener('abort', onStop, { once: true })
    void next.then(resolve, reject).finally(() => stop.removeEventListener('abort', onStop))
  })
}

async function* cutChunks(
  chunks: AsyncGenerator<Uint8Array | 'stopped'>,
  options: CutOptions,
): AsyncGenerator<CutBatch> {
  const lines = new Lines(options.isCsv)
  let before: PipePlace = { rows: 0, lines: 0 }
  let next: Promise<IteratorResult<Uint8Array | 'stopped'>> | undefined
  let hasEnded = false
  let firstAtMs: number | undefined
  for (;;) {
    const isFull = lines.rows >= options.mostRows || lines.bytes >= mostBytes
    const ageMs = firstAtMs === undefined ? 0 : systemClock.monotonicMs() - firstAtMs
    if (lines.rows > 0 && (isFull || hasEnded || ageMs >= options.mostAgeMs)) {
      const { bytes, rows } = lines.take(options.mostRows)
      yield { bytes, before, isLast: hasEnded && lines.rows === 0 }
      before = { rows: before.rows + rows, lines: before.lines + lineEnds(bytes) }
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
    } else if (chunk.value === 'stopped') hasEnded = true
    else lines.add(chunk.value)
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

/** Line feeds in `bytes`. */
export function lineEnds(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) if (byte === lineFeed) count++
  return count
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
