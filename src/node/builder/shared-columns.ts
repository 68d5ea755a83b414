// Hashes and encodes the columns of a slice by threads that share them out, or by this one. The bytes are the same.

import { must } from '../../libraries/base/assert.ts'
import { joinedPieces } from '../../libraries/columnar/arrow/null-column.ts'
import { type ColumnWork, groupedRowBytes, isWide, OwnColumns } from '../../libraries/columnar/parquet/own-columns.ts'
import type { ColumnChunk, PiecedRows } from '../../libraries/columnar/parquet/write-slice.ts'
import type { Column, Field } from '../../libraries/model/schema.ts'
import { Handover } from '../machine/work/handover.ts'
import type { Task, TaskThreads } from '../machine/work/work-pool.ts'

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
