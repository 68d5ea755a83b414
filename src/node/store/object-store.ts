// The port of the object store: immutable objects under keys. Adapters: the directory here, memory in tests.
// Keys are `/`-joined segments made by `layout.ts` alone.

import { fileStamp } from '../machine/disk/files.ts'
import type { FreeSpace } from '../machine/disk/space.ts'
import { NodeError } from '../../libraries/base/errors.ts'

export interface ObjectStore {
  /**
   * Stores `bytes` (one array or chunks in order) under `key` if nothing is there.
   * Durable when it resolves, for both answers: an existing object's directory is fsynced before `exists` is said.
   * Atomic: a reader sees all bytes or no object. Throws NodeError `StorageFull`; other IO errors as they are.
   */
  put(key: string, bytes: Uint8Array | readonly Uint8Array[]): Promise<'stored' | 'exists'>

  /**
   * Stores what `chunks` yields, in order, under the key that `keyOf` gives once they have ended; otherwise as `put`. What
   * is large is never held as a whole. When `chunks` throws, nothing is stored and this throws the same.
   */
  putStream(chunks: AsyncIterable<Uint8Array>, keyOf: () => string): Promise<'stored' | 'exists'>

  /** Replaces the object atomically. For hints (`refs/head`) and revocable records (tokens) only. Durable when it resolves. */
  replace(key: string, bytes: Uint8Array): Promise<void>

  /** All bytes, or undefined when there is no such object. */
  get(key: string): Promise<Uint8Array | undefined>

  /** Bytes [start, end) of an object, or undefined when there is none. Throws RangeError outside the object. */
  getRange(key: string, start: number, end: number): Promise<Uint8Array | undefined>

  /** Size in bytes, or undefined when there is no such object. */
  size(key: string): Promise<number | undefined>

  /** When the object was stored, in milliseconds since 1970 by the store's clock, or undefined when there is none. */
  modifiedMs(key: string): Promise<number | undefined>

  /** Names directly under `prefix` (no trailing slash), sorted by UTF-16 code units: objects and sub-prefixes alike. */
  list(prefix: string): Promise<readonly string[]>

  /**
   * Makes every name that is directly under `prefix` now durable. A reader can find an object whose writer has not yet
   * got so far, and which a loss of power would take back. Call this before anything is answered or written that rests
   * on an object found by reading or listing; it is not needed for one whose writer has announced it.
   */
  makeDurable(prefix: string): Promise<void>

  /** Deletes objects, in any order; no error for those that are not there. Durable when it resolves. */
  delete(...keys: readonly string[]): Promise<void>

  /**
   * Path of the file that this object is on this machine, whether or not it is there; undefined, for every key, in a store
   * whose objects are no files here. Engines that read files ask `SliceFiles`, which has files of both kinds of stores.
   */
  fileOf(key: string): string | undefined

  /** What the volume has left, or undefined when that has no meaning. */
  freeSpace(): Promise<FreeSpace | undefined>

  close(): Promise<void>
}

/** Whether objects of the store are files on this machine. */
export function hasFiles(store: Pick<ObjectStore, 'fileOf'>): boolean {
  return store.fileOf('any') !== undefined
}

/** Throws `RangeError` unless [start, end) is inside an object of `size` bytes. */
export function checkRange(start: number, end: number, size: number): void {
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end < start || end > size) {
    throw new RangeError(`bytes [${start}, ${end}) lie outside an object of ${size} bytes`)
  }
}

const refuse = (): Promise<never> => Promise.reject(new NodeError('Internal', 'This process only reads the store.'))

/** What stores are that were opened for reading, as far as it would change them. */
export const onlyReads: Pick<ObjectStore, 'put' | 'putStream' | 'replace' | 'delete'> = {
  put: refuse,
  putStream: refuse,
  replace: refuse,
  delete: refuse,
}

/** What changes with the bytes of a loose object whose file is on this machine; undefined for any other. */
export async function stampOf(store: Pick<ObjectStore, 'fileOf'>, key: string): Promise<string | undefined> {
  const path = store.fileOf(key)
  return path === undefined ? undefined : await fileStamp(path)
}
