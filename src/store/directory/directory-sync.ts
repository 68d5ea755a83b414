// Durable directories for the directory store: creates missing ones, each made durable through its parent, and lets
// everyone who waits for one directory at the same moment share an fsync. After a failed fsync nothing more is
// promised: every later call fails with the first error, for the kernel may have dropped what it could not write.

import { dirname } from 'node:path'
import { errorCode, type FileSystem } from '../../disk/files.ts'

export interface DirectorySync {
  /** Resolves once everything linked into `directory` before this call is durable. */
  sync(directory: string): Promise<void>
  /** Creates `directory` and its parents below the root where missing; durable when it resolves. */
  ensure(directory: string): Promise<void>
}

interface Waiting {
  readonly running: Promise<void>
  next: Promise<void> | undefined
}

/** The most directories remembered as durable (about 100 bytes each); forgetting one costs an fsync. */
const maxKnownDirectories = 100_000

/** `root` exists and is durable. `onFailure` is called once, when a disk has failed to make a directory durable. */
export function createDirectorySync(
  root: string,
  files: Pick<FileSystem, 'syncDirectory' | 'makeDirectory'>,
  onFailure: (error: unknown) => void = () => {},
): DirectorySync {
  const underWay = new Map<string, Waiting>()
  const known = new Map<string, Promise<void>>()
  let failure: { readonly error: unknown } | undefined

  async function syncNow(directory: string): Promise<void> {
    if (failure !== undefined) throw failure.error
    try {
      await files.syncDirectory(directory)
    } catch (error) {
      // Only a failing disk poisons: a missing directory or a full volume says nothing about earlier writes.
      if (errorCode(error) === 'EIO' && failure === undefined) {
        failure = { error }
        onFailure(error)
      }
      throw error
    }
  }

  function start(directory: string): Promise<void> {
    const running = syncNow(directory).finally(() => {
      if (waiting.next === undefined) underWay.delete(directory)
    })
    const waiting: Waiting = { running, next: undefined }
    underWay.set(directory, waiting)
    return running
  }

  /** An fsync under way may have begun too early for this caller, so the one after it is the one to wait for. */
  function sync(directory: string): Promise<void> {
    const waiting = underWay.get(directory)
    if (waiting === undefined) return start(directory)
    const startNext = (): Promise<void> => start(directory)
    waiting.next ??= waiting.running.then(startNext, startNext)
    return waiting.next
  }

  async function create(directory: string): Promise<void> {
    await ensure(dirname(directory))
    try {
      await files.makeDirectory(directory)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
    await sync(dirname(directory))
  }

  function ensure(directory: string): Promise<void> {
    const already = known.get(directory)
    if (already !== undefined) return already
    if (directory === root) return Promise.resolve()
    if (known.size >= maxKnownDirectories) known.clear()
    const created = create(directory)
    known.set(directory, created)
    created.catch(() => known.delete(directory))
    return created
  }

  return { sync, ensure }
}
