// The tables of a bound statement: the files of each dataset that it names, merged ones where blocks do not show in its
// answer. Then its run over them, and over the slices where it fails over anything else.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import { type EngineAnswer, type EngineTable, splitRows } from '../engine/messages.ts'
import type { Analysis } from '../../libraries/sql/statement.ts'
import { type FoundFiles, type Scan, sumOf } from '../files/files.ts'
import { enoughNewest, type WantedRows } from '../files/row-terms.ts'
import { must } from '../../libraries/base/assert.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { Bindable, BindDeps, BoundQuery } from './bind.ts'
import { askingOf, type Caller } from './pin.ts'

/** So many files take a tenth of a statement's memory before a row is read. */
const manyFiles = 5_000

/** What a statement runs over. */
export interface Runnable {
  readonly tables: readonly EngineTable[]
  /** The same tables over slices, where merged files stand for some of them, or offsets alone. */
  readonly overSlices: (() => Promise<readonly EngineTable[]>) | undefined
  /** What the tables are made of. */
  readonly views: readonly DatasetView[]
}

/** Rows that are looked through first where the newest that meet a condition are wanted, of datasets of four times as many. */
const newestRows = 131_072

/** A bound statement with its tables. */
export interface OpenTables extends Runnable {
  /** The newest rows alone: an answer of `enough` rows over them is that over all. */
  readonly newest: { readonly enough: number; open(): Promise<readonly EngineTable[]> } | undefined
  /** Its answer gets one order of rows, proof or not; `whereSplit`: if threads may split it. */
  readonly ordered: boolean | 'whereSplit'
  readonly scan: Scan
}

/** Finds the files of every table. Throws as `Files.of`. */
export async function openTables(deps: BindDeps, bound: BoundQuery, caller: Caller): Promise<OpenTables> {
  const { views } = bound
  const mayMerge = await mayReadMerged(deps, bound, caller)
  const { signal } = caller
  const found = await filesOf(deps, bound, { mayMerge, isCounted: bound.request.explain === true, signal })
  const overSlices = async (): Promise<readonly EngineTable[]> => {
    for (const view of views) deps.files.doubt(view)
    return tablesOf(bound, await filesOf(deps, bound, { mayMerge: false, isCounted: false, signal }))
  }
  return {
    tables: tablesOf(bound, found),
    overSlices: found.some(({ areOthers }) => areOthers) ? overSlices : undefined,
    newest: newestOf(deps, bound, { mayMerge, isCounted: false, signal }),
    views,
    ordered: mayMerge || (views.some(({ rows }) => rows >= splitRows) && 'whereSplit'),
    scan: sumOf(found.map(({ scan }) => scan)),
  }
}

/**
 * Statements over long datasets may read merged files where blocks do not show in their answer, and the order of its rows is
 * one. By the chains alone, so that the same question has the same answer whether the files are there or not.
 */
async function mayReadMerged(
  { engine, files, catalog }: BindDeps,
  { analysis, views, bindings, request }: BoundQuery,
  caller: Caller,
): Promise<boolean> {
  if (analysis.catalogue !== undefined || request.describes === true || !files.areLong(views)) return false
  const tables = bindings.map(({ parts, view }) => ({ parts, schema: view.schema }))
  const parameters = request.parameters?.values ?? []
  const { skip, limit } = request
  const asked = { sql: analysis.sql, tables, parameters, rows: { skip, limit } }
  const judged = await engine.judge(asked, askingOf(catalog, caller))
  // mutant: a pinned statement reads merged files
  if (!judged.isBlockFree || !(judged.takesOrder || request.isProven === true)) return false
  files.wantMerged(views)
  return true
}

interface How {
  readonly mayMerge: boolean
  readonly isCounted: boolean
  readonly signal: AbortSignal
  readonly newest?: number
}

