// One question: gate → pin → run → output bytes → (with a proof) commitment and signature. Answers are put together here,
// those of tail.ts and metadata.ts too, from members that are JSON text already.

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { Engine } from '../engine/engine.ts'
import { notProvable } from '../engine/gate.ts'
import type { Analysis, EngineAnswer, EngineTable, Listing } from '../engine/messages.ts'
import { sha3256 } from '../ids/native-crypto.ts'
import { canonicalBytes } from '../json/canonical.ts'
import { fromPlain } from '../json/json.ts'
import { must } from '../lib/assert.ts'
import { concatBytes, toHex, utf8 } from '../lib/bytes.ts'
import type { Limits } from '../lib/limits.ts'
import { matchParameters, parametersJson } from '../model/parameters.ts'
import { checkDialect, type PinnedDataset, type QueryRequest } from '../model/query.ts'
import { schemaBytes } from '../odf/schema-formats.ts'
import { jsonLayoutOf } from '../outputs/layouts.ts'
import { demandSqlSize } from '../proof/read-proof.ts'
import { commit } from '../proof/commitment.ts'
import { type NodeKey, signProof } from '../proof/sign.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { SliceFiles } from '../store/slice-files.ts'
import { listingsFor, statementOf } from './catalog-statements.ts'
import type { KeptAnswers, QueryAnswer } from './kept-answers.ts'
import { askingOf, type Caller, checkPinAliases, datasetsOfPins, pinNames, pinnedList, Reader } from './pin.ts'
import type { SliceTimes } from './slice-times.ts'
import { chooseSlices, countRowGroups, runsOf, viewFiles } from './view-files.ts'

export interface ReplicaDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  /** Slices as files for the engine. */
  readonly files: SliceFiles
  readonly engine: Engine
  /** Checks slices before they are read. */
  readonly objects: Objects
  readonly times: SliceTimes
  readonly nodeKey: NodeKey
  readonly answers: KeptAnswers
  readonly limits: Limits
}

/** A statement whose names are bound to blocks. */
interface BoundQuery {
  readonly analysis: Analysis
  readonly tables: readonly EngineTable[]
  /** What the tables are made of. */
  readonly views: readonly DatasetView[]
  /** What `input.datasets` says: ordered, with the pins that the statement does not use. */
  readonly pinned: readonly PinnedDataset[]
  readonly listings: readonly Listing[]
  readonly scan: Scan
}

/** How much of the datasets the engine is given, and how much there is up to the blocks; zeros where nobody asks. */
export interface Scan {
  readonly files: number
  readonly filesRead: number
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
  const tables: EngineTable[] = []
  const scan = { files: 0, filesRead: 0, rows: 0, rowsRead: 0, rowGroups: 0, rowGroupsRead: 0 }
  for (const { parts, view } of bindings) {
    tables.push({ parts, ...(await tableOf(deps, view, { narrowing: analysis.narrowing, request, scan })) })
  }
  const listings = await listingsFor(reader, {
    names: analysis.listings,
    arePinned: datasets !== undefined,
    listingRows: deps.limits.listingRows,
  })
  return { analysis, tables, views, pinned, listings, scan }
}

/** What binding a table is told, and what it adds to the scan. */
interface TableRequest {
  readonly narrowing: Analysis['narrowing']
  readonly request: Bindable
  readonly scan: { -readonly [K in keyof Scan]: Scan[K] }
}

/** The data behind a name: slices that were checked. */
async function tableOf(
  deps: ReplicaDeps,
  view: DatasetView,
  { narrowing, request, scan }: TableRequest,
): Promise<Omit<EngineTable, 'parts'>> {
  const { skip, limit, parameters, isProven = false } = request
  // mutant: a proof is of fewer rows than decide its answer
  const isAllowed = narrowing !== undefined && (narrowing.inProofs || !isProven)
  const wanted = isAllowed ? { narrowing, parameters: parameters?.values ?? [], skip, limit } : undefined
  const chosen = wanted && (await chooseSlices(deps.times, view, wanted))
  const runs = chosen === undefined ? [{ from: 0, to: view.slices.length }] : runsOf(chosen.numbers)
  for (const run of runs) await deps.objects.checkSlices(view, run)
  if (request.explain === true) {
    const groups = await countRowGroups(deps.times, view, { wanted, chosen })
    const rowsIn = (number: number): number =>
      (view.slices.at(number)?.end ?? -1) - (view.slices.at(number)?.start ?? 0) + 1
    scan.files += view.slices.length
    scan.filesRead += chosen?.numbers.length ?? view.slices.length
    scan.rows += view.rows
    scan.rowsRead += chosen?.numbers.reduce((sum, number) => sum + rowsIn(number), 0) ?? view.rows
    scan.rowGroups += groups.all
    scan.rowGroupsRead += groups.read
  }
  return {
    dataset: view.id,
    files: viewFiles(deps.files, view, chosen?.numbers),
    schema: view.schema,
    ...(chosen?.leastOffset !== undefined && { leastOffset: chosen.leastOffset }),
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
): Promise<Pick<EngineAnswer, 'rows' | 'truncated' | 'stability'> & { readonly output: readonly Uint8Array[] }> {
  const job = {
    analysis: bound.analysis,
    tables: bound.tables,
    reproducible: forProof,
    dataFormat: request.dataFormat,
    wantSchema: withSchema,
    keyOrder: 'canonical' as const,
    ascii: forProof,
    skip: request.skip,
    limit: request.limit,
    ...(request.parameters && { parameters: request.parameters.values }),
    ...(bound.listings.length > 0 && { listings: bound.listings }),
  }
  const running = deps.engine.run(job, askingOf(deps.catalog, caller))
  const { data, schema, rows, truncated, stability } = await running.catch((error: unknown) =>
    deps.objects.blame(error, bound.views),
  )
  const output = outputOf({
    data,
    dataFormat: request.dataFormatText,
    schema: schema && schemaBytes(schema, request.schemaFormat),
    schemaFormat: schemaFormatText,
    // mutant: a cut answer is signed as whole
    truncated: truncated && saysTruncated,
  })
  return { output, rows, truncated, stability }
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
