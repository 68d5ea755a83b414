// Lists of slices between parent and child: a list of thousands of paths travels once, later jobs send what it grew by.
// `SentLists` is the parent's end, one per process; `HeldLists` is what the process holds.

import { assert } from '../lib/assert.ts'
import type { EngineFiles, EngineTable } from './engine-job.ts'
import type { PlainTable } from './messages.ts'

/** Paths that a process holds before it is told to forget them all: some tens of megabytes. */
const keptPaths = 200_000

export class SentLists {
  /** Name of a list → paths sent. */
  readonly #sent = new Map<string, number>()
  #paths = 0

  /** The tables as they travel; `forget` tells the process to drop all lists first. */
  plain(tables: readonly EngineTable[]): { readonly tables: readonly PlainTable[]; readonly forget: boolean } {
    const missing = tables.reduce((sum, { files }) => sum + Math.max(0, files.to - this.#count(files.list)), 0)
    const forget = this.#paths > 0 && this.#paths + missing > keptPaths
    if (forget) {
      this.#sent.clear()
      this.#paths = 0
    }
    return { tables: tables.map((table) => this.#plainTable(table)), forget }
  }

  #count(list: string): number {
    return this.#sent.get(list) ?? 0
  }

  #plainTable({ parts, files, schema }: EngineTable): PlainTable {
    const { list, from, to } = files
    const known = this.#count(list)
    const more = pathsOf(files, known, to)
    this.#sent.set(list, Math.max(known, to))
    this.#paths += more.length
    return { parts, schema, list, from, to, more, last: to > from ? files.path(to - 1) : undefined }
  }
}

function pathsOf(files: EngineFiles, from: number, to: number): string[] {
  const paths: string[] = []
  for (let index = from; index < to; index++) paths.push(files.path(index))
  return paths
}

/** The pattern that matches `path` alone: the engine takes every path for one. */
export function patternOf(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]')
}

/** A table in a child process. */
export interface HeldTable {
  readonly parts: readonly string[]
  readonly schema: EngineTable['schema']
  /** Differs when the files do. */
  readonly signature: string
  /** Absolute paths in chain order. */
  files(): readonly string[]
}

export class HeldLists {
  readonly #lists = new Map<string, string[]>()

  /** Takes what a job brings of its lists; the job's tables. */
  take(job: { readonly tables: readonly PlainTable[]; readonly forget: boolean }): HeldTable[] {
    if (job.forget) this.#lists.clear()
    return job.tables.map(({ parts, schema, list, from, to, more, last }) => {
      const paths = this.#lists.get(list) ?? []
      this.#lists.set(list, paths)
      for (const path of more) paths.push(path)
      assert(paths.length >= to, 'a job brings the files that its process lacks')
      if (to > from) assert(paths[to - 1] === last, 'a list of files only ever grows')
      return { parts, schema, signature: `${list} ${from} ${to}`, files: () => paths.slice(from, to) }
    })
  }
}
