// What the directory store needs of a disk, and nothing more. The real one wraps node:fs; tests hand in one that
// records the order of operations or fails. Nothing here retries.

import { constants, readFile } from 'node:fs'
import { link, mkdir, open, readdir, rename, stat, statfs, unlink } from 'node:fs/promises'
import { promisify } from 'node:util'
import { type FreeSpace, freeSpaceOf } from './space.ts'

/** Names end up durable only after `syncDirectory`; bytes only when `writeNew` resolved. */
export interface StoreFileSystem {
  /** Creates `path` (it must not exist, mode 0444), writes `chunks` in order and fsyncs the file. */
  writeNew(path: string, chunks: readonly Uint8Array[] | AsyncIterable<Uint8Array>): Promise<void>
  /** A second name for a file; fails with EEXIST when `to` is there. */
  link(from: string, to: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Creates a directory and what is missing above it, mode 0700; resolves with the first one created, if any. */
  makeTree(path: string): Promise<string | undefined>
  /** Creates a directory, mode 0700; fails with EEXIST when it is there. */
  makeDirectory(path: string): Promise<void>
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>
  readFile(path: string): Promise<Uint8Array>
  /** Bytes [start, end), undefined when it is no file; `check` sees the file's size before anything is read. */
  readRange(
    path: string,
    range: readonly [start: number, end: number],
    check: (size: number) => void,
  ): Promise<Uint8Array | undefined>
  stat(path: string): Promise<{ readonly isFile: boolean; readonly size: number; readonly modifiedMs: number }>
  listDirectory(path: string): Promise<string[]>
  freeSpace(path: string): Promise<FreeSpace>
}

/** Half the work of the readFile of node:fs/promises, which matters to chains of thousands of small objects. */
const readWhole = promisify(readFile)
const joinBelowBytes = 256 * 1024

/** The error code of a failed system call (`ENOENT`), or undefined. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

export const nodeFileSystem: StoreFileSystem = {
  async writeNew(path, chunks) {
    const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o444)
    try {
      for await (const piece of isList(chunks) ? joined(chunks) : chunks) {
        for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten
      }
      await file.sync()
    } finally {
      await file.close()
    }
  },
  link,
  rename,
  unlink,
  makeTree: (path) => mkdir(path, { recursive: true, mode: 0o700 }),
  async makeDirectory(path) {
    await mkdir(path, 0o700)
  },
  async syncDirectory(path) {
    const directory = await open(path, constants.O_RDONLY)
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  },
  async readFile(path) {
    return plainBytes(await readWhole(path))
  },
  async readRange(path, [start, end], check) {
    const file = await open(path, constants.O_RDONLY)
    try {
      const found = await file.stat()
      if (!found.isFile()) return undefined
      check(found.size)
      const bytes = new Uint8Array(end - start)
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at)
        if (bytesRead === 0) throw new RangeError(`the object ended at byte ${start + at}`)
        at += bytesRead
      }
      return bytes
    } finally {
      await file.close()
    }
  },
  async stat(path) {
    const found = await stat(path)
    return { isFile: found.isFile(), size: found.size, modifiedMs: found.mtimeMs }
  },
  listDirectory: (path) => readdir(path),
  freeSpace: async (path) => freeSpaceOf(await statfs(path)),
}

function isList(chunks: readonly Uint8Array[] | AsyncIterable<Uint8Array>): chunks is readonly Uint8Array[] {
  return Array.isArray(chunks)
}

function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
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
