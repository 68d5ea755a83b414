// /verify: checks a proof, then re-executes it on the blocks it names (contract.md §5, in that order).

import { NodeError } from '../model/errors.ts'
import { type QueryRequest, checkDialect } from '../model/query.ts'
import type { ReadProof } from '../proof/read-proof.ts'
import type { WorkPool } from '../work/work-pool.ts'
import { type MayRead, Reader, aliasOfParts } from './pin.ts'
import { type ReplicaDeps, bindQuery, execute } from './query.ts'

export interface VerifyAnswer {
  readonly ok: true
  readonly signer: { readonly did: string; readonly relation: 'self' | 'known' | 'unknown' }
  readonly engine: { readonly name: string; readonly version: string; readonly dialect: string }
}

/** The second half of contract.md §5, after `readProof`. Throws its NodeErrors; returns only when every check passed. */
export async function verifyProof(
  deps: ReplicaDeps & { readonly trustedSigners: readonly string[]; readonly work: WorkPool },
  proof: ReadProof,
  caller: { readonly mayRead: MayRead; readonly signal: AbortSignal },
): Promise<VerifyAnswer> {
  const { request } = proof
  const sameEngine = checkEngine(request.queryDialect, deps.engine.dialect)
  await checkPins(deps, request, caller)
  const output = await reExecute(deps, proof, caller)
  const actual = await deps.work.run('hash', [output], { settings: undefined, signal: caller.signal })
  if (actual !== proof.outputHash) {
    if (!sameEngine) {
      throw new NodeError(
        'VerificationInconclusive::EngineUnavailable',
        `The proof names ${request.queryDialect}; this node runs ${deps.engine.dialect} and got another output.`,
        {
          extra: { proof_engine: request.queryDialect, node_engine: deps.engine.dialect },
          hint: 'Verify on a node with that engine version.',
        },
      )
    }
    throw new NodeError(
      'VerificationFailed::OutputMismatch',
      'Running the query again gave another output than the one that was signed.',
      {
        extra: { expected_hash: proof.outputHash, actual_hash: actual },
      },
    )
  }
  const did = proof.signer
  const relation = did === deps.nodeKey.did ? 'self' : deps.trustedSigners.includes(did) ? 'known' : 'unknown'
  return {
    ok: true,
    signer: { did, relation },
    engine: { name: deps.engine.name, version: deps.engine.version, dialect: deps.engine.dialect },
  }
}

/** False when the proof names another version of our engine: it is tried, and a mismatch is no accusation. */
function checkEngine(dialect: string, ours: string): boolean {
  try {
    checkDialect(dialect, ours)
    return true
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'EngineUnavailable') return false
    throw error
  }
}

/** Every pin names a dataset and a block that the caller may read; else the kinds of a failed verification. */
async function checkPins(
  deps: ReplicaDeps,
  request: QueryRequest,
  caller: { readonly mayRead: MayRead },
): Promise<void> {
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
  caller: { readonly mayRead: MayRead; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const pinned = new Set((request.datasets ?? []).map((pin) => pin.alias.toLowerCase()))
  const analysis = await deps.engine.analyze(request.query, caller.signal)
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
    const reader = new Reader(deps.catalog, caller.mayRead)
    const bound = await bindQuery(deps, request, { reader, signal: caller.signal })
    const execution = await execute(deps, request, {
      bound,
      signal: caller.signal,
      withSchema: request.include.includes('Schema'),
      schemaFormatText,
      ascii: true,
      reproducible: true,
    })
    return execution.output
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'NotReproducible') {
      throw new NodeError('VerificationFailed::NotReproducible', error.message, error.details)
    }
    throw error
  }
}
