// Object store in a directory: an object is a file, its key the path. An object appears in one step, by link(2) of a
// temporary file that is already fsynced, and never changes; only `replace` renames over a file. A name is durable
// once its directory is fsynced, and each directory once its parent is.

import { randomBytes } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import {
  errorCode,
  type FileSystem,
  hasCode,
  isFull,
  linkOnce,
  makeDurableDirectory,
  nodeFileSystem,
} from '../../machine/disk/files.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { checkKey, isPackFile, isSegment } from '../layout.ts'
import { checkRange, type ObjectStore, onlyReads } from '../object-store.ts'
import { OpenFiles } from './open-files.ts'

const temporaryFolder = '.tmp'
/** How file systems say that they have no hard links. */
const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])
/** No write takes this long: an older temporary file is what a stopped process left behind. */
const leftoverAgeMs = 60 * 60 * 1000
/** Packs that stay open. */
const openPacksMost = 64
const smallBytes = 64 * 1024
/** Objects that are deleted at once. */
const parallelDeletes = 16

/**
 * Opens the store in `dir`, creating it (0700) if it is missing, and deletes temporary files that a stopped process
 * left behind. Many processes may use one directory at once. Throws `NodeError` `Internal` where the file system has
 * no hard links. `onFailure` is called once, when an fsync of a directory has failed: from then on nothing can be
 * stored, and the process should stop.
 */
export async function openDirectoryStore(
  dir: string,
  files: FileSystem = nodeFileSystem,
  onFailure?: (error: unknown) => void,
): Promise<ObjectStore> {
  const root = resolve(dir)
  await makeDurableDirectory(root, files)
  const sync = createDirectorySync(root, files, onFailure)
  const temporary = await openTemporaryFolder(root, files)
  return directoryStore({ root, files, sync, temporary })
}

/**
 * Opens the store in `dir` for reading; nothing is written, so that `dir` may be mounted read-only. What would change
 * it throws NodeError `Internal`. Throws NodeError `InvalidParameter` when there is no such directory.
 */
export async function openReadOnlyDirectoryStore(
  dir: string,
  files: FileSystem = nodeFileSystem,
): Promise<ObjectStore> {
  const root = resolve(dir)
  if ((await present(files.list(root))) === undefined) {
    throw new NodeError('InvalidParameter', `There is no store in ${root}.`, {
      hint: 'Name with --store the directory that gateways and builders use.',
    })
  }
  return {
    ...readingStore({ root, files }),
    ...onlyReads,
    // Names can be made durable without the right to write any.
    async makeDurable(prefix) {
      await present(files.syncDirectory(pathOf(root, prefix)))
    },
  }
}

interface Place {
  readonly root: string
  readonly files: FileSystem
}

interface Parts extends Place {
  readonly sync: DirectorySync
  /** A path for a temporary file, never given twice. */
  readonly temporary: () => string
}

function directoryStore(parts: Parts): ObjectStore {
  const { root, files } = parts
  return {
    ...readingStore(parts),
    put: async (key, bytes) => putFile(parts, pathOf(root, key), bytes instanceof Uint8Array ? [bytes] : bytes),
    putStream: async (chunks, keyOf) => putStream(parts, chunks, () => pathOf(root, keyOf())),
    replace: async (key, bytes) => replaceFile(parts, pathOf(root, key), bytes),
    async makeDurable(prefix) {
      await present(parts.sync.sync(pathOf(root, prefix)))
    },
    async delete(...keys) {
      const directories = new Set<string>()
      const remove = async (key: string): Promise<void> => {
        const path = pathOf(root, key)
        if ((await present(files.unlink(path).then(() => true))) === true) directories.add(dirname(path))
      }
      for (let at = 0; at < keys.length; at += parallelDeletes) {
        await Promise.all(keys.slice(at, at + parallelDeletes).map(remove))
      }
      await Promise.all([...directories].map((directory) => parts.sync.sync(directory)))
    },
  }
}

function pathOf(root: string, key: string): string {
  checkKey(key)
  return join(root, key)
}

function readingStore({
  root,
  files,
}: Place): Omit<ObjectStore, 'put' | 'putStream' | 'replace' | 'makeDurable' | 'delete'> {
  const packs = new OpenFiles(files, openPacksMost)
  return {
    get: async (key) => present(files.readFile(pathOf(root, key))),
    async getRange(key, start, end) {
      const path = pathOf(root, key)
      const check = (size: number): void => checkRange(start, end, size)
      if (isPackFile(key)) return present(packs.readRange(path, start, end, check))
      return present(files.readRange(path, [start, end], check))
    },
    async size(key) {
      const found = await present(files.stat(pathOf(root, key)))
      return found?.isFile === true ? found.size : undefined
    },
    async modifiedMs(key) {
      return (await present(files.stat(pathOf(root, key))))?.modifiedMs
    },
    async list(prefix) {
      const names = (await present(files.list(pathOf(root, prefix)))) ?? []
      return names.filter(isSegment).sort()
    },
    fileOf: (key) => pathOf(root, key),
    freeSpace: () => files.freeSpace(root),
    close: () => packs.close(),
  }
}

