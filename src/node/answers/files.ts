// Answers that are files: the rows of a query or of a tail, bound to blocks here and written by the engine while they are
// found. node/answers/export.ts makes queries of this kind out of whole datasets.

import { type DatasetView, viewOf } from '../catalog/dataset-chain.ts'
import type { AnswerStream } from '../engine/process/answer-stream.ts'
import type { StreamEnd, StreamJob } from '../engine/messages.ts'
import { parametersJson } from '../../libraries/model/parameters.ts'
import { checkDialect, type QueryRequest } from '../../libraries/model/query.ts'
import type { FileFacts, FileOptions, FileSource } from '../../libraries/columnar/outputs/file-format.ts'
import type { SignedRows } from '../../libraries/columnar/outputs/signed-rows.ts'
import type { Scan } from '../files/files.ts'
import { bindQuery } from './bind.ts'
import { askingOf, type Binding, type Caller, checkPinAliases, isBare, Reader, viewAt } from './pin.ts'
import { answerTag, type ReplicaDeps } from './query.ts'
import { openTables, type Runnable, runOver } from './tables.ts'
import { tailStatement, tailTable, tailWindow } from './tail.ts'

/** Raised when a format writes the same rows as other bytes. */
const fileForm = 2

/** How the rows are written. */
export interface FileRequest {
  readonly format: Pick<FileFacts, 'name' | 'module'>
  readonly options: FileOptions
  readonly skip: number
  /** All rows when undefined. */
  readonly limit: number | undefined
  /** Refuses a statement whose rows do not come in the order of offsets. */
  readonly inOffsetOrder?: boolean
}

/** A dataset that a file was read from, at a block. */
export interface DatasetHead {
  readonly id: string
  readonly alias: string
  readonly block: string
}

/** A file that is bound to blocks and not yet written. */
export interface OpenFile {
  readonly heads: readonly DatasetHead[]
  /** Those by the names that the address of the same rows pins: `trips=acme/trips` for a name without a slash. */
  readonly pins: SignedRows['heads']
  /** Names its bytes; undefined where running again may give others. */
  readonly tag: string | undefined
  /** It has no more rows than this, where that is known. */
  readonly rowsAtMost: number | undefined
  /** It says what this caller may read: nobody keeps it. */
  readonly isOfCaller: boolean
  /** The same rows can be asked for with a proof. */
  readonly isProvable: boolean
  readonly options: FileOptions
  /** Absent for a tail. */
  readonly scan?: Scan
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal
  /** Resolves with the first bytes. With `keeping` nobody sees them before the last one, and that signal ends the query. */
  start(keeping?: AbortSignal, source?: FileSource): Promise<AnswerStream>
}

/** Binds a query. It and `start` throw the NodeErrors of docs/spec/http.md §4. */
export async function openFileQuery(
  deps: ReplicaDeps,
  request: Pick<QueryRequest, 'query' | 'queryDialect' | 'datasets' | 'parameters' | 'pins' | 'explain'> &
    FileRequest &
    Pick<StreamJob, 'describes'>,
  caller: Caller,
): Promise<OpenFile> {
  checkDialect(request.queryDialect, deps.engine.dialect)
  await checkPinAliases(new Reader(deps.catalog, caller.mayRead), request.datasets ?? [])
  const bound = await bindQuery(deps, request, caller)
  const { analysis, views, pinned, listings } = bound
  const tables = await openTables(deps, bound, caller)
  const { ordered, scan } = tables
  const { query, format, options, skip, limit, inOffsetOrder = false } = request
  const parameters = request.parameters && parametersJson(request.parameters)
  const job = {
    analysis,
    ordered: ordered === true,
    ...writtenAs(request),
    skip,
    limit,
    inOffsetOrder,
    describes: request.describes,
    ...(request.parameters && { parameters: request.parameters.values }),
    ...(listings.length > 0 && { listings }),
  }
  const isSame = analysis.volatile === undefined && analysis.catalogue === undefined && !analysis.isRaced
  const asked = { file: fileForm, query, parameters, pinned, format: format.name, options, skip, limit: limit ?? null }
  return {
    heads: headsOf(views),
    pins: pinsOf(bound.bindings),
    tag: isSame ? answerTag(deps.engine.dialect, asked) : undefined,
    isOfCaller: analysis.catalogue !== undefined,
    isProvable: analysis.isProvable,
    rowsAtMost: limit,
    options,
    scan,
    signal: caller.signal,
    start: async (keeping, source) => await startFile(deps, { ...job, source }, { over: tables, caller, keeping }),
  }
}

