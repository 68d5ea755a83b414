// A volume that log and store of simulated processes share. It keeps in a power cut what was fsynced; of the rest
// each sector of a write and each name survives or not, by chance. Operations take time, can fail, and happen in
// steps, so that a process dies in the middle of them.

import { basename, dirname } from 'node:path'
import type { StoreFileSystem } from '../../src/disk/files.ts'
import type { FileSystem, LogFile } from '../../src/disk/log-files.ts'
import type { Process, World } from './world.ts'

const sectorBytes = 512

type Pending = { readonly at: number; readonly bytes: Uint8Array } | { readonly size: number }

interface File {
  readonly kind: 'file'
  live: Uint8Array
  durable: Uint8Array
  pending: Pending[]
  /** An fsync failed: the cache may hold, and call clean, what the platter does not. */
  lies: boolean
}

interface Folder {
  readonly kind: 'folder'
  live: Map<string, File | Folder>
  durable: Map<string, File | Folder>
}

export type Operation = 'create' | 'write' | 'sync' | 'truncate' | 'rename' | 'link' | 'unlink' | 'mkdir' | 'syncFolder'

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code })
}

function newFolder(): Folder {
  return { kind: 'folder', live: new Map(), durable: new Map() }
}

function newFile(): File {
  return { kind: 'file', live: new Uint8Array(0), durable: new Uint8Array(0), pending: [], lies: false }
}

export class Volume {
  readonly #world: World
  #top = newFolder()
  readonly #locks = new Map<string, Process>()
  freeBytes = 1e12
  /** The error that an operation ends with, or undefined; the path is told for folders alone. */
  fault: (operation: Operation, path: string) => string | undefined = () => undefined
  /** How long an operation takes. */
  delayMs: (operation: Operation) => number = () => 0

  constructor(world: World) {
    this.#world = world
    this.#top.live.set('data', newFolder())
    this.#top.durable = new Map(this.#top.live)
  }

