// One question: pin → gate → run → output bytes → (with a proof) commitment and signature.

import { canonicalBytes } from '../codec/canonical-json.ts'
import { fromPlain } from '../codec/json.ts'
import { schemaBytes } from '../codec/schema-formats.ts'
import { utf8 } from '../lib/bytes.ts'
import type { Limits } from '../lib/limits.ts'
import type { EngineTable } from '../engine/engine-job.ts'
import type { Engine } from '../engine/engine.ts'
import { NodeError } from '../model/errors.ts'
import { type PinnedDataset, type QueryRequest, checkDialect } from '../model/query.ts'
import { commit } from '../proof/commitment.ts'
import type { NodeKey } from '../proof/node-key.ts'
import { signProof } from '../proof/sign.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type MayRead, Reader, pinNames, pinUnused, pinnedList } from './pin.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { jsonMembers } from './json-members.ts'
import { viewFiles } from './view-files.ts'

export interface QueryAnswer {
  /** The whole JSON body. Canonical when it holds a proof. */
  readonly body: Uint8Array
  /** Rows were left out because of `limit`. */
  readonly truncated: boolean
}

export interface ReplicaDeps {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly engine: Engine
  readonly nodeKey: NodeKey
  readonly limits: Limits
}

/** What ran: the output as it is hashed, and what the names were bound to. */
export interface Execution {
  readonly output: Uint8Array
  readonly truncated: boolean
  /** What `input.datasets` says: ordered, with the pins that the statement does not use. */
  readonly pinned: readonly PinnedDataset[]
}

/** How the output is to be spelled. */
export interface OutputSpelling {
  readonly withSchema: boolean
  /** `schemaFormat` member of the output, or none. */
  readonly schemaFormatText: string | undefined
  readonly ascii: boolean
  readonly reproducible: boolean
}

/** Answers a query. Throws NodeErrors of contract.md §4. */
export async function answerQuery(
  deps: ReplicaDeps,
  request: QueryRequest,
  mayRead: MayRead,
  signal: AbortSignal,
): Promise<QueryAnswer> {
  checkDialect(request.queryDialect, deps.engine.dialect)
  const withProof = request.include.includes('Proof')
  const execution = await execute(
    deps,
    request,
    { reader: new Reader(deps.catalog, mayRead), signal },
    {
      withSchema: request.include.includes('Schema') || request.includeAbsent,
      schemaFormatText: request.schemaFormat,
      ascii: withProof,
      reproducible: withProof,
    },
  )
  const { output, truncated } = execution
  if (!request.include.includes('Input')) return { body: jsonMembers([['output', output]]), truncated }
  const input = canonicalBytes(fromPlain(inputOf(request, execution.pinned, deps.engine.dialect)))
  if (!withProof)
    return {
      body: jsonMembers([
        ['input', input],
        ['output', output],
      ]),
      truncated,
    }
  const subQueries = utf8('[]')
  const { commitment, proof } = signProof(commit({ input, output, subQueries }), deps.nodeKey)
  return {
    body: jsonMembers([
      ['commitment', canonicalBytes(fromPlain(commitment))],
      ['input', input],
      ['output', output],
      ['proof', canonicalBytes(fromPlain(proof))],
      ['subQueries', subQueries],
    ]),
    truncated,
  }
}

/** Pins, gates and runs a statement; the output is one JSON object in the given spelling. */
export async function execute(
  deps: ReplicaDeps,
  request: QueryRequest,
  caller: { reader: Reader; signal: AbortSignal },
  spelling: OutputSpelling,
): Promise<Execution> {
  const sqlBytes = utf8(request.query).length
  if (sqlBytes > deps.limits.sqlBytes) {
    throw new NodeError('BodyTooLarge', `The statement has ${sqlBytes} bytes; ${deps.limits.sqlBytes} are allowed.`, {
      limit: { name: 'sqlBytes', value: deps.limits.sqlBytes, unit: 'bytes' },
    })
  }
  const analysis = await deps.engine.analyze(request.query, caller.signal)
  const bindings = await pinNames(caller.reader, analysis.tables, request.datasets)
  const pinned = pinnedList(bindings, await pinUnused(caller.reader, request.datasets ?? [], bindings))
  const tables: EngineTable[] = bindings.map((binding) => ({
    parts: binding.parts,
    files: viewFiles(deps.store, binding.view),
    schema: binding.view.schema,
  }))
  const answer = await deps.engine.run({
    analysis,
    tables,
    reproducible: spelling.reproducible,
    dataFormat: request.dataFormat,
    wantSchema: spelling.withSchema,
    keyOrder: 'canonical',
    ascii: spelling.ascii,
    skip: request.skip,
    limit: request.limit,
    signal: caller.signal,
  })
  const parts: [string, Uint8Array][] = [
    ['data', answer.data],
    ['dataFormat', utf8(JSON.stringify(request.dataFormatText))],
  ]
  if (answer.schema !== undefined) parts.push(['schema', schemaBytes(answer.schema, request.schemaFormat)])
  if (spelling.schemaFormatText !== undefined)
    parts.push(['schemaFormat', utf8(JSON.stringify(spelling.schemaFormatText))])
  return { output: jsonMembers(parts), truncated: answer.truncated, pinned }
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
