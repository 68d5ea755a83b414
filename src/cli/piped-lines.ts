// A pipe of records that need not end, cut into batches by rows, bytes and age: each with the place in the pipe where it begins.
// At a signal nothing more is read, and what was read is the last batch.

import { fstatSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { NodeError } from '../libraries/base/errors.ts'
import { lineEnds, type RecordEnds } from '../libraries/formats/line-ends.ts'
import type { Dialect } from '../libraries/formats/dialect/dialect.ts'
import type { StreamFacts } from '../libraries/formats/format.ts'
import { newlines } from '../libraries/formats/line-batch.ts'
import { decidingMs, decidingRows, recordMs, StreamCutter } from '../libraries/formats/stream-cutter.ts'
import { formatsBut } from '../app/formats.ts'
import { defaultFormat } from '../libraries/formats/registry.ts'
import { type Clock, systemClock } from '../index.ts'
import { CommandFailure, exitCodes } from './failure.ts'
import { withFlags } from '../libraries/formats/flags.ts'

/** The format of FILE (`-`: stdin), where it is a pipe that can be cut into batches while it comes. */
export function pipedFormat(file: string, name: string = defaultFormat.name): StreamFacts | undefined {
  const format = formatsBut([]).named(name)
  const isPiped = file === '-' && !fstatSync(process.stdin.fd).isFile()
  return isPiped && format.kind === 'stream' && format.isLines ? format : undefined
}

/** What a record has at most, whatever the node takes: it is held until it ends. */
const recordBytes = 64 * 1024 * 1024
const noBytes = new Uint8Array(0)
const never = Number.POSITIVE_INFINITY

export interface CutOptions {
  readonly format: StreamFacts
  readonly dialect: Dialect | undefined
  /** The first record may be a header: it is no batch alone. */
  readonly mayHaveHeader: boolean
  /** The first batch decides the types of columns. */
  readonly decides: boolean
  readonly mostRows: number
  /** Time from the first record of a batch until it is sent. */
  readonly mostAgeMs: number
  /** Is told how many bytes wait for what comes behind them. */
  readonly onHeld: (bytes: number) => void
  /** Aborts: nothing more is read. */
  readonly stop: AbortSignal
  readonly clock?: Clock
}

interface CutBatch {
  /** What may be a header, and whole records, each with its line end. */
  readonly bytes: Uint8Array
  readonly headerBytes: number
  /** Records and lines of the pipe before its records; the header is no record. */
  readonly rows: number
  readonly lines: number
  /** Lines up to its end. */
  readonly linesTo: number
  /** The input has ended and this is all that was left of it. */
  readonly isLast: boolean
}

/** Where records end in a pipe of `format`. Throws NodeError `InvalidParameter` for a header that is none. */
export function pipeEnds(
  { format: { ends }, dialect }: Pick<CutOptions, 'format' | 'dialect'>,
  header: Uint8Array = noBytes,
): RecordEnds {
  if (header.length > 0) ends?.(header, dialect)
  // Whether it is a header the node says: a blank line is no record yet.
  const behind = ends?.(noBytes, dialect) ?? lineEnds
  for (let at = 0; at >= 0 && at < header.length;) at = behind.next(header, at)
  return behind
}

/** Batches of the records of `input`, none without a record; while one is being sent nothing more is read. */
export async function* cutInput(input: Readable, options: CutOptions): AsyncGenerator<CutBatch> {
  const { clock = systemClock, stop, mostRows, decides, mayHaveHeader: hasHeader } = options
  const firstRows = decides ? Math.max(mostRows, decidingRows) : mostRows
  const ends = (header: Uint8Array): RecordEnds => pipeEnds(options, header)
  const cutter = new StreamCutter({ first: 0, mostRows, firstRows, recordBytes, ends, hasHeader })
  const chunks = chunksUntil(input, stop)
  let next: Promise<IteratorResult<Uint8Array | 'stopped'>> | undefined
  let [rows, linesTo, hasEnded] = [0, 0, false]
  let fault: unknown
  let mostAgeMs = decides ? Math.max(options.mostAgeMs, decidingMs) : options.mostAgeMs
  // When the first record of the batch came, and a quote that takes lines in.
  let [firstMs, quotedMs] = [never, never]
  try {
    for (;;) {
      const nowMs = clock.monotonicMs()
      firstMs = cutter.isOpen ? Math.min(firstMs, nowMs) : never
      quotedMs = cutter.isSwallowing ? Math.min(quotedMs, nowMs) : never
      const isStuck = nowMs >= quotedMs + recordMs
      const batch = cutter.take(hasEnded || isStuck || nowMs >= firstMs + mostAgeMs)
      if (batch !== undefined) {
        const { bytes, headerBytes } = batch
        const lines = rows === 0 ? newlines(cutter.header) : linesTo
        linesTo = lines + newlines(bytes.subarray(headerBytes))
        yield { bytes, headerBytes, rows, lines, linesTo, isLast: hasEnded && !cutter.isOpen }
        rows += batch.rows
        mostAgeMs = options.mostAgeMs
        firstMs = quotedMs = never
      } else if (hasEnded) break
      else if (isStuck) {
        // Nothing behind the quote is a record: the node refuses it, by its place.
        cutter.end()
        hasEnded = true
      } else {
        options.onHeld(cutter.heldBytes - (rows > 0 ? cutter.header.length : 0))
        next ??= chunks.next()
        const dueMs = Math.min(firstMs + mostAgeMs, quotedMs + recordMs)
        const chunk = await (dueMs === never ? next : within(next, dueMs - nowMs, clock))
        if (chunk === undefined) continue
        next = undefined
        if (chunk.value !== 'stopped') fault = faultIn(cutter, chunk.done === true ? 'end' : chunk.value)
        hasEnded = chunk.done === true || chunk.value === 'stopped' || fault !== undefined
      }
    }
    if (fault !== undefined) throw fault
    // What may be a header is what there is.
    const { header: bytes } = cutter
    const [headerBytes, lines] = [bytes.length, newlines(bytes)]
    if (rows === 0 && headerBytes > 0) yield { bytes, headerBytes, rows, lines, linesTo: lines, isLast: true }
  } finally {
    options.onHeld(0)
    // A reader that has stopped does not wait for the other side to end.
    input.destroy()
  }
}

/** What is wrong with the record that `chunk` goes on with, where nothing behind it can be judged. */
function faultIn(cutter: StreamCutter, chunk: Uint8Array | 'end'): unknown {
  try {
    if (chunk === 'end') cutter.end()
    else cutter.push(chunk)
    return undefined
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const hint = withFlags(error.details.hint ?? '')
    return new CommandFailure(exitCodes.refused, error.message, { hint, kind: error.kind, cause: error })
  }
}

/** What comes until the end of the input, or until `stop` aborts: then `stopped` is the last. */
export async function* chunksUntil(input: Readable, stop: AbortSignal): AsyncGenerator<Uint8Array | 'stopped'> {
  const onStop = (): unknown => input.destroy()
  stop.addEventListener('abort', onStop, { once: true })
  if (stop.aborted) onStop()
  try {
    for await (const chunk of input) yield chunk as Uint8Array // no encoding is set
  } catch (error) {
    // It was destroyed under a read.
    if (!stop.aborted) throw error
  }
  if (stop.aborted) yield 'stopped'
}

/** What `promise` gives, or undefined after some time. */
async function within<T>(promise: Promise<T>, waitMs: number, clock: Clock): Promise<T | undefined> {
  const done = new AbortController()
  try {
    return await Promise.race([promise, clock.sleep(waitMs, done.signal).then(() => undefined)])
  } finally {
    done.abort()
  }
}
