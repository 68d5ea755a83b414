// What log and store need of a file system, and the real one. Tests hand in one that records, fails or forgets. Names
// become durable with `syncDirectory`, bytes with `datasync` or when `writeNew` resolves. Nothing here retries.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  ftruncate,
  link,
  open as openFd,
  read,
  readdir,
  rename,
  type Stats,
  stat,
  unlink,
  write,
} from 'node:fs'
import { type FileHandle, mkdir, open, stat as statOf, statfs } from 'node:fs/promises'
import { dirname, resolve as resolvePath } from 'node:path'
import { assert } from '../../../libraries/base/assert.ts'
import { utf8 } from '../../../libraries/base/bytes.ts'
import { lockDirectory } from './directory-lock.ts'
import type { FreeSpace } from './space.ts'

/** An open file. Offsets and sizes in bytes. */
export interface OpenFile {
  /** Reads into `into` from `at` on; fewer bytes than asked only at the end of the file. */
  read(into: Uint8Array, at: number): Promise<number>
  /** Writes all of `bytes` at `at`. Not durable. */
  write(bytes: Uint8Array, at: number): Promise<void>
  /** The same; they and the size of the file are durable when it resolves. One call, where the system has such. */
  writeDurably(bytes: Uint8Array, at: number): Promise<void>
  /** Cuts the file, or extends it with zeros. */
  truncate(sizeBytes: number): Promise<void>
  size(): Promise<number>
  /** Makes data and size durable. */
  datasync(): Promise<void>
  close(): Promise<void>
}

type Chunks = readonly Uint8Array[] | AsyncIterable<Uint8Array>

export interface FileSystem {
  /**
   * Makes this process the only one that has a directory; returns what gives it back. It ends with the process,
   * however that ends. Throws NodeError `LogUnavailable` when another one has it.
   */
  lock(directory: string): () => void
  /** `read`, `write` (both of an existing file), `create` (mode 0600, read and write; what was there is dropped). */
  open(path: string, mode: 'read' | 'write' | 'create'): Promise<OpenFile>
  /** Creates `path` (it must not exist; mode 0444 unless given), writes `chunks` in order and fsyncs the file. */
  writeNew(path: string, chunks: Chunks, mode?: number): Promise<void>
  readFile(path: string): Promise<Uint8Array>
  /** Bytes [start, end), undefined when it is no file; `check` sees the file's size before anything is read. */
  readRange(
    path: string,
    range: readonly [start: number, end: number],
    check: (size: number) => void,
  ): Promise<Uint8Array | undefined>
  stat(path: string): Promise<{ readonly isFile: boolean; readonly size: number; readonly modifiedMs: number }>
  /** Names in a directory. */
  list(path: string): Promise<string[]>
  /** A second name for a file; fails with EEXIST when `to` is there. */
  link(from: string, to: string): Promise<void>
  /** Moves a file over whatever is there. */
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Creates a directory and what is missing above it, mode 0700; resolves with the first one created, if any. */
  makeTree(path: string): Promise<string | undefined>
  /** Creates a directory, mode 0700; fails with EEXIST when it is there. */
  makeDirectory(path: string): Promise<void>
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>
  /** What the volume of a path has left for this user. */
  freeSpace(path: string): Promise<FreeSpace>
}

/** The error code of a failed system call (`ENOENT`), or undefined. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** True when a system call failed with one of `codes`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(errorCode(error) ?? '')
}

/** True when a write failed because the volume or the user's quota is full. */
export function isFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT')
}

