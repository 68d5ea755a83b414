// What is sent to a bucket: bytes whose length and SHA-256 are known before the first of them is sent, and that can be sent
// again. A stream is spooled for that: in memory as far as it is small, then in a file that has no name any more.

import { mkdir, open, type FileHandle, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createSha2, randomText } from '../../libraries/base/ids/native-crypto.ts'
import { copyBytes, toHex } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'

export interface Body {
  readonly sizeBytes: number
  /** Lower-case hexadecimal digits. */
  readonly sha256: string
  /** The bytes [start, end) in pieces, by default all; as often as asked for. */
  pieces(start?: number, end?: number): AsyncIterable<Uint8Array>
}

/** What of a stream is held in memory. */
const memoryBytes = 8 * 1024 * 1024
const pieceBytes = 1024 * 1024

/** A body of `chunks` in order, which must not change while it is in use. */
export async function bodyOf(chunks: readonly Uint8Array[]): Promise<Body> {
  return hashed(
    chunks.reduce((sum, { length }) => sum + length, 0),
    async function* pieces(start, end) {
      let at = 0
      for (const chunk of chunks) {
        for (let from = Math.max(0, start - at); from < Math.min(chunk.length, end - at); from += pieceBytes) {
          yield chunk.subarray(from, Math.min(from + pieceBytes, end - at))
        }
        at += chunk.length
      }
    },
  )
}

/** The part [start, end) of `body` as a body of its own. */
export function partOf(body: Body, start: number, end: number): Promise<Body> {
  return hashed(end - start, (from, to) => body.pieces(start + from, start + to))
}

async function hashed(
  sizeBytes: number,
  pieces: (start: number, end: number) => AsyncIterable<Uint8Array>,
): Promise<Body> {
  const digest = createSha2('sha256')
  for await (const piece of pieces(0, sizeBytes)) {
    digest.update(piece)
    if (piece.length === pieceBytes) await nextTurn()
  }
  return { sizeBytes, sha256: toHex(digest.digest()), pieces: (start = 0, end = sizeBytes) => pieces(start, end) }
}

/** What `use` makes of a body of all that `chunks` yields; `directory`, made where missing, holds what is large. */
export async function withSpooled<T>(
  directory: string,
  chunks: AsyncIterable<Uint8Array>,
  use: (body: Body) => Promise<T>,
): Promise<T> {
  const held: Uint8Array[] = []
  let heldBytes = 0
  let file: FileHandle | undefined
  let fileBytes = 0
  try {
    for await (const chunk of chunks) {
      held.push(copyBytes(chunk))
      heldBytes += chunk.length
      if (heldBytes <= memoryBytes) continue
      file ??= await openNameless(directory)
      fileBytes = await append(file, held, fileBytes)
      heldBytes = 0
    }
    if (file === undefined) return await use(await bodyOf(held))
    return await use(await bodyInFile(file, await append(file, held, fileBytes)))
  } finally {
    await file?.close()
  }
}

/** Writes `held` at `at`, empties it and returns where it ends. */
async function append(file: FileHandle, held: Uint8Array[], at: number): Promise<number> {
  let end = at
  for (const bytes of held.splice(0)) {
    for (let from = 0; from < bytes.length;)
      from += (await file.write(bytes, from, bytes.length - from, end + from)).bytesWritten
    end += bytes.length
  }
  return end
}

async function openNameless(directory: string): Promise<FileHandle> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, `upload-${randomText(12)}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

function bodyInFile(file: FileHandle, sizeBytes: number): Promise<Body> {
  return hashed(sizeBytes, async function* pieces(start, end) {
    for (let at = start; at < end;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(Math.min(pieceBytes, end - at)), 0, undefined, at)
      if (bytesRead === 0) throw new RangeError('a spooled file is shorter than it was')
      yield buffer.subarray(0, bytesRead)
      at += bytesRead
    }
  })
}
