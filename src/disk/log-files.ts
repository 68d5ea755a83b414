// What the file log needs of a file system, and the real one. Tests hand in one that fails when told to.

import { constants, type Dirent, fdatasync, ftruncate, read, statfsSync, write } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { dirname, resolve as resolvePath } from 'node:path'
import { lockDirectory } from './directory-lock.ts'
import { type FreeSpace, freeSpaceOf } from './space.ts'

/** An open file. Offsets and sizes in bytes. */
export interface LogFile {
  /** Reads into `into` from `at` on; fewer bytes than asked only at the end of the file. */
  read(into: Uint8Array, at: number): Promise<number>
  /** Writes all of `bytes` at `at`. Not durable. */
  write(bytes: Uint8Array, at: number): Promise<void>
  /** Cuts the file, or extends it with zeros. */
  truncate(sizeBytes: number): Promise<void>
  size(): Promise<number>
  /** Makes data and size durable. */
  datasync(): Promise<void>
  close(): Promise<void>
}

export interface FileSystem {
  /**
   * Makes this process the only one that has a directory; returns what gives it back. It ends with the process,
   * however that ends. Throws NodeError `LogUnavailable` when another one has it.
   */
  lock(directory: string): () => void
  /** `read`, `write` (both of an existing file), `create` (read and write; what was there is dropped). */
  open(path: string, mode: 'read' | 'write' | 'create'): Promise<LogFile>
  /** Whole text of a small file, or undefined when there is none. */
  readText(path: string): Promise<string | undefined>
  /** Names in a directory. */
  list(directory: string): Promise<string[]>
  /** Moves a file over whatever is there. Durable after `syncDirectory`. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file; no error when there is none. */
  remove(path: string): Promise<void>
  /** Makes a directory and its parents (mode 0700), durably. */
  makeDirectory(directory: string): Promise<void>
  /** Makes the names in a directory durable. */
  syncDirectory(directory: string): Promise<void>
  /** What the volume of a directory has left for this user. */
  freeSpace(directory: string): FreeSpace
}

const openFlags = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
} as const

export const nodeFileSystem: FileSystem = {
  lock: lockDirectory,
  async open(path, mode) {
    const handle = await open(path, openFlags[mode], 0o600)
    // Callback functions over the descriptor: the promise ones cost twice the time of a small write.
    const { fd } = handle
    return {
      read: (into, at) => readFully(fd, into, at),
      write: (bytes, at) => writeFully(fd, bytes, at),
      truncate: (sizeBytes) => settle((done) => ftruncate(fd, sizeBytes, done)),
      size: async () => (await handle.stat()).size,
      datasync: () => settle((done) => fdatasync(fd, done)),
      close: () => handle.close(),
    }
  },
  async readText(path) {
    try {
      return await readFile(path, 'utf8')
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  },
  async list(directory) {
    const entries: Dirent[] = await readdir(directory, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
  },
  rename: (from, to) => rename(from, to),
  async remove(path) {
    try {
      await unlink(path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  },
  async makeDirectory(directory) {
    const made = await mkdir(directory, { recursive: true, mode: 0o700 })
    // The names of new directories become durable in their parents; also that of a directory which was there, because
    // who made it may not have come as far as that.
    const full = resolvePath(directory)
    const top = dirname(made ?? full)
    for (let path = full; path !== top && path !== dirname(path); ) {
      path = dirname(path)
      try {
        await syncDirectory(path)
      } catch (error) {
        // A parent that may not be read was there before this process: not ours to make durable.
        if (!hasCode(error, 'EACCES')) throw error
      }
    }
  },
  syncDirectory,
  freeSpace: (directory) => freeSpaceOf(statfsSync(directory)),
}

/** True when a system call failed with one of `codes`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
}

/** True when a write failed because the volume or the user's quota is full. */
export function isFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT')
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function settle(call: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => {
      if (error) reject(error)
      else resolve()
    })
  })
}

function readFully(fd: number, into: Uint8Array, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const step = (done: number): void => {
      read(fd, into, done, into.length - done, at + done, (error, count) => {
        if (error) reject(error)
        else if (count === 0 || done + count === into.length) resolve(done + count)
        else step(done + count)
      })
    }
    step(0)
  })
}

function writeFully(fd: number, bytes: Uint8Array, at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const step = (done: number): void => {
      write(fd, bytes, done, bytes.length - done, at + done, (error, count) => {
        if (error) reject(error)
        else if (done + count === bytes.length) resolve()
        else step(done + count)
      })
    }
    step(0)
  })
}
