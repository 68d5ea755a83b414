// A proof as /verify takes it: its hashes and signature checked, and of its values only what running the query again
// needs. What is left is small, however large the answer was.

import { type Hash, datasetIdBytes, multihashBytes, multihashText } from '../base/ids/identifiers.ts'
import { fromPlain } from '../base/json/json.ts'
import { checked, list, object, optional, refuse, type Shape, ShapeError, text } from '../base/json/shape.ts'
import { utf8 } from '../base/bytes.ts'
import { NodeError } from '../base/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import { type Parameters, readParameters } from '../model/parameters.ts'
import { type DatasetPin, type QueryRequest, readInclude, schemaFormatOf } from '../model/query.ts'
import { jsonLayoutOf } from '../columnar/outputs/layouts.ts'
import { checkProof } from './check.ts'
import { decoded, readProofBody } from './proof-body.ts'

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
 * Shape, hashes and signature of a saved answer, in the order of docs/spec/http.md §5. Throws NodeErrors `InvalidRequest`,
 * `BodyTooLarge` for a statement over `sqlBytes`, and those of `checkProof`.
 */
export function readProof(value: JsonValue, sqlBytes: number): ReadProof {
  const body = readProofBody(value)
  const input = readInput(body.input)
  checkProof(body)
  demandSqlSize(input.request, sqlBytes)
  return { ...input, outputHash: body.commitment.outputHash, signer: body.proof.signer }
}

/** Throws NodeError `BodyTooLarge` for a statement over its limit; its parameters have another such limit. */
export function demandSqlSize(
  { query, parameters }: Pick<QueryRequest, 'query' | 'parameters'>,
  sqlBytes: number,
): void {
  const values = parameters?.values.map(({ name, text }) => name + text).join('') ?? ''
  for (const [what, text] of [
    ['The statement has', query],
    ['The parameters have', values],
  ] as const) {
    const bytes = utf8(text).length
    if (bytes <= sqlBytes) continue
    throw new NodeError('BodyTooLarge', `${what} ${bytes} bytes; ${sqlBytes} are allowed.`, {
      limit: { name: 'sqlBytes', value: sqlBytes, unit: 'bytes' },
    })
  }
}

const wholeNumber: Shape<number> = (value) =>
  value instanceof JsonNumber && /^\d{1,15}$/.test(value.token) ? Number(value.token) : refuse('is not a whole number')

const pin: Shape<DatasetPin> = object({
  id: decoded((id) => {
    datasetIdBytes(id)
    return id
  }),
  alias: checked(text(), ({ length }) =>
    length > maxAliasChars ? `is longer than ${maxAliasChars} characters` : undefined,
  ),
  blockHash: optional(decoded((hash) => multihashText(multihashBytes(hash)))),
  blockTime: optional(text()),
})

/** As in a request. */
const parameters: Shape<Parameters> = (value) => {
  try {
    return readParameters(fromPlain(value))
  } catch (error) {
    if (error instanceof NodeError) return refuse(`cannot be: ${error.message.replace(/\.$/, '')}`)
    throw error
  }
}

const inputShape = object({
  query: text(),
  queryDialect: optional(text()),
  dataFormat: optional(text()),
  schemaFormat: optional(text()),
  include: optional(list(text())),
  datasets: optional(
    checked(list(pin), ({ length }) => (length > maxPins ? `has more than ${maxPins} members` : undefined)),
  ),
  parameters: optional(parameters),
  skip: optional(wholeNumber),
  limit: optional(wholeNumber),
})

/** The signed input as a request, and its `schemaFormat` as it is spelled. Throws NodeError `InvalidRequest`. */
function readInput(value: JsonObject): Pick<ReadProof, 'request' | 'schemaFormatText'> {
  try {
    const input = inputShape(value)
    const dataFormatText = input.dataFormat ?? 'JsonAoa'
    const request: QueryRequest = {
      query: input.query,
      queryDialect: input.queryDialect ?? 'SqlDuckDb',
      dataFormat: jsonLayoutOf(dataFormatText)?.name ?? refuse('has a dataFormat that this node does not write'),
      dataFormatText,
      schemaFormat:
        schemaFormatOf(input.schemaFormat ?? 'ArrowJson') ?? refuse('has a schemaFormat that this node does not write'),
      include: readInclude(input.include ?? []),
      includeAbsent: false,
      datasets: input.datasets ?? [],
      ...(input.parameters && { parameters: input.parameters }),
      skip: input.skip ?? 0,
      limit: input.limit ?? 100,
    }
    return { request, schemaFormatText: input.schemaFormat }
  } catch (error) {
    if (!(error instanceof ShapeError) && !(error instanceof NodeError)) throw error
    const fault =
      error instanceof ShapeError
        ? `${error.at === '' ? '' : `.${error.at}`} ${error.reason}`
        : ' has an unknown include'
    throw new NodeError('InvalidRequest', `input${fault}.`, { hint: 'Send the saved answer as it was received.' })
  }
}
