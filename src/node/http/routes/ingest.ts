// POST /{account}/{dataset}/ingest: one batch, all of it stored or nothing (docs/spec/http.md §6). GET /receipts/{id}:
// what became of it, asked at any gateway as long as the chain exists.

import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { can, canSee, datasetNotFound, demand, demandCreate } from '../../access/scopes.ts'
import type { DatasetChain } from '../../catalog/dataset-chain.ts'
import type { Formats } from '../../../libraries/formats/registry.ts'
import type { BatchRemarks } from '../../gateway/batch-remarks.ts'
import { readControls } from '../../gateway/controls.ts'
import type { IngestAnswer, IngestRequest } from '../../gateway/gateway.ts'
import { type ParameterName, parameterRows, wordsOf } from '../../../libraries/formats/parameters.ts'
import { presets } from '../../../libraries/formats/presets.ts'
import { takesNoRows } from '../../gateway/refusals.ts'
import { toPlain } from '../../../libraries/base/json/json.ts'
import { HaltError, NodeError } from '../../../libraries/base/errors.ts'
import type { Alias } from '../../../libraries/model/names.ts'
import { schemaToJson } from '../../../libraries/odf/odf-json.ts'
import { aliasOf, demandNotRenamed } from '../access.ts'
import { isBinaryEvent, structuredEvent } from '../binary-event.ts'
import { clientSignal } from '../connections.ts'
import type { GatewayContext } from '../context.ts'
import { DatasetParams } from '../request-target.ts'
import { signedReceipt, withRefusal } from '../signed-documents.ts'

/** Values are judged where they are read, so that their errors name candidates. */
export const IngestQuery = Type.Object(
  Object.fromEntries(
    parameterRows.map(([name, row]) => {
      const words = wordsOf(row)
      const about = words === undefined ? row.about : `${words.join(', ')}: ${row.about}`
      const description = `${about.charAt(0).toUpperCase()}${about.slice(1)}.`
      const text = Type.String({ description })
      const some = Type.Union([Type.String(), Type.Array(Type.String())], { description })
      return [name, Type.Optional(row.takes === 'texts' ? some : text)]
    }),
  ),
)

/** Clients bound the bytes of headers; one sentence always has room. */
const mostWarningChars = 4096

export function registerIngest(app: FastifyInstance, context: GatewayContext): void {
  const { read: known, mediaTypes } = context.formats
  const titles = known.map(({ title }) => title)
  const about = `${known.map((format) => format.about).join('; ')}.`
  const describes = {
    consumes: mediaTypes,
    body: Type.String({ description: about.charAt(0).toUpperCase() + about.slice(1) }),
  }
  const querystring = Type.Object(
    { dataset: Type.Optional(Type.String({ maxLength: 210, description: 'The dataset: account/dataset.' })) },
    { additionalProperties: false },
  )
  app.get('/ingest', { schema: { querystring } }, () => ({
    about: 'POST records to /{account}/{dataset}/ingest.',
    mediaTypes: describes.consumes,
  }))
  app.get('/presets', () => ({ presets }))
  app.post(
    '/:account/:dataset/ingest',
    {
      config: { right: 'ingest', stream: true, looseParameters: true, describes },
      schema: {
        description: `The body is one batch in ${titles.slice(0, -1).join(', ')} or ${titles.at(-1)}. 200: in a block. 202: durable in the log, not yet in a block.`,
        params: DatasetParams,
        querystring: IngestQuery,
      },
    },
    async (request, reply) => {
      const asked = await ingestRequest(context, request)
      const { controls } = asked
      const ingested = context.gateway.ingest({ ...asked, caller: () => clientSignal(reply, context.clock) })
      const answer = await ingested.catch((error: unknown) => {
        throw controls.signsRefusal ? withRefusal(context, asked, error) : error
      })
      count(context, answer)
      if (answer.replayed) void reply.header('idempotent-replayed', 'true')
      if (answer.preferenceApplied !== undefined) void reply.header('preference-applied', answer.preferenceApplied)
      const { ignoredParameters } = controls
      const told = { ...answer.told, ...(ignoredParameters.length === 0 ? {} : { ignoredParameters }) }
      if ('dryRun' in answer.body) {
        const { dryRun, records, fields } = answer.body
        return reply.send({ dryRun, records, schema: toPlain(schemaToJson({ fields })), ...told })
      }
      const { receiptId } = answer.body
      void reply.code(answer.status)
      if (answer.status === 202 || controls.isMinimal) void reply.header('location', `/receipts/${receiptId}`)
      if (controls.isMinimal) {
        tellWarnings(reply, told)
        return reply.header('receipt-id', receiptId).send()
      }
      return reply.send({ ...answer.body, ...(answer.replayed && { replayed: true }), ...told })
    },
  )
}