/** What `work` gives, or undefined when there is no such file. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** A text that changes when any program writes to the file; undefined where there is no file. */
export async function fileStamp(path: string): Promise<string | undefined> {
  const found = await statOf(path, { bigint: true }).catch((error: unknown) => {
    // A file may stand where its folder was.
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  })
  return found && `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
}

/** Text of a small file, or undefined when there is none. */
export function readText(path: string, files: FileSystem = nodeFileSystem): Promise<string | undefined> {
  return ifThere(files.readFile(path).then((bytes) => Buffer.from(bytes).toString('utf8')))
}

/** What `work` gives of an open file, which is closed afterwards. */
export async function withFile<T>(
  files: FileSystem,
  path: string,
  mode: 'read' | 'write' | 'create',
  work: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await files.open(path, mode)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

/** Gives a file a second name, unless something has that name already. */
export async function linkOnce(files: FileSystem, from: string, to: string): Promise<'stored' | 'exists'> {
  try {
    // mutant: rename instead of link
    await files.link(from, to)
    return 'stored'
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    return 'exists'
  }
}

/**
 * Creates a directory (0700) and what is missing above it. Its name is durable when it resolves, also when it was there:
 * the process that made it may have died before the fsync.
 */
export async function makeDurableDirectory(dir: string, files: FileSystem = nodeFileSystem): Promise<void> {
  const root = resolvePath(dir)
  const first = await files.makeTree(root)
  const top = dirname(first ?? root)
  for (let parent = dirname(root); ; parent = dirname(parent)) {
    try {
      await files.syncDirectory(parent)
    } catch (error) {
      // A parent that may not be read was there before this process: not ours to make durable.
      if (!hasCode(error, 'EACCES')) throw error
    }
    if (parent === top) return
  }
}

const openFlags = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
} as const

const joinBelowBytes = 256 * 1024

/**
 * A block is some thirty calls of these, and what a call costs is handing it to a thread: so descriptors, not FileHandles,
 * callbacks, not promises of node:fs, and closed here and now, for there is nothing left to be written then.
 */
export const nodeFileSystem: FileSystem = {
  lock: lockDirectory,
  async open(path, mode) {
    const handle = await open(path, openFlags[mode], 0o600)
    const { fd } = handle
    const durable = await openDurable(path, mode).catch(async (error: unknown) => {
      await handle.close()
      throw error
    })
    return {
      read: (into, at) => readAt(fd, into, at),
      write: (bytes, at) => writeAt(fd, bytes, at),
      writeDurably: async (bytes, at) => {
        await writeAt(durable?.fd ?? fd, bytes, at)
        if (durable === undefined) await fromCallback((done) => fdatasync(fd, done))
      },
      truncate: (sizeBytes) => fromCallback((done) => ftruncate(fd, sizeBytes, done)),
      size: async () => (await handle.stat()).size,
      datasync: () => fromCallback((done) => fdatasync(fd, done)),
      close: async () => {
        await durable?.close()
        await handle.close()
      },
    }
  },
  writeNew: (path, chunks, mode = 0o444) =>
    withDescriptor(path, { flags: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode }, async (fd) => {
      let at = 0
      for await (const piece of isList(chunks) ? joined(chunks) : chunks) {
        await writeAt(fd, piece, at)
        at += piece.length
      }
      await fromCallback((done) => fsync(fd, done))
    }),
  readFile: (path) =>
    withDescriptor(path, { flags: constants.O_RDONLY }, async (fd) => {
      const bytes = new Uint8Array(fstatSync(fd).size)
      const length = await readAt(fd, bytes, 0)
      return length === bytes.length ? bytes : bytes.subarray(0, length)
    }),
  readRange: (path, [start, end], check) =>
    withDescriptor(path, { flags: constants.O_RDONLY }, async (fd) => {
      const found = fstatSync(fd)
      if (!found.isFile()) return undefined
      check(found.size)
      const bytes = new Uint8Array(end - start)
      const length = await readAt(fd, bytes, start)
      if (length < bytes.length) throw new RangeError(`the object ended at byte ${start + length}`)
      return bytes
    }),
  async stat(path) {
    const found = await valueOf<Stats>((done) => stat(path, done))
    return { isFile: found.isFile(), size: found.size, modifiedMs: found.mtimeMs }
  },
  list: (path) => valueOf((done) => readdir(path, done)),
  link: (from, to) => fromCallback((done) => link(from, to, done)),
  rename: (from, to) => fromCallback((done) => rename(from, to, done)),
  unlink: (path) => fromCallback((done) => unlink(path, done)),
  makeTree: (path) => mkdir(path, { recursive: true, mode: 0o700 }),
  async makeDirectory(path) {
    await mkdir(path, 0o700)
  },
  syncDirectory: (path) =>
    withDescriptor(path, { flags: constants.O_RDONLY }, (fd) => fromCallback((done) => fsync(fd, done))),
  async freeSpace(path) {
    return freeSpaceOf(await statfs(path))
  },
}

/**
 * A second descriptor whose writes are durable when they return: to write and to sync is one change of threads then, not
 * two. Linux means by it what fdatasync means; elsewhere the drive may still hold the bytes in its cache.
 */
async function openDurable(path: string, mode: keyof typeof openFlags): Promise<FileHandle | undefined> {
  if (mode === 'read' || process.platform !== 'linux') return undefined
  return open(path, constants.O_WRONLY | constants.O_DSYNC)
}

/** What `statfs` says in these words. A file system without a bound on files says that it has none at all. */
export function freeSpaceOf(volume: {
  readonly bavail: number
  readonly bsize: number
  readonly files: number
  readonly ffree: number
}): FreeSpace {
  const { bavail, bsize, files, ffree } = volume
  return { bytes: bavail * bsize, inodes: files > 0 ? ffree : undefined }
}

function isList(chunks: Chunks): chunks is readonly Uint8Array[] {
  return Array.isArray(chunks)
}

/** The same bytes in fewer pieces: one system call per small chunk would dominate a slice of many columns. */
function* joined(chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  for (const chunk of chunks) {
    pending.push(chunk)
    pendingBytes += chunk.length
    if (pendingBytes < joinBelowBytes) continue
    yield pending.length === 1 ? chunk : Buffer.concat(pending)
    pending = []
    pendingBytes = 0
  }
  if (pendingBytes > 0) yield Buffer.concat(pending)
}

/** What `work` gives of the descriptor of a file that is closed afterwards. */
async function withDescriptor<T>(
  path: string,
  { flags, mode }: { readonly flags: number; readonly mode?: number },
  work: (fd: number) => Promise<T>,
): Promise<T> {
  const fd = await valueOf<number>((done) => openFd(path, flags, mode, done))
  try {
    return await work(fd)
  } finally {
    closeSync(fd)
  }
}

function readAt(fd: number, into: Uint8Array, at: number): Promise<number> {
  return transfer(into.length, (done, answer) => read(fd, into, done, into.length - done, at + done, answer))
}

async function writeAt(fd: number, bytes: Uint8Array, at: number): Promise<void> {
  const { length } = bytes
  const written = await transfer(length, (done, answer) => write(fd, bytes, done, length - done, at + done, answer))
  assert(written === length, 'a write makes progress')
}

function fromCallback(call: (done: (error: Error | null) => void) => void): Promise<void> {
  return valueOf<void>((done) => call((error) => done(error, undefined)))
}

function valueOf<T>(call: (done: (error: Error | null, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => {
      if (error) reject(error)
      else resolve(value)
    })
  })
}

/** Repeats a call for the rest of `length` bytes until all are done, or none is left to read; resolves with how many. */
function transfer(
  length: number,
  call: (done: number, answer: (error: Error | null, count: number) => void) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const step = (done: number): void => {
      call(done, (error, count) => {
        if (error) reject(error)
        else if (count === 0 || done + count === length) resolve(done + count)
        else step(done + count)
      })
    }
    step(0)
  })
}

// Files of a node beside its store, such as its key: for its user alone, and there whole or not at all, whatever
// interrupts their writing. A name is given to a file that is durable already, and is durable when the call resolves.

/** Writes a file that is not there yet; `exists` when there is one, whose bytes stay. */
export async function createPrivate(path: string, text: string): Promise<'stored' | 'exists'> {
  return withTemporary(path, text, async (temporary) => {
    try {
      return await linkOnce(nodeFileSystem, temporary, path)
    } finally {
      await nodeFileSystem.unlink(temporary).catch(() => {})
    }
  })
}

/** Writes a file in place of the one that may be there. */
export async function replacePrivate(path: string, text: string): Promise<void> {
  await withTemporary(path, text, (temporary) => nodeFileSystem.rename(temporary, path))
}

/** Removes a file; no error when there is none. */
export async function removePrivate(path: string): Promise<void> {
  await ifThere(nodeFileSystem.unlink(path))
  await nodeFileSystem.syncDirectory(dirname(path))
}

/** Hands a durable file to `name`, which gives it its name. */
async function withTemporary<T>(path: string, text: string, name: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.new`
  try {
    await nodeFileSystem.writeNew(temporary, [utf8(text)], 0o600)
    const named = await name(temporary)
    await nodeFileSystem.syncDirectory(dirname(path))
    return named
  } catch (error) {
    await nodeFileSystem.unlink(temporary).catch(() => {})
    throw error
  }
}

/** What log and store keep of a volume to themselves: caches leave it free. */
const cacheReserveBytes = 1024 ** 3

/** Whether a cache in `dir`, which is there, may take `bytes` more. Throws what the file system throws. */
export async function hasCacheRoom(dir: string, bytes: number): Promise<boolean> {
  return (await nodeFileSystem.freeSpace(dir)).bytes >= cacheReserveBytes + bytes
}
