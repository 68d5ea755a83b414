// Hashes and encodes the columns of a slice: on this thread, with a turn of the event loop after what takes its time, or
// threads that share them out. The bytes are the same.

import { fixedWidth, freeColumn } from '../../libraries/columnar/arrow/columns.ts'
import { joinedPieces } from '../../libraries/columnar/arrow/null-column.ts'
import { ColumnHash } from '../../libraries/columnar/arrow/logical-hash.ts'
import { must } from '../../libraries/base/assert.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { type Column, type Field, innerType } from '../../libraries/model/schema.ts'
import { parquetLeaf } from '../../libraries/columnar/parquet/file-schema.ts'
import {
  type ColumnChunk,
  encodeColumn,
  type PiecedRows,
  rowGroupBytes,
  rowGroupRows,
  wideColumns,
} from '../../libraries/columnar/parquet/write-slice.ts'
import { Handover } from '../machine/work/handover.ts'
import type { Task, TaskThreads } from '../machine/work/work-pool.ts'

/** The columns of one slice. */
export interface ColumnWork {
  /** Rows in order, before their row group. */
  see(rows: PiecedRows): void
  /** A chunk for each column. */
  encode(group: PiecedRows): Promise<ColumnChunk[]>
  /** The hash of each column over all rows. */
  digests(): Promise<Uint8Array[]>
  /** To be called once, however it went. */
  end(): void
}

/**
 * The work on a slice of so many rows and logged bytes, with what threads are free. Row groups that their bytes end are
 * done here: one takes several times its 64 MiB, and threads would let go of theirs later.
 */
export function columnWork(
  fields: readonly Field[],
  { rows, payloadBytes }: { readonly rows: number; readonly payloadBytes: number },
  by: { readonly compress: (bytes: Uint8Array) => Uint8Array; readonly threads?: TaskThreads | undefined },
): ColumnWork {
  const most = payloadBytes / rows > groupedRowBytes || isWide(fields) ? 0 : fields.length
  const tasks = by.threads?.begin('columns', fields, { bytes: payloadBytes, most }) ?? []
  return tasks.length === 0 ? new OwnColumns(fields, by.compress) : new SharedColumns(fields, tasks)
}

/** Rows of more bytes end row groups by them. */
const groupedRowBytes = rowGroupBytes / rowGroupRows

/** Whether rows of nothing but nulls would: columns that no row brings are not logged, but built. */
function isWide(fields: readonly Field[]): boolean {
  return fields.reduce((sum, { type }) => sum + (fixedWidth(innerType(type)) ?? 4), 0) > groupedRowBytes
}

/** The work on columns of rows that are not all known, by a thread; undefined where none is free, and for wide rows. */
export function threadColumns(fields: readonly Field[], threads: TaskThreads | undefined): ColumnWork | undefined {
  if (isWide(fields)) return undefined
  const tasks = threads?.begin('columns', fields, { bytes: Number.POSITIVE_INFINITY, most: 1 }) ?? []
  return tasks.length === 0 ? undefined : new SharedColumns(fields, tasks)
}

/** Columns after which other work has its turn: a slice may have thousands. */
const columnsPerTurn = 16

class OwnColumns implements ColumnWork {
  readonly #fields: readonly Field[]
  readonly #compress: (bytes: Uint8Array) => Uint8Array
  readonly #hashes: readonly ColumnHash[]

  constructor(fields: readonly Field[], compress: (bytes: Uint8Array) => Uint8Array) {
    this.#fields = fields
    this.#compress = compress
    this.#hashes = fields.map((field) => new ColumnHash(field, fields.length))
  }

  see({ columns }: PiecedRows): void {
    for (const [place, hash] of this.#hashes.entries()) {
      for (const piece of must(columns[place], 'a column')) hash.update(piece)
    }
  }

