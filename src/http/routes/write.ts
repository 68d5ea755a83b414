// POST /api/v2/write and POST /write: line protocol as the clients of InfluxDB send it (docs/decisions/line-protocol.md).
// Answered when it is durable; what does not fit is left out, and told.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { can, datasetNotFound, demand, demandCreate } from '../../access/scopes.ts'
import { lineProtocol } from '../../formats/line-protocol/format.ts'
import type { Misfits } from '../../formats/format.ts'
import { type IngestControls, readControls } from '../../gateway/controls.ts'
import { NodeError } from '../../model/errors.ts'
import { type Alias, parseAliasText } from '../../model/names.ts'
import { demandNotRenamed } from '../access.ts'
import { clientSignal } from '../connections.ts'
import type { GatewayContext } from '../context.ts'
import { bodyOf, count, demandUseful, visibleChain } from './ingest.ts'

const precision = Type.Optional(Type.String({ description: 'Unit of the timestamps: ns (default), us, ms or s.' }))
const unknownFields = Type.Optional(
  Type.String({ description: 'reject, ignore or add; by default add where the token has the scope create.' }),
)
const visibility = Type.Optional(
  Type.String({ description: 'Of the dataset that is made: public or private. With the scope create alone.' }),
)
const WriteQuery = Type.Object({
  bucket: Type.Optional(Type.String({ description: 'Where to: account/dataset.' })),
  precision,
  unknownFields,
  visibility,
})
const FirstWriteQuery = Type.Object({
  db: Type.Optional(Type.String({ description: 'Where to: account/dataset.' })),
  p: Type.Optional(Type.String({ description: 'A token, where there is no Authorization; `u` may be anything.' })),
  precision,
  unknownFields,
  visibility,
})

/** Spellings of both interfaces. */
const units: ReadonlyMap<string, string> = new Map(
  Object.entries({ ns: 'ns', n: 'ns', us: 'us', u: 'us', µ: 'us', ms: 'ms', s: 's' }),
)

export function registerWrite(app: FastifyInstance, context: GatewayContext): void {
  const describes = {
    consumes: ['text/plain', ...lineProtocol.mediaTypes],
    body: Type.String({ description: `Lines such as ${lineProtocol.example}` }),
  }
  const config = { right: 'ingest', stream: true, looseParameters: true, tellsAs: 'influx', describes } as const
  app.post('/api/v2/write', { config, schema: { querystring: WriteQuery } }, (request, reply) =>
    write(context, 'bucket', { request, reply }),
  )
  app.post(
    '/write',
    { config: { ...config, takesPassword: true }, schema: { querystring: FirstWriteQuery } },
    (request, reply) => write(context, 'db', { request, reply }),
  )
}

async function write(
  context: GatewayContext,
  parameter: 'bucket' | 'db',
  { request, reply }: Exchange,
): Promise<FastifyReply> {
  const query = request.query as Readonly<Record<string, string | undefined>> // the schema of the route validated it
  const alias = parseAliasText(named(query[parameter], parameter))
  const { misfits } = await storeAt(context, alias, { request, reply }, ({ mayCreate }) =>
    controlsOf(request, mayCreate),
  )
  if (misfits !== undefined) throw partial(misfits)
  return reply.code(204).send()
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** What the token may do at an address of a producer's own. */
export interface OwnAddress {
  /** The dataset and its columns are made as rows bring them. */
  readonly mayCreate: boolean
}

/**
 * Stores the body in a dataset; durable when this resolves, and told in the headers of the answer. The parameters of such
 * addresses are no rules for other bodies. Resolves to how many records
 * it has that fit, and what was left out. Throws as `ingestRequest`.
 */
export async function storeAt(
  context: GatewayContext,
  alias: Alias,
  { request, reply }: Exchange,
  controlsFor: (address: OwnAddress) => IngestControls,
): Promise<{ readonly records: number; readonly misfits: Misfits | undefined }> {
  const { principal } = request
  const chain = await visibleChain(context, request, alias)
  if (chain === undefined) await demandNotRenamed(context.catalog, principal, alias.text)
  const facts = chain?.name ?? ({ alias: alias.text, visibility: 'public' } as const)
  const mayCreate = can(principal, 'create', facts)
  if (chain === undefined && !mayCreate) throw datasetNotFound(alias.text)
  demand(principal, 'ingest', alias.text, facts)
  const asked = controlsFor({ mayCreate })
  if (asked.create && !mayCreate) demandCreate(principal, alias.text)
  if (chain === undefined && !asked.create) throw datasetNotFound(alias.text)
  if (asked.unknownFields === 'add' && !mayCreate) {
    throw new NodeError('Forbidden', 'This token may not add columns.', { hint: 'It takes the scope create.' })
  }
  const waiting = asked.waiting.kind === 'default' ? ({ kind: 'async' } as const) : asked.waiting
  const controls = { ...asked, waiting, rules: undefined }
  const body = bodyOf(request.body)
  const caller = (): AbortSignal => clientSignal(reply, context.clock)
  const answer = await context.gateway.ingest({ alias, chain, tokenId: principal.tokenId, controls, body, caller })
  count(context, answer)
  const { misfits, body: told } = answer
  if (misfits === undefined && answer.replayed) void reply.header('idempotent-replayed', 'true')
  if (misfits === undefined && 'receiptId' in told) void reply.header('receipt-id', told.receiptId)
  return { records: 'receiptId' in told ? told.records.received : 0, misfits }
}

function named(text: string | undefined, parameter: string): string {
  if (text !== undefined && text !== '') return text
  throw new NodeError('InvalidParameter', `The parameter ${parameter} is missing.`, {
    hint: `Say ${parameter}=account/dataset.`,
  })
}

/** Parameters of ingest that have no place here; others are those of ingest. */
const useless = ['dryRun', 'preset', 'layer', 'charset']

/** Of a repeated body that brings its times nothing is stored twice; the token decides whether columns may be added. */
function controlsOf(request: FastifyRequest, mayCreate: boolean): IngestControls {
  demandUseful(request, useless)
  demandUseful(request, ['eventTimeUnit'], 'Say precision.')
  const { headers } = request
  const query = request.query as Readonly<Record<string, unknown>> & { precision?: string } // WriteQuery, loose parameters
  const { precision = 'ns' } = query
  const eventTimeUnit = units.get(precision)
  if (eventTimeUnit === undefined) {
    throw new NodeError('InvalidParameter', `The parameter precision is '${precision.slice(0, 20)}'.`, {
      hint: 'Use one of: ns, us, ms, s.',
    })
  }
  const controls = readControls(
    { ...headers, 'content-type': lineProtocol.mediaTypes[0] },
    {
      ...(headers['idempotency-key'] === undefined ? { dedupe: 'body' } : {}),
      ...(mayCreate ? { create: 'true' } : {}),
      ...query,
      eventTimeUnit,
    },
  )
  return { ...controls, leavesOutMisfits: true }
}

function partial({ errors, total }: Misfits): NodeError {
  const [first] = errors
  const message = `partial write: line ${first?.line}: ${first?.message} dropped=${total}; all other lines are stored.`
  return new NodeError('RecordsDoNotFit', message, { errors, errorsTotal: total })
}