/** What a request with rows asks for, its right looked at first. Throws as `demand`, `demandNotRenamed` and `readControls`. */
export async function ingestRequest(context: GatewayContext, request: FastifyRequest): Promise<IngestRequest> {
  const alias = aliasOf(request)
  // IngestQuery validated it
  const query = request.query as Record<string, unknown>
  const chain = await visibleChain(context, request, alias)
  if (chain === undefined) await demandNotRenamed(context.catalog, request.principal, alias.text)
  // What is neither true nor false is judged with the other controls.
  if (chain === undefined && (query['create'] ?? 'false') === 'false') throw datasetNotFound(alias.text)
  if (chain === undefined) demandCreate(request.principal, alias.text)
  demand(request.principal, 'ingest', alias.text, chain?.name ?? { alias: alias.text, visibility: 'public' })
  const isEvent = query['preset'] === 'cloudevents' && isBinaryEvent(request)
  const { headers, body } = isEvent ? await structuredEvent(context, request) : request
  const controls = readControls(headers, query, { kept: chain?.name.ingest, formats: context.formats })
  if (controls.create || query['unknownFields'] === 'add') demandCreate(request.principal, alias.text)
  return { alias, chain, tokenId: request.principal.tokenId, controls, body: bodyOf(body, context.formats) }
}

/**
 * The dataset, if there is one for this caller: what is hidden from him is missing. Throws NodeError `LogUnavailable`, with
 * the reason, when its chain is broken, and `Forbidden` to a caller that may not hear the reason.
 */
export async function visibleChain(
  context: GatewayContext,
  request: FastifyRequest,
  alias: Alias,
): Promise<DatasetChain | undefined> {
  const { principal } = request
  try {
    const chain = context.catalog.known(alias.text) ?? (await context.catalog.byAlias(alias.text))
    // mutant: a hidden dataset shows
    return chain !== undefined && canSee(principal, chain.name) ? chain : undefined
  } catch (cause) {
    if (!(cause instanceof HaltError)) throw cause
    const unknown = { alias: alias.text, visibility: 'private' } as const
    if (!canSee(principal, unknown)) return undefined
    demand(principal, 'ingest', alias.text, unknown)
    return takesNoRows(cause)
  }
}

/** Throws NodeError `InvalidParameter` for a parameter of ingest that counts for batches alone, or for none of this kind. */
export function demandUseful(request: FastifyRequest, useless: readonly ParameterName[], hint = 'Leave it out.'): void {
  const given = Object.keys(request.query as object) // loose parameters
  const name = useless.find((one) => given.includes(one))
  if (name === undefined) return
  throw new NodeError('InvalidParameter', `The parameter ${name} counts for nothing at this address.`, { hint })
}

/** The body stream that the content type parser hands over; a request without a body has none. */
export function bodyOf(body: unknown, formats: Formats): Readable {
  if (typeof body === 'object' && body !== null && 'pipe' in body) return body as Readable // handed over by registerJsonBodies
  throw new NodeError('UnsupportedMediaType', 'The request has no Content-Type.', {
    hint: "Send -H 'Content-Type: application/x-ndjson', application/json or text/csv.",
    candidates: formats.mediaTypes,
  })
}

export function count(context: GatewayContext, answer: IngestAnswer): void {
  if ('dryRun' in answer.body || answer.replayed) return
  context.metrics.ingestedRecords.inc(answer.body.records.received)
  context.metrics.ingestedBytes.inc(answer.body.bytes)
}

/** Warnings of an answer without a body for them: in a header, as a list of display strings of RFC 9651. */
export function tellWarnings(reply: FastifyReply, { warnings = [] }: BatchRemarks): void {
  let chars = 0
  const texts = warnings
    .map((text) => `%"${text.replace(/[^ !#$&-~]/gu, escapedBytes)}"`)
    .filter(({ length }) => (chars += length) <= mostWarningChars)
  if (texts.length > 0) void reply.header('ingest-warnings', texts.join(', '))
}

function escapedBytes(character: string): string {
  return Buffer.from(character).toString('hex').replace(/../g, '%$&')
}

export function registerReceipts(app: FastifyInstance, context: GatewayContext): void {
  app.get(
    '/receipts/:id',
    {
      config: { right: 'read' },
      schema: {
        params: Type.Object({ id: Type.String({ maxLength: 1400, description: 'receiptId of an ingest answer.' }) }),
        querystring: Type.Object(
          {
            include: Type.Optional(
              Type.String({
                pattern: '^(?:signature)$',
                description: '`signature`: the receipt is signed by the node, with what its ledger promises.',
              }),
            ),
          },
          { additionalProperties: false },
        ),
      },
    },
    async (request, reply) => {
      const { id } = request.params as { id: string } // validated above
      const { principal } = request
      const { include } = request.query as { include?: string } // validated above
      const found = await context.gateway.receipt(id, (sender, dataset) => {
        return (sender !== undefined && sender === principal.tokenId) || can(principal, 'read', dataset)
      })
      void reply.header('cache-control', 'no-cache')
      return reply.send(include === undefined ? found.receipt : toPlain(await signedReceipt(context, found)))
    },
  )
}
