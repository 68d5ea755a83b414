// A proof as /verify takes it: its hashes and signature checked, and of its values only what running the query again
// needs. What is left is small, however large the answer was.

import { datasetIdBytes } from '../ids/did.ts'
import { multihashBytes, multihashText } from '../ids/multihash.ts'
import { utf8 } from '../lib/bytes.ts'
import { DecodeError, NodeError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../model/json.ts'
import { type DatasetPin, normaliseInclude, type QueryRequest, schemaFormatOf } from '../model/query.ts'
import { outputFormatOf } from '../outputs/formats.ts'
import { checkProof } from './check.ts'
import { readProofBody } from './proof-body.ts'

/** Plain values only: it is copied between threads. */
export interface ReadProof {
  readonly request: QueryRequest
  /** `schemaFormat` as the input spells it, if it does. */
  readonly schemaFormatText: string | undefined
  readonly outputHash: Hash
  /** did:key of the signer. */
  readonly signer: string
}

/** Datasets that a query may pin, as in a request. */
const maxPins = 1000
const maxAliasChars = 210

/**
 * Shape, hashes and signature of a saved answer, in the order of contract.md §5. Throws NodeErrors `InvalidRequest`,
 * `BodyTooLarge` for a statement over `sqlBytes`, and those of `checkProof`.
 */
export function readProof(value: JsonValue, sqlBytes: number): ReadProof {
  const body = readProofBody(value)
  const request = readInput(body.input)
  checkProof(body)
  demandSqlSize(request.query, sqlBytes)
  return {
    request,
    schemaFormatText: textOf(body.input, 'schemaFormat'),
    outputHash: body.commitment.outputHash,
    signer: body.proof.signer,
  }
}

/** Throws NodeError `BodyTooLarge` for a statement over its limit. */
export function demandSqlSize(sql: string, sqlBytes: number): void {
  const bytes = utf8(sql).length
  if (bytes <= sqlBytes) return
  throw new NodeError('BodyTooLarge', `The statement has ${bytes} bytes; ${sqlBytes} are allowed.`, {
    limit: { name: 'sqlBytes', value: sqlBytes, unit: 'bytes' },
  })
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
function readInput(input: JsonObject): QueryRequest {
  for (const name of input.keys()) if (!inputMembers.has(name)) throw wrong(name, 'is not a member of an input')
  const query = textOf(input, 'query')
  if (query === undefined) throw wrong('query', 'is missing')
  const dataFormatText = textOf(input, 'dataFormat') ?? 'JsonAoa'
  const dataFormat = outputFormatOf(dataFormatText)?.name
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
  if (value.length > maxPins) throw wrong('datasets', `has more than ${maxPins} members`)
  return value.map((item, index) => {
    const at = `datasets/${index}`
    if (!(item instanceof Map)) throw wrong(at, 'is not an object')
    for (const name of item.keys())
      if (!['id', 'alias', 'blockHash'].includes(name)) throw wrong(`${at}/${name}`, 'is not known')
    const [id, alias, blockHash] = [textOf(item, 'id'), textOf(item, 'alias'), textOf(item, 'blockHash')]
    if (id === undefined || alias === undefined) throw wrong(at, 'needs id and alias')
    if (alias.length > maxAliasChars) throw wrong(`${at}/alias`, `is longer than ${maxAliasChars} characters`)
    try {
      datasetIdBytes(id)
      return {
        id,
        alias,
        ...(blockHash === undefined ? {} : { blockHash: multihashText(multihashBytes(blockHash)) }),
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
