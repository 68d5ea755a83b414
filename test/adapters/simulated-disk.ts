// A disk in memory that loses what a power cut loses: of what no fsync has followed, each sector of a write and each
// name survives or not. After a failed fsync the page cache calls clean what the disk never got, as Linux does.
// Several processes may share it; each sees it through a host, which delays, fails or ends its operations.

import { basename, dirname } from 'node:path'
import type { FileSystem, OpenFile } from '../../src/node/machine/disk/files.ts'

const sectorBytes = 512

type Pending = { readonly at: number; readonly bytes: Uint8Array } | { readonly size: number }

interface File {
  readonly kind: 'file'
  /** What readers see. */
  live: Uint8Array
  /** What is on the platter. */
  durable: Uint8Array
  pending: Pending[]
  /** An fsync failed: the cache may hold, and call clean, what the platter does not. */
  lies: boolean
}

interface Folder {
  readonly kind: 'folder'
  live: Map<string, File | Folder>
  durable: Map<string, File | Folder>
  /** Number of the fsync that `durable` is of. */
  durableAt: number
}

export type Operation =
  | 'create'
  | 'write'
  | 'datasync'
  | 'truncate'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'mkdir'
  | 'syncDirectory'

/** What stands between a process and the disk. */
export interface DiskHost {
  readonly isAlive: boolean
  /** Passed before anything is read. */
  gate(): Promise<void>
  /** Does one change: in its own time, or throws what it fails with. */
  step(operation: Operation, path: string, effect: () => void): Promise<void>
  /** How much of a write is there before the rest. */
  splitWrite(lengthBytes: number): number
}

