// Bytes that must be complete before they are used: in memory up to 1 MiB, then in a file under cache/.

import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { concatBytes, toHex } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'

const memoryBytes = 1024 * 1024

export class Spool {
  readonly #dir: string
  readonly #caller: AbortSignal | undefined
  #chunks: Uint8Array[] = []
  #file: FileHandle | undefined
  #path = ''
  #bytes = 0

  /** `dir` is where a large spool puts its file; it must exist. `caller` aborts when nobody waits for what is read of it. */
  constructor(dir: string, caller?: AbortSignal) {
    this.#dir = dir
    this.#caller = caller
  }

  /** Bytes appended so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds bytes at the end. Not durable. Throws NodeError `StorageFull`, and what else the file system throws. */
  async append(chunk: Uint8Array): Promise<void> {
    try {
      await this.#write(chunk)
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT')))
        throw cause
      throw new NodeError('StorageFull', 'There is no room to hold the body while it is read.', {
        hint: 'An operator has to make room; nothing was stored.',
        cause,
      })
    }
  }

  async #write(chunk: Uint8Array): Promise<void> {
    this.#bytes += chunk.length
    if (this.#file !== undefined) {
      await this.#file.appendFile(chunk)
      return
    }
    this.#chunks.push(chunk)
    if (this.#bytes <= memoryBytes) return
    this.#path = join(this.#dir, `spool-${toHex(randomBytes(12))}`)
    this.#file = await open(this.#path, 'wx+', 0o600)
    await this.#file.appendFile(concatBytes(this.#chunks))
    this.#chunks = []
  }

  /** Throws NodeError `QueryTimeout` where the caller has gone: what is read would be for nobody. */
  demandCaller(): void {
    if (this.#caller?.aborted === true) throw new NodeError('QueryTimeout', 'The request was cancelled.')
  }

  /** Bytes [start, end). Throws as `demandCaller`. */
  async at(start: number, end: number): Promise<Uint8Array> {
    this.demandCaller()
    if (this.#file === undefined) return concatBytes(this.#chunks).subarray(start, end)
    const out = new Uint8Array(end - start)
    let filled = 0
    while (filled < out.length) {
      const { bytesRead } = await this.#file.read(out, filled, out.length - filled, start + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return out.subarray(0, filled)
  }

  /** The bytes in order, in chunks of at most `chunkBytes`. */
  async *chunks(chunkBytes = 256 * 1024): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.#bytes; at += chunkBytes) yield await this.at(at, Math.min(at + chunkBytes, this.#bytes))
  }

  /** Frees memory and file. Idempotent. */
  async discard(): Promise<void> {
    this.#chunks = []
    const file = this.#file
    this.#file = undefined
    if (file === undefined) return
    await file.close()
    await rm(this.#path, { force: true })
  }
}
