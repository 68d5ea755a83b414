// The slice of a large batch, begun while its parts come: they are read from the log behind the fold, and their row groups
// encoded by a thread. A block that takes these rows and no others gets them; else they are dropped, and the rows are read
// again. The bytes are the same either way.
//   coming ──► ended ──► over          any ──► over: given up, dropped, or taken

import { ArrowStreamReader } from '../../libraries/columnar/arrow/ipc-reader.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { type DataSchema, type Field, sameType } from '../../libraries/model/schema.ts'
import { rowGroupRows } from '../../libraries/columnar/parquet/write-slice.ts'
import type { TaskThreads } from '../machine/work/work-pool.ts'
import { AlignedRows } from './aligned-rows.ts'
import { threadColumns } from './column-work.ts'
import { addedColumns, type DataPlan } from './dataset-state.ts'
import { type EncodedGroup, type EncodedRows, RowGroups } from './row-groups.ts'

/** Encoded bytes that are held: slices of more are made when their block is. */
const heldBytesMost = 96 * 1024 * 1024
/** A sender that lets it wait for so long does not keep a thread. */
const patienceMs = 5_000
/** A block that does not come for so long is made of rows that are read again. */
const keptMs = 60_000

/** A large batch whose parts come. */
export interface EarlyBatch {
  readonly dataset: DatasetId
  readonly attempt: string
  /** Of the dataset, if it has one. */
  readonly schema: DataSchema | undefined
  /** The rows of the partition that folds it: they are closed together. */
  readonly owner: object | undefined
  /** Payloads of its parts at these positions. */
  readonly read: (positions: readonly number[]) => AsyncIterable<{ readonly payload: Uint8Array }>
}

interface EarlyDeps {
  readonly clock: Clock
  readonly threads?: TaskThreads | undefined
}

/** One of a process at a time: each takes a thread, and memory for what it has encoded. */
export class EarlySlices {
  readonly #deps: EarlyDeps
  #one: EarlySlice | undefined

  constructor(deps: EarlyDeps) {
    this.#deps = deps
  }

