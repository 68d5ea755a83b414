// Binds a statement: gate → names → datasets at blocks → the files that it needs, merged ones where it may read them. Then
// runs it over those; query.ts and files.ts say what becomes of the rows.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { Engine } from '../engine/engine.ts'
import type { Analysis, Asking, EngineTable, Listing } from '../engine/messages.ts'
import type { Limits } from '../lib/limits.ts'
import { HaltError, NodeError } from '../model/errors.ts'
import { foldAscii } from '../model/names.ts'
import { matchParameters } from '../model/parameters.ts'
import type { PinnedDataset, QueryRequest } from '../model/query.ts'
import { demandSqlSize } from '../proof/read-proof.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { SliceFiles } from '../files/slice-files.ts'
import { listingsFor, statementOf } from './catalog-statements.ts'
import { FileList, numbersOf } from '../files/file-list.ts'
import type { MergedFiles } from '../files/merged-files.ts'
import type { MergedMaker } from '../files/merged-maker.ts'
import { rangeSlices } from '../files/merged-ranges.ts'
import {
  askingOf,
  type Binding,
  type Caller,
  type Chains,
  datasetsOfPins,
  pinNames,
  pinnedList,
  Reader,
} from './pin.ts'
import type { Wanted } from '../files/row-terms.ts'
import type { SliceTimes } from '../files/slice-times.ts'
import { chooseFiles, countRowGroups, runsOf, viewFiles } from '../files/choose-files.ts'

/** So many files take a tenth of a statement's memory before a row is read. */
const manyFiles = 5_000
/** Of more files a statement that may read merged ones waits for those. */
const openedMost = 32_768

export interface BindDeps {
  readonly catalog: Chains
  readonly store: ObjectStore
  /** Slices as files for the engine. */
  readonly files: SliceFiles
  readonly engine: Engine
  /** Checks slices before they are read. */
  readonly objects: Objects
  readonly times: SliceTimes
  readonly merged: Pick<MergedFiles, 'of' | 'doubt'>
  readonly maker: Pick<MergedMaker, 'wanted' | 'catchUp'>
  readonly limits: Limits
}

/** What a statement runs over. */
export interface Runnable {
  readonly tables: readonly EngineTable[]
  /** Where merged files are read, or offsets alone: the same tables over slices. */
  readonly overSlices: (() => Promise<readonly EngineTable[]>) | undefined
  /** What the tables are made of. */
  readonly views: readonly DatasetView[]
}

/** A statement whose names are bound to blocks. */
export interface BoundQuery extends Runnable {
  readonly analysis: Analysis
  /** Its answer gets one order of rows, proof or not. */
  readonly ordered: boolean
  /** What `input.datasets` says: ordered, with the pins that the statement does not use. */
  readonly pinned: readonly PinnedDataset[]
  readonly listings: readonly Listing[]
  readonly scan: Scan
}

/** How much of the datasets the engine is given, and how much there is up to the blocks; zeros where nobody asks. */
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

/** What is bound: a statement, and which rows of its answer are wanted, all of them where there is no limit. */
type Bindable = Pick<QueryRequest, 'query' | 'datasets' | 'parameters' | 'pins' | 'skip'> & {
  readonly limit: number | undefined
  /** For a proof, made or checked. */
  readonly isProven?: boolean
  readonly explain?: boolean | undefined
}