/** An error of a system call. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code })
}

export class SimulatedDisk {
  freeBytes = Number.MAX_SAFE_INTEGER
  freeInodes: number | undefined
  /** Called before each change through `files`; what it throws is the operation's error. It may take its time. */
  before: (operation: Operation, path: string) => void | Promise<void> = () => {}
  /** Changes through `files` by operation. */
  readonly counts: Partial<Record<Operation, number>> = {}
  /** The disk as one process sees it that nothing but `before` disturbs. */
  readonly files: FileSystem
  #top: Folder = newFolder()
  readonly #locks = new Map<string, DiskHost>()
  #fsyncs = 0

  /** `folders` are there, durably. */
  constructor(folders: readonly string[]) {
    for (const path of folders) this.#putTree(path)
    for (const folder of this.#folders(this.#top)) folder.durable = new Map(folder.live)
    this.files = this.forHost({
      isAlive: true,
      gate: async () => {},
      step: async (operation, path, effect) => {
        this.counts[operation] = (this.counts[operation] ?? 0) + 1
        await this.before(operation, path)
        effect()
      },
      splitWrite: (lengthBytes) => lengthBytes,
    })
  }

  /** Ends the process of `files`: what it has written stays in the page cache. */
  kill(): void {
    this.#locks.clear()
    this.before = () => {}
  }

  /** Lets each change of one kind through `files` fail, whose path ends so; without arguments none does. */
  fail(operation?: Operation, code = 'EIO', suffix = ''): void {
    this.before = (one, path) => {
      if (one === operation && path.endsWith(suffix)) throw systemError(code)
    }
  }

  /** Cuts the power. `survives` decides about each unsynced sector, truncation and name. */
  crash(survives: () => boolean): void {
    this.kill()
    for (const folder of this.#folders(this.#top)) {
      for (const name of new Set([...folder.live.keys(), ...folder.durable.keys()])) {
        const live = folder.live.get(name)
        if (live === folder.durable.get(name) || !survives()) continue
        if (live === undefined) folder.durable.delete(name)
        else folder.durable.set(name, live)
      }
      folder.live = new Map(folder.durable)
      for (const entry of folder.live.values()) if (entry.kind === 'file') settle(entry, survives)
    }
  }

  /** A copy of everything, as it is now; what is returned puts it back. No process has a file open then. */
  copy(): () => void {
    const top = structuredClone(this.#top)
    return () => {
      this.#top = top
    }
  }

  /** Bytes of a file as its readers see them. */
  bytes(path: string): Uint8Array {
    return this.#file(path).live
  }

  /** Bytes of a file as a loss of power would certainly leave them; undefined where it may take the file away. */
  durableBytes(path: string): Uint8Array | undefined {
    const found = this.#find(path, 'durable')
    return found?.kind === 'file' && found.pending.length === 0 && !found.lies ? found.durable : undefined
  }

  /** Changes bytes under everyone's feet, durably. */
  corrupt(path: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const file = this.#file(path)
    file.live = change(file.live)
    file.durable = file.live.slice()
  }

  /** Paths of the files below a folder, without its own. */
  paths(path: string): string[] {
    const found = this.#find(path)
    if (found?.kind !== 'folder') return []
    return [...found.live].flatMap(([name, { kind }]) =>
      kind === 'file' ? [name] : this.paths(`${path}/${name}`).map((below) => `${name}/${below}`),
    )
  }

  forHost(host: DiskHost): FileSystem {
    const read = async <T>(look: () => T): Promise<T> => {
      await host.gate()
      return look()
    }
    return {
      lock: (directory) => {
        if (this.#locks.get(directory)?.isAlive === true) throw systemError('EBUSY')
        this.#locks.set(directory, host)
        return () => this.#locks.delete(directory)
      },
      open: async (path, mode) => {
        await host.gate()
        if (mode === 'create') await host.step('create', path, () => this.#put(path, newFile()))
        return this.#open(host, path)
      },
      writeNew: async (path, chunks) => {
        const file = newFile()
        await host.step('create', path, () => this.#putNew(path, file))
        const pieces: Uint8Array[] = []
        for await (const chunk of chunks) pieces.push(chunk)
        const bytes = new Uint8Array(Buffer.concat(pieces))
        await host.step('write', path, () => write(file, 0, bytes))
        await datasync(host, path, file)
      },
      readFile: (path) => read(() => this.#file(path).live.slice()),
      readRange: (path, [start, end], check) =>
        read(() => {
          const { live } = this.#file(path)
          check(live.length)
          return live.slice(start, end)
        }),
      stat: (path) =>
        read(() => {
          const found = this.#find(path)
          if (found === undefined) throw systemError('ENOENT')
          const size = found.kind === 'file' ? found.live.length : 0
          return { isFile: found.kind === 'file', size, modifiedMs: 0 }
        }),
      list: (path) => read(() => [...this.#folder(path).live.keys()]),
      link: (from, to) => host.step('link', to, () => this.#putNew(to, this.#file(from))),
      rename: (from, to) =>
        host.step('rename', to, () => {
          const file = this.#file(from)
          this.#parent(from).live.delete(basename(from))
          this.#put(to, file)
        }),
      unlink: (path) =>
        host.step('unlink', path, () => {
          this.#file(path)
          this.#parent(path).live.delete(basename(path))
        }),
      makeTree: async (path) => {
        await host.gate()
        if (this.#find(path) !== undefined) return undefined
        let first: string | undefined
        await host.step('mkdir', path, () => {
          first = this.#putTree(path)
        })
        return first
      },
      makeDirectory: (path) => host.step('mkdir', path, () => this.#putNew(path, newFolder())),
      syncDirectory: (path) => this.#syncDirectory(host, path),
      freeSpace: async () => ({ bytes: this.freeBytes, inodes: this.freeInodes }),
    }
  }

  #open(host: DiskHost, path: string): OpenFile {
    const file = this.#file(path)
    const writeAll = async (bytes: Uint8Array, at: number): Promise<void> => {
      const half = host.splitWrite(bytes.length)
      await host.step('write', path, () => write(file, at, bytes.slice(0, half)))
      if (half < bytes.length) await host.step('write', path, () => write(file, at + half, bytes.slice(half)))
    }
    return {
      read: async (into, at) => {
        await host.gate()
        const part = file.live.subarray(at, at + into.length)
        into.set(part)
        return part.length
      },
      write: writeAll,
      writeDurably: async (bytes, at) => {
        await writeAll(bytes, at)
        await datasync(host, path, file)
      },
      truncate: (size) =>
        host.step('truncate', path, () => {
          file.pending.push({ size })
          file.live = resized(file.live, size)
        }),
      size: async () => file.live.length,
      datasync: () => datasync(host, path, file),
      close: async () => {},
    }
  }

  /** What is durable afterwards is what was there when the fsync began. */
  async #syncDirectory(host: DiskHost, path: string): Promise<void> {
    if (path === '/') return
    const folder = this.#folder(path)
    const seen = new Map(folder.live)
    const number = ++this.#fsyncs
    await host.step('syncDirectory', path, () => {
      // One that began earlier and ends later takes nothing back.
      if (number < folder.durableAt) return
      folder.durable = seen
      folder.durableAt = number
    })
  }

  /** Makes a folder and those above it; returns the first that was missing. */
  #putTree(path: string): string | undefined {
    if (path === '/' || this.#find(path) !== undefined) return undefined
    const first = this.#putTree(dirname(path))
    this.#put(path, newFolder())
    return first ?? path
  }

  #put(path: string, entry: File | Folder): void {
    this.#parent(path).live.set(basename(path), entry)
  }

  #putNew(path: string, entry: File | Folder): void {
    if (this.#find(path) !== undefined) throw systemError('EEXIST')
    this.#put(path, entry)
  }

  #find(path: string, side: 'live' | 'durable' = 'live'): File | Folder | undefined {
    let at: File | Folder | undefined = this.#top
    for (const name of path.split('/')) {
      if (name === '') continue
      at = at?.kind === 'folder' ? at[side].get(name) : undefined
    }
    return at
  }

  #folder(path: string): Folder {
    const found = this.#find(path)
    if (found?.kind !== 'folder') throw systemError('ENOENT')
    return found
  }

  #parent(path: string): Folder {
    return this.#folder(dirname(path))
  }

  #file(path: string): File {
    const found = this.#find(path)
    if (found?.kind !== 'file') throw systemError(found === undefined ? 'ENOENT' : 'EISDIR')
    return found
  }

  /** A folder, then those in it as they are when their turn comes. */
  *#folders(folder: Folder): Generator<Folder> {
    yield folder
    for (const entry of folder.live.values()) if (entry.kind === 'folder') yield* this.#folders(entry)
  }
}

function newFolder(): Folder {
  return { kind: 'folder', live: new Map(), durable: new Map(), durableAt: 0 }
}

function newFile(): File {
  return { kind: 'file', live: new Uint8Array(0), durable: new Uint8Array(0), pending: [], lies: false }
}

/** What was written before the fsync began is durable when it ends; after a failed one the cache is called clean. */
async function datasync(host: DiskHost, path: string, file: File): Promise<void> {
  const pending = [...file.pending]
  try {
    await host.step('datasync', path, () => {
      for (const change of pending) bring(file, change)
      file.pending = file.pending.filter((change) => !pending.includes(change))
    })
  } catch (error) {
    file.pending = []
    file.lies = true
    throw error
  }
}

function write(file: File, at: number, bytes: Uint8Array): void {
  if (bytes.length === 0) return
  file.pending.push({ at, bytes })
  file.live = written(file.live, at, bytes)
}

/** Brings a change to the platter: whole, or the sectors that survive. */
function bring(file: File, change: Pending, survives: () => boolean = () => true): void {
  if ('size' in change) {
    if (survives()) file.durable = resized(file.durable, change.size)
    return
  }
  const { at, bytes } = change
  for (let done = 0; done < bytes.length;) {
    const length = Math.min(sectorBytes - ((at + done) % sectorBytes), bytes.length - done)
    if (survives()) file.durable = written(file.durable, at + done, bytes.subarray(done, done + length))
    done += length
  }
}

function settle(file: File, survives: () => boolean): void {
  if (file.pending.length === 0 && !file.lies) return
  file.lies = false
  for (const change of file.pending) bring(file, change, survives)
  file.pending = []
  file.live = file.durable.slice()
}

function written(into: Uint8Array, at: number, bytes: Uint8Array): Uint8Array {
  const out = into.length >= at + bytes.length ? into : resized(into, at + bytes.length)
  out.set(bytes, at)
  return out
}

function resized(bytes: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(size)
  out.set(bytes.subarray(0, size))
  return out
}
