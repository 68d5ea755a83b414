// Folders of a cache that one process has, in bounded room: the one that was not used for longest goes first, and none that is in
// use. What an earlier process left is found again. Clocks decide nothing.

import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../machine/disk/files.ts'

/** Another one than before when it was removed meanwhile. */
export interface Folder {
  readonly name: string
  readonly path: string
  /** Who has it in use. */
  users: number
  /** What is in it, and what is kept for what comes. */
  bytes: number
  reservedBytes: number
}

export class BoundedFolders {
  readonly #dir: string
  readonly #sizeOf: (file: string) => number
  /** By name; what was not used for longest comes first. */
  readonly #folders = new Map<string, Folder>()
  #removed = 0
  #removing: Promise<unknown> = Promise.resolve()

  private constructor(dir: string, sizeOf: (file: string) => number) {
    this.#dir = dir
    this.#sizeOf = sizeOf
  }

  /** Opens the folders under `dir`, and makes it where it is missing. `sizeOf` has the bytes of a file by its name; 0: not ours. */
  static async open(dir: string, sizeOf: (file: string) => number): Promise<BoundedFolders> {
    const opened = new BoundedFolders(dir, sizeOf)
    await mkdir(join(dir, 'folders'), { recursive: true, mode: 0o700 })
    // What a process that was killed had begun to write or to remove.
    const left = (await readdir(dir)).filter((name) => name !== 'folders')
    await Promise.all(left.map((name) => rm(join(dir, name), { recursive: true, force: true })))
    for (const name of ['unfinished', 'removed']) await mkdir(join(dir, name), { mode: 0o700 })
    for (const above of await readdir(join(dir, 'folders'))) {
      for (const below of await filesIn(join(dir, 'folders', above))) await opened.#find(`${above}/${below}`)
    }
    return opened
  }

  /** Where files are written that get their place in a folder by their name. */
  get unfinished(): string {
    return join(this.#dir, 'unfinished')
  }

  /** False once somebody has removed the cache: another one is to be opened. */
  isThere(): boolean {
    return existsSync(this.unfinished)
  }

  /** Uses the folder `name` (two segments), which is made where it is missing: it stays until `release`. */
  use(name: string): Folder {
    const path = folderPath(this.#dir, name)
    // What is no folder is not of this cache.
    for (const place of [dirname(path), path]) {
      if (statSync(place, { throwIfNoEntry: false })?.isFile() === true) rmSync(place)
    }
    const isNew = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined
    const known = isNew ? undefined : this.#folders.get(name)
    const folder = known ?? { name, path, users: 0, bytes: 0, reservedBytes: 0 }
    folder.users++
    this.#folders.delete(name)
    this.#folders.set(name, folder)
    return folder
  }

  /**
   * Keeps room for `bytes` more in a folder in use; folders that nobody uses go for it. False where all of the folders together
   * would have more than `mostBytes`.
   */
  async reserve(folder: Folder, bytes: number, mostBytes: number): Promise<boolean> {
    let sum = bytes
    for (const one of this.#folders.values()) sum += one.bytes + one.reservedBytes
    while (sum > mostBytes) {
      const dropped = this.#dropOldest()
      if (dropped === undefined) break
      sum -= dropped.bytes
    }
    if (sum <= mostBytes) folder.reservedBytes += bytes
    await this.#removing
    return sum <= mostBytes
  }

  /** Removes the folder that was not used for longest; false where all are in use. */
  async removeOldest(): Promise<boolean> {
    const dropped = this.#dropOldest()
    await this.#removing
    return dropped !== undefined
  }

  /** Counts what is in a folder now, and gives back what was kept for it. */
  async settle(folder: Folder): Promise<void> {
    folder.bytes = await this.#bytesIn(folder.path)
    folder.reservedBytes = 0
  }

  /** Removes a folder unless somebody uses it, or it is gone already. */
  async remove(folder: Folder): Promise<void> {
    if (folder.users === 0 && this.#folders.get(folder.name) === folder) this.#drop(folder)
    await this.#removing
  }

  /** Resolves when what was to be removed is gone. */
  async close(): Promise<void> {
    await this.#removing
  }

  async #find(name: string): Promise<void> {
    const path = folderPath(this.#dir, name)
    const bytes = await this.#bytesIn(path)
    if (bytes > 0) this.#folders.set(name, { name, path, users: 0, bytes, reservedBytes: 0 })
    else await rm(path, { recursive: true, force: true })
  }

  async #bytesIn(path: string): Promise<number> {
    return (await filesIn(path)).reduce((sum, file) => sum + this.#sizeOf(file), 0)
  }

  #dropOldest(): Folder | undefined {
    for (const folder of this.#folders.values()) {
      if (folder.users > 0) continue
      this.#drop(folder)
      return folder
    }
    return undefined
  }

  /** From its place at once, so that the next of this name is another; from the disk later. */
  #drop(folder: Folder): void {
    this.#folders.delete(folder.name)
    const away = join(this.#dir, 'removed', String(++this.#removed))
    try {
      renameSync(folder.path, away)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      throw error
    }
    // What cannot be removed goes at the next start.
    const gone = rm(away, { recursive: true, force: true }).catch(() => {})
    this.#removing = Promise.all([this.#removing, gone])
  }
}

/** Where the folder `name` of the cache in `dir` is. */
export function folderPath(dir: string, name: string): string {
  return join(dir, 'folders', name)
}

/** None where there is no folder. */
async function filesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
