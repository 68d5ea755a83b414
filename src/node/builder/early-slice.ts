// The slice of a large batch, begun while its parts come: a thread is handed them, from the log behind the fold, and gives
// encoded row groups. A block that takes these rows and no others gets them; else they are dropped, and the rows are read
// again. The bytes are the same either way.
//   coming ──► ended ──► over          any ──► over: given up, dropped, or taken

import { copyBytes } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { isWide } from '../../libraries/columnar/parquet/own-columns.ts'
import type { EncodedGroup, EncodedRows } from '../../libraries/columnar/parquet/row-groups.ts'
import { rowGroupRows } from '../../libraries/columnar/parquet/write-slice.ts'
import { type DataSchema, type Field, sameType } from '../../libraries/model/schema.ts'
import { Handover } from '../machine/work/handover.ts'
import type { FromRows, ToRows } from '../machine/work/rows-task.ts'
import type { Task, TaskThreads } from '../machine/work/work-pool.ts'
import { addedColumns, type DataPlan } from './dataset-state.ts'

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

class EarlySlice {
  readonly batch: EarlyBatch
  readonly #deps: EarlyDeps
  readonly #positions: number[] = []
  #state: 'coming' | 'ended' | 'over' = 'coming'
  #wake = new AbortController()
  #task: Task<'rows'> | undefined
  /** Columns that were encoded, once all are. */
  #fields: readonly Field[] = []
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
    const mine = this.#fields
    const isSame = ({ name, type }: Field, i: number): boolean => {
      const there = mine[i]
      return there?.name === name && sameType(there.type, type)
    }
    return fields.length === mine.length && fields.every(isSame)
  }

  async #run(): Promise<void> {
    const fields = this.batch.schema?.fields.slice(addedColumns)
    if (fields !== undefined && isWide(fields)) return
    const [task] = this.#deps.threads?.begin('rows', { fields }, { bytes: Number.POSITIVE_INFINITY, most: 1 }) ?? []
    if (task === undefined) return
    this.#task = task
    let read = 0
    while (this.#state !== 'over') {
      const signal = this.#waited()
      if (read < this.#positions.length) {
        for await (const { payload } of this.batch.read(this.#positions.slice(read))) {
          if (this.isOver) return
          read++
          await this.#say(task, { kind: 'part', payload: copyBytes(payload) })
        }
      } else if (this.#state === 'ended') {
        await this.#say(task, { kind: 'end' })
        return this.#deps.clock.sleep(keptMs, signal)
      } else {
        await this.#deps.clock.sleep(patienceMs, signal)
        if (!signal.aborted) return
      }
    }
  }

  /** Takes what the thread has encoded by then. */
  async #say(task: Task<'rows'>, message: ToRows): Promise<void> {
    const over = new Handover()
    if (message.kind === 'part') over.take(message.payload)
    const answer: FromRows = await task.say(message, over)
    if (answer.kind === 'too wide') return this.over()
    for (const group of answer.groups) this.#take(group)
    const { ended } = answer
    if (ended === undefined || this.isOver) return
    this.#endWork()
    this.#fields = ended.fields
    this.#resolve({ ...ended, groups: this.#groups })
  }

  #endWork(): void {
    this.#task?.end()
    this.#task = undefined
  }

  #waited(): AbortSignal {
    if (this.#wake.signal.aborted) this.#wake = new AbortController()
    return this.#wake.signal
  }

  #take(group: EncodedGroup): void {
    this.#groups.push(group)
    for (const { compressedBytes } of group.chunks) this.#heldBytes += compressedBytes
    // Groups that their bytes end take several times that of memory.
    const isWide = group.rows < rowGroupRows && this.#state === 'coming'
    if (isWide || this.#heldBytes > heldBytesMost) this.over()
  }
}
