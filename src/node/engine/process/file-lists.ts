// Lists of slices between parent and process. A whole list travels once to each process: later jobs send what it grew by. A
// few files out of one travel by their paths.

import { assert } from '../../../libraries/base/assert.ts'
import type { EngineFiles, EngineTable, PlainTable } from '../messages.ts'

/** Paths that a process holds before it is told to forget them all: some tens of megabytes. */
const keptPaths = 200_000
/** The engine keeps what it has read of a file, at least 4 KB of each column: not of more files than these with fewer rows. */
const manyFiles = 256
const smallRows = 4096

/** The parent's end of the lists, one per process. */
export class SentLists {
  /** Name of a list → paths sent. */
  readonly #sent = new Map<string, number>()
  #paths = 0

  /** The tables as they travel; `forget` tells the process to drop all lists first. */
  plain(tables: readonly EngineTable[]): { readonly tables: readonly PlainTable[]; readonly forget: boolean } {
    const whole = tables.filter(({ files }) => files.only === undefined)
    const missing = whole.reduce((sum, { files }) => sum + Math.max(0, files.to - this.#count(files.list)), 0)
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

  #plainTable({ files, ...table }: EngineTable): PlainTable {
    const { list, to, only } = files
    if (only !== undefined) {
      const paths = only.map((number) => files.path(number))
      return { ...table, list, files: { kind: 'some', numbers: only, paths } }
    }
    const known = this.#count(list)
    const more = pathsOf(files, known, to)
    this.#sent.set(list, Math.max(known, to))
    this.#paths += more.length
    return { ...table, list, files: { kind: 'all', to, more, last: to > 0 ? files.path(to - 1) : undefined } }
  }
}

function pathsOf(files: EngineFiles, from: number, to: number): string[] {
  const paths: string[] = []
  for (let index = from; index < to; index++) paths.push(files.path(index))
  return paths
}

/** A table in a child process. */
export interface HeldTable extends Omit<PlainTable, 'list' | 'files'> {
  /** Differs when the files or their rows do. */
  readonly signature: string
  /** The list whose first files these are, all below a number. */
  readonly whole?: { readonly list: string; readonly to: number }
  /** Absolute paths in chain order. */
  files(): readonly string[]
}

/** The lists that a process holds. */
export class HeldLists {
  readonly #lists = new Map<string, string[]>()

  /** Takes what a job brings of its lists; the job's tables. */
  take(job: { readonly tables: readonly PlainTable[]; readonly forget: boolean }): HeldTable[] {
    if (job.forget) this.#lists.clear()
    return job.tables.map(({ list, files, ...table }) => {
      const rows = JSON.stringify(table.bounds ?? [])
      if (table.offsetsAlone !== undefined) {
        return { ...table, signature: `offsets below ${table.offsetsAlone}`, files: () => [] }
      }
      if (files.kind === 'some') {
        return { ...table, signature: `${list} ${files.numbers.join()} ${rows}`, files: () => files.paths }
      }
      const { to, more, last } = files
      const paths = this.#lists.get(list) ?? []
      this.#lists.set(list, paths)
      for (const path of more) paths.push(path)
      assert(paths.length >= to, 'a job brings the files that its process lacks')
      if (to > 0) assert(paths[to - 1] === last, 'a list of files only ever grows')
      const signature = `${list} below ${to} ${rows}`
      return { ...table, signature, whole: { list, to }, files: () => paths.slice(0, to) }
    })
  }
}

/** True where one of the tables has very many small files. */
export function areManySmall(tables: readonly Pick<HeldTable, 'files' | 'rows'>[]): boolean {
  return tables.some(({ files, rows = Infinity }) => files().length > manyFiles && rows < files().length * smallRows)
}
