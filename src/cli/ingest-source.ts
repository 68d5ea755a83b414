// What `ingest` sends: files that can be read more than once, so that a lost connection costs nothing. What can be
// read only once (a pipe) is cut into batches where its format has lines (`piped-lines.ts`), else written to a temporary file
// first. What a file is, `ingest-look.ts` says where its name does not.

import { ownValue } from '../libraries/base/collections.ts'
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import type { FormatFacts } from '../libraries/formats/format.ts'
import { formatsBut } from '../app/formats.ts'
import { defaultFormat } from '../libraries/formats/registry.ts'
import { CommandFailure, exitCodes, note } from './failure.ts'
import { beforeSignalEnds } from './interrupt.ts'
import { lookInside } from './ingest-look.ts'

const encodingOfExtension: Readonly<Record<string, string>> = { gz: 'gzip', zst: 'zstd', br: 'br' }

export interface IngestSource {
  /** As the person named it. */
  readonly label: string
  readonly format: FormatFacts
  readonly contentEncoding: string | undefined
  readonly bytes: number
  /** Of all bytes, in base64. */
  readonly sha256: string
  /** A fresh stream over all bytes; `onBytes` is told how many have been handed on. */
  readonly open: (onBytes: (doneBytes: number) => void) => Readable
}

/** Bytes in memory as a source. */
export function bytesSource(label: string, format: FormatFacts, bytes: Uint8Array): IngestSource {
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
  const formats = formatsBut([])
  const ofExtension = formats.all.find(({ extensions }) => extensions.includes(extension))?.name
  const path = isStdin ? await spool(process.stdin) : await regularFile(file)
  const named = { format: format ?? (isStdin ? defaultFormat.name : ofExtension), contentEncoding: ofName }
  const found = format === undefined && !isStdin ? await lookInside(file, path, named) : named
  if (found.format === undefined) {
    throw new CommandFailure(exitCodes.usage, `The name ${file} does not tell its format.`, {
      hint: `Say ${formats.all.map(({ name }) => `--format ${name}`).join(' or ')}.`,
    })
  }
  const { size: bytes } = await stat(path)
  return {
    label: isStdin ? 'stdin' : file,
    format: formats.named(found.format),
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
  const isWhole = beforeSignalEnds(() => note('interrupted: nothing was sent'))
  await pipeline(stream, createWriteStream(path, { mode: 0o600, flags: 'wx' })).finally(isWhole)
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
