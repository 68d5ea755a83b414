// /verify: checks a proof, then runs it again on the blocks it names (docs/spec/http.md §5, in that order).

import { defined } from '../../libraries/base/collections.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { viewOf } from '../catalog/dataset-chain.ts'
import type { Engine } from '../engine/engine.ts'
import type { Engines } from '../engine/engines.ts'
import { notProvable } from '../../libraries/sql/gate.ts'
import type { Stability } from '../../libraries/sql/statement.ts'
import { addingHint } from '../engine/native-engine.ts'
import { versionOf } from '../engine/needed-engine.ts'
import { type Hash, datasetIdPattern } from '../../libraries/base/ids/identifiers.ts'
import type { ErrorKind } from '../../libraries/base/error-table.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Instant } from '../../libraries/model/events.ts'
import { parametersJson } from '../../libraries/model/parameters.ts'
import { checkDialect, type DatasetPin, type QueryRequest } from '../../libraries/model/query.ts'
import { type ExplainedLine, explain } from '../../libraries/proof/explain.ts'
import type { ReadProof } from '../../libraries/proof/read-proof.ts'
import type { SignedAnswer } from '../../libraries/proof/signed-answer.ts'
import type { Retired, Signer } from '../../libraries/proof/signer.ts'
import type { WorkPool } from '../machine/work/work-pool.ts'
import { type BindDeps, bindQuery } from './bind.ts'
import { openTables } from './tables.ts'
import { aliasOfParts, askingOf, type Caller, Reader, sequenceAt } from './pin.ts'
import { execute, type ReplicaDeps } from './query.ts'

/** What a question is run again with: an engine for each version. */
export interface RerunDeps extends BindDeps {
  readonly engines: Engines
}

export interface VerifyDeps extends ReplicaDeps, RerunDeps {
  readonly catalog: ReplicaDeps['catalog'] & Pick<Catalog, 'deletionOf'>
  readonly trustedSigners: readonly string[]
  readonly work: WorkPool
  /** Every key with which nodes over this store have signed. */
  readonly signers: () => Promise<readonly Signer[]>
}

/** What running the question of a proof again has shown: the same rows. */
export interface Rerun {
  readonly engine: {
    readonly name: string
    readonly version: string
    /** SHA-256 of its library, in hex. */
    readonly digest: string
    readonly dialect: string
    readonly stability: Stability
  }
  /** What the file does not say or may say wrongly: found while the query was run again. */
  readonly answer: {
    readonly rows: number
    readonly extent: 'whole' | 'cut'
    /** As in the output that is signed: rows beyond the limit were left out. */
    readonly truncated?: true
    readonly datasets: readonly (DatasetPin & { readonly blockTime: Instant })[]
  }
}

export interface VerifiedSigner {
  readonly did: string
  readonly relation: 'self' | 'known' | 'unknown'
  /** Of a former key of this node. */
  readonly retired?: Retired
}

export interface VerifyAnswer extends Rerun {
  readonly ok: true
  readonly signer: VerifiedSigner
  /** All of it in sentences. */
  readonly explanation: readonly ExplainedLine[]
}

/**
 * The second half of docs/spec/http.md §5, after `readProof`. Throws its NodeErrors; returns only when every check passed.
 */
export async function verifyProof(deps: VerifyDeps, proof: ReadProof, caller: Caller): Promise<VerifyAnswer> {
  const { request, signer: did } = proof
  const hashOf = async (output: readonly Uint8Array[]): Promise<Hash> =>
    await deps.work.run('hash', output, { settings: undefined, signal: caller.signal })
  const { engine, answer } = await runAgain(deps, { proof, hashOf }, caller).catch(async (error: unknown) => {
    if (!(error instanceof NodeError) || error.kind !== 'VerificationFailed::DatasetNotFound') throw error
    throw (await deletedOf(deps, request, caller)) ?? error
  })
  const signer = await signerOf(deps, did)
  const { relation, retired } = signer
  return {
    ok: true,
    signer,
    engine,
    answer,
    explanation: explain({
      answer: { ...asked(request), ...answer },
      signer: did,
      relation,
      stability: engine.stability,
      ...defined({ retired }),
      blockTimes: new Map(answer.datasets.map(({ blockHash = '', blockTime }) => [blockHash, blockTime])),
      isReproduced: true,
    }),
  }
}