/** Gates a statement, pins its names and chooses the slices that it needs. */
export async function bindQuery(deps: BindDeps, request: Bindable, caller: Caller): Promise<BoundQuery> {
  demandSqlSize(request, deps.limits.sqlBytes)
  const analysis = await deps.engine.analyze(statementOf(request.query), askingOf(deps.catalog, caller))
  matchParameters(analysis.parameters, request.parameters)
  const reader = new Reader(deps.catalog, caller.mayRead)
  const datasets =
    request.pins === undefined ? request.datasets : await datasetsOfPins(reader, analysis.tables, request.pins)
  const bindings = await pinNames(reader, analysis.tables, datasets)
  const pinned = await pinnedList(reader, datasets ?? [], bindings)
  const views = bindings.map(({ view }) => view)
  const ordered = await mayReadMerged(deps, { analysis, views, bindings, request }, askingOf(deps.catalog, caller))
  const scan = {
    files: 0,
    filesRead: 0,
    mergedRead: 0,
    rows: 0,
    rowsRead: 0,
    rowGroups: 0,
    rowGroupsRead: 0,
  }
  let readsOthers = false
  const tables: EngineTable[] = []
  for (const { parts, view } of bindings) {
    const listFiles = async (): Promise<FileList> => {
      return new FileList(view, ordered ? await deps.merged.of(view) : [])
    }
    const fewer = async (): Promise<FileList> => {
      await awaitMerged(deps, view, caller)
      readsOthers = true
      return await listFiles()
    }
    const files = await listFiles()
    // mutant: offsets stand for rows of which other columns are read
    const isOffsets = ordered && files.length >= rangeSlices && readsOffsetsAlone(analysis, view)
    readsOthers ||= files.holdsMerged || isOffsets
    const asking = { narrowing: analysis.narrowing, request, scan, isOffsets, ...(ordered && { fewer }) }
    tables.push({ parts, ...(await tableOf(deps, files, asking)) })
  }
  const overSlices = async (): Promise<EngineTable[]> => {
    const plain: EngineTable[] = []
    for (const { parts, view } of bindings) {
      deps.merged.doubt(view.id)
      plain.push({ parts, ...(await tableOf(deps, new FileList(view), { narrowing: analysis.narrowing, request })) })
    }
    return plain
  }
  const listings = await listingsFor(reader, {
    names: analysis.listings,
    arePinned: datasets !== undefined,
    listingRows: deps.limits.listingRows,
  })
  return { analysis, tables, ordered, overSlices: readsOthers ? overSlices : undefined, views, pinned, listings, scan }
}

/**
 * Statements over long datasets may read merged files where their rows alone decide their answer, and the order of those is
 * one. By the chains alone, so that the same question has the same answer whether the files are there or not.
 */
async function mayReadMerged(
  { engine, maker }: BindDeps,
  asked: {
    readonly analysis: Analysis
    readonly views: readonly DatasetView[]
    readonly bindings: readonly Binding[]
    readonly request: Bindable
  },
  by: Asking,
): Promise<boolean> {
  const { analysis, views, bindings, request } = asked
  const long = views.filter(({ slices }) => slices.length >= rangeSlices)
  if (long.length === 0) return false
  const tables = bindings.map(({ parts, view }) => ({ parts, schema: view.schema }))
  const parameters = request.parameters?.values ?? []
  const { stability, takesOrder } = await engine.judge({ sql: analysis.sql, tables, parameters }, by)
  // mutant: a pinned statement reads merged files
  if (stability !== 'exact' || !(takesOrder || request.isProven === true)) return false
  for (const view of long) maker.wanted(view)
  return true
}

/** Rows have their offsets by the chain: so many files need not be opened to count them. */
function readsOffsetsAlone({ columns }: Analysis, { schema, vocabulary }: DatasetView): boolean {
  return schema !== undefined && columns?.every((name) => name === foldAscii(vocabulary.offsetColumn)) === true
}

/** Waits until few slices of the view are in no merged file, or none can be made of them. Throws NodeError `QueryTimeout`. */
async function awaitMerged({ maker, limits }: BindDeps, view: DatasetView, { signal }: Caller): Promise<void> {
  const { queryMs } = limits
  const inTime = AbortSignal.timeout(queryMs)
  if (await maker.catchUp(view, openedMost, AbortSignal.any([signal, inTime]))) return
  throw new NodeError('QueryTimeout', `The dataset has ${view.slices.length} small blocks, which are being merged.`, {
    limit: { name: 'queryMs', value: queryMs, unit: 'ms' },
    hint: 'Ask again in some minutes, or narrow the statement by offset or event_time.',
    retryAfterSeconds: 30,
  })
}

/** What binding a table is told, and what it adds to the scan, where anybody asks. */
interface TableRequest {
  readonly narrowing: Analysis['narrowing']
  readonly request: Bindable
  /** Nothing of the rows but their offsets is read. */
  readonly isOffsets?: boolean
  /** Gives the files once there are merged ones. Throws NodeError `QueryTimeout`. */
  readonly fewer?: () => Promise<FileList>
  readonly scan?: { -readonly [K in keyof Scan]: Scan[K] }
}

