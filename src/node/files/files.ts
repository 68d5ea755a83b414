// Which files hold the rows that are wanted: slices, or merged files in their place; all of a view, or those that can hold a
// row which matters. What is named here was checked, and is there until it is closed.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { EngineTable } from '../engine/messages.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { rowBounds, type ChosenFiles, chooseFiles, countRowGroups, runsOf, viewFiles } from './choose-files.ts'
import { FileList, numbersOf, type SliceRun } from './file-list.ts'
import type { MergedFiles } from './merged-files.ts'
import type { MergedMaker } from './merged-maker.ts'
import { rangeSlices } from './merged-ranges.ts'
import type { WantedRows } from './row-terms.ts'
import type { SliceFiles } from './slice-files.ts'
import { SliceTimes } from './slice-times.ts'

/** Of more files a statement that may read merged ones waits for those. */
const openedMost = 32_768

interface FilesDeps {
  /** Checks slices before they are read. */
  readonly objects: Objects
  readonly slices: SliceFiles
  /** None where a chain is read once. */
  readonly merging?: Merging
  readonly limits: Pick<Limits, 'queryMs'>
}

/** The merged files of this node, and what makes them. */
export interface Merging {
  readonly merged: Pick<MergedFiles, 'of' | 'find' | 'doubt'>
  readonly maker: Pick<MergedMaker, 'wanted' | 'need' | 'catchUp'>
}

/** What a reader wants of a view. */
interface Wanted {
  /** Which rows matter; all of them when undefined. */
  readonly rows?: WantedRows | undefined
  /** Merged files may stand in place of slices. */
  readonly mayMerge: boolean
  /** Of the rows only their offsets are read. */
  readonly offsetsAlone: boolean
  /** Reads footers to tell the scan. */
  readonly isCounted: boolean
}

/** The data of a view, for the engine. */
export interface FoundFiles {
  readonly table: Omit<EngineTable, 'parts'>
  /** Something stands in place of slices. */
  readonly areOthers: boolean
  readonly scan: Scan
}

/** How much of a view the engine is given, and how much there is up to its block; zeros where nobody asked. */
export interface Scan {
  readonly files: number
  readonly filesRead: number
  /** Of those that are read. */
  readonly mergedRead: number
  readonly rows: number
  readonly rowsRead: number
  readonly rowGroups: number
  readonly rowGroupsRead: number
}

const noScan: Scan = { files: 0, filesRead: 0, mergedRead: 0, rows: 0, rowsRead: 0, rowGroups: 0, rowGroupsRead: 0 }

export class Files {
  readonly slices: SliceFiles
  readonly merging: Merging | undefined
  readonly #deps: FilesDeps
  readonly #times: SliceTimes

  constructor(deps: FilesDeps) {
    this.#deps = deps
    this.slices = deps.slices
    this.merging = deps.merging
    this.#times = new SliceTimes(deps.slices, deps.objects)
  }

  /**
   * Throws HaltError `ChainBroken` for a slice that is not what its block says; NodeErrors `DatasetDeleted`, and `QueryTimeout`
   * where too many small slices are still being merged.
   */
  async of(view: DatasetView, wanted: Wanted, signal: AbortSignal): Promise<FoundFiles> {
    const { mayMerge, rows: which } = wanted
    let list = await this.#listOf(view, mayMerge)
    if (mayMerge && wanted.offsetsAlone && list.length >= rangeSlices) return offsetsOf(list, wanted)
    let chosen = await this.#choose(list, which)
    if (mayMerge && (chosen?.numbers.length ?? list.length) > openedMost) {
      await this.#awaitMerged(view, signal)
      list = await this.#listOf(view, mayMerge)
      chosen = await this.#choose(list, which)
    }
    for (const run of looseRuns(list, chosen)) await this.#deps.objects.checkSlices(view, run)
    return {
      table: this.#table(list, chosen?.numbers, chosen?.within),
      areOthers: list.holdsMerged,
      scan: wanted.isCounted ? await this.#scanOf(list, which, chosen) : noScan,
    }
  }

  /** The slices of a run, all by default, or those rows of them. Throws HaltError `ChainBroken`; NodeError `DatasetDeleted`. */
  async ofRun(view: DatasetView, run?: SliceRun, within?: ChosenFiles['within']): Promise<FoundFiles['table']> {
    await this.#deps.objects.checkSlices(view, run)
    return this.#table(new FileList(view), run && numbersOf(run), within)
  }

