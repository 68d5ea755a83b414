// Addresses that producers have of their own, such as those of InfluxDB or OpenTelemetry: a body is stored in the dataset that
// they name, made where the token may make it, and what does not fit is left out.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { can, datasetNotFound, demand, demandCreate } from '../access/scopes.ts'
import type { Misfits } from '../../libraries/formats/format.ts'
import type { IngestControls } from '../gateway/controls.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Alias } from '../../libraries/model/names.ts'
import { demandNotRenamed } from './access.ts'
import { clientSignal } from './connections.ts'
import type { GatewayContext } from './context.ts'
import { bodyOf, count, tellWarnings, visibleChain } from './routes/ingest.ts'

export interface Exchange {
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
  const body = bodyOf(request.body, context.formats)
  const caller = (): AbortSignal => clientSignal(reply, context.clock)
  const answer = await context.gateway.ingest({ alias, chain, tokenId: principal.tokenId, controls, body, caller })
  count(context, answer)
  const { misfits, body: told } = answer
  tellWarnings(reply, answer.told)
  if (misfits === undefined && answer.replayed) void reply.header('idempotent-replayed', 'true')
  if (misfits === undefined && 'receiptId' in told) void reply.header('receipt-id', told.receiptId)
  return { records: 'receiptId' in told ? told.records.received : 0, misfits }
}
