// Files that are read by ranges again and again stay open, a few at a time, least recently read first to go: packs, of
// which a lookup reads a page here and there. Their bytes never change, so a file that was deleted meanwhile still reads.

import type { FileSystem, OpenFile } from '../../machine/disk/files.ts'

interface Held {
  readonly opening: Promise<{ readonly file: OpenFile; readonly sizeBytes: number }>
  /** Reads under way; the file is closed after the last of them once it is no longer held. */
  users: number
  isHeld: boolean
}

export class OpenFiles {
  readonly #files: FileSystem
  readonly #most: number
  /** Least recently read first. */
  readonly #held = new Map<string, Held>()

  constructor(files: FileSystem, most: number) {
    this.#files = files
    this.#most = most
  }

  /** Bytes [start, end) of a file; `check` sees its size before anything is read. Throws what the file system throws. */
  async readRange(path: string, start: number, end: number, check: (size: number) => void): Promise<Uint8Array> {
    const held = this.#take(path)
    held.users++
    try {
      const { file, sizeBytes } = await held.opening
      check(sizeBytes)
      const bytes = new Uint8Array(end - start)
      const read = await file.read(bytes, start)
      if (read < bytes.length) throw new RangeError(`the object ended at byte ${start + read}`)
      return bytes
    } finally {
      held.users--
      await closeUnused(held)
    }
  }

  /** Closes what nobody reads; the rest is closed when it has been read. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#held.keys(), (path) => this.#drop(path)))
  }

  #take(path: string): Held {
    const held = this.#held.get(path) ?? { opening: this.#open(path), users: 0, isHeld: true }
    this.#held.delete(path)
    this.#held.set(path, held)
    held.opening.catch(() => this.#held.delete(path))
    const oldest = this.#held.keys().next().value
    if (this.#held.size > this.#most && oldest !== undefined) void this.#drop(oldest)
    return held
  }

  async #open(path: string): Promise<{ file: OpenFile; sizeBytes: number }> {
    const file = await this.#files.open(path, 'read')
    return { file, sizeBytes: await file.size() }
  }

  async #drop(path: string): Promise<void> {
    const held = this.#held.get(path)
    this.#held.delete(path)
    if (held === undefined) return
    held.isHeld = false
    await closeUnused(held)
  }
}

async function closeUnused({ opening, users, isHeld }: Held): Promise<void> {
  if (users > 0 || isHeld) return
  const opened = await opening.catch(() => undefined)
  await opened?.file.close()
}