  #table(list: FileList, numbers: readonly number[] | undefined, within: ChosenFiles['within']): FoundFiles['table'] {
    const { view } = list
    const rows = numbers === undefined ? view.rows : rowsOf(list, numbers)
    const files = viewFiles(this.slices, list, numbers)
    return { dataset: view.id, files, schema: view.schema, rows, ...(within && { bounds: rowBounds(view, within) }) }
  }

  /** True where merged files are there, or can be, for one of the views. */
  areLong(views: readonly DatasetView[]): boolean {
    return this.merging !== undefined && views.some(isLong)
  }

  /** Has merged files made of the views that are long. */
  wantMerged(views: readonly DatasetView[]): void {
    for (const view of views.filter(isLong)) this.merging?.maker.wanted(view)
  }

  /** A statement failed over merged files: they are checked again before they are used. */
  doubt({ id }: DatasetView): void {
    this.merging?.merged.doubt(id)
  }

  async #listOf(view: DatasetView, mayMerge: boolean): Promise<FileList> {
    return new FileList(view, mayMerge ? await this.merging?.merged.of(view) : undefined)
  }

  async #choose(list: FileList, rows: WantedRows | undefined): Promise<ChosenFiles | undefined> {
    if (rows === undefined) return undefined
    return await this.#deps.objects.reading([list.view], () => chooseFiles(this.#times, list, rows))
  }

  /** Waits until few slices of the view are in no merged file, or none can be made of them. */
  async #awaitMerged(view: DatasetView, signal: AbortSignal): Promise<void> {
    const { queryMs } = this.#deps.limits
    const ends = AbortSignal.any([signal, AbortSignal.timeout(queryMs)])
    if ((await this.merging?.maker.catchUp(view, openedMost, ends)) !== false) return
    throw new NodeError('QueryTimeout', `The dataset has ${view.slices.length} small blocks, which are being merged.`, {
      limit: { name: 'queryMs', value: queryMs, unit: 'ms' },
      hint: 'Ask again in some minutes, or narrow the statement by offset or event_time.',
      retryAfterSeconds: 30,
    })
  }

  async #scanOf(list: FileList, rows: WantedRows | undefined, chosen: ChosenFiles | undefined): Promise<Scan> {
    const groups = await countRowGroups(this.#times, list, { wanted: rows, chosen })
    const read = chosen?.numbers ?? numbersOf({ from: 0, to: list.length })
    return {
      files: list.length,
      filesRead: read.length,
      mergedRead: read.filter((number) => list.placeOf(number).merged !== undefined).length,
      rows: list.view.rows,
      rowsRead: rowsOf(list, read),
      rowGroups: groups.all,
      rowGroupsRead: groups.read,
    }
  }
}

/** Of the files with these numbers. */
function rowsOf(list: FileList, numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => {
    const { start, end } = list.at(number)
    return sum + end + 1 - start
  }, 0)
}

function isLong({ slices }: DatasetView): boolean {
  return slices.length >= rangeSlices
}

/** Rows have their offsets by the chain: so many files need not be opened to count them. */
function offsetsOf({ view, length }: FileList, { isCounted }: Wanted): FoundFiles {
  const files = { list: view.id, to: 0, path: String }
  return {
    table: { dataset: view.id, files, schema: view.schema, offsetsAlone: view.rows },
    areOthers: true,
    scan: isCounted ? { ...noScan, files: length, rows: view.rows } : noScan,
  }
}

/** Of the files that are chosen, those that are slices. */
function looseRuns(list: FileList, chosen: ChosenFiles | undefined): SliceRun[] {
  if (chosen === undefined) return list.looseRuns()
  const places = chosen.numbers.map((number) => list.placeOf(number)).filter(({ merged }) => merged === undefined)
  return runsOf(places.map(({ from }) => from))
}

/** The scan of a statement over several views. */
export function sumOf(scans: readonly Scan[]): Scan {
  const sum: { -readonly [name in keyof Scan]: number } = { ...noScan }
  const names = Object.keys(sum) as (keyof Scan)[] // it has no others
  for (const scan of scans) for (const name of names) sum[name] += scan[name]
  return sum
}
