// Makes merged files behind the readers: of datasets that have grown by a range of slices, or that a statement found without
// their files. One file at a time, most of the time none: a thread merges and checks (node/machine/work/merge.ts), the main thread only
// fetches what it is made of (docs/decisions/packs.md#merged-files).

import { readFile } from 'node:fs/promises'
import type { Catalog } from '../catalog/catalog.ts'
import { type DatasetChain, type DatasetView, viewOf } from '../catalog/dataset-chain.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import { errorCode } from '../machine/disk/files.ts'
import { must } from '../../libraries/base/assert.ts'
import { type Clock, nextTurn } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import { dataOf } from '../../libraries/model/events.ts'
import { type Field, sameType } from '../../libraries/model/schema.ts'
import { loadBlock } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { SliceFiles } from './slice-files.ts'
import type { MergeOrder } from '../machine/work/merge.ts'
import type { WorkPool } from '../machine/work/work-pool.ts'
import { numbersOf, type SliceRun } from './file-list.ts'
import type { MergedFiles } from './merged-files.ts'
import { isRange, rangeSlices, rangesOf, type RangeWindow, windowOf } from './merged-ranges.ts'

/** After each file, of the time that making it took. */
const restTimes = 2
const leastRestMs = 100
/** Blocks, and slices, that are fetched at once. */
const parallelBlocks = 32
const heldSlices = 256
/** Files that tables have named, are not here, and are waited for. */
const neededMost = 8

