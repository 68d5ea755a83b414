// The zip that a shapefile comes in: its directory judged before anything is inflated, its files as streams of bytes whose
// size and checksum are counted. The door to yauzl, which reads the directory. Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

import { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { crc32, createInflateRaw } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl'
import { must } from '../../libraries/base/assert.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { BodyFile } from '../../libraries/columnar/body-file.ts'
import { malformed, type ShapefileLimits, shown } from './faults.ts'

/** A file in the zip. */
export interface ZipEntry {
  /** Path with slashes, as the zip has it. */
  readonly name: string
  /** Inflated size. */
  readonly bytes: number
  /** Its bytes front to back. Throws NodeError `MalformedBody` where they are not what the directory says. */
  read(): AsyncGenerator<Uint8Array>
}

const methods = { stored: 0, deflated: 8 } as const
const chunkBytes = 256 * 1024
/** Ratios of small bodies are of no interest, as for other bodies. */
const freeBytes = 1024 * 1024

/**
 * The files of a zip, without directories and what a Mac adds (`__MACOSX/`, dot files).
 * Throws NodeError `MalformedBody`, `UnsupportedEncoding`, `BodyTooLarge`; each names the file it is about.
 */
export async function readZip(file: BodyFile, limits: ShapefileLimits): Promise<readonly ZipEntry[]> {
  const reader = new BodyReader(file)
  try {
    const zip = await fromRandomAccessReaderPromise(reader, file.bytes, {
      autoClose: false,
      lazyEntries: true,
      strictFileNames: true,
    })
    if (zip.entryCount > limits.zipEntries) throw tooMany(zip.entryCount, limits)
    const entries: Entry[] = []
    for await (const entry of zip.eachEntry()) entries.push(entry)
    judge(entries, file, limits)
    return entries.filter(({ fileName }) => !isAside(fileName)).map((entry) => zipEntry(zip, entry, file))
  } catch (cause) {
    throw reader.failure ?? (cause instanceof NodeError ? cause : unreadable(cause))
  }
}

/** Gives yauzl the bytes it asks for. */
class BodyReader extends RandomAccessReader {
  /** Why bytes could not be had, which is no fault of the zip. */
  failure: unknown
  readonly #file: BodyFile

  constructor(file: BodyFile) {
    super()
    this.#file = file
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: ReadDone): void {
    callbackify(() => this.#copy(buffer, offset, { length, position }))(callback)
  }

  async #copy(buffer: Buffer, offset: number, wanted: { length: number; position: number }): Promise<void> {
    const end = wanted.position + wanted.length
    if (end > this.#file.bytes) throw new RangeError('unexpected end of file')
    try {
      buffer.set(await this.#file.at(wanted.position, end), offset)
    } catch (cause) {
      this.failure = cause
      throw cause
    }
  }
}

type ReadDone = (error: Error | null) => void

/** Holds the directory against the limits, and against itself. */
function judge(entries: readonly Entry[], file: BodyFile, limits: ShapefileLimits): void {
  let compressedBytes = 0
  let inflatedBytes = 0
  for (const entry of entries) {
    const name = entry.fileName
    compressedBytes += entry.compressedSize
    inflatedBytes += entry.uncompressedSize
    if (entry.isEncrypted()) throw malformed(name, 'the file is encrypted.', 'Zip it without a password.')
    if (!entry.canDecodeFileData()) throw unknownMethod(entry)
    if (isNested(name)) throw malformed(name, 'the zip holds another zip.', 'Unpack that one and send it alone.')
    if (inflatedBytes > limits.inflatedBytes) throw tooLarge(name, 'inflatedBytes', limits)
    if (inflatedBytes > freeBytes && inflatedBytes > file.bytes * limits.inflatedRatio) {
      throw tooLarge(name, 'inflatedRatio', limits)
    }
    if (compressedBytes > file.bytes) {
      throw malformed(name, 'files of the zip overlap: together they are larger than the zip.')
    }
  }
}

function isAside(name: string): boolean {
  return name.endsWith('/') || name.split('/').some((part) => part === '__MACOSX' || part.startsWith('.'))
}

function isNested(name: string): boolean {
  return /\.(?:zip|shz|kmz)$/i.test(name) && !isAside(name)
}

function zipEntry(zip: ZipFile, entry: Entry, file: BodyFile): ZipEntry {
  return { name: entry.fileName, bytes: entry.uncompressedSize, read: () => inflated(zip, entry, file) }
}

async function* inflated(zip: ZipFile, entry: Entry, file: BodyFile): AsyncGenerator<Uint8Array> {
  const { fileName, uncompressedSize, compressionMethod } = entry
  const raw = new RawBytes(file)
  let bytes = 0
  let checksum = 0
  try {
    const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(entry, { minimal: true })
    const stored = raw.chunks(start, start + entry.compressedSize)
    for await (const chunk of compressionMethod === methods.stored ? stored : inflate(stored)) {
      bytes += chunk.length
      if (bytes > uncompressedSize) {
        throw malformed(fileName, `the file is larger than the ${uncompressedSize} bytes that the zip says.`)
      }
      checksum = crc32(chunk, checksum)
      yield chunk
      file.demandCaller()
    }
  } catch (cause) {
    if (cause instanceof NodeError) throw cause
    throw raw.failure ?? malformed(fileName, 'the file cannot be unpacked.', undefined, cause)
  }
  if (bytes < uncompressedSize) {
    throw malformed(fileName, `the file has ${bytes} bytes of the ${uncompressedSize} that the zip says.`)
  }
  if (checksum !== entry.crc32) throw malformed(fileName, 'the checksum is not the one that the zip says.')
}

/** Bytes of the body; remembers why they could not be had, which is no fault of the zip. */
class RawBytes {
  failure: unknown
  readonly #file: BodyFile

  constructor(file: BodyFile) {
    this.#file = file
  }

  async *chunks(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; at += chunkBytes) {
      try {
        yield await this.#file.at(at, Math.min(at + chunkBytes, end))
      } catch (cause) {
        this.failure = cause
        throw cause
      }
    }
  }
}

async function* inflate(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const inflater = createInflateRaw({ chunkSize: chunkBytes })
  const source = Readable.from(chunks, { objectMode: false })
  source.on('error', (cause) => inflater.destroy(cause))
  source.pipe(inflater)
  try {
    for await (const chunk of inflater) yield chunk as Uint8Array // no encoding is set
  } finally {
    source.destroy()
    inflater.destroy()
  }
}

function unreadable(cause: unknown): NodeError {
  const reason = cause instanceof Error ? cause.message : ''
  const [, fault, name] =
    /^(invalid characters in fileName|absolute path|invalid relative path): (.*)$/s.exec(reason) ?? []
  if (fault !== undefined && name !== undefined) {
    return malformed(name, 'the path leads out of the zip, or has characters that paths have not.', undefined, cause)
  }
  const isNoZip = reason.startsWith('End of central directory')
  const what = isNoZip
    ? 'it has no end that a zip has, so it was cut or is not a zip.'
    : 'its directory cannot be read.'
  return malformed('The zip', what, 'Send one zip with the .shp, .dbf, .prj and .cpg of a layer.', cause)
}

function unknownMethod({ fileName, compressionMethod }: Entry): NodeError {
  const what = `The method ${compressionMethod} by which it is compressed is not read.`
  return new NodeError('UnsupportedEncoding', `${shown(fileName)}: ${what} Nothing was stored.`, {
    hint: 'Zip it with deflate, as zip and the archivers of systems do when they are not told otherwise.',
  })
}

function tooMany(count: number, { zipEntries }: ShapefileLimits): NodeError {
  return new NodeError('BodyTooLarge', `The zip has ${count} files; at most ${zipEntries} are allowed.`, {
    limit: { name: 'zipEntries', value: zipEntries, unit: 'files' },
    hint: 'Send a zip with the files of one layer.',
  })
}

function tooLarge(file: string, name: 'inflatedBytes' | 'inflatedRatio', limits: ShapefileLimits): NodeError {
  const value = limits[name]
  const most = name === 'inflatedBytes' ? `${value} bytes` : `${value} times the size of the zip`
  return new NodeError('BodyTooLarge', `${shown(file)}: with this file the zip inflates to more than ${most}.`, {
    limit: { name, value, unit: name === 'inflatedBytes' ? 'bytes' : 'times' },
    hint: 'Send the features in several zips.',
  })
}

const noBytes = new Uint8Array(0)

export class EntryBytes {
  readonly name: string
  /** Size of the file. */
  readonly size: number
  /** Where the piece begins that `take` gave last, in `bytes`; valid until the next `fill`. */
  at = 0
  bytes: Uint8Array = noBytes
  #next = 0
  #taken = 0
  readonly #chunks: AsyncGenerator<Uint8Array>

  constructor(entry: ZipEntry) {
    this.name = entry.name
    this.size = entry.bytes
    this.#chunks = entry.read()
  }

  /** Bytes of the file that were taken so far. */
  get taken(): number {
    return this.#taken
  }

  /** Moves to the next `count` bytes; false when they must be fetched with `fill` first. */
  take(count: number): boolean {
    if (this.#next + count > this.bytes.length) return false
    this.at = this.#next
    this.#next += count
    this.#taken += count
    return true
  }

  /** Fetches until `count` bytes are at hand. Throws NodeError `MalformedBody` where the file ends before. */
  async fill(count: number): Promise<void> {
    const parts = [this.bytes.subarray(this.#next)]
    let have = this.bytes.length - this.#next
    while (have < count) {
      const { done, value } = await this.#chunks.next()
      if (done === true)
        throw malformed(this.name, `the file ends after ${this.#taken + have} bytes; more should follow.`)
      parts.push(value)
      have += value.length
    }
    this.bytes = parts.length === 2 && parts[0]?.length === 0 ? must(parts[1], 'a chunk') : Buffer.concat(parts, have)
    this.#next = 0
  }

  /** The next `count` bytes. Throws as `fill`. */
  async next(count: number): Promise<Uint8Array> {
    if (!this.take(count)) {
      await this.fill(count)
      this.take(count)
    }
    return this.bytes.subarray(this.at, this.at + count)
  }

  /** Passes over `count` bytes. Throws as `fill`. */
  async skip(count: number): Promise<void> {
    for (let rest = count; rest > 0;) {
      const step = Math.min(rest, 64 * 1024)
      await this.next(step)
      rest -= step
    }
  }

  /** Reads what is left, so that the checksum of the whole is judged. Throws NodeError `MalformedBody`. */
  async drain(): Promise<void> {
    for await (const _ of this.#chunks);
  }

  /** Frees what reading holds. Idempotent. */
  async close(): Promise<void> {
    await this.#chunks.return(undefined)
  }
}
