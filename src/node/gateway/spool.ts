// Bytes that must be complete before they are used: in memory up to 1 MiB, then in a file under cache/. The file gets them
// in pieces of 1 MiB, one of which is written while the next is filled: each write is a change of threads.

import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { freeBytes, grown, toHex } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'

const pieceBytes = 1024 * 1024
const noBytes = new Uint8Array(0)

export class Spool {
  readonly #dir: string
  readonly #caller: (() => AbortSignal) | undefined
  #gone: AbortSignal | undefined
  #file: FileHandle | undefined
  #path = ''
  /** In the file, or on the way there. */
  #written = 0
  #writing: Promise<unknown> | undefined
  /** What comes after that, and how many bytes it is. */
  #piece = noBytes
  #held = 0
  /** Memory for the next piece. */
  #spare = noBytes

  /** `dir` is where a large spool puts its file; it must exist. The signal of `caller` aborts when nobody waits for what is read of it. */
  constructor(dir: string, caller?: () => AbortSignal) {
    this.#dir = dir
    this.#caller = caller
  }

  /** Bytes appended so far. */
  get bytes(): number {
    return this.#written + this.#held
  }

  /**
   * Adds a copy of bytes at the end; undefined where nothing has to be awaited. Not durable. Throws NodeError
   * `StorageFull`, and what else the file system throws, here or at the next call.
   */
  append(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#held + chunk.length > pieceBytes) return this.#write(chunk)
    this.#hold(chunk)
    return undefined
  }

  async #write(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.length > 0;) {
      const room = pieceBytes - this.#held
      this.#hold(rest.subarray(0, room))
      rest = rest.subarray(room)
      if (this.#held === pieceBytes) await this.#startWriting()
    }
  }

  #hold(bytes: Uint8Array): void {
    const held = this.#held + bytes.length
    if (held > this.#piece.length) {
      this.#piece = grown(this.#piece.subarray(0, this.#held), Math.min(pieceBytes, Math.max(2 * this.#held, held)))
    }
    this.#piece.set(bytes, this.#held)
    this.#held = held
  }

  /** Begins to write the piece, which is full. */
  async #startWriting(): Promise<void> {
    await this.#allWritten()
    try {
      if (this.#file === undefined) {
        this.#path = join(this.#dir, `spool-${toHex(randomBytes(12))}`)
        this.#file = await open(this.#path, 'wx+', 0o600)
      }
    } catch (error) {
      throw refusalOf(error)
    }
    const piece = this.#piece
    this.#writing = writeAll(this.#file, piece, this.#written)
    // Its failure is met when it is waited for.
    this.#writing.catch(() => {})
    this.#written += piece.length
    this.#piece = this.#spare.length === 0 ? new Uint8Array(pieceBytes) : this.#spare
    this.#spare = piece
    this.#held = 0
  }

  async #allWritten(): Promise<void> {
    try {
      await this.#writing
    } catch (error) {
      throw refusalOf(error)
    }
  }

  /** Throws NodeError `QueryTimeout` where the caller has gone: what is read would be for nobody. */
  demandCaller(): void {
    this.#gone ??= this.#caller?.()
    if (this.#gone?.aborted === true) throw new NodeError('QueryTimeout', 'The request was cancelled.')
  }

  /** Bytes [start, end). Throws as `demandCaller` and `append`. */
  async at(start: number, end: number): Promise<Uint8Array> {
    this.demandCaller()
    await this.#allWritten()
    const out = new Uint8Array(Math.max(0, Math.min(end, this.bytes) - start))
    const inFile = Math.min(out.length, Math.max(0, this.#written - start))
    for (let filled = 0; filled < inFile;) {
      const read = await this.#file?.read(out, filled, inFile - filled, start + filled)
      if (read === undefined || read.bytesRead === 0) return out.subarray(0, filled)
      filled += read.bytesRead
    }
    const from = start + inFile - this.#written
    out.set(this.#piece.subarray(from, from + out.length - inFile), inFile)
    return out
  }

  /** The bytes in order, in chunks of at most `chunkBytes`. */
  async *chunks(chunkBytes = 256 * 1024): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.bytes; at += chunkBytes) yield await this.at(at, Math.min(at + chunkBytes, this.bytes))
  }

  /** Frees memory and file. Idempotent. */
  async discard(): Promise<void> {
    const [file, writing] = [this.#file, this.#writing]
    this.#file = undefined
    this.#writing = undefined
    this.#held = 0
    await writing?.catch(() => {})
    for (const memory of [this.#piece, this.#spare]) freeBytes(memory)
    this.#piece = noBytes
    this.#spare = noBytes
    if (file === undefined) return
    await file.close()
    await rm(this.#path, { force: true })
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten
  }
}

function refusalOf(cause: unknown): unknown {
  if (!(cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT'))) return cause
  return new NodeError('StorageFull', 'There is no room to hold the body while it is read.', {
    hint: 'An operator has to make room; nothing was stored.',
    cause,
  })
}