interface MakerDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly files: Pick<SliceFiles, 'reading'>
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
  /** How many statements wait for files: nobody rests then. */
  #hurried = 0
  #rest = new AbortController()
  #made = 0
  #refused = 0
  /** The last file that is being made: one after the other. */
  #turn: Promise<unknown> = Promise.resolve()
  #needing = 0

  constructor(deps: MakerDeps) {
    this.#deps = deps
    // Of a chain that was only read, a statement says that its files are wanted.
    this.#unsubscribe = deps.catalog.onAdvance(({ chain, fromSequence }) => {
      if (fromSequence > 0) this.#look(chain.name.id, chain.slices.length)
    })
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

  /**
   * Makes files without a rest until at most `slicesMost` slices of the view lie in none, or no more can be made: true.
   * False when `signal` aborts before.
   */
  async catchUp(view: DatasetView, slicesMost: number, signal: AbortSignal): Promise<boolean> {
    this.#hurried++
    this.#rest.abort()
    try {
      while (this.#running !== undefined && this.#deps.merged.slicesBeside(view) > slicesMost) {
        if (signal.aborted) return false
        await this.#deps.clock.sleep(leastRestMs, signal)
      }
      return true
    } finally {
      this.#hurried--
    }
  }

  /**
   * Makes the file of a range that a table has named and that is not here any more, or was made by another process. False
   * where there is no such range, or no file can be made of it. Throws NodeError `Saturated` where there is no room for it
   * now, or others wait.
   */
  async need(chain: DatasetChain, run: SliceRun): Promise<boolean> {
    const view = viewOf(chain)
    if (!isRange(view.slices, run)) return false
    if (this.#needing >= neededMost || this.#stop.signal.aborted) throw busy()
    this.#needing++
    try {
      const outcome = await this.#make(chain, view, run)
      if (outcome === 'no room') throw busy()
      return outcome === 'made'
    } finally {
      this.#needing--
    }
  }

  /** Resolves when nothing is being made. */
  async close(): Promise<void> {
    this.#unsubscribe()
    this.#stop.abort()
    await this.#running
    await this.#turn
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
    const { catalog, clock } = this.#deps
    const chain = await catalog.byId(id)
    if (chain === undefined) return
    const view = viewOf(chain)
    const planned = this.#planned.get(id) ?? { windows: 0, refused: new Set() }
    this.#planned.set(id, planned)
    const windows = await windowsOf(view)
    planned.windows = windows.length
    for (;;) {
      const missing = this.#missing(view, windows, planned.refused)
      if (missing === undefined || this.#stop.signal.aborted) return
      const beganMs = clock.monotonicMs()
      const outcome = await this.#make(chain, view, missing)
      if (outcome === 'no room') return
      if (outcome === 'refused') planned.refused.add(nameOf(missing))
      if (this.#hurried > 0) continue
      this.#rest = new AbortController()
      const ends = AbortSignal.any([this.#stop.signal, this.#rest.signal])
      await clock.sleep(Math.max(leastRestMs, restTimes * (clock.monotonicMs() - beganMs)), ends)
    }
  }

  /** The newest range without its file. */
  #missing(view: DatasetView, windows: readonly RangeWindow[], refused: ReadonlySet<string>): SliceRun | undefined {
    const ranges = rangesOf(windows, (run) => refused.has(nameOf(run)))
    return ranges.findLast((run) => !this.#deps.merged.has(view.id, run))
  }

  async #make(chain: DatasetChain, view: DatasetView, run: SliceRun): Promise<Outcome> {
    const made = this.#turn.then(() => this.#makeNow(chain, view, run))
    this.#turn = made.catch(() => {})
    return await made
  }

  async #makeNow(chain: DatasetChain, view: DatasetView, run: SliceRun): Promise<Outcome> {
    const { merged, work, logger } = this.#deps
    const { signal } = this.#stop
    if (merged.has(view.id, run)) return 'made'
    try {
      // Merged rows take less than their slices do.
      const bytes = view.slices.slice(run.from, run.to).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      if (!(await merged.makeRoom(view.id, bytes))) return 'no room'
      const { order, pieces } = await this.#fetch(chain, view, run)
      const file = await work.run('merge', pieces, { settings: order, signal })
      if (!(await merged.makeRoom(view.id, file.file.length))) return 'no room'
      await merged.keep(view, run, file)
      this.#made++
      return 'made'
    } catch (error) {
      // The disk's fault is not the slices'.
      if (this.#stop.signal.aborted || errorCode(error) !== undefined) throw error
      if (error instanceof NodeError && error.kind === 'Saturated') return 'no room'
      this.#refused++
      logger.warn(
        { err: error, dataset: view.id, ...run },
        'no file could be made of slices, which are read without it',
      )
      return 'refused'
    }
  }

  /** The bytes of a range, of files that were merged of parts of it where there are any, and what they must be. */
  async #fetch(
    chain: DatasetChain,
    view: DatasetView,
    run: SliceRun,
  ): Promise<{ readonly order: MergeOrder; readonly pieces: readonly Uint8Array[] }> {
    const { merged } = this.#deps
    const schemas: (readonly Field[])[] = []
    const slices: MergeOrder['slices'][number][] = []
    for (let from = run.from; from < run.to; from += parallelBlocks) {
      const some = view.slices.slice(from, Math.min(from + parallelBlocks, run.to))
      const hashes = await Promise.all(some.map(({ sequence }) => this.#logicalHash(chain, view, sequence)))
      for (const [i, logicalHash] of hashes.entries()) {
        const { sequence, start, end } = sliceAt(view, from + i)
        const fields = must(chain.aspectsAt(sequence).schema, 'slices have a schema').fields
        if (schemas.at(-1) !== fields) schemas.push(fields)
        slices.push({ rows: end + 1 - start, logicalHash, schema: schemas.length - 1 })
      }
    }
    checkGrowth(schemas)
    const schemaOf = (number: number): number => must(slices[number - run.from], 'a slice of the range').schema
    const parts: MergeOrder['parts'][number][] = []
    const pieces: Uint8Array[] = []
    const files = merged.partsOf(view.id, run)
    for (let at = run.from; at < run.to;) {
      const file = files.find(({ from }) => from === at)
      const to = file?.to ?? Math.min(at + heldSlices, files.find(({ from }) => from > at)?.from ?? run.to, run.to)
      const found = file === undefined ? await this.#slices(view, { from: at, to }) : [await readFile(file.path)]
      for (const bytes of found) {
        const hash = file === undefined ? sliceAt(view, at).hash : undefined
        at = file?.to ?? at + 1
        parts.push({ sizeBytes: bytes.length, hash, schema: schemaOf(at - 1) })
        pieces.push(bytes)
      }
    }
    return { order: { parts, slices, schemas }, pieces }
  }

  /** The bytes of slices, which the thread that merges them checks. */
  async #slices({ id, slices }: DatasetView, run: SliceRun): Promise<Uint8Array[]> {
    const at = (number: number): SliceRef => must(slices.at(number), 'a slice of the range')
    const numbers = numbersOf(run)
    const { read, close } = await this.#deps.files.reading({ id, numbers, at }, this.#stop.signal)
    try {
      return await Promise.all(numbers.map((number) => read(number)))
    } finally {
      close()
    }
  }

  async #logicalHash(chain: DatasetChain, view: DatasetView, sequence: number): Promise<Hash> {
    const { hash } = must(chain.blocks.at(sequence), 'the block is in the chain')
    const { event } = await loadBlock(this.#deps.store, view, hash)
    return must(dataOf(event)?.newData, 'the block brought a slice').logicalHash
  }
}

function busy(): NodeError {
  return new NodeError('Saturated', 'The node has no room now to make the merged file that a table has named.', {
    hint: 'Ask again, or read the table anew: it then names what the node has.',
    retryAfterSeconds: 5,
  })
}

type Outcome = 'made' | 'refused' | 'no room'

function nameOf({ from, to }: SliceRun): string {
  return `${from}-${to}`
}

function sliceAt({ slices }: DatasetView, number: number): SliceRef {
  return must(slices.at(number), 'a slice of the range')
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
