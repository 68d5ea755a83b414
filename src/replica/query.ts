// One question: gate → pin → run → output bytes → (with a proof) commitment and signature.

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { ObjectCheck } from '../catalog/objects.ts'
import type { Analysis, EngineTable } from '../engine/engine-job.ts'
import type { Engine } from '../engine/engine.ts'
import type { Stability } from '../engine/stability.ts'
import { sha3256 } from '../ids/native-crypto.ts'
import { canonicalBytes } from '../json/canonical.ts'
import { fromPlain } from '../json/json.ts'
import { concatBytes, toHex, utf8 } from '../lib/bytes.ts'
import type { Limits } from '../lib/limits.ts'
import { checkDialect, type PinnedDataset, type QueryRequest } from '../model/query.ts'
import { schemaBytes } from '../odf/schema-formats.ts'
import { commit, signProof } from '../proof/commitment.ts'
import type { NodeKey } from '../proof/node-key.ts'
import { demandSqlSize } from '../proof/read-proof.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { askingOf, type Caller, checkPinAliases, pinNames, pinnedList, pinUnused, Reader, viewFiles } from './pin.ts'

export interface QueryAnswer {
  /** The whole JSON body, in parts. Canonical when it holds a proof. */
  readonly body: readonly Uint8Array[]
  /** Rows were left out because of `limit`. */
  readonly truncated: boolean
  readonly stability: Stability
}

export interface ReplicaDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly engine: Engine
  /** Checks slices before they are read. */
  readonly check: ObjectCheck
  readonly nodeKey: NodeKey
  readonly limits: Limits
}

/** What came out: the output as it is hashed. */
export interface Execution {
  readonly output: readonly Uint8Array[]
  readonly truncated: boolean
  readonly stability: Stability
}

/** How the output is to be spelled. */
export interface OutputSpelling {
  readonly withSchema: boolean
  /** `schemaFormat` member of the output, or none. */
  readonly schemaFormatText: string | undefined
  readonly ascii: boolean
  readonly reproducible: boolean
  /** Whether the output says that rows were left out. Outputs signed by normaliser 1 do not. */
  readonly tellsTruncation: boolean
}

/** A statement whose names are bound to blocks. */
export interface BoundQuery {
  readonly analysis: Analysis
  readonly tables: readonly EngineTable[]
  /** What the tables are made of. */
  readonly views: readonly DatasetView[]
  /** What `input.datasets` says: ordered, with the pins that the statement does not use. */
  readonly pinned: readonly PinnedDataset[]
}

/** A query that is bound and not yet run. */
export interface OpenQuery {
  /** Names the bytes of the answer; undefined where running again may give others. */
  readonly tag: string | undefined
  answer(): Promise<QueryAnswer>
}

/** Binds a query. It and its `answer` throw NodeErrors of contract.md §4. */
export async function openQuery(deps: ReplicaDeps, request: QueryRequest, caller: Caller): Promise<OpenQuery> {
  checkDialect(request.queryDialect, deps.engine.dialect)
  await checkPinAliases(new Reader(deps.catalog, caller.mayRead), request.datasets ?? [])
  const bound = await bindQuery(deps, request, caller)
  const input = inputOf(request, bound.pinned, deps.engine.dialect)
  const asked = { input, includeAbsent: request.includeAbsent, signer: deps.nodeKey.did }
  return {
    tag: bound.analysis.volatile === undefined ? answerTag(deps.engine.dialect, asked) : undefined,
    answer: async () => await answerBound(deps, request, { bound, input, caller }),
  }
}

