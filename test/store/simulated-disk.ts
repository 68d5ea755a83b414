// A disk that forgets: names in a directory survive a loss of power only if the directory was fsynced after them.
// Operations take random numbers of turns, so that concurrent writers interleave; power is lost before step `stepsLeft`.

import { basename, dirname } from 'node:path'
import type { StoreFileSystem } from '../../src/disk/files.ts'
import { must } from '../../src/lib/assert.ts'

interface Folder {
  entries: Map<string, Uint8Array | Folder>
  durable: Map<string, Uint8Array | Folder>
  /** Number of the fsync that `durable` is of. */
  durableAt: number
}

export interface SimulatedDisk {
  readonly files: StoreFileSystem
  /** What is on the disk when power is back: path → bytes. */
  afterPowerLoss(): Map<string, Uint8Array>
  /** Steps taken until now. */
  steps(): number
}

export function simulatedDisk(root: string, options: { stepsLeft: number; random: () => number }): SimulatedDisk {
  const newFolder = (): Folder => ({ entries: new Map(), durable: new Map(), durableAt: 0 })
  const top = newFolder()
  top.entries.set('.tmp', newFolder())
  top.durable = new Map(top.entries)
  let taken = 0
  let fsyncs = 0

  const fail = (code: string): never => {
    throw Object.assign(new Error(code), { code })
  }
  const step = async (): Promise<void> => {
    for (let turns = Math.floor(options.random() * 4); turns > 0; turns--) await Promise.resolve()
    if (taken >= options.stepsLeft) fail('POWER')
    taken++
  }
  const folder = (path: string): Folder => {
    if (path === root) return top
    const found = folder(dirname(path)).entries.get(basename(path))
    return found === undefined || found instanceof Uint8Array ? fail('ENOENT') : found
  }
  const file = (path: string): Uint8Array => {
    const found = folder(dirname(path)).entries.get(basename(path)) ?? fail('ENOENT')
    return found instanceof Uint8Array ? found : fail('EISDIR')
  }
  const add = (path: string, value: Uint8Array | Folder): void => {
    const { entries } = folder(dirname(path))
    if (entries.has(basename(path))) fail('EEXIST')
    entries.set(basename(path), value)
  }
  const remove = (path: string): void => {
    file(path)
    folder(dirname(path)).entries.delete(basename(path))
  }
  const files: StoreFileSystem = {
    async writeNew(path, chunks) {
      const bytes: number[] = []
      for await (const chunk of chunks) bytes.push(...chunk)
      await step()
      add(path, Uint8Array.from(bytes))
    },
    async link(from, to) {
      await step()
      add(to, file(from))
    },
    async rename(from, to) {
      await step()
      folder(dirname(to)).entries.set(basename(to), file(from))
      remove(from)
    },
    async unlink(path) {
      await step()
      remove(path)
    },
    // The root and its folder of temporary files are there from the start.
    makeTree: async () => undefined,
    async makeDirectory(path) {
      await step()
      add(path, newFolder())
    },
    async syncDirectory(path) {
      if (path.length < root.length) return
      // What is durable afterwards is what was there when the fsync began.
      const at = folder(path)
      const seen = new Map(at.entries)
      const number = ++fsyncs
      await step()
      // One that began earlier and ends later takes nothing back.
      if (number < at.durableAt) return
      at.durable = seen
      at.durableAt = number
    },
    async readFile(path) {
      await step()
      return file(path).slice()
    },
    async readRange(path, [start, end]) {
      await step()
      return file(path).slice(start, end)
    },
    async stat(path) {
      await step()
      const found = must(folder(dirname(path)).entries.get(basename(path)) ?? fail('ENOENT'), 'an entry')
      return {
        isFile: found instanceof Uint8Array,
        size: found instanceof Uint8Array ? found.length : 0,
        modifiedMs: 0,
      }
    },
    async listDirectory(path) {
      await step()
      return [...folder(path).entries.keys()]
    },
    freeSpace: async () => ({ bytes: 1e12, inodes: undefined }),
  }
  const afterPowerLoss = (): Map<string, Uint8Array> => {
    const left = new Map<string, Uint8Array>()
    const walk = (at: Folder, prefix: string): void => {
      for (const [name, value] of at.durable) {
        if (value instanceof Uint8Array) left.set(`${prefix}${name}`, value)
        else walk(value, `${prefix}${name}/`)
      }
    }
    walk(top, '')
    return left
  }
  return { files, afterPowerLoss, steps: () => taken }
}