function newestOf(deps: BindDeps, bound: BoundQuery, how: How): OpenTables['newest'] {
  const rows = wantedRows(bound.analysis, bound.request)
  const [view] = bound.views
  // What is told of a statement's scan is told of all of it.
  if (rows === undefined || view === undefined || view.rows < 4 * newestRows || bound.request.explain) return undefined
  const enough = enoughNewest(view, rows)
  const open = async (): Promise<readonly EngineTable[]> =>
    tablesOf(bound, await filesOf(deps, bound, { ...how, newest: newestRows }))
  return enough === undefined ? undefined : { enough, open }
}

async function filesOf(
  { files }: BindDeps,
  { analysis, views, request }: BoundQuery,
  { newest, ...how }: How,
): Promise<FoundFiles[]> {
  const wanted = wantedRows(analysis, request)
  const rows = wanted && { ...wanted, ...(newest !== undefined && { newest }) }
  const found: FoundFiles[] = []
  for (const view of views) {
    // mutant: offsets stand for rows of which other columns are read
    const offsetsAlone = readsOffsetsAlone(analysis, view)
    found.push(await files.of(view, { rows, offsetsAlone, ...how }, how.signal))
  }
  return found
}

function tablesOf({ bindings }: BoundQuery, found: readonly FoundFiles[]): EngineTable[] {
  return found.map(({ table }, at) => ({ parts: must(bindings[at], 'each name has its files').parts, ...table }))
}

/** The rows that decide an answer; undefined where they may be any. */
function wantedRows(
  { narrowing }: Analysis,
  { skip, limit, parameters, isProven, describes }: Bindable,
): WantedRows | undefined {
  if (describes === true) return undefined
  // mutant: a proof is of fewer rows than decide its answer
  if (narrowing === undefined || (isProven === true && !narrowing.inProofs)) return undefined
  return { narrowing, parameters: parameters?.values ?? [], skip, limit }
}

function readsOffsetsAlone({ columns }: Analysis, { schema, vocabulary }: DatasetView): boolean {
  return schema !== undefined && columns?.every((name) => name === foldAscii(vocabulary.offsetColumn)) === true
}

/**
 * Runs over the tables of a statement. What fails over merged files runs over the slices, whose outcome counts: a file may be
 * gone, or hold rows behind those that are needed, which a statement fails on. Throws as `run`.
 */
export async function runOver<T>(
  { objects }: Pick<BindDeps, 'objects'>,
  { tables, overSlices, views }: Runnable,
  run: (tables: readonly EngineTable[]) => Promise<T>,
): Promise<T> {
  const over = (some: readonly EngineTable[]): Promise<T> =>
    run(some).catch((error: unknown) => {
      throw manyFilesError(error, tables) ?? error
    })
  if (overSlices === undefined) return await objects.reading(views, () => over(tables))
  try {
    return await run(tables)
  } catch (error) {
    if (!mayDiffer(error)) throw manyFilesError(error, tables) ?? error
    const slices = await overSlices()
    return await objects.reading(views, () => over(slices))
  }
}

/** True where a statement over other files, or more rows, may not fail. */
function mayDiffer(error: unknown): boolean {
  return error instanceof NodeError ? /^(?:Internal|SqlValue)$/.test(error.kind) : error instanceof HaltError
}

/** The answer over the newest rows alone, where they have enough that it is that over all. Throws as `run`. */
export async function overNewest(
  { newest, views }: Pick<OpenTables, 'newest' | 'views'>,
  { objects }: Pick<BindDeps, 'objects'>,
  run: (tables: readonly EngineTable[]) => Promise<EngineAnswer>,
): Promise<EngineAnswer | undefined> {
  if (newest === undefined) return undefined
  try {
    const { rows, truncated, ...answer } = await objects.reading(views, async () => await run(await newest.open()))
    // mutant: too few of the newest rows are an answer
    return rows + (truncated ? 1 : 0) >= newest.enough ? { rows, truncated, ...answer } : undefined
  } catch (error) {
    if (mayDiffer(error)) return undefined
    throw error
  }
}

/** The error of a statement that failed only because it opens too many files; otherwise undefined. */
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