  async encode({ columns }: PiecedRows): Promise<ColumnChunk[]> {
    const chunks: ColumnChunk[] = []
    for (const field of this.#fields) {
      if (chunks.length % columnsPerTurn === columnsPerTurn - 1) await nextTurn()
      const pieces = columns.shift() ?? []
      const column = joinedPieces(pieces)
      const steps = encodeColumn(parquetLeaf(field), column, this.#compress)
      let step = steps.next()
      for (; step.done !== true; step = steps.next()) await nextTurn()
      chunks.push(step.value)
      // Pages that are not compressed may be views of the column.
      const isShared = step.value.parts.some(({ buffer }) => buffer === column.values.buffer)
      if (isShared || pieces.length < 2) continue
      freeColumn(column)
      if (this.#fields.length >= wideColumns) for (const piece of pieces) freeColumn(piece)
    }
    return chunks
  }

  async digests(): Promise<Uint8Array[]> {
    const digests: Uint8Array[] = []
    for (const hash of this.#hashes) {
      if (digests.length % columnsPerTurn === columnsPerTurn - 1) await nextTurn()
      digests.push(hash.digest())
    }
    return digests
  }

  end(): void {
    // Holds nothing.
  }
}

class SharedColumns implements ColumnWork {
  readonly #fields: readonly Field[]
  readonly #tasks: readonly Task<'columns'>[]
  /** Which task has a column, by its place: told once, by the bytes of the first row group. */
  #owners: readonly number[] | undefined

  constructor(fields: readonly Field[], tasks: readonly Task<'columns'>[]) {
    this.#fields = fields
    this.#tasks = tasks
  }

  see(): void {
    // Threads hash what they encode.
  }

  async encode({ columns }: PiecedRows): Promise<ColumnChunk[]> {
    const shares = this.#tasks.map(() => ({ columns: new Map<number, Column>(), over: new Handover() }))
    this.#owners ??= sharedOut(columns.map(bytesOf), this.#tasks.length)
    for (const place of this.#fields.keys()) {
      const share = must(shares[this.#owners[place] ?? 0], 'a task')
      share.columns.set(place, share.over.column(joinedPieces(columns.shift() ?? [])))
    }
    const chunks = new Map<number, ColumnChunk>()
    const said = shares.map(async ({ columns: share, over }, i) => {
      const answer = await must(this.#tasks[i], 'a task').say({ kind: 'rows', columns: share }, over)
      if (answer.kind === 'chunks') for (const [place, chunk] of answer.chunks) chunks.set(place, chunk)
    })
    await Promise.all(said)
    return this.#fields.map((_, place) => must(chunks.get(place), 'a chunk of each column'))
  }

  async digests(): Promise<Uint8Array[]> {
    const digests = new Map<number, Uint8Array>()
    const said = this.#tasks.map(async (task) => {
      const answer = await task.say({ kind: 'end' })
      if (answer.kind === 'digests') for (const [place, digest] of answer.digests) digests.set(place, digest)
    })
    await Promise.all(said)
    return this.#fields.map((_, place) => must(digests.get(place), 'a digest of each column'))
  }

  end(): void {
    for (const task of this.#tasks) task.end()
  }
}

/** For each of the weights which of `count` takes it: the heaviest first, each to the one that has least. */
function sharedOut(weights: readonly number[], count: number): number[] {
  const loads = Array.from({ length: count }, () => 0)
  const owners = weights.map(() => 0)
  const order = [...weights.keys()].sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0))
  for (const place of order) {
    const owner = loads.indexOf(Math.min(...loads))
    owners[place] = owner
    loads[owner] = (loads[owner] ?? 0) + (weights[place] ?? 0) + 1
  }
  return owners
}

function bytesOf(pieces: readonly Column[]): number {
  let bytes = 0
  for (const piece of pieces) {
    // Texts are more work than numbers: an offset counts as eight bytes.
    for (let column: Column | undefined = piece; column !== undefined; column = column.child) {
      bytes += column.values.length + 8 * (column.offsets?.length ?? 0)
    }
  }
  return bytes
}
