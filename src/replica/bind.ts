// Binds a statement: gate → names → datasets at blocks → the files that it needs, merged ones where it may read them. Then
// runs it over those; query.ts and files.ts say what becomes of the rows.

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { Engine } from '../engine/engine.ts'
import type { Analysis, Asking, EngineTable, Listing } from '../engine/messages.ts'
import type { Limits } from '../lib/limits.ts'
import { NodeError } from '../model/errors.ts'
import { matchParameters } from '../model/parameters.ts'
import type { PinnedDataset, QueryRequest } from '../model/query.ts'
import { demandSqlSize } from '../proof/read-proof.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { SliceFiles } from '../store/slice-files.ts'
import { listingsFor, statementOf } from './catalog-statements.ts'
import { FileList } from './file-list.ts'
import type { MergedFiles } from './merged-files.ts'
import type { MergedMaker } from './merged-maker.ts'
import { rangeSlices } from './merged-ranges.ts'
import { askingOf, type Binding, type Caller, datasetsOfPins, pinNames, pinnedList, Reader } from './pin.ts'
import type { SliceTimes } from './slice-times.ts'
import { chooseFiles, countRowGroups, numbersOf, runsOf, viewFiles } from './view-files.ts'

/** So many files take a tenth of a statement's memory before a row is read. */
const manyFiles = 5_000

export interface BindDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  /** Slices as files for the engine. */
  readonly files: SliceFiles
  readonly engine: Engine
  /** Checks slices before they are read. */
  readonly objects: Objects
  readonly times: SliceTimes
  readonly merged: MergedFiles
  readonly maker: MergedMaker
  readonly limits: Limits
}

/** What a statement runs over. */
export interface Runnable {
  readonly tables: readonly EngineTable[]
  /** Where merged files are read: the same tables without them. */
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
  const ordered = await mayMerge(deps, { analysis, views, bindings, request }, askingOf(deps.catalog, caller))
  const scan = { files: 0, filesRead: 0, mergedRead: 0, rows: 0, rowsRead: 0, rowGroups: 0, rowGroupsRead: 0 }
  let readsMerged = false
  const tables: EngineTable[] = []
  for (const { parts, view } of bindings) {
    const files = new FileList(view, ordered ? await deps.merged.of(view) : [])
    readsMerged ||= files.holdsMerged
    tables.push({ parts, ...(await tableOf(deps, files, { narrowing: analysis.narrowing, request, scan })) })
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
  return { analysis, tables, ordered, overSlices: readsMerged ? overSlices : undefined, views, pinned, listings, scan }
}

/**
 * Whether a statement over long datasets may read merged files: its rows alone decide its answer, and their order is one. By
 * the chains alone, so that the same question has the same answer whether the files are there or not.
 */
async function mayMerge(
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

/** What binding a table is told, and what it adds to the scan, where anybody asks. */
interface TableRequest {
  readonly narrowing: Analysis['narrowing']
  readonly request: Bindable
  readonly scan?: { -readonly [K in keyof Scan]: Scan[K] }
}

/** The data behind a name: files that were checked. */
async function tableOf(
  deps: BindDeps,
  files: FileList,
  { narrowing, request, scan }: TableRequest,
): Promise<Omit<EngineTable, 'parts'>> {
  const { view } = files
  const { skip, limit, parameters, isProven = false } = request
  // mutant: a proof is of fewer rows than decide its answer
  const isAllowed = narrowing !== undefined && (narrowing.inProofs || !isProven)
  const wanted = isAllowed ? { narrowing, parameters: parameters?.values ?? [], skip, limit } : undefined
  const chosen = wanted && (await chooseFiles(deps.times, files, wanted))
  const numbers = chosen?.numbers.map((number) => files.placeOf(number)).filter(({ merged }) => merged === undefined)
  const runs = numbers === undefined ? files.looseRuns() : runsOf(numbers.map(({ from }) => from))
  for (const run of runs) await deps.objects.checkSlices(view, run)
  if (request.explain === true && scan !== undefined) {
    const groups = await countRowGroups(deps.times, files, { wanted, chosen })
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
  const blame = async (error: unknown): Promise<never> =>
    await deps.objects.blame(manyFilesError(error, tables) ?? error, views)
  try {
    return await run(tables)
  } catch (error) {
    const mayDiffer = error instanceof NodeError && (error.kind === 'Internal' || error.kind === 'SqlValue')
    if (overSlices === undefined || !mayDiffer) return await blame(error)
    return await run(await overSlices()).catch(blame)
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
