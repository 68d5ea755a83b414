// One question: gate → pin → run → output bytes → (with a proof) commitment and signature. Answers are put together here,
// those of tail.ts and metadata.ts too, from members that are JSON text already.

import { notProvable } from '../../libraries/sql/gate.ts'
import type { EngineAnswer, EngineTable } from '../engine/messages.ts'
import { sha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { canonicalBytes } from '../../libraries/base/json/canonical.ts'
import { fromPlain } from '../../libraries/base/json/json.ts'
import { must } from '../../libraries/base/assert.ts'
import { concatBytes, toHex, utf8 } from '../../libraries/base/bytes.ts'
import { parametersJson } from '../../libraries/model/parameters.ts'
import { checkDialect, type PinnedDataset, type QueryRequest } from '../../libraries/model/query.ts'
import { schemaBytes } from '../../libraries/odf/schema-formats.ts'
import { jsonLayoutOf } from '../../libraries/columnar/outputs/layouts.ts'
import { commit } from '../../libraries/proof/commitment.ts'
import { type NodeKey, signProof } from '../../libraries/proof/sign.ts'
import type { Scan } from '../files/files.ts'
import { type BindDeps, bindQuery, type BoundQuery } from './bind.ts'
import type { KeptAnswers, QueryAnswer } from './kept-answers.ts'
import { askingOf, type Caller, checkPinAliases, Reader } from './pin.ts'
import { openTables, type OpenTables, overNewest, runOver } from './tables.ts'

export interface ReplicaDeps extends BindDeps {
  readonly nodeKey: NodeKey
  readonly answers: KeptAnswers
}

/** A query that is bound and not yet run. */
export interface OpenQuery {
  /** Names the bytes of the answer; undefined where running again may give others. */
  readonly tag: string | undefined
  /** It says what this caller may read: nobody keeps it. */
  readonly isOfCaller: boolean
  /** It can be asked with a proof. */
  readonly isProvable: boolean
  readonly scan: Scan
  /** Which blocks it is asked of. */
  readonly pinned: readonly PinnedDataset[]
  answer(): Promise<QueryAnswer>
}

/** Binds a query. It and its `answer` throw the NodeErrors of docs/spec/http.md §4. */
export async function openQuery(deps: ReplicaDeps, request: QueryRequest, caller: Caller): Promise<OpenQuery> {
  checkDialect(request.queryDialect, deps.engine.dialect)
  await checkPinAliases(new Reader(deps.catalog, caller.mayRead), request.datasets ?? [])
  const bound = await bindQuery(deps, { ...request, isProven: request.include.includes('Proof') }, caller)
  const tables = await openTables(deps, bound, caller)
  const input = inputOf(request, bound.pinned, deps.engine.dialect)
  const { ordered, scan } = tables
  // Rows that have one order now had others once.
  const order = ordered === 'whereSplit' ? { ordered } : {}
  const asked = { input, includeAbsent: request.includeAbsent, signer: deps.nodeKey.did, ...order }
  const { volatile, catalogue, isRaced, isProvable } = bound.analysis
  if (catalogue !== undefined && request.include.includes('Proof')) throw notProvable(catalogue)
  const find = async (by: Caller): Promise<QueryAnswer> =>
    await answerBound(deps, request, { bound, tables, input: canonicalBytes(fromPlain(input)), caller: by })
  const { pinned } = bound
  // With a proof, only answers that no order decides are given.
  const mayDiffer = isRaced && !request.include.includes('Proof')
  if (volatile !== undefined || catalogue !== undefined || mayDiffer) {
    const isOfCaller = catalogue !== undefined
    return { tag: undefined, isOfCaller, isProvable, scan, pinned, answer: async () => await find(caller) }
  }
  // mutant: an answer is reused at another head
  const key = answerKey(deps.engine.dialect, asked)
  return {
    tag: tagOf(key),
    isOfCaller: false,
    isProvable,
    scan,
    pinned,
    answer: async () => await (request.explain === true ? find(caller) : deps.answers.of(key, caller, find)),
  }
}

async function answerBound(
  deps: ReplicaDeps,
  request: QueryRequest,
  { input, ...execution }: Pick<Execution, 'bound' | 'tables' | 'caller'> & { readonly input: Uint8Array },
): Promise<QueryAnswer> {
  const withProof = request.include.includes('Proof')
  const { output, ...rest } = await execute(deps, request, {
    ...execution,
    withSchema: request.include.includes('Schema') || request.includeAbsent,
    schemaFormatText: request.schemaFormat,
    forProof: withProof,
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

/** How a bound statement is run and its output spelled. */
interface Execution {
  readonly bound: BoundQuery
  readonly tables: OpenTables
  readonly caller: Caller
  readonly withSchema: boolean
  /** `schemaFormat` member of the output, or none. */
  readonly schemaFormatText: string | undefined
  /** Reproducible, and in the canonical form. */
  readonly forProof: boolean
  /** Its output was signed before. */
  readonly isSigned?: boolean
}

/** Runs a bound statement; the output is one JSON object, in parts, as it is hashed. */
export async function execute(
  deps: BindDeps,
  request: QueryRequest,
  { bound, tables, caller, withSchema, schemaFormatText, forProof, isSigned = false }: Execution,
): Promise<Pick<EngineAnswer, 'rows' | 'truncated' | 'stability'> & { readonly output: readonly Uint8Array[] }> {
  const job = {
    analysis: bound.analysis,
    reproducible: forProof,
    ordered: tables.ordered,
    dataFormat: request.dataFormat,
    wantSchema: withSchema,
    keyOrder: 'canonical' as const,
    ascii: forProof,
    isSigned,
    skip: request.skip,
    limit: request.limit,
    ...(request.parameters && { parameters: request.parameters.values }),
    ...(bound.listings.length > 0 && { listings: bound.listings }),
  }
  const run = async (over: readonly EngineTable[]): Promise<EngineAnswer> =>
    await deps.engine.run({ ...job, tables: over }, askingOf(deps.catalog, caller))
  const { data, schema, rows, truncated, stability } =
    (await overNewest(tables, deps, run)) ?? (await runOver(deps, tables, run))
  const output = outputOf({
    data,
    dataFormat: request.dataFormatText,
    schema: schema && schemaBytes(schema, request.schemaFormat),
    schemaFormat: schemaFormatText,
    // mutant: a cut answer is signed as whole
    truncated,
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