async function signerOf({ nodeKey, signers, trustedSigners }: VerifyDeps, did: string): Promise<VerifiedSigner> {
  const own = (await signers()).find((signer) => signer.did === did)
  if (own !== undefined || did === nodeKey.did) return { did, relation: 'self', ...defined({ retired: own?.retired }) }
  return { did, relation: trustedSigners.includes(did) ? 'known' : 'unknown' }
}

const unavailable = 'VerificationInconclusive::EngineUnavailable'

interface ProofToRun {
  readonly proof: ReadProof
  readonly hashOf: (output: readonly Uint8Array[]) => Promise<Hash>
}

/**
 * Runs the question of a proof again over the blocks that it names, on the engine of its dialect where that is here. Throws the
 * NodeErrors of docs/spec/http.md §5 from the dialect on; returns only when the same output came.
 */
export async function runAgain(deps: RerunDeps, given: ProofToRun, caller: Caller): Promise<Rerun> {
  const version = versionOf(given.proof.request.queryDialect)
  const use = async (engine: Engine): Promise<Rerun> => await runOn({ ...deps, engine }, given, caller)
  if (version === undefined) return await use(deps.engine)
  return (await deps.engines.using(version, use)) ?? (await use(deps.engine))
}

async function runOn(deps: BindDeps, { proof, hashOf }: ProofToRun, caller: Caller): Promise<Rerun> {
  const { request } = proof
  const { name, version, dialect } = deps.engine
  const isOurs = isOwnDialect(request.queryDialect, dialect)
  const inconclusive = (what: string, hint = hintOf(request.queryDialect, version), cause?: unknown): NodeError =>
    new NodeError(unavailable, `The proof names ${request.queryDialect}; this node ${what}.`, {
      extra: { proof_engine: request.queryDialect, node_engine: dialect },
      hint,
      ...defined({ cause }),
    })
  checkLimit(request.limit, deps.limits.resultRows)
  const datasets = await checkPins(deps, request, caller)
  const { output, rows, truncated, stability } = await executeAgain(deps, proof, caller).catch((error: unknown) => {
    if (error instanceof NodeError && error.kind === 'EngineUnavailable')
      throw inconclusive('has no native engine', error.details.hint, error)
    if (isOurs || !(error instanceof NodeError) || !refusalKinds.has(error.kind)) throw error
    const what = `runs ${dialect} and refuses the query: ${error.message.replace(/\.$/, '')}`
    throw inconclusive(what, undefined, error)
  })
  const actual = await hashOf(output)
  if (actual !== proof.outputHash) {
    if (!isOurs) throw inconclusive(`runs ${dialect} and got another output`)
    throw new NodeError(
      'VerificationFailed::OutputMismatch',
      'Running the query again gave another output than the one that was signed.',
      { extra: { expected_hash: proof.outputHash, actual_hash: actual } },
    )
  }
  return {
    engine: { name, version, digest: await deps.engine.digest(), dialect, stability },
    answer: { rows, extent: truncated ? 'cut' : 'whole', ...(truncated && { truncated }), datasets },
  }
}

function hintOf(named: string, version: string): string {
  const missing = versionOf(named)
  const isHere = missing === undefined || missing === version
  return isHere ? 'Verify on a node of the release that made it.' : addingHint(missing)
}

function asked({
  query,
  queryDialect,
  parameters,
  skip,
  limit,
}: QueryRequest): Omit<SignedAnswer, 'datasets' | 'extent'> {
  return {
    query,
    ...(parameters === undefined ? {} : { parameters: parametersJson(parameters) }),
    dialect: queryDialect,
    skip,
    limit,
  }
}

/**
 * Whether the proof names the engine and normaliser that run here. Another version is tried, and what fails then is no
 * accusation. Throws NodeError `UnsupportedDialect`.
 */
function isOwnDialect(named: string, ours: string): boolean {
  try {
    checkDialect(named, ours)
    return true
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'EngineUnavailable') return false
    throw error
  }
}

/** What a statement is refused for, which is decided by the version that runs. */
const refusalKinds: ReadonlySet<string> = new Set<ErrorKind>([
  'QueryNotAllowed',
  'SqlSyntax',
  'SqlUnknownName',
  'SqlValue',
  'DuplicateColumn',
  'VerificationFailed::NotReproducible',
])