/** The newest rows of a dataset as a file. Throws NodeError `DatasetNotFound`, `BlockNotFound`. */
export async function openFileTail(
  deps: ReplicaDeps,
  request: FileRequest & { readonly alias: string; readonly at: string | undefined; readonly limit: number },
  caller: Caller,
): Promise<OpenFile & { readonly truncated: boolean; readonly rowsBefore: number }> {
  const chain = await new Reader(deps.catalog, caller.mayRead).need(request.alias)
  const view = request.at === undefined ? viewOf(chain) : await viewAt(deps.catalog, chain, request.at)
  const { format, options, skip, limit } = request
  const window = tailWindow(view, { skip, limit })
  const { start, end } = window
  const tail = view.block.hash
  return {
    heads: headsOf([view]),
    pins: headsOf([view]),
    tag: answerTag(deps.engine.dialect, { file: fileForm, tail, format: format.name, options, skip, limit }),
    isOfCaller: false,
    isProvable: true,
    rowsAtMost: end - start,
    rowsBefore: start,
    options,
    signal: caller.signal,
    truncated: start > 0,
    start: async (keeping, source) => {
      const analysis = await deps.engine.analyze(tailStatement, askingOf(deps.catalog, caller))
      const over = { tables: [await tailTable(deps.files, view, window)], overSlices: undefined, views: [view] }
      const job = { analysis, ...writtenAs(request), source, skip: 0, limit: end - start, inOffsetOrder: true }
      return await startFile(deps, job, { over, caller, keeping })
    },
  }
}

function writtenAs({
  format: { name, module },
  options,
}: FileRequest): Pick<StreamJob, 'format' | 'module' | 'options'> {
  return { format: name, module, options }
}

function headsOf(views: readonly DatasetView[]): DatasetHead[] {
  const heads = views.map(({ id, alias, block }) => [`${id} ${block.hash}`, { id, alias, block: block.hash }] as const)
  return [...new Map(heads).values()]
}

function pinsOf(bindings: readonly Binding[]): SignedRows['heads'] {
  const named = bindings.map(({ pinned: { alias }, view }) => {
    return [isBare(alias) ? `${alias}=${view.alias}` : view.alias, view.block.hash] as const
  })
  return Array.from(new Map(named), ([alias, block]) => ({ alias, block }))
}

interface Run {
  readonly over: Runnable
  readonly caller: Caller
  readonly keeping: AbortSignal | undefined
}

async function startFile(
  deps: ReplicaDeps,
  job: Omit<StreamJob, 'tables'>,
  { over, caller, keeping }: Run,
): Promise<AnswerStream> {
  const by = keeping === undefined ? caller : { ...caller, signal: keeping }
  const isKept = keeping !== undefined
  const run = async (tables: StreamJob['tables']): Promise<AnswerStream> =>
    await deps.engine.stream({ ...job, isKept, tables }, askingOf(deps.catalog, by))
  const { start, pieces } = await runOver(deps, over, run)
  return { start, pieces: blaming(pieces, (error) => deps.objects.blame(error, over.views)) }
}

/** The same pieces; what breaks them off is looked into first. */
async function* blaming(
  pieces: AnswerStream['pieces'],
  blame: (error: unknown) => Promise<void>,
): AsyncGenerator<Uint8Array, StreamEnd> {
  try {
    return yield* pieces
  } catch (error) {
    await blame(error)
    // What was sent cannot be taken back: the caller tries again.
    throw error
  }
}
