// Makes merged files behind the readers: of datasets that have grown by a range of slices, or that a statement found without
// their files. One file at a time, most of the time none: a thread merges and checks (work/merge.ts), the main thread only
// fetches what is merged (docs/decisions/merged-files.md).

import { readFile } from 'node:fs/promises'
import type { Catalog } from '../catalog/catalog.ts'
import { type DatasetChain, type DatasetView, viewOf } from '../catalog/dataset-chain.ts'
import { errorCode } from '../disk/files.ts'
import { must } from '../lib/assert.ts'
import { type Clock, nextTurn } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { DecodeError } from '../model/errors.ts'
import type { DatasetId, Hash } from '../model/events.ts'
import { type Field, sameType } from '../model/schema.ts'
import { dataKey } from '../store/layout.ts'
import { loadBlock } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { MergeOrder } from '../work/merge.ts'
import type { WorkPool } from '../work/work-pool.ts'
import type { SliceRun } from './file-list.ts'
import type { MergedFiles } from './merged-files.ts'
import { rangeSlices, rangesOf, type RangeWindow, windowOf } from './merged-ranges.ts'

/** After each file, of the time that making it took. */
const restTimes = 2
const leastRestMs = 100

interface MakerDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly merged: MergedFiles
  /** One thread that nothing else waits for. */
  readonly work: WorkPool
  readonly clock: Clock
  readonly logger: Logger
}

/** What is known of a dataset's ranges. */
interface Planned {
  /** Full windows of it that were looked at. */
  windows: number
  /** Ranges that could not be made, until the process ends. */
  readonly refused: Set<string>
}

export class MergedMaker {
  readonly #deps: MakerDeps
  readonly #planned = new Map<DatasetId, Planned>()
  readonly #due = new Set<DatasetId>()
  readonly #stop = new AbortController()
  readonly #unsubscribe: () => void
  #running: Promise<void> | undefined
  #made = 0
  #refused = 0

  constructor(deps: MakerDeps) {
    this.#deps = deps
    this.#unsubscribe = deps.catalog.onAdvance(({ chain }) => this.#look(chain.name.id, chain.slices.length))
  }

  /** Files made, and ranges of which none could be made. */
  get made(): number {
    return this.#made
  }

  get refused(): number {
    return this.#refused
  }

