// What `ingest` sends: files that can be read more than once, so that a lost connection costs nothing. What can be
// read only once (a pipe) is cut into batches by rows, bytes and age where its format has lines, else written to a
// temporary file first. What a file is, `ingest-look.ts` says where its name does not.

import { ownValue } from '../lib/collections.ts'
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, fstatSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import type { Format } from '../formats/format.ts'
import { defaultFormat, formatNamed, formats } from '../formats/registry.ts'
import { systemClock } from '../index.ts'
import { CommandFailure, exitCodes } from './failure.ts'
import { lookInside } from './ingest-look.ts'

const encodingOfExtension: Readonly<Record<string, string>> = { gz: 'gzip', zst: 'zstd', br: 'br' }

export interface IngestSource {
  /** As the person named it. */
  readonly label: string
  readonly format: Format
  readonly contentEncoding: string | undefined
  readonly bytes: number
  /** Of all bytes, in base64. */
  readonly sha256: string
  /** A fresh stream over all bytes; `onBytes` is told how many have been handed on. */
  readonly open: (onBytes: (doneBytes: number) => void) => Readable
}

/** Stdin that another program writes, in a format that can be cut into batches while it comes. */
export interface PipedLines {
  readonly format: Format
  readonly isCsv: boolean
}

/** What FILE (`-`: stdin) is, where it is such a pipe. */
export function pipedLines(file: string, name: string = defaultFormat.name): PipedLines | undefined {
  const format = formatNamed(name)
  if (file !== '-' || format.kind === 'file' || !format.isLines || fstatSync(process.stdin.fd).isFile())
    return undefined
  return { format, isCsv: format.hasHeader === true }
}

/** Bytes in memory as a source. */
export function bytesSource(label: string, format: Format, bytes: Uint8Array): IngestSource {
  const sha256 = createHash('sha256').update(bytes).digest('base64')
  return { label, format, contentEncoding: undefined, bytes: bytes.length, sha256, open: () => Readable.from([bytes]) }
}

/**
 * The source of one FILE argument (`-`: stdin). The format comes from `format`, the extension, also before `.gz`, `.zst`,
 * `.br`, or from what is inside; stdin is NDJSON unless told otherwise. Throws CommandFailure (usage, not found, refused).
 */
export async function openSource(file: string, format: string | undefined): Promise<IngestSource> {
  const isStdin = file === '-'
  const extensions = isStdin ? [] : file.toLowerCase().split('.').slice(1)
  const ofName = ownValue(encodingOfExtension, extensions.at(-1) ?? '')
  const extension = extensions.at(ofName === undefined ? -1 : -2) ?? ''
  const ofExtension = formats.find(({ extensions }) => extensions.includes(extension))?.name
  const path = isStdin ? await spool(process.stdin) : await regularFile(file)
  const named = { format: format ?? (isStdin ? defaultFormat.name : ofExtension), contentEncoding: ofName }
  const found = format === undefined && !isStdin ? await lookInside(file, path, named) : named
  if (found.format === undefined) {
    throw new CommandFailure(exitCodes.usage, `The name ${file} does not tell its format.`, {
      hint: `Say ${formats.map(({ name }) => `--format ${name}`).join(' or ')}.`,
    })
  }
  const { size: bytes } = await stat(path)
  return {
    label: isStdin ? 'stdin' : file,
    format: formatNamed(found.format),
    contentEncoding: found.contentEncoding,
    bytes,
    sha256: await sha256Of(path, bytes),
    open: (onBytes) => Readable.from(chunksOf(path, { file, bytes, onBytes }), { objectMode: false }),
  }
}

/** SHA-256 of the first `bytes` bytes of a file, in base64: what arrives is held against it. */
async function sha256Of(path: string, bytes: number): Promise<string> {
  const hash = createHash('sha256')
  if (bytes > 0) for await (const chunk of createReadStream(path, { end: bytes - 1 })) hash.update(chunk as Uint8Array) // no encoding is set
  return hash.digest('base64')
}

/** The path itself, or that of a copy where it is a pipe. */
async function regularFile(file: string): Promise<string> {
  const found = await stat(file)
  if (found.isFile()) return file
  if (found.isDirectory()) throw new CommandFailure(exitCodes.usage, `${file} is a directory.`)
  return spool(createReadStream(file))
}

/** Writes a stream to a file that only this user can read and that ends with this process. */
async function spool(stream: Readable): Promise<string> {
  const path = join(tmpdir(), `proofstream-${randomUUID()}`)
  process.once('exit', () => rmSync(path, { force: true }))
  await pipeline(stream, createWriteStream(path, { mode: 0o600, flags: 'wx' }))
  return path
}

interface Reading {
  readonly file: string
  readonly bytes: number
  readonly onBytes: (doneBytes: number) => void
}

/** Exactly `bytes` bytes: they were promised in the header of the request. */
async function* chunksOf(path: string, { file, bytes, onBytes }: Reading): AsyncGenerator<Uint8Array> {
  if (bytes === 0) return
  let done = 0
  for await (const chunk of createReadStream(path, { end: bytes - 1, highWaterMark: 64 * 1024 })) {
    // An answer that is on its way is read before more is written to a connection that the node may have closed.
    await setImmediate()
    yield chunk as Uint8Array // no encoding is set
    done += (chunk as Uint8Array).length // as above
    onBytes(done)
  }
  if (done < bytes) throw new CommandFailure(exitCodes.failed, `${file} became shorter while it was read.`)
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
}

interface CutBatch {
  /** Whole records, each with its line end; the last of the input may have none. */
  readonly bytes: Uint8Array
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
      const bytes = lines.take(options.mostRows)
      yield { bytes, isLast: hasEnded && lines.rows === 0 }
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
  take(mostRows: number): Uint8Array {
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
    return taken
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
