// One question: gate → pin → run → output bytes → (with a proof) commitment and signature. Answers are put together here,
// those of tail.ts and metadata.ts too, from members that are JSON text already.

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { Engine } from '../engine/engine.ts'
import { notProvable } from '../engine/gate.ts'
import type { Analysis, Asking, EngineAnswer, EngineTable, Listing, Stability } from '../engine/messages.ts'
import { sha3256 } from '../ids/native-crypto.ts'
import { canonicalBytes } from '../json/canonical.ts'
import { fromPlain } from '../json/json.ts'
import { must } from '../lib/assert.ts'
import { concatBytes, toHex, utf8 } from '../lib/bytes.ts'
import type { Limits } from '../lib/limits.ts'
import { matchParameters, parametersJson } from '../model/parameters.ts'
import { NodeError } from '../model/errors.ts'
import { checkDialect, type PinnedDataset, type QueryRequest } from '../model/query.ts'
import { schemaBytes } from '../odf/schema-formats.ts'
import { jsonLayoutOf } from '../outputs/layouts.ts'
import { demandSqlSize } from '../proof/read-proof.ts'
import { commit } from '../proof/commitment.ts'
import { type NodeKey, signProof } from '../proof/sign.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { listingsFor, statementOf } from './catalog-statements.ts'
import type { KeptAnswers, QueryAnswer } from './kept-answers.ts'
import { FileList } from './file-list.ts'
import type { MergedFiles } from './merged-files.ts'
import type { MergedMaker } from './merged-maker.ts'
import { rangeSlices } from './merged-ranges.ts'
import {
  askingOf,
  type Binding,
  type Caller,
  checkPinAliases,
  datasetsOfPins,
  pinNames,
  pinnedList,
  Reader,
} from './pin.ts'
import type { SliceTimes } from './slice-times.ts'
import { chooseFiles, countRowGroups, numbersOf, runsOf, viewFiles } from './view-files.ts'

export interface ReplicaDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly engine: Engine
  /** Checks slices before they are read. */
  readonly objects: Objects
  readonly times: SliceTimes
  readonly merged: MergedFiles
  readonly maker: MergedMaker
  readonly nodeKey: NodeKey
  readonly answers: KeptAnswers
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
interface BoundQuery extends Runnable {
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

/** A query that is bound and not yet run. */
export interface OpenQuery {
  /** Names the bytes of the answer; undefined where running again may give others. */
  readonly tag: string | undefined
  /** It says what this caller may read: nobody keeps it. */
  readonly isOfCaller: boolean
  readonly scan: Scan
  answer(): Promise<QueryAnswer>
}

/** Binds a query. It and its `answer` throw the NodeErrors of docs/spec/http.md §4. */
export async function openQuery(deps: ReplicaDeps, request: QueryRequest, caller: Caller): Promise<OpenQuery> {
  checkDialect(request.queryDialect, deps.engine.dialect)
  await checkPinAliases(new Reader(deps.catalog, caller.mayRead), request.datasets ?? [])
  const bound = await bindQuery(deps, { ...request, isProven: request.include.includes('Proof') }, caller)
  const input = inputOf(request, bound.pinned, deps.engine.dialect)
  const asked = { input, includeAbsent: request.includeAbsent, signer: deps.nodeKey.did }
  const { volatile, catalogue } = bound.analysis
  if (catalogue !== undefined && request.include.includes('Proof')) throw notProvable(catalogue)
  const find = async (by: Caller): Promise<QueryAnswer> =>
    await answerBound(deps, request, { bound, input: canonicalBytes(fromPlain(input)), caller: by })
  const { scan } = bound
  if (volatile !== undefined || catalogue !== undefined) {
    return { tag: undefined, isOfCaller: catalogue !== undefined, scan, answer: async () => await find(caller) }
  }
  // mutant: an answer is reused at another head
  const key = answerKey(deps.engine.dialect, asked)
  return {
    tag: tagOf(key),
    isOfCaller: false,
    scan,
    answer: async () => await (request.explain === true ? find(caller) : deps.answers.of(key, caller, find)),
  }
}

async function answerBound(
  deps: ReplicaDeps,
  request: QueryRequest,
  { bound, input, caller }: { readonly bound: BoundQuery; readonly input: Uint8Array; readonly caller: Caller },
): Promise<QueryAnswer> {
  const withProof = request.include.includes('Proof')
  const { output, ...rest } = await execute(deps, request, {
    bound,
    caller,
    withSchema: request.include.includes('Schema') || request.includeAbsent,
    schemaFormatText: request.schemaFormat,
    forProof: withProof,
    saysTruncated: true,
  })
  const members: [string, JsonText][] = [['output', output]]
  if (request.include.includes('Input')) members.unshift(['input', input])
  if (withProof) {
    const subQueries = utf8('[]')
    const { commitment, proof } = signProof(commit({ input, output: concatBytes(output), subQueries }), deps.nodeKey)
    members.unshift(['commitment', canonicalBytes(fromPlain(commitment))])
    members.push(['proof', canonicalBytes(fromPlain(proof))], ['subQueries', subQueries])
  }
  return { body: jsonMembers(members), mediaType: mediaTypeOf(request.dataFormat), ...rest }
}

/** What is bound: a statement, and which rows of its answer are wanted, all of them where there is no limit. */
type Bindable = Pick<QueryRequest, 'query' | 'datasets' | 'parameters' | 'pins' | 'skip'> & {
  readonly limit: number | undefined
  /** For a proof, made or checked. */
  readonly isProven?: boolean
  readonly explain?: boolean | undefined
}

/** Gates a statement, pins its names and chooses the slices that it needs. */
export async function bindQuery(deps: ReplicaDeps, request: Bindable, caller: Caller): Promise<BoundQuery> {
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
  { engine, maker }: ReplicaDeps,
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
  deps: ReplicaDeps,
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
    files: viewFiles(deps.store, files, chosen?.numbers),
    schema: view.schema,
    ...(chosen?.leastOffset !== undefined && { leastOffset: chosen.leastOffset }),
  }
}

