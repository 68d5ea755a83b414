// Answers that were written to files under cache/, for readers that come back for parts of them. An answer lies here under
// the tag that names its bytes; those not asked for longest make room. None survives a restart: cache/ is emptied then.

import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, hasCode, hasCacheRoom } from '../machine/disk/files.ts'
import type { AnswerStream } from '../engine/process/answer-stream.ts'
import type { StreamEnd } from '../engine/messages.ts'
import type { Stability } from '../../libraries/sql/statement.ts'
import type { Clock } from '../../libraries/base/clock.ts'

/** The volume is asked again after so much was written. */
const askEveryBytes = 16 * 1024 * 1024
/** A file that nobody waits for is written on for so long: clients that time out come again. */
const lingerMs = 15_000
/** Small files are bounded by their number. */
const mostFiles = 1000

interface KeptFile {
  readonly path: string
  readonly sizeBytes: number
  readonly stability: Stability
  readonly end: StreamEnd
}

/** A kept answer: it can be read until it is closed, whatever becomes of its file. */
export interface AnswerFile extends Omit<KeptFile, 'path'> {
  /** Bytes [start, end). */
  read(start: number, end: number): Promise<Uint8Array>
  close(): Promise<void>
}

/** A file that is being written for the callers that wait for it. */
interface Writing {
  readonly done: Promise<'kept' | 'no room'>
  readonly stop: AbortController
  waiting: number
}

/** A file that is not whole yet. */
interface Part {
  readonly path: string
  readonly file: FileHandle
  bytes: number
}

export interface AnswerFilesOptions {
  /** Made when it is needed. */
  readonly dir: string
  /** Of all files together. */
  readonly mostBytes: number
  readonly clock: Clock
}

export class AnswerFiles {
  readonly #options: AnswerFilesOptions
  /** The one asked for last is the last. */
  readonly #kept = new Map<string, KeptFile>()
  readonly #writing = new Map<string, Writing>()
  /** Of whole files and of parts. */
  #bytes = 0
  #parts = 0

  constructor(options: AnswerFilesOptions) {
    this.#options = options
  }

  /** Whether its file is there, or will be. */
  has(tag: string | undefined): boolean {
    return tag !== undefined && (this.#kept.has(tag) || this.#writing.has(tag))
  }

  /** The answer, where its file is there. */
  async find(tag: string): Promise<AnswerFile | undefined> {
    const kept = this.#kept.get(tag)
    if (kept === undefined) return undefined
    const file = await open(kept.path).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error
    })
    if (file === undefined) {
      await this.#remove(tag, kept)
      return undefined
    }
    if (this.#kept.delete(tag)) this.#kept.set(tag, kept)
    const { sizeBytes, stability, end } = kept
    return { sizeBytes, stability, end, read: (from, to) => readFrom(file, from, to), close: () => file.close() }
  }