function wantedOf(narrowing: Analysis['narrowing'], { skip, limit, parameters }: Bindable): Wanted | undefined {
  return narrowing && { narrowing, parameters: parameters?.values ?? [], skip, limit }
}

/** The data behind a name: files that were checked. */
async function tableOf(
  deps: BindDeps,
  files: FileList,
  { fewer, ...asked }: TableRequest,
): Promise<Omit<EngineTable, 'parts'>> {
  const { view } = files
  const { narrowing, request, scan, isOffsets = false } = asked
  if (isOffsets) {
    if (request.explain === true && scan !== undefined) {
      scan.files += files.length
      scan.rows += view.rows
    }
    const none = { list: view.id, to: 0, path: String }
    return { dataset: view.id, files: none, schema: view.schema, offsetsAlone: view.rows }
  }
  const { isProven = false } = request
  // mutant: a proof is of fewer rows than decide its answer
  const isAllowed = narrowing !== undefined && (narrowing.inProofs || !isProven)
  const wanted = isAllowed ? wantedOf(narrowing, request) : undefined
  const chosen = wanted && (await deps.objects.reading([view], () => chooseFiles(deps.times, files, wanted)))
  const opened = chosen?.numbers.length ?? files.length
  if (opened > openedMost && fewer !== undefined) return await tableOf(deps, await fewer(), asked)
  const numbers = chosen?.numbers.map((number) => files.placeOf(number)).filter(({ merged }) => merged === undefined)
  const runs = numbers === undefined ? files.looseRuns() : runsOf(numbers.map(({ from }) => from))
  for (const run of runs) await deps.objects.checkSlices(view, run)
  if (request.explain === true && scan !== undefined) {
    const groups = await countRowGroups(deps.times, files, { wanted: wantedOf(narrowing, request), chosen })
    const read = (chosen?.numbers ?? numbersOf({ from: 0, to: files.length })).map((number) => files.at(number))
    scan.files += files.length
    scan.filesRead += read.length
    scan.mergedRead += read.filter(({ merged }) => merged !== undefined).length
    scan.rows += view.rows
    scan.rowsRead += read.reduce((sum, { start, end }) => sum + end + 1 - start, 0)
    scan.rowGroups += groups.all
    scan.rowGroupsRead += groups.read
  }
  return {
    dataset: view.id,
    files: viewFiles(deps.files, files, chosen?.numbers),
    schema: view.schema,
    ...(chosen?.leastOffset !== undefined && { leastOffset: chosen.leastOffset }),
  }
}

/**
 * Runs over the tables of a bound statement. What fails over merged files runs over the slices, whose outcome counts: a file
 * may be gone, or hold rows behind those that are needed, which a statement fails on. Throws as `run`.
 */
export async function runBound<T>(
  deps: BindDeps,
  { tables, overSlices, views }: Runnable,
  run: (tables: readonly EngineTable[]) => Promise<T>,
): Promise<T> {
  const over = (some: readonly EngineTable[]): Promise<T> =>
    run(some).catch((error: unknown) => {
      throw manyFilesError(error, tables) ?? error
    })
  if (overSlices === undefined) return await deps.objects.reading(views, () => over(tables))
  try {
    return await run(tables)
  } catch (error) {
    const mayDiffer =
      error instanceof NodeError ? /^(?:Internal|SqlValue)$/.test(error.kind) : error instanceof HaltError
    if (!mayDiffer) throw manyFilesError(error, tables) ?? error
    const slices = await overSlices()
    return await deps.objects.reading(views, () => over(slices))
  }
}

/** What a statement is told that was too large for its files alone; undefined for any other error. */
function manyFilesError(error: unknown, tables: readonly EngineTable[]): NodeError | undefined {
  if (!(error instanceof NodeError) || error.kind !== 'ResultTooLarge') return undefined
  const count = tables.reduce((sum, { files }) => sum + (files.only?.length ?? files.to), 0)
  if (count < manyFiles) return undefined
  return new NodeError(
    'ResultTooLarge',
    `The statement reads ${count} files, which takes more memory than a query has.`,
    {
      ...error.details,
      hint:
        'Narrow it by offset or event_time. Files of small blocks are merged in the background, for statements whose answer ' +
        'is exact: over a long dataset that is new to this node, ask again in some minutes.',
      cause: error,
    },
  )
}
