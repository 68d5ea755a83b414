// A zip as the body of a file format: its directory judged before anything is inflated, its files as streams of bytes whose
// size and checksum are counted. The door to yauzl, which reads the directory. Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

import { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { crc32, createInflateRaw } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl'
import { defined } from '../base/collections.ts'
import { NodeError } from '../base/errors.ts'
import type { Limits } from '../base/limits.ts'
import { shortened } from '../base/shortened.ts'
import type { BodyFile } from '../columnar/body-file.ts'

/** What reading a zip is bounded by. */
export type ZipLimits = Pick<Limits, 'zipEntries' | 'inflatedBytes' | 'inflatedRatio'>

/** What a format says to do about its zips. */
export interface ZipHints {
  /** Where a body is no zip of the format, or has more files than one has. */
  readonly whole: string
  readonly damaged: string
  readonly tooLarge: string
}

/** A name from a file as it may be shown: at most 100 characters, control characters replaced. */
export function shown(name: string): string {
  return shortened(name.replaceAll(/\p{C}/gu, '·'), 100)
}

/** The error for a file of a zip that is not what its name says. */
export function malformedFile(file: string, what: string, hint: string, cause?: unknown): NodeError {
  return new NodeError('MalformedBody', `${shown(file)}: ${what} Nothing was stored.`, { hint, ...defined({ cause }) })
}

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
export async function readZip(file: BodyFile, limits: ZipLimits, hints: ZipHints): Promise<readonly ZipEntry[]> {
  const reader = new BodyReader(file)
  try {
    const zip = await fromRandomAccessReaderPromise(reader, file.bytes, {
      autoClose: false,
      lazyEntries: true,
      strictFileNames: true,
    })
    if (zip.entryCount > limits.zipEntries) throw tooMany(zip.entryCount, limits, hints)
    const entries: Entry[] = []
    for await (const entry of zip.eachEntry()) entries.push(entry)
    judge(entries, file, limits, hints)
    return entries.filter(({ fileName }) => !isAside(fileName)).map((entry) => zipEntry(zip, entry, { file, hints }))
  } catch (cause) {
    throw reader.failure ?? (cause instanceof NodeError ? cause : unreadable(cause, hints))
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
function judge(entries: readonly Entry[], file: BodyFile, limits: ZipLimits, hints: ZipHints): void {
  let compressedBytes = 0
  let inflatedBytes = 0
  for (const entry of entries) {
    const name = entry.fileName
    compressedBytes += entry.compressedSize
    inflatedBytes += entry.uncompressedSize
    if (entry.isEncrypted()) throw malformedFile(name, 'the file is encrypted.', 'Zip it without a password.')
    if (!entry.canDecodeFileData()) throw unknownMethod(entry)
    if (isNested(name)) throw malformedFile(name, 'the zip holds another zip.', 'Unpack that one and send it alone.')
    if (inflatedBytes > limits.inflatedBytes) throw tooLarge(name, 'inflatedBytes', { limits, hints })
    if (inflatedBytes > freeBytes && inflatedBytes > file.bytes * limits.inflatedRatio) {
      throw tooLarge(name, 'inflatedRatio', { limits, hints })
    }
    if (compressedBytes > file.bytes) {
      throw malformedFile(name, 'files of the zip overlap: together they are larger than the zip.', hints.damaged)
    }
  }
}

function isAside(name: string): boolean {
  const isHidden = (part: string): boolean => part === '__MACOSX' || (part.startsWith('.') && part !== '.rels')
  return name.endsWith('/') || name.split('/').some(isHidden)
}

function isNested(name: string): boolean {
  return /\.(?:zip|shz|kmz)$/i.test(name) && !isAside(name)
}

/** The body that a zip is. */
interface ZipBody {
  readonly file: BodyFile
  readonly hints: ZipHints
}

function zipEntry(zip: ZipFile, entry: Entry, body: ZipBody): ZipEntry {
  return { name: entry.fileName, bytes: entry.uncompressedSize, read: () => inflated(zip, entry, body) }
}

async function* inflated(zip: ZipFile, entry: Entry, { file, hints }: ZipBody): AsyncGenerator<Uint8Array> {
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
        const what = `the file is larger than the ${uncompressedSize} bytes that the zip says.`
        throw malformedFile(fileName, what, hints.damaged)
      }
      checksum = crc32(chunk, checksum)
      yield chunk
      file.demandCaller()
    }
  } catch (cause) {
    if (cause instanceof NodeError) throw cause
    throw raw.failure ?? malformedFile(fileName, 'the file cannot be unpacked.', hints.damaged, cause)
  }
  if (bytes < uncompressedSize) {
    const what = `the file has ${bytes} bytes of the ${uncompressedSize} that the zip says.`
    throw malformedFile(fileName, what, hints.damaged)
  }
  if (checksum !== entry.crc32)
    throw malformedFile(fileName, 'the checksum is not the one that the zip says.', hints.damaged)
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

function unreadable(cause: unknown, hints: ZipHints): NodeError {
  const reason = cause instanceof Error ? cause.message : ''
  const [, fault, name] =
    /^(invalid characters in fileName|absolute path|invalid relative path): (.*)$/s.exec(reason) ?? []
  if (fault !== undefined && name !== undefined) {
    const what = 'the path leads out of the zip, or has characters that paths have not.'
    return malformedFile(name, what, hints.damaged, cause)
  }
  const isNoZip = reason.startsWith('End of central directory')
  const what = isNoZip
    ? 'it has no end that a zip has, so it was cut or is not a zip.'
    : 'its directory cannot be read.'
  return malformedFile('The zip', what, hints.whole, cause)
}

function unknownMethod({ fileName, compressionMethod }: Entry): NodeError {
  const what = `The method ${compressionMethod} by which it is compressed is not read.`
  return new NodeError('UnsupportedEncoding', `${shown(fileName)}: ${what} Nothing was stored.`, {
    hint: 'Zip it with deflate, as zip and the archivers of systems do when they are not told otherwise.',
  })
}

function tooMany(count: number, { zipEntries }: ZipLimits, hints: ZipHints): NodeError {
  return new NodeError('BodyTooLarge', `The zip has ${count} files; at most ${zipEntries} are allowed.`, {
    limit: { name: 'zipEntries', value: zipEntries, unit: 'files' },
    hint: hints.whole,
  })
}

function tooLarge(
  file: string,
  name: 'inflatedBytes' | 'inflatedRatio',
  { limits, hints }: { readonly limits: ZipLimits; readonly hints: ZipHints },
): NodeError {
  const value = limits[name]
  const most = name === 'inflatedBytes' ? `${value} bytes` : `${value} times the size of the zip`
  return new NodeError('BodyTooLarge', `${shown(file)}: with this file the zip inflates to more than ${most}.`, {
    limit: { name, value, unit: name === 'inflatedBytes' ? 'bytes' : 'times' },
    hint: hints.tooLarge,
  })
}