/**
 * Runs over the tables of a bound statement. What fails over merged files runs over the slices, whose outcome counts: a file
 * may be gone, or hold rows behind those that are needed, which a statement fails on. Throws as `run`.
 */
export async function runBound<T>(
  deps: ReplicaDeps,
  { tables, overSlices, views }: Runnable,
  run: (tables: readonly EngineTable[]) => Promise<T>,
): Promise<T> {
  const blame = async (error: unknown): Promise<never> => await deps.objects.blame(error, views)
  try {
    return await run(tables)
  } catch (error) {
    const mayDiffer = error instanceof NodeError && (error.kind === 'Internal' || error.kind === 'SqlValue')
    if (overSlices === undefined || !mayDiffer) return await blame(error)
    return await run(await overSlices()).catch(blame)
  }
}

/** How a bound statement is run and its output spelled. */
interface Execution {
  readonly bound: BoundQuery
  readonly caller: Caller
  readonly withSchema: boolean
  /** `schemaFormat` member of the output, or none. */
  readonly schemaFormatText: string | undefined
  /** Reproducible, and in the canonical form. */
  readonly forProof: boolean
  /** Whether the output says that rows were left out. Outputs signed by normaliser 1 do not. */
  readonly saysTruncated: boolean
}

/** Runs a bound statement; the output is one JSON object, in parts, as it is hashed. */
export async function execute(
  deps: ReplicaDeps,
  request: QueryRequest,
  { bound, caller, withSchema, schemaFormatText, forProof, saysTruncated }: Execution,
): Promise<{ output: readonly Uint8Array[]; truncated: boolean; stability: Stability }> {
  const job = {
    analysis: bound.analysis,
    reproducible: forProof,
    ordered: bound.ordered,
    dataFormat: request.dataFormat,
    wantSchema: withSchema,
    keyOrder: 'canonical' as const,
    ascii: forProof,
    skip: request.skip,
    limit: request.limit,
    ...(request.parameters && { parameters: request.parameters.values }),
    ...(bound.listings.length > 0 && { listings: bound.listings }),
  }
  const run = async (tables: readonly EngineTable[]): Promise<EngineAnswer> =>
    await deps.engine.run({ ...job, tables }, askingOf(deps.catalog, caller))
  const { data, schema, truncated, stability } = await runBound(deps, bound, run)
  const output = outputOf({
    data,
    dataFormat: request.dataFormatText,
    schema: schema && schemaBytes(schema, request.schemaFormat),
    schemaFormat: schemaFormatText,
    // mutant: a cut answer is signed as whole
    truncated: truncated && saysTruncated,
  })
  return { output, truncated, stability }
}

/** The output of an answer as one JSON object, in parts, its members in canonical order. */
export function outputOf(output: {
  /** JSON text. */
  readonly data: Uint8Array
  readonly dataFormat: string
  /** JSON text. */
  readonly schema: Uint8Array | undefined
  readonly schemaFormat: string | undefined
  readonly truncated: boolean
}): Uint8Array[] {
  const { data, dataFormat, schema, schemaFormat, truncated } = output
  const members: [string, Uint8Array][] = [
    ['data', data],
    ['dataFormat', utf8(JSON.stringify(dataFormat))],
  ]
  if (schema !== undefined) members.push(['schema', schema])
  if (schemaFormat !== undefined) members.push(['schemaFormat', utf8(JSON.stringify(schemaFormat))])
  if (truncated) members.push(['truncated', utf8('true')])
  return jsonMembers(members)
}

/** The media type of an answer in an output format. */
export function mediaTypeOf(dataFormat: string): string {
  return must(jsonLayoutOf(dataFormat)?.mediaTypes[0], 'a request names an output format')
}

/** The normalised `input` that is signed: what was asked, with every default and every block written out. */
function inputOf(request: QueryRequest, pinned: readonly PinnedDataset[], dialect: string): object {
  return {
    query: request.query,
    queryDialect: dialect,
    dataFormat: request.dataFormatText,
    include: request.include,
    schemaFormat: request.schemaFormat,
    datasets: pinned,
    // mutant: values for parameters are not signed
    parameters: request.parameters && parametersJson(request.parameters),
    skip: request.skip,
    limit: request.limit,
  }
}

/** JSON text: whole, or in parts that follow one another, so that large ones are not copied. */
type JsonText = Uint8Array | readonly Uint8Array[]

/** A JSON object, in parts; the caller orders the names. */
export function jsonMembers(members: readonly (readonly [name: string, json: JsonText])[]): Uint8Array[] {
  const parts = members.flatMap(([name, value], index) => [
    utf8(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
    ...(value instanceof Uint8Array ? [value] : value),
  ])
  return [...parts, utf8(members.length === 0 ? '{}' : '}')]
}

const tagDigits = 32

/**
 * The entity tag of an answer, 32 hex digits: what was asked of which blocks (`asked` holds their hashes, never `head`), and
 * the dialect, whose version changes with the way values are printed. Equal tags, equal bytes.
 */
export function answerTag(dialect: string, asked: object): string {
  return tagOf(answerKey(dialect, asked))
}

/** All that decides the bytes of an answer, as a hash in hex. */
function answerKey(dialect: string, asked: object): string {
  return toHex(sha3256(canonicalBytes(fromPlain({ dialect, asked }))))
}

function tagOf(key: string): string {
  return key.slice(0, tagDigits)
}