  /** Cuts the power: what no fsync has followed survives by chance. The processes are for the caller to kill. */
  cutPower(): void {
    const survives = (): boolean => this.#world.chance(0.5)
    const cut = (folder: Folder): void => {
      for (const name of new Set([...folder.live.keys(), ...folder.durable.keys()])) {
        const live = folder.live.get(name)
        if (live !== folder.durable.get(name) && survives()) {
          if (live === undefined) folder.durable.delete(name)
          else folder.durable.set(name, live)
        }
      }
      folder.live = new Map(folder.durable)
      for (const entry of folder.live.values()) {
        if (entry.kind === 'folder') cut(entry)
        else settle(entry, survives)
      }
    }
    cut(this.#top)
  }

  /** Number of files below a folder. */
  count(path: string): number {
    const folder = this.#find(path)
    if (folder?.kind !== 'folder') return 0
    let files = 0
    for (const [name, entry] of folder.live) files += entry.kind === 'file' ? 1 : this.count(`${path}/${name}`)
    return files
  }

  /** The disk as the file log of `process` sees it. */
  forLog(process: Process): FileSystem {
    return {
      lock: (directory) => {
        if (this.#locks.get(directory)?.isAlive === true) throw systemError('EBUSY')
        this.#locks.set(directory, process)
        return () => this.#locks.delete(directory)
      },
      open: async (path, mode) => {
        await process.gate()
        if (mode === 'create') await this.#step(process, 'create', () => this.#put(path, newFile()))
        return this.#handle(process, this.#file(path))
      },
      readText: async (path) => {
        await process.gate()
        const found = this.#find(path)
        return found?.kind === 'file' ? new TextDecoder().decode(found.live) : undefined
      },
      list: async (directory) => {
        await process.gate()
        return [...this.#folder(directory).live].filter(([, { kind }]) => kind === 'file').map(([name]) => name)
      },
      rename: (from, to) => this.#step(process, 'rename', () => this.#rename(from, to)),
      remove: (path) => this.#step(process, 'unlink', () => void this.#parent(path).live.delete(basename(path))),
      makeDirectory: (path) => this.#makeTree(process, path),
      syncDirectory: (path) => this.#syncFolder(process, path),
      freeSpace: () => ({ bytes: this.freeBytes, inodes: undefined }),
    }
  }

  /** The disk as the directory store of `process` sees it. */
  forStore(process: Process): StoreFileSystem {
    return {
      writeNew: async (path, chunks) => {
        const file = newFile()
        await this.#step(process, 'create', () => {
          if (this.#find(path) !== undefined) throw systemError('EEXIST')
          this.#put(path, file)
        })
        const pieces: Uint8Array[] = []
        for await (const chunk of chunks) pieces.push(chunk)
        const bytes = new Uint8Array(Buffer.concat(pieces))
        await this.#step(process, 'write', () => write(file, 0, bytes))
        await this.#sync(process, file)
      },
      link: (from, to) =>
        this.#step(process, 'link', () => {
          if (this.#find(to) !== undefined) throw systemError('EEXIST')
          this.#put(to, this.#file(from))
        }),
      rename: (from, to) => this.#step(process, 'rename', () => this.#rename(from, to)),
      unlink: (path) =>
        this.#step(process, 'unlink', () => {
          this.#file(path)
          this.#parent(path).live.delete(basename(path))
        }),
      makeTree: async (path) => {
        await this.#makeTree(process, path)
        return undefined
      },
      makeDirectory: (path) =>
        this.#step(process, 'mkdir', () => {
          if (this.#find(path) !== undefined) throw systemError('EEXIST')
          this.#put(path, newFolder())
        }),
      syncDirectory: (path) => this.#syncFolder(process, path),
      readFile: async (path) => {
        await process.gate()
        return this.#file(path).live.slice()
      },
      readRange: async (path, [start, end], check) => {
        await process.gate()
        const { live } = this.#file(path)
        check(live.length)
        return live.slice(start, end)
      },
      stat: async (path) => {
        await process.gate()
        const found = this.#find(path)
        if (found === undefined) throw systemError('ENOENT')
        return {
          isFile: found.kind === 'file',
          size: found.kind === 'file' ? found.live.length : 0,
          modifiedMs: 0,
        }
      },
      listDirectory: async (path) => {
        await process.gate()
        return [...this.#folder(path).live.keys()]
      },
      freeSpace: async () => ({ bytes: this.freeBytes, inodes: undefined }),
    }
  }

  /** One operation: it takes its time, fails or takes effect, and may take time to say so. */
  async #step(process: Process, operation: Operation, effect: () => void, path = ''): Promise<void> {
    await process.spend(this.delayMs(operation))
    const code = this.fault(operation, path)
    if (code !== undefined) throw systemError(code)
    effect()
    if (this.#world.chance(0.2)) await process.spend(this.delayMs(operation))
  }

  /** What was written before the fsync began is durable when it ends; after a failed one the cache is called clean. */
  async #sync(process: Process, file: File): Promise<void> {
    const pending = [...file.pending]
    try {
      await this.#step(process, 'sync', () => {
        for (const change of pending) bring(file, change)
        file.pending = file.pending.filter((change) => !pending.includes(change))
      })
    } catch (error) {
      file.pending = []
      file.lies = true
      throw error
    }
  }

  async #syncFolder(process: Process, path: string): Promise<void> {
    if (path === '/') return
    const folder = this.#folder(path)
    const seen = new Map(folder.live)
    const effect = (): void => {
      for (const [name, entry] of seen) if (folder.live.get(name) === entry) folder.durable.set(name, entry)
      for (const name of folder.durable.keys()) {
        if (!seen.has(name) && !folder.live.has(name)) folder.durable.delete(name)
      }
    }
    await this.#step(process, 'syncFolder', effect, path)
  }

  async #makeTree(process: Process, path: string): Promise<void> {
    await process.gate()
    await this.#step(process, 'mkdir', () => {
      if (this.#find(path) === undefined) this.#put(path, newFolder())
    })
  }

  #handle(process: Process, file: File): LogFile {
    return {
      read: async (into, at) => {
        await process.gate()
        const part = file.live.subarray(at, at + into.length)
        into.set(part)
        return part.length
      },
      write: async (bytes, at) => {
        // Half of it is there before the rest: a fault or a kill comes between.
        const half = this.#world.random.between(0, bytes.length)
        await this.#step(process, 'write', () => write(file, at, bytes.slice(0, half)))
        await this.#step(process, 'write', () => write(file, at + half, bytes.slice(half)))
      },
      truncate: (size) =>
        this.#step(process, 'truncate', () => {
          file.pending.push({ size })
          file.live = resized(file.live, size)
        }),
      size: async () => file.live.length,
      datasync: () => this.#sync(process, file),
      close: async () => {},
    }
  }

  #rename(from: string, to: string): void {
    const file = this.#file(from)
    this.#parent(from).live.delete(basename(from))
    this.#put(to, file)
  }

  #put(path: string, entry: File | Folder): void {
    this.#parent(path).live.set(basename(path), entry)
  }

  #find(path: string): File | Folder | undefined {
    let at: File | Folder | undefined = this.#top
    for (const name of path.split('/')) {
      if (name === '') continue
      at = at?.kind === 'folder' ? at.live.get(name) : undefined
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
}

function write(file: File, at: number, bytes: Uint8Array): void {
  if (bytes.length === 0) return
  file.pending.push({ at, bytes })
  file.live = written(file.live, at, bytes)
}

/** Brings a change to the platter: whole, or the sectors that survive. */
function bring(file: File, change: Pending, survives?: () => boolean): void {
  if ('size' in change) {
    if (survives?.() !== false) file.durable = resized(file.durable, change.size)
    return
  }
  const { at, bytes } = change
  if (survives === undefined) {
    file.durable = written(file.durable, at, bytes)
    return
  }
  for (let done = 0; done < bytes.length; ) {
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
