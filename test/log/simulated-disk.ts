// A disk in memory that loses what a power cut loses: writes that no fsync has followed survive sector by sector at
// random, new names survive only up to the last fsync of their directory. After a failed fsync the page cache calls
// clean what the disk never got, as Linux does.

import { basename, dirname } from 'node:path'
import type { FileSystem, LogFile } from '../../src/disk/log-files.ts'
import type { FreeSpace } from '../../src/disk/space.ts'

const sectorBytes = 512

type Pending =
  | { readonly kind: 'write'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly size: number }

interface Inode {
  /** What readers see. */
  live: Uint8Array
  /** What is on the platter. */
  durable: Uint8Array
  pending: Pending[]
}

export type Operation = 'write' | 'datasync' | 'truncate' | 'create' | 'remove' | 'rename' | 'syncDirectory'

export class SimulatedDisk implements FileSystem {
  free = Number.MAX_SAFE_INTEGER
  freeInodes: number | undefined
  /** Called before each operation; what it throws is the operation's error. May be asynchronous to delay it. */
  before: (operation: Operation, path: string) => void | Promise<void> = () => {}
  readonly counts: Partial<Record<Operation, number>> = {}
  #live = new Map<string, Inode>()
  #durable = new Map<string, Inode>()
  readonly #locked = new Set<string>()

  lock(directory: string): () => void {
    if (this.#locked.has(directory)) throw new RangeError('locked')
    this.#locked.add(directory)
    return () => this.#locked.delete(directory)
  }

  /** Ends the process that had the disk open: what it has written stays in the page cache. */
  kill(): void {
    this.#locked.clear()
    this.before = () => {}
  }

  /** Cuts the power. `survives` decides about each unsynced sector, truncation and name. */
  crash(survives: () => boolean): void {
    this.kill()
    for (const [path, inode] of this.#live) if (survives()) this.#durable.set(path, inode)
    for (const path of this.#durable.keys()) if (!this.#live.has(path) && survives()) this.#durable.delete(path)
    for (const inode of new Set(this.#durable.values())) {
      for (const change of inode.pending) apply(inode, change, survives)
      inode.pending = []
      inode.live = inode.durable.slice()
    }
    this.#live = new Map(this.#durable)
  }

  /** Bytes of a file as its readers see them. */
  bytes(path: string): Uint8Array {
    const inode = this.#live.get(path)
    if (inode === undefined) throw missing(path)
    return inode.live
  }

  /** Changes bytes under everyone's feet, durably. */
  corrupt(path: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const inode = this.#live.get(path)
    if (inode === undefined) throw missing(path)
    inode.live = change(inode.live)
    inode.durable = inode.live.slice()
  }

  async open(path: string, mode: 'read' | 'write' | 'create'): Promise<LogFile> {
    if (mode === 'create') {
      await this.#step('create', path)
      this.#live.set(path, { live: new Uint8Array(0), durable: new Uint8Array(0), pending: [] })
    }
    const inode = this.#live.get(path)
    if (inode === undefined) throw missing(path)
    return this.#file(path, inode)
  }

  async readText(path: string): Promise<string | undefined> {
    const inode = this.#live.get(path)
    return inode === undefined ? undefined : new TextDecoder().decode(inode.live)
  }

  async list(directory: string): Promise<string[]> {
    return [...this.#live.keys()].filter((path) => dirname(path) === directory).map((path) => basename(path))
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#step('rename', to)
    const inode = this.#live.get(from)
    if (inode === undefined) throw missing(from)
    this.#live.delete(from)
    this.#live.set(to, inode)
  }

  async remove(path: string): Promise<void> {
    await this.#step('remove', path)
    this.#live.delete(path)
  }

  async makeDirectory(): Promise<void> {}

  async syncDirectory(directory: string): Promise<void> {
    await this.#step('syncDirectory', directory)
    this.#durable = new Map(this.#live)
  }

  freeSpace(): FreeSpace {
    return { bytes: this.free, inodes: this.freeInodes }
  }

  async #step(operation: Operation, path: string): Promise<void> {
    this.counts[operation] = (this.counts[operation] ?? 0) + 1
    await this.before(operation, path)
  }

  #file(path: string, inode: Inode): LogFile {
    return {
      read: async (into, at) => {
        const part = inode.live.subarray(at, at + into.length)
        into.set(part)
        return part.length
      },
      write: async (bytes, at) => {
        await this.#step('write', path)
        const copy = bytes.slice()
        inode.pending.push({ kind: 'write', at, bytes: copy })
        inode.live = written(inode.live, at, copy)
      },
      truncate: async (size) => {
        await this.#step('truncate', path)
        inode.pending.push({ kind: 'truncate', size })
        inode.live = resized(inode.live, size)
      },
      size: async () => inode.live.length,
      datasync: async () => {
        const pending = [...inode.pending]
        try {
          await this.#step('datasync', path)
        } catch (error) {
          inode.pending = []
          throw error
        }
        for (const change of pending) apply(inode, change)
        inode.pending = inode.pending.slice(pending.length)
      },
      close: async () => {},
    }
  }
}

/** An error of a system call. */
export function systemError(code: string): Error {
  return Object.assign(new RangeError(`${code}: simulated`), { code })
}

function missing(path: string): Error {
  return Object.assign(new RangeError(`ENOENT: ${path}`), { code: 'ENOENT' })
}

/** Brings a change to the platter: whole, or as far as it `survives`. */
function apply(inode: Inode, change: Pending, survives?: () => boolean): void {
  if (survives === undefined) {
    inode.durable =
      change.kind === 'write' ? written(inode.durable, change.at, change.bytes) : resized(inode.durable, change.size)
    return
  }
  if (change.kind === 'truncate') {
    if (survives()) inode.durable = resized(inode.durable, change.size)
    return
  }
  for (let done = 0; done < change.bytes.length; ) {
    const at = change.at + done
    const length = Math.min(sectorBytes - (at % sectorBytes), change.bytes.length - done)
    if (survives()) inode.durable = written(inode.durable, at, change.bytes.subarray(done, done + length))
    done += length
  }
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
