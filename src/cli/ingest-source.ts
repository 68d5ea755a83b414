// What `ingest` sends: files that can be read more than once, so that a lost connection costs nothing. What can be
// read only once (a pipe) is cut into batches where its format has lines, else written to a temporary file first.

import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, fstatSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { defaultFormat, formatNamed, formats } from '../formats/registry.ts'
import { CommandFailure, exitCodes, note } from './failure.ts'
import { jsonContent } from './look-inside.ts'

const encodingOfExtension: Readonly<Record<string, string>> = { gz: 'gzip', zst: 'zstd', br: 'br' }

export interface IngestSource {
  /** As the person named it. */
  readonly label: string
  readonly mediaType: string
  readonly contentEncoding: string | undefined
  readonly bytes: number
  /** A fresh stream over all bytes; `onBytes` is told how many have been handed on. */
  readonly open: (onBytes: (doneBytes: number) => void) => Readable
}

/** Stdin that another program writes, in a format that can be cut into batches while it comes. */
export interface PipedLines {
  readonly mediaType: string
  readonly isCsv: boolean
}

/** What FILE (`-`: stdin) is, where it is such a pipe. */
export function pipedLines(file: string, name: string = defaultFormat.name): PipedLines | undefined {
  const { isLines, mediaTypes, hasHeader } = formatNamed(name)
  if (file !== '-' || !isLines || fstatSync(process.stdin.fd).isFile()) return undefined
  return { mediaType: mediaTypes[0], isCsv: hasHeader === true }
}

/** Bytes in memory as a source. */
export function bytesSource(label: string, mediaType: string, bytes: Uint8Array): IngestSource {
  return { label, mediaType, contentEncoding: undefined, bytes: bytes.length, open: () => Readable.from([bytes]) }
}

/**
 * The source of one FILE argument (`-`: stdin). The format comes from `format` or the extension, also before `.gz`,
 * `.zst`, `.br`; stdin is NDJSON unless told otherwise. Throws CommandFailure (usage, not found).
 */
export async function openSource(file: string, format: string | undefined): Promise<IngestSource> {
  const isStdin = file === '-'
  const extensions = isStdin ? [] : file.toLowerCase().split('.').slice(1)
  const contentEncoding = encodingOfExtension[extensions.at(-1) ?? '']
  const extension = extensions.at(contentEncoding === undefined ? -1 : -2) ?? ''
  const ofExtension = formats.find(({ extensions }) => extensions.includes(extension))?.name
  const found = format ?? (isStdin ? defaultFormat.name : ofExtension)
  if (found === undefined) {
    throw new CommandFailure(exitCodes.usage, `The name ${file} does not tell its format.`, {
      hint: `Say ${formats.map(({ name }) => `--format ${name}`).join(' or ')}.`,
    })
  }
  const path = isStdin ? await spool(process.stdin) : await regularFile(file)
  const { size: bytes } = await stat(path)
  const isNamedJson = format === undefined && found === 'json' && contentEncoding === undefined
  return {
    label: isStdin ? 'stdin' : file,
    mediaType: formatNamed(isNamedJson ? await formatInside(file, path) : found).mediaTypes[0],
    contentEncoding,
    bytes,
    open: (onBytes) => Readable.from(chunksOf(path, { file, bytes, onBytes }), { objectMode: false }),
  }
}

/** The format of a file that is named `.json`. Throws CommandFailure (refused) for TopoJSON. */
async function formatInside(file: string, path: string): Promise<string> {
  const content = await jsonContent(path)
  if (content === 'topojson') {
    throw new CommandFailure(exitCodes.refused, `${file} is TopoJSON; its shapes must be GeoJSON first.`, {
      hint: 'topo2geo of the npm package topojson-client writes each of its objects as GeoJSON.',
    })
  }
  if (content === 'geojson') note(`${file} holds GeoJSON: each feature becomes a row (--format json: the file is one).`)
  return content
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