async function putFile(parts: Parts, path: string, chunks: readonly Uint8Array[]): Promise<'stored' | 'exists'> {
  const { files, sync } = parts
  const directory = dirname(path)
  return spaceChecked(async () => {
    await sync.ensure(directory)
    // What is small is written sooner than it is looked for: most of what is put is not there yet.
    const isSmall = chunks.reduce((sum, { length }) => sum + length, 0) <= smallBytes
    const exists = !isSmall && (await present(files.stat(path))) !== undefined
    const outcome = exists ? 'exists' : await written(parts, chunks, (source) => linkOnce(files, source, path))
    // Also when it exists: its writer may not have come as far as this.
    // mutant: no fsync of directories in the store
    await sync.sync(directory)
    return outcome
    // mutant end
  })
}

/** The file is written before its name is known: by then its directory may be new, and the object there already. */
async function putStream(
  parts: Parts,
  chunks: AsyncIterable<Uint8Array>,
  pathOfIt: () => string,
): Promise<'stored' | 'exists'> {
  const { files, sync } = parts
  return spaceChecked(() =>
    written(parts, chunks, async (source) => {
      const path = pathOfIt()
      await sync.ensure(dirname(path))
      const outcome = await linkOnce(files, source, path)
      await sync.sync(dirname(path))
      return outcome
    }),
  )
}

async function replaceFile(parts: Parts, path: string, bytes: Uint8Array): Promise<void> {
  const { files, sync } = parts
  await spaceChecked(async () => {
    await sync.ensure(dirname(path))
    const source = parts.temporary()
    try {
      await files.writeNew(source, [bytes])
      await files.rename(source, path)
    } catch (error) {
      await discard(files, source)
      throw error
    }
    await sync.sync(dirname(path))
  })
}

/** What `place` makes of a temporary file that holds `chunks`, is fsynced, and is gone afterwards. */
async function written<T>(
  { files, temporary }: Parts,
  chunks: readonly Uint8Array[] | AsyncIterable<Uint8Array>,
  place: (source: string) => Promise<T>,
): Promise<T> {
  const source = temporary()
  try {
    await files.writeNew(source, chunks)
    return await place(source)
  } finally {
    await discard(files, source)
  }
}

/** Deletes a temporary file if it can: one that stays behind does no harm. */
async function discard(files: FileSystem, path: string): Promise<void> {
  await files.unlink(path).catch(() => {})
}

/** What `reading` gives, or undefined when nothing of that kind is there. */
async function present<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return undefined
    throw error
  }
}

async function spaceChecked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isFull(error)) throw error
    throw new NodeError('StorageFull', 'The volume of the store is full; nothing was stored.', { cause: error })
  }
}

/** Prepares the folder of temporary files: removes leftovers and tries a hard link. */
async function openTemporaryFolder(root: string, files: FileSystem): Promise<() => string> {
  const folder = join(root, temporaryFolder)
  await files.makeTree(folder)
  const mine = randomBytes(8).toString('hex')
  let count = 0
  const next = (): string => join(folder, `${mine}-${count++}`)

  const probe = next()
  await files.writeNew(probe, [])
  const { modifiedMs: nowMs } = await files.stat(probe)
  await tryLink(files, probe, next())
  for (const name of await files.list(folder)) {
    const path = join(folder, name)
    const found = await present(files.stat(path))
    if (found !== undefined && found.modifiedMs < nowMs - leftoverAgeMs) await discard(files, path)
  }
  await discard(files, probe)
  return next
}

async function tryLink(files: FileSystem, from: string, to: string): Promise<void> {
  try {
    await files.link(from, to)
  } catch (error) {
    if (!withoutLinks.has(errorCode(error) ?? '')) throw error
    throw new NodeError('Internal', 'The file system of the store has no hard links, which atomic writes need.', {
      hint: 'Put the data directory on a local file system such as ext4, xfs, btrfs or APFS.',
      cause: error,
    })
  } finally {
    await discard(files, to)
  }
}

/**
 * Durable directories: creates missing ones, each made durable through its parent, and lets callers that wait for one
 * directory at the same moment share an fsync. After a failed fsync nothing more is promised: every later call fails with
 * the first error, for the kernel may have dropped what it could not write.
 */
interface DirectorySync {
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
function createDirectorySync(
  root: string,
  files: Pick<FileSystem, 'syncDirectory' | 'makeDirectory'>,
  onFailure: (error: unknown) => void = () => {},
): DirectorySync {
  const inFlight = new Map<string, Waiting>()
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
      if (waiting.next === undefined) inFlight.delete(directory)
    })
    const waiting: Waiting = { running, next: undefined }
    inFlight.set(directory, waiting)
    return running
  }

  /** An fsync in flight may have begun too early for this caller, so the one after it is the one to wait for. */
  function sync(directory: string): Promise<void> {
    const waiting = inFlight.get(directory)
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