async function answerBound(
  deps: ReplicaDeps,
  request: QueryRequest,
  { bound, input, caller }: { bound: BoundQuery; input: object; caller: Caller },
): Promise<QueryAnswer> {
  const withProof = request.include.includes('Proof')
  const { output: parts, ...told } = await execute(deps, request, {
    bound,
    caller,
    withSchema: request.include.includes('Schema') || request.includeAbsent,
    schemaFormatText: request.schemaFormat,
    ascii: withProof,
    reproducible: withProof,
    tellsTruncation: true,
  })
  if (!request.include.includes('Input')) return { body: jsonMembers([['output', parts]]), ...told }
  const inputBytes = canonicalBytes(fromPlain(input))
  if (!withProof) {
    const members: [string, JsonText][] = [
      ['input', inputBytes],
      ['output', parts],
    ]
    return { body: jsonMembers(members), ...told }
  }
  const output = concatBytes(parts)
  const subQueries = utf8('[]')
  const { commitment, proof } = signProof(commit({ input: inputBytes, output, subQueries }), deps.nodeKey)
  return {
    body: jsonMembers([
      ['commitment', canonicalBytes(fromPlain(commitment))],
      ['input', inputBytes],
      ['output', output],
      ['proof', canonicalBytes(fromPlain(proof))],
      ['subQueries', subQueries],
    ]),
    ...told,
  }
}

/** Gates a statement and pins its names. */
export async function bindQuery(deps: ReplicaDeps, request: QueryRequest, caller: Caller): Promise<BoundQuery> {
  demandSqlSize(request.query, deps.limits.sqlBytes)
  const analysis = await deps.engine.analyze(request.query, askingOf(deps.catalog, caller))
  const reader = new Reader(deps.catalog, caller.mayRead)
  const bindings = await pinNames(reader, analysis.tables, request.datasets)
  const pinned = pinnedList(bindings, await pinUnused(reader, request.datasets ?? [], bindings))
  const views = bindings.map(({ view }) => view)
  for (const view of views) await deps.check.slices(view)
  const tables = bindings.map(({ parts, view }) => {
    return { parts, dataset: view.id, files: viewFiles(deps.store, view), schema: view.schema }
  })
  return { analysis, tables, views, pinned }
}

/** Runs a bound statement; the output is one JSON object in the given spelling, its members in canonical order. */
export async function execute(
  deps: ReplicaDeps,
  request: QueryRequest,
  order: OutputSpelling & { readonly bound: BoundQuery; readonly caller: Caller },
): Promise<Execution> {
  const { analysis, tables, views } = order.bound
  const job = {
    analysis,
    tables,
    reproducible: order.reproducible,
    dataFormat: request.dataFormat,
    wantSchema: order.withSchema,
    keyOrder: 'canonical' as const,
    ascii: order.ascii,
    skip: request.skip,
    limit: request.limit,
  }
  const running = deps.engine.run(job, askingOf(deps.catalog, order.caller))
  const answer = await running.catch((error: unknown) => deps.check.blame(error, views))
  const parts: [string, Uint8Array][] = [
    ['data', answer.data],
    ['dataFormat', utf8(JSON.stringify(request.dataFormatText))],
  ]
  if (answer.schema !== undefined) parts.push(['schema', schemaBytes(answer.schema, request.schemaFormat)])
  if (order.schemaFormatText !== undefined) parts.push(['schemaFormat', utf8(JSON.stringify(order.schemaFormatText))])
  // mutant: a cut answer is signed as whole
  if (answer.truncated && order.tellsTruncation) parts.push(['truncated', utf8('true')])
  return { output: jsonMembers(parts), truncated: answer.truncated, stability: answer.stability }
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
    skip: request.skip,
    limit: request.limit,
  }
}

/** JSON text: whole, or in parts that follow one another, so that large ones are not copied. */
export type JsonText = Uint8Array | readonly Uint8Array[]

/** A JSON object, in parts; the caller orders the names. */
export function jsonMembers(list: readonly (readonly [name: string, json: JsonText])[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (const [index, [name, value]] of list.entries()) {
    parts.push(
      utf8(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`),
      ...(value instanceof Uint8Array ? [value] : value),
    )
  }
  return [utf8('{'), ...parts, utf8('}')]
}

const tagBytes = 16

/** 32 hex digits. `asked` holds hashes of blocks, never `head`. */
export function answerTag(dialect: string, asked: object): string {
  return toHex(sha3256(canonicalBytes(fromPlain({ dialect, asked }))).subarray(0, tagBytes))
}
