// /verify: checks a proof, then re-executes it on the blocks it names (contract.md §5, in that order).

import type { Stability } from '../engine/stability.ts'
import type { ErrorKind } from '../model/error-table.ts'
import { NodeError } from '../model/errors.ts'
import { checkDialect, type QueryRequest } from '../model/query.ts'
import type { ReadProof } from '../proof/read-proof.ts'
import type { WorkPool } from '../work/jobs.ts'
import { aliasOfParts, askingOf, type Caller, Reader } from './pin.ts'
import { bindQuery, execute, type Execution, type ReplicaDeps } from './query.ts'

export interface VerifyDeps extends ReplicaDeps {
  readonly trustedSigners: readonly string[]
  readonly work: WorkPool
  /** Every did:key with which nodes over this store have signed. */
  readonly signers: () => Promise<readonly string[]>
}

export interface VerifyAnswer {
  readonly ok: true
  readonly signer: { readonly did: string; readonly relation: 'self' | 'known' | 'unknown' }
  readonly engine: {
    readonly name: string
    readonly version: string
    readonly dialect: string
    readonly stability: Stability
  }
}

/** The second half of contract.md §5, after `readProof`. Throws its NodeErrors; returns only when every check passed. */
export async function verifyProof(deps: VerifyDeps, proof: ReadProof, caller: Caller): Promise<VerifyAnswer> {
  const { request } = proof
  const proofEngine = proofEngineOf(request.queryDialect, deps.engine.dialect)
  checkLimit(request.limit, deps.limits.resultRows)
  await checkPins(deps, request, caller)
  const run = reExecute(deps, proof, { caller, proofEngine })
  const { output, stability } = await (proofEngine.isOurs
    ? run
    : run.catch((error: unknown) => blameVersion(error, proofEngine)))
  const actual = await deps.work.run('hash', output, { settings: undefined, signal: caller.signal })
  if (actual !== proof.outputHash) {
    if (!proofEngine.isOurs) throw inconclusive(proofEngine, 'got another output')
    throw new NodeError(
      'VerificationFailed::OutputMismatch',
      'Running the query again gave another output than the one that was signed.',
      {
        extra: { expected_hash: proof.outputHash, actual_hash: actual },
      },
    )
  }
  const did = proof.signer
  const isOwn = did === deps.nodeKey.did || (await deps.signers()).includes(did)
  const relation = isOwn ? 'self' : deps.trustedSigners.includes(did) ? 'known' : 'unknown'
  return {
    ok: true,
    signer: { did, relation },
    engine: { name: deps.engine.name, version: deps.engine.version, dialect: deps.engine.dialect, stability },
  }
}

/** Which engine and normaliser a proof names. Another version than ours is tried, and what fails then is no accusation. */
interface ProofEngine {
  readonly isOurs: boolean
  readonly named: string
  readonly ours: string
  /** Outputs of normaliser 1 do not say that rows were left out. */
  readonly tellsTruncation: boolean
}

function proofEngineOf(named: string, ours: string): ProofEngine {
  const tellsTruncation = !named.endsWith('-1')
  try {
    checkDialect(named, ours)
    return { isOurs: true, named, ours, tellsTruncation }
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'EngineUnavailable')
      return { isOurs: false, named, ours, tellsTruncation }
    throw error
  }
}

function inconclusive({ named, ours }: ProofEngine, what: string, cause?: unknown): NodeError {
  return new NodeError(
    'VerificationInconclusive::EngineUnavailable',
    `The proof names ${named}; this node runs ${ours} and ${what}.`,
    {
      extra: { proof_engine: named, node_engine: ours },
      hint: 'Verify on a node with that engine version.',
      ...(cause === undefined ? {} : { cause }),
    },
  )
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

/** Throws in place of a refusal that the proof's own version may not know; any other error as it is. */
function blameVersion(error: unknown, engine: ProofEngine): never {
  if (!(error instanceof NodeError) || !refusalKinds.has(error.kind)) throw error
  throw inconclusive(engine, `refuses the query: ${error.message.replace(/\.$/, '')}`, error)
}

function checkLimit(limit: number, most: number): void {
  if (limit <= most) return
  throw new NodeError('InvalidRequest', `input/limit is ${limit}; at most ${most} rows are answered at once here.`, {
    limit: { name: 'resultRows', value: most, unit: 'rows' },
    hint: 'Verify on a node with a higher limit.',
  })
}

/** Every pin names a dataset and a block that the caller may read; else the kinds of a failed verification. */
async function checkPins(deps: ReplicaDeps, request: QueryRequest, caller: Caller): Promise<void> {
  const reader = new Reader(deps.catalog, caller.mayRead)
  for (const pin of request.datasets ?? []) {
    if (pin.blockHash === undefined) {
      throw new NodeError('InvalidRequest::UnpinnedDataset', `The dataset '${pin.alias}' is not pinned to a block.`, {
        extra: { dataset_id: pin.id },
      })
    }
    const chain = await reader.find(pin.id)
    if (chain === undefined) {
      throw new NodeError('VerificationFailed::DatasetNotFound', `The dataset ${pin.id} is not known here.`, {
        extra: { dataset_id: pin.id },
        hint: 'Verify on a node that holds it.',
      })
    }
    if (chain.sequenceOf(pin.blockHash) === undefined) await deps.catalog.refresh(chain)
    if (chain.sequenceOf(pin.blockHash) === undefined) {
      throw new NodeError(
        'VerificationFailed::DatasetBlockNotFound',
        `The block ${pin.blockHash} is not in the chain of ${pin.id} here.`,
        {
          extra: { dataset_id: pin.id, block_hash: pin.blockHash },
        },
      )
    }
  }
}

async function reExecute(
  deps: ReplicaDeps,
  { request, schemaFormatText }: ReadProof,
  { caller, proofEngine }: { readonly caller: Caller; readonly proofEngine: ProofEngine },
): Promise<Execution> {
  const pinned = new Set((request.datasets ?? []).map((pin) => pin.alias.toLowerCase()))
  const analysis = await deps.engine.analyze(request.query, askingOf(deps.catalog, caller))
  for (const name of analysis.tables) {
    const alias = aliasOfParts(name.parts)
    if (!pinned.has(alias.toLowerCase())) {
      throw new NodeError(
        'InvalidRequest::UnpinnedDataset',
        `The query names '${alias}', which input.datasets does not pin.`,
        name.position === undefined ? {} : { position: name.position },
      )
    }
  }
  try {
    const bound = await bindQuery(deps, request, caller)
    return await execute(deps, request, {
      bound,
      caller,
      withSchema: request.include.includes('Schema'),
      schemaFormatText,
      ascii: true,
      reproducible: true,
      tellsTruncation: proofEngine.tellsTruncation,
    })
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'NotReproducible') {
      throw new NodeError('VerificationFailed::NotReproducible', error.message, error.details)
    }
    throw error
  }
}