  /** Takes note of a part, behind those at `earlier`, of a batch that finds no room among the rows that are kept. */
  part(batch: EarlyBatch, earlier: readonly number[], position: number): void {
    if (this.#deps.threads === undefined) return
    const { attempt } = batch
    if (this.#one !== undefined && this.#one.batch.attempt !== attempt && !this.#one.isOver) return
    if (this.#one?.batch.attempt !== attempt) this.#one = new EarlySlice(batch, this.#deps)
    this.#one.part(earlier, position)
  }

  /** The last part has come, behind those at `earlier`, and an open block takes the rows. */
  end(attempt: string, earlier: readonly number[], position: number): void {
    if (this.#one?.batch.attempt === attempt) this.#one.end(earlier, position)
  }

  /** The rows of `plan`, where they are those that were begun. What of them has its block is dropped. */
  async take(plan: DataPlan): Promise<EncodedRows | undefined> {
    const one = this.#one
    if (one === undefined || !one.isIn(plan)) return undefined
    try {
      return await one.rowsOf(plan)
    } finally {
      one.over()
    }
  }

  /** Lets go of what was begun of such a batch. */
  drop(isSuch: (batch: EarlyBatch) => boolean): void {
    if (this.#one !== undefined && isSuch(this.#one.batch)) this.#one.over()
  }
}

/** Where rows go. */
interface Into {
  readonly fields: readonly Field[]
  readonly aligned: AlignedRows
  readonly groups: RowGroups
}

class EarlySlice {
  readonly batch: EarlyBatch
  readonly #deps: EarlyDeps
  readonly #stream = new ArrowStreamReader()
  readonly #positions: number[] = []
  #state: 'coming' | 'ended' | 'over' = 'coming'
  #wake = new AbortController()
  /** Once the columns are known. */
  #into: Into | undefined
  /** It has a thread. */
  #isWorking = false
  #groups: EncodedGroup[] = []
  #heldBytes = 0
  readonly #result: Promise<EncodedRows | undefined>
  #resolve: (rows: EncodedRows | undefined) => void = () => {}

  constructor(batch: EarlyBatch, deps: EarlyDeps) {
    this.batch = batch
    this.#deps = deps
    this.#result = new Promise((resolve) => {
      this.#resolve = resolve
    })
    // What fails here fails again where the rows are read for their block, and is told there.
    this.#run()
      .finally(() => this.over())
      .catch(() => {})
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** The plan takes rows of the batch. */
  isIn({ dataset, sources }: DataPlan): boolean {
    if (this.#state !== 'ended' || dataset !== this.batch.dataset) return false
    const last = this.#positions.at(-1)
    return sources.some(({ positions }) => positions.at(-1) === last)
  }

  part(earlier: readonly number[], position: number): void {
    if (this.#state !== 'coming') return
    if (this.#positions.length === 0) this.#positions.push(...earlier)
    if (this.#positions.length !== earlier.length) return this.over()
    this.#positions.push(position)
    this.#wake.abort('part')
  }

  end(earlier: readonly number[], position: number): void {
    this.part(earlier, position)
    if (this.#state === 'coming') this.#state = 'ended'
  }

  /** The rows, where `plan` takes all of them and no others under the columns that they were encoded for. */
  async rowsOf({ sources, rows, schema }: DataPlan): Promise<EncodedRows | undefined> {
    const [source, ...others] = sources
    const { positions = [], ranges = [] } = source ?? {}
    const isAll = others.length === 0 && ranges.length === 2 && ranges[0] === 0 && ranges[1] === rows
    const isWhole = positions.length === this.#positions.length && positions.every((at, i) => at === this.#positions[i])
    if (this.#state !== 'ended' || !isAll || !isWhole) return undefined
    const encoded = await this.#result
    return encoded?.rows === rows && this.#hasColumns(schema) ? encoded : undefined
  }

  /** Gives thread and memory back. Idempotent. */
  over(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#groups = []
    this.#endWork()
    this.#wake.abort('over')
    this.#resolve(undefined)
  }

  #hasColumns(schema: DataSchema | undefined): boolean {
    const fields = schema?.fields.slice(addedColumns) ?? []
    const mine = this.#into?.fields ?? []
    const isSame = ({ name, type }: Field, i: number): boolean => {
      const there = mine[i]
      return there?.name === name && sameType(there.type, type)
    }
    return fields.length === mine.length && fields.every(isSame)
  }

  async #run(): Promise<void> {
    let read = 0
    while (this.#state !== 'over') {
      const signal = this.#waited()
      if (read < this.#positions.length) {
        for await (const { payload } of this.batch.read(this.#positions.slice(read))) {
          if (this.isOver) return
          read++
          await this.#push(payload)
        }
      } else if (this.#state === 'ended') {
        this.#stream.end()
        const rows = await this.#into?.groups.finish()
        this.#endWork()
        this.#resolve(rows && { ...rows, groups: this.#groups })
        return this.#deps.clock.sleep(keptMs, signal)
      } else {
        await this.#deps.clock.sleep(patienceMs, signal)
        if (!signal.aborted) return
      }
    }
  }

  #endWork(): void {
    if (this.#isWorking) this.#into?.groups.end()
    this.#isWorking = false
  }

  #waited(): AbortSignal {
    if (this.#wake.signal.aborted) this.#wake = new AbortController()
    return this.#wake.signal
  }

  async #push(payload: Uint8Array): Promise<void> {
    for (const batch of this.#stream.push(payload)) {
      if (this.isOver) return
      this.#into ??= this.#begin()
      if (this.#into === undefined) return this.over()
      for (const piece of this.#into.aligned.pieces(batch)) await this.#into.groups.add(piece)
    }
  }

  #begin(): Into | undefined {
    const fields = this.batch.schema?.fields.slice(addedColumns) ?? this.#stream.fields ?? []
    const columns = threadColumns(fields, this.#deps.threads)
    if (columns === undefined) return undefined
    this.#isWorking = true
    const groups = new RowGroups({ columns, take: async (group) => this.#take(group) })
    return { fields, aligned: new AlignedRows(fields), groups }
  }

  #take(group: EncodedGroup): void {
    this.#groups.push(group)
    for (const { compressedBytes } of group.chunks) this.#heldBytes += compressedBytes
    // Groups that their bytes end take several times that of memory.
    const isWide = group.rows < rowGroupRows && this.#state === 'coming'
    if (isWide || this.#heldBytes > heldBytesMost) this.over()
  }
}