  /** A statement reads the dataset of this view. */
  wanted({ id, slices }: DatasetView): void {
    const planned = this.#planned.get(id)
    if (planned !== undefined && this.#deps.merged.takeLost(id)) planned.windows = 0
    this.#look(id, slices.length)
  }

  /** Resolves when nothing is being made. */
  async close(): Promise<void> {
    this.#unsubscribe()
    this.#stop.abort()
    await this.#running
  }

  #look(id: DatasetId, slices: number): void {
    if (Math.floor(slices / rangeSlices) <= (this.#planned.get(id)?.windows ?? 0) || this.#stop.signal.aborted) return
    this.#due.add(id)
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    const { logger } = this.#deps
    for (const id of this.#due) {
      this.#due.delete(id)
      try {
        await this.#makeAll(id)
      } catch (error) {
        if (!this.#stop.signal.aborted) logger.warn({ err: error, dataset: id }, 'merged files could not be made')
      }
      if (this.#stop.signal.aborted) break
    }
    this.#running = undefined
  }

  /** Makes what a dataset lacks, the newest first. Throws what store and file system throw. */
  async #makeAll(id: DatasetId): Promise<void> {
    const { catalog, merged, clock } = this.#deps
    const chain = await catalog.byId(id)
    if (chain === undefined) return
    const view = viewOf(chain)
    const planned = this.#planned.get(id) ?? { windows: 0, refused: new Set() }
    this.#planned.set(id, planned)
    const windows = await windowsOf(view)
    planned.windows = windows.length
    const isRefused = ({ from, to }: SliceRun): boolean => planned.refused.has(`${from}-${to}`)
    for (;;) {
      const missing = rangesOf(windows, isRefused).findLast((run) => {
        const [first] = merged.partsOf(id, run)
        return first?.from !== run.from || first.to !== run.to
      })
      if (missing === undefined || this.#stop.signal.aborted) return
      const beganMs = clock.monotonicMs()
      const outcome = await this.#make(chain, view, missing)
      if (outcome === 'no room') return
      if (outcome === 'refused') planned.refused.add(`${missing.from}-${missing.to}`)
      await clock.sleep(Math.max(leastRestMs, restTimes * (clock.monotonicMs() - beganMs)), this.#stop.signal)
    }
  }

  async #make(chain: DatasetChain, view: DatasetView, run: SliceRun): Promise<'made' | 'refused' | 'no room'> {
    const { merged, work, logger } = this.#deps
    try {
      // Merged rows take less than their slices do.
      const bytes = view.slices.slice(run.from, run.to).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      if (!(await merged.makeRoom(view.id, bytes))) return 'no room'
      const { order, pieces } = await this.#fetch(chain, view, run)
      const file = await work.run('merge', pieces, { settings: order, signal: this.#stop.signal })
      await merged.keep(view, run, file)
      this.#made++
      return 'made'
    } catch (error) {
      // The disk's fault is not the slices'.
      if (this.#stop.signal.aborted || errorCode(error) !== undefined) throw error
      this.#refused++
      logger.warn({ err: error, dataset: view.id, ...run }, 'slices could not be merged and are read as they are')
      return 'refused'
    }
  }

  /** The bytes of a range, of files that were merged of parts of it where there are any, and what they must be. */
  async #fetch(
    chain: DatasetChain,
    view: DatasetView,
    run: SliceRun,
  ): Promise<{ readonly order: MergeOrder; readonly pieces: readonly Uint8Array[] }> {
    const { store, merged } = this.#deps
    const schemas: (readonly Field[])[] = []
    const slices: MergeOrder['slices'][number][] = []
    for (const { sequence, start, end } of view.slices.slice(run.from, run.to)) {
      const fields = must(chain.aspectsAt(sequence).schema, 'slices have a schema').fields
      if (schemas.at(-1) !== fields) schemas.push(fields)
      const { hash } = must(chain.blocks.at(sequence), 'the block is in the chain')
      slices.push({
        rows: end + 1 - start,
        logicalHash: await this.#logicalHash(view, hash),
        schema: schemas.length - 1,
      })
    }
    checkGrowth(schemas)
    const schemaOf = (number: number): number => must(slices[number - run.from], 'a slice of the range').schema
    const parts: MergeOrder['parts'][number][] = []
    const pieces: Uint8Array[] = []
    const files = merged.partsOf(view.id, run)
    for (let at = run.from; at < run.to; ) {
      const file = files.find(({ from }) => from === at)
      const { hash } = must(view.slices.at(at), 'a slice of the range')
      const bytes = file === undefined ? await store.get(dataKey(view.id, hash)) : await readFile(file.path)
      if (bytes === undefined) throw new DecodeError('merged file', `slice ${hash} is missing`)
      const schema = schemaOf((file?.to ?? at + 1) - 1)
      parts.push({ sizeBytes: bytes.length, hash: file === undefined ? hash : undefined, schema })
      pieces.push(bytes)
      at = file?.to ?? at + 1
    }
    return { order: { parts, slices, schemas }, pieces }
  }

  async #logicalHash(view: DatasetView, block: Hash): Promise<Hash> {
    const { event } = await loadBlock(this.#deps.store, view, block)
    return must(event.kind === 'AddData' ? event.newData : undefined, 'the block brought a slice').logicalHash
  }
}

/** All windows of 256 slices that are full. */
async function windowsOf({ slices }: DatasetView): Promise<RangeWindow[]> {
  const windows: RangeWindow[] = []
  for (let from = 0; from + rangeSlices <= slices.length; from += rangeSlices) {
    windows.push(windowOf(slices.slice(from, from + rangeSlices), from))
    await nextTurn()
  }
  return windows
}

/** Throws DecodeError where a later schema is not an earlier one with more columns. */
function checkGrowth(schemas: readonly (readonly Field[])[]): void {
  const last = new Map(schemas.at(-1)?.map(({ name, type }) => [name, type]))
  const isGrowth = schemas.flat().every(({ name, type }) => {
    const later = last.get(name)
    return later !== undefined && sameType(later, type)
  })
  if (!isGrowth) throw new DecodeError('merged file', 'its slices have columns of other types')
}