  /**
   * The answer as a file, written where there is none, once for all callers meanwhile; `start` is given a signal that
   * aborts when none of them waits any more. Undefined where there is no room for it, and when `signal` aborts. Throws
   * what `start` and its pieces throw.
   */
  async keep(
    tag: string,
    start: (signal: AbortSignal) => Promise<AnswerStream>,
    signal: AbortSignal,
  ): Promise<AnswerFile | undefined> {
    for (;;) {
      const kept = await this.find(tag)
      if (kept !== undefined) return kept
      const held = this.#writing.get(tag)
      try {
        if ((await this.#join(held ?? this.#begin(tag, start), signal)) !== 'kept') return undefined
      } catch (error) {
        // What the turn of another caller came to says nothing of this one's.
        if (held === undefined) throw error
      }
    }
  }

  /** The same answer. A caller that reads it to its end leaves its file here, if there is room and no other writes it. */
  aside(tag: string, { start, pieces }: AnswerStream): AnswerStream {
    return { start, pieces: this.#copied(tag, start.stability, pieces) }
  }

  async *#copied(tag: string, stability: Stability, pieces: AnswerStream['pieces']): AnswerStream['pieces'] {
    let part = this.has(tag) ? undefined : await this.#open()
    try {
      for (;;) {
        const next = await pieces.next()
        if (next.done === true) {
          if (part !== undefined && (await this.#whole(tag, part, { stability, end: next.value }))) part = undefined
          return next.value
        }
        if (part !== undefined && !(await this.#append(part, next.value))) {
          await this.#drop(part)
          part = undefined
        }
        yield next.value
      }
    } finally {
      if (part !== undefined) await this.#drop(part)
      await pieces.return({ rows: 0, truncated: false })
    }
  }

  #begin(tag: string, start: (signal: AbortSignal) => Promise<AnswerStream>): Writing {
    const stop = new AbortController()
    const done = this.#write(tag, start(stop.signal)).finally(() => this.#writing.delete(tag))
    const writing = { done, stop, waiting: 0 }
    this.#writing.set(tag, writing)
    return writing
  }

  async #join(writing: Writing, signal: AbortSignal): Promise<'kept' | 'no room'> {
    writing.waiting++
    let onLeave = (): void => undefined
    const left = new Promise<'no room'>((resolve) => {
      onLeave = () => resolve('no room')
    })
    signal.addEventListener('abort', onLeave, { once: true })
    if (signal.aborted) onLeave()
    try {
      return await Promise.race([writing.done, left])
    } finally {
      signal.removeEventListener('abort', onLeave)
      writing.waiting--
      if (writing.waiting === 0) void this.#linger(writing)
    }
  }

  /** Ends the writing of a file that nobody comes back for. */
  async #linger(writing: Writing): Promise<void> {
    const over = new AbortController()
    const end = (): void => over.abort()
    writing.done.then(end, end)
    await this.#options.clock.sleep(lingerMs, over.signal)
    if (writing.waiting === 0) writing.stop.abort()
  }

  async #write(tag: string, starting: Promise<AnswerStream>): Promise<'kept' | 'no room'> {
    const { start, pieces } = await starting
    const part = await this.#open()
    let isWhole = false
    try {
      for (;;) {
        const next = await pieces.next()
        if (next.done === true) {
          const { stability } = start
          isWhole = part !== undefined && (await this.#whole(tag, part, { stability, end: next.value }))
          return isWhole ? 'kept' : 'no room'
        }
        if (part === undefined || !(await this.#append(part, next.value))) return 'no room'
      }
    } finally {
      if (part !== undefined && !isWhole) await this.#drop(part)
      await pieces.return({ rows: 0, truncated: false })
    }
  }

  /** A new part, or undefined where none can be made. */
  async #open(): Promise<Part | undefined> {
    const { dir } = this.#options
    const path = join(dir, `part-${++this.#parts}`)
    return await ifPossible(async () => {
      await mkdir(dir, { recursive: true, mode: 0o700 })
      return { path, file: await open(path, 'wx', 0o600), bytes: 0 }
    })
  }

  /** False where there is no room. */
  async #append(part: Part, bytes: Uint8Array): Promise<boolean> {
    const before = part.bytes
    part.bytes += bytes.length
    this.#bytes += bytes.length
    const isDue = before === 0 || Math.floor(before / askEveryBytes) < Math.floor(part.bytes / askEveryBytes)
    const isWritten = await ifPossible(async () => {
      if (!(await this.#makeRoom(isDue))) return false
      for (let at = 0; at < bytes.length;) at += (await part.file.write(bytes, at)).bytesWritten
      return true
    })
    return isWritten ?? false
  }

  /** Removes what was not asked for longest until there is room for what is written. */
  async #makeRoom(asksVolume: boolean): Promise<boolean> {
    const { dir, mostBytes } = this.#options
    for (;;) {
      const isTooMuch = this.#bytes > mostBytes || this.#kept.size >= mostFiles
      if (!isTooMuch && !(asksVolume && !(await hasCacheRoom(dir, 0)))) return true
      const [oldest] = this.#kept
      if (oldest === undefined) return false
      await this.#remove(...oldest)
    }
  }

  /** Gives a part its name; false where that cannot be. */
  async #whole(
    tag: string,
    { path: from, file, bytes }: Part,
    how: { readonly stability: Stability; readonly end: StreamEnd },
  ): Promise<boolean> {
    const path = join(this.#options.dir, tag)
    const isNamed = await ifPossible(async () => {
      await file.close()
      await rename(from, path)
      return true
    })
    if (isNamed === undefined) return false
    this.#bytes -= this.#kept.get(tag)?.sizeBytes ?? 0
    this.#kept.set(tag, { path, sizeBytes: bytes, ...how })
    return true
  }

  async #drop({ path, file, bytes }: Part): Promise<void> {
    this.#bytes -= bytes
    await file.close()
    await rm(path, { force: true })
  }

  async #remove(tag: string, kept: KeptFile): Promise<void> {
    if (this.#kept.get(tag) !== kept) return
    this.#kept.delete(tag)
    this.#bytes -= kept.sizeBytes
    await rm(kept.path, { force: true })
  }
}

/** Undefined where the system refuses: a cache that cannot be written costs speed, and no answer. */
async function ifPossible<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action()
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return undefined
  }
}

async function readFrom(file: FileHandle, start: number, end: number): Promise<Uint8Array> {
  const out = new Uint8Array(end - start)
  for (let at = 0; at < out.length;) {
    const { bytesRead } = await file.read(out, at, out.length - at, start + at)
    if (bytesRead === 0) throw new RangeError(`a kept answer ended at byte ${start + at}`)
    at += bytesRead
  }
  return out
}
