// /verify: checks a proof, then re-executes it on the blocks it names (contract.md §5, in that order).

import { concatBytes } from '../lib/bytes.ts'
import type { ErrorKind } from '../model/error-table.ts'
import { DecodeError, NodeError } from '../model/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../model/json.ts'
import { datasetIdBytes } from '../codec/did.ts'
import { multihashText, parseMultihash } from '../codec/multihash.ts'
import {
  type DatasetPin,
  type QueryRequest,
  checkDialect,
  dataFormatOf,
  normaliseInclude,
  schemaFormatOf,
} from '../model/query.ts'
import { checkProof } from '../proof/check.ts'
import { hashCanonical } from '../proof/commitment.ts'
import { type ProofBody, readProofBody } from '../proof/proof-body.ts'
import { type Caller, askingOf } from './caller.ts'
import { Reader, aliasOfParts } from './pin.ts'
import { type Execution, type ReplicaDeps, bindQuery, execute } from './query.ts'

export interface VerifyAnswer {
  readonly ok: true
  readonly signer: { readonly did: string; readonly relation: 'self' | 'known' | 'unknown' }
  readonly engine: { readonly name: string; readonly version: string; readonly dialect: string }
}

/** Throws NodeErrors of contract.md §5 with the kinds of the table; returns only when every check passed. */
export async function verifyProof(
  deps: ReplicaDeps & { readonly trustedSigners: readonly string[] },
  body: JsonValue,
  caller: Caller,
): Promise<VerifyAnswer> {
  const proof = readProofBody(body)
  const request = readInput(proof.input)
  checkProof(proof)
  const proofEngine = proofEngineOf(request.queryDialect, deps.engine.dialect)
  checkLimit(request.limit, deps.limits.resultRows)
  await checkPins(deps, request, caller)
  const run = reExecute(deps, request, caller, { proof, proofEngine })
  const { output } = await (proofEngine.isOurs ? run : run.catch((error: unknown) => blameVersion(error, proofEngine)))
  const actual = hashCanonical(concatBytes(output))
  if (actual !== proof.commitment.outputHash) {
    if (!proofEngine.isOurs) throw inconclusive(proofEngine, 'got another output')
    throw new NodeError(
      'VerificationFailed::OutputMismatch',
      'Running the query again gave another output than the one that was signed.',
      {
        extra: { expected_hash: proof.commitment.outputHash, actual_hash: actual },
      },
    )
  }
  const did = proof.proof.signer
  const relation = did === deps.nodeKey.did ? 'self' : deps.trustedSigners.includes(did) ? 'known' : 'unknown'
  return {
    ok: true,
    signer: { did, relation },
    engine: { name: deps.engine.name, version: deps.engine.version, dialect: deps.engine.dialect },
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
  request: QueryRequest,
  caller: Caller,
  { proof, proofEngine }: { readonly proof: ProofBody; readonly proofEngine: ProofEngine },
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
      schemaFormatText: textOf(proof.input, 'schemaFormat'),
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

const inputMembers: ReadonlySet<string> = new Set([
  'query',
  'queryDialect',
  'dataFormat',
  'include',
  'schemaFormat',
  'datasets',
  'skip',
  'limit',
])

/** The signed input as a request. Throws NodeError `InvalidRequest` that names the member. */
export function readInput(input: JsonObject): QueryRequest {
  for (const name of input.keys()) if (!inputMembers.has(name)) throw wrong(name, 'is not a member of an input')
  const query = textOf(input, 'query')
  if (query === undefined) throw wrong('query', 'is missing')
  const dataFormatText = textOf(input, 'dataFormat') ?? 'JsonAoa'
  const dataFormat = dataFormatOf(dataFormatText)
  if (dataFormat === undefined) throw wrong('dataFormat', 'is not a data format')
  const schemaFormat = schemaFormatOf(textOf(input, 'schemaFormat') ?? 'ArrowJson')
  if (schemaFormat === undefined) throw wrong('schemaFormat', 'is not a schema format that this node writes')
  const include = input.get('include') ?? []
  if (!Array.isArray(include) || !include.every((name) => typeof name === 'string'))
    throw wrong('include', 'is not a list of names')
  return {
    query,
    queryDialect: textOf(input, 'queryDialect') ?? 'SqlDuckDb',
    dataFormat,
    dataFormatText,
    schemaFormat,
    include: readInclude(include),
    includeAbsent: false,
    datasets: readPins(input.get('datasets') ?? []),
    skip: integerOf(input, 'skip', 0),
    limit: integerOf(input, 'limit', 100),
  }
}

function readInclude(names: readonly string[]): QueryRequest['include'] {
  try {
    return normaliseInclude(names, false)
  } catch (cause) {
    if (cause instanceof NodeError) throw wrong('include', 'names what this node does not know')
    throw cause
  }
}

function readPins(value: JsonValue): DatasetPin[] {
  if (!Array.isArray(value)) throw wrong('datasets', 'is not a list')
  return value.map((item, index) => {
    const at = `datasets/${index}`
    if (!(item instanceof Map)) throw wrong(at, 'is not an object')
    for (const name of item.keys())
      if (!['id', 'alias', 'blockHash'].includes(name)) throw wrong(`${at}/${name}`, 'is not known')
    const [id, alias, blockHash] = [textOf(item, 'id'), textOf(item, 'alias'), textOf(item, 'blockHash')]
    if (id === undefined || alias === undefined) throw wrong(at, 'needs id and alias')
    try {
      datasetIdBytes(id)
      return {
        id,
        alias,
        ...(blockHash === undefined ? {} : { blockHash: multihashText(parseMultihash(blockHash).bytes) }),
      }
    } catch (cause) {
      if (cause instanceof DecodeError) throw wrong(at, cause.message)
      throw cause
    }
  })
}

function textOf(object: JsonObject, name: string): string | undefined {
  const value = object.get(name)
  if (value === undefined || typeof value === 'string') return value
  throw wrong(name, 'is not text')
}

function integerOf(object: JsonObject, name: string, absent: number): number {
  const value = object.get(name)
  if (value === undefined) return absent
  const number = value instanceof JsonNumber && /^\d{1,15}$/.test(value.token) ? Number(value.token) : Number.NaN
  if (!Number.isSafeInteger(number)) throw wrong(name, 'is not a whole number')
  return number
}

function wrong(member: string, reason: string): NodeError {
  return new NodeError('InvalidRequest', `input/${member} ${reason}.`, {
    hint: 'Send the saved answer as it was received.',
  })
}