function checkLimit(limit: number, most: number): void {
  if (limit <= most) return
  throw new NodeError('InvalidRequest', `input/limit is ${limit}; at most ${most} rows are answered at once here.`, {
    limit: { name: 'resultRows', value: most, unit: 'rows' },
    hint: 'Verify on a node with a higher limit.',
  })
}

/** Every pin names a dataset and a block that the caller may read; else the kinds of a failed verification. */
async function checkPins(deps: BindDeps, request: QueryRequest, caller: Caller): Promise<Rerun['answer']['datasets']> {
  const reader = new Reader(deps.catalog, caller.mayRead)
  const found: Rerun['answer']['datasets'][number][] = []
  for (const { id, alias, blockHash, blockTime: told } of request.datasets ?? []) {
    if (blockHash === undefined) {
      throw new NodeError('InvalidRequest::UnpinnedDataset', `The dataset '${alias}' is not pinned to a block.`, {
        extra: { dataset_id: id },
      })
    }
    const chain = await reader.find(id)
    if (chain === undefined) {
      throw new NodeError('VerificationFailed::DatasetNotFound', `The dataset ${id} is not known here.`, {
        extra: { dataset_id: id },
        hint: 'Verify on a node that holds it.',
      })
    }
    const sequence = await sequenceAt(deps.catalog, chain, blockHash)
    if (sequence === undefined) {
      throw new NodeError(
        'VerificationFailed::DatasetBlockNotFound',
        `The block ${blockHash} is not in the chain of ${id} here.`,
        { extra: { dataset_id: id, block_hash: blockHash } },
      )
    }
    const blockTime = viewOf(chain, sequence).block.systemTime
    if (told !== undefined && told !== blockTime) {
      throw new NodeError(
        'VerificationFailed::DatasetBlockNotFound',
        `The block ${blockHash} of ${id} was made ${blockTime}, not at the time that the proof says.`,
        { extra: { dataset_id: id, block_hash: blockHash } },
      )
    }
    found.push({ id, alias, blockHash, blockTime })
  }
  return found
}

/** The error for a proof over a deleted dataset, if the caller could read it; otherwise undefined. */
async function deletedOf(
  { catalog }: Pick<VerifyDeps, 'catalog'>,
  { datasets = [] }: QueryRequest,
  { mayRead }: Caller,
): Promise<NodeError | undefined> {
  for (const { id } of datasets) {
    const deletion = datasetIdPattern.test(id) ? await catalog.deletionOf(id) : undefined
    if (deletion === undefined || !mayRead(deletion.name)) continue
    const { at, name } = deletion
    return new NodeError(
      'VerificationInconclusive::DatasetDeleted',
      `The dataset '${name.alias}' was deleted at ${at}, so the query cannot be run again here.`,
      {
        extra: { dataset_id: id, deleted_at: at },
        hint: 'Hashes and signature are good. Verify on a node that holds the dataset, or with a bundle of the proof.',
      },
    )
  }
  return undefined
}

async function executeAgain(
  deps: BindDeps,
  { request, schemaFormatText }: ReadProof,
  caller: Caller,
): ReturnType<typeof execute> {
  const pinned = new Set((request.datasets ?? []).map((pin) => pin.alias.toLowerCase()))
  const analysis = await deps.engine.analyze(request.query, askingOf(deps.catalog, caller))
  for (const name of analysis.tables) {
    const alias = aliasOfParts(name.parts)
    if (pinned.has(alias.toLowerCase())) continue
    throw new NodeError(
      'InvalidRequest::UnpinnedDataset',
      `The query names '${alias}', which input.datasets does not pin.`,
      name.position === undefined ? {} : { position: name.position },
    )
  }
  try {
    if (analysis.catalogue !== undefined) throw notProvable(analysis.catalogue)
    const bound = await bindQuery(deps, { ...request, isProven: true }, caller)
    return await execute(deps, request, {
      bound,
      tables: await openTables(deps, bound, caller),
      caller,
      withSchema: request.include.includes('Schema'),
      schemaFormatText,
      forProof: true,
      isSigned: true,
    })
  } catch (error) {
    if (!(error instanceof NodeError && error.kind === 'NotReproducible')) throw error
    throw new NodeError('VerificationFailed::NotReproducible', error.message, error.details)
  }
}
