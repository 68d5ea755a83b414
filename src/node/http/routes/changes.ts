// PATCH and DELETE of a dataset, and POST /datasets/{id}/restore (docs/decisions/datasets.md).

import { defined } from '../../../libraries/base/collections.ts'
import type { Deletion } from '../../../libraries/odf/chain/records.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { canSee, demandKeeper, keeps } from '../../access/scopes.ts'
import { type DatasetChain, viewOf } from '../../catalog/dataset-chain.ts'
import { changeOf, changesRecord, keepingEntered } from '../../gateway/change-dataset.ts'
import { traceparentOf } from '../../gateway/controls.ts'
import { membersOf, withoutKind } from '../../gateway/new-dataset.ts'
import { demandKnown } from '../../gateway/refusals.ts'
import { datasetIdPattern } from '../../../libraries/base/ids/identifiers.ts'
import { durationMs } from '../../../libraries/base/clock.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import type { JsonValue } from '../../../libraries/base/json/value.ts'
import { foldAscii, parseAliasText } from '../../../libraries/model/names.ts'
import { aliasOf, datasetOf, nameOf } from '../access.ts'
import type { GatewayContext } from '../context.ts'
import { DatasetParams } from '../request-target.ts'
import { listed, unknownId } from './datasets.ts'

const IdParams = Type.Object({ id: Type.String({ maxLength: 100, description: 'did:odf:fed01…' }) })
const DeleteQuery = Type.Object(
  {
    grace: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'How long it can be restored, such as 0s or 24h (default: --delete-grace).',
      }),
    ),
  },
  { additionalProperties: false },
)
const longestGraceMs = 365 * 24 * 3_600_000

/** Registers the changing and deleting of datasets. */
export function registerChanges(app: FastifyInstance, context: GatewayContext): void {
  const { catalog, gateway } = context
  app.patch(
    '/:account/:dataset',
    {
      config: { right: 'create', reads: 'tokens' },
      // Name and right come before the body is read.
      onRequest: async (request) => void (await nameOf(catalog, request, 'create')),
      schema: { params: DatasetParams },
    },
    async (request, reply) => {
      const { chain } = await datasetOf(catalog, request, 'create')
      const asked = changeOf((request.body ?? undefined) as JsonValue | undefined, chain) // the parser keeps tokens here
      const change = context.without.includes('ledger') ? asked : keepingEntered(asked, chain.name)
      if (changesRecord(change)) demandKeeper(request.principal, chain.name)
      if (change.alias !== undefined) demandKeeper(request.principal, { alias: change.alias })
      const traceparent = traceparentOf(request.headers)
      await gateway.change(chain, traceparent === undefined ? change : { ...change, traceparent })
      return reply.header('cache-control', 'no-cache').send(stateOf(chain))
    },
  )
  registerDeletion(app, context)
  registerRestoring(app, context)
}

function registerRestoring(app: FastifyInstance, context: GatewayContext): void {
  const { catalog, gateway, clock } = context
  app.get('/datasets/deleted', { config: { right: 'create' } }, async (request, reply) => {
    const nowMs = clock.nowMs()
    const deletions = (await catalog.deletions())
      .filter(({ name, until }) => nowMs < Date.parse(until) && keeps(request.principal, name))
      .sort((a, b) => (a.at < b.at ? 1 : -1))
    return reply.header('cache-control', 'no-cache').send({ datasets: deletions.map(toldOf) })
  })
  app.post(
    '/datasets/:id/restore',
    { config: { right: 'create', reads: 'tokens' }, schema: { params: IdParams } },
    async (request, reply) => {
      const { id } = request.params as Static<typeof IdParams> // IdParams validated it
      const deletion = await catalog.deletionOf(idOf(id))
      if (deletion === undefined || !canSee(request.principal, deletion.name)) {
        const chain = await visible(context, request, id)
        throw new NodeError('DatasetExists', `The dataset '${chain.name.alias}' is not deleted.`)
      }
      demandKeeper(request.principal, deletion.name)
      const body = (request.body ?? new Map()) as JsonValue // the parser keeps tokens here
      const asked = membersOf(body, ['alias'])('alias', (value) => (typeof value === 'string' ? value : ''))
      const alias = asked === undefined ? deletion.name.alias : parseAliasText(asked).text
      demandKeeper(request.principal, { alias })
      const chain = await gateway.restore(deletion, alias)
      return reply.header('cache-control', 'no-cache').send(stateOf(chain))
    },
  )
}

function registerDeletion(app: FastifyInstance, context: GatewayContext): void {
  const { catalog, gateway, deleteGraceMs } = context
  const config = { right: 'create' } as const
  const remove = async (request: FastifyRequest, chain: DatasetChain): Promise<object> => {
    demandKeeper(request.principal, chain.name)
    const { grace } = request.query as Static<typeof DeleteQuery> // DeleteQuery validated it
    const graceMs = grace === undefined ? deleteGraceMs : graceOf(grace)
    return toldOf(await gateway.delete(chain, { ifMatch: ifMatchOf(request, chain), graceMs }))
  }
  app.delete(
    '/:account/:dataset',
    { config, schema: { params: DatasetParams, querystring: DeleteQuery } },
    async (request, reply) => {
      const found = datasetOf(catalog, request, 'create')
      const { chain } = await found.catch((error: unknown) => withDeletion(context, request, error))
      return reply.header('cache-control', 'no-cache').send(await remove(request, chain))
    },
  )
  app.delete(
    '/datasets/:id',
    { config, schema: { params: IdParams, querystring: DeleteQuery } },
    async (request, reply) => {
      const { id } = request.params as Static<typeof IdParams> // IdParams validated it
      const chain = await visible(context, request, id)
      return reply.header('cache-control', 'no-cache').send(await remove(request, chain))
    },
  )
}

/** The dataset with this DID, if it exists for the caller. Throws NodeError `DatasetDeleted`, `DatasetNotFound`. */
async function visible(
  { catalog, clock }: GatewayContext,
  { principal }: FastifyRequest,
  id: string,
): Promise<DatasetChain> {
  const name = await catalog.nameOfId(idOf(id))
  if (name !== undefined && canSee(principal, name)) return catalog.chainOf(name)
  const deletion = await catalog.deletionOf(idOf(id))
  if (deletion !== undefined && canSee(principal, deletion.name)) demandKnown(deletion, clock.nowMs())
  throw unknownId(id)
}

/** Throws `error`; of a missing dataset with the deletion of its name, where the caller can take that back. */
async function withDeletion(
  { catalog, clock }: GatewayContext,
  { params, principal }: FastifyRequest,
  error: unknown,
): Promise<never> {
  if (!(error instanceof NodeError) || error.kind !== 'DatasetNotFound') throw error
  const { folded } = aliasOf({ params })
  const named = (await catalog.deletions()).filter(({ name }) => foldAscii(name.alias) === folded)
  const mine = named.filter(({ name, until }) => keeps(principal, name) && clock.nowMs() < Date.parse(until))
  const [last] = mine.sort((a, b) => (a.at < b.at ? 1 : -1))
  if (last === undefined) throw error
  const hint = `It was deleted at ${last.at}, and can be restored until ${last.until}: POST /datasets/${last.name.id}/restore.`
  throw new NodeError(error.kind, error.message, { ...error.details, hint })
}

function idOf(text: string): string {
  if (datasetIdPattern.test(text)) return text
  throw unknownId(text)
}

function graceOf(text: string): number {
  const ms = durationMs(text)
  if (ms !== undefined && ms <= longestGraceMs) return ms
  throw new NodeError('InvalidParameter', `grace is '${text}', which is not a duration up to 8760h.`, {
    hint: 'Write a text such as 0s, 30m or 24h.',
  })
}

/** The hash, or `*`. Throws NodeError `InvalidParameter`. */
function ifMatchOf({ headers }: FastifyRequest, chain: DatasetChain): string {
  const tag = headers['if-match']?.trim().replace(/^"(.*)"$/, '$1') ?? ''
  if (tag !== '' && !tag.startsWith('W/') && !tag.includes(',')) return tag
  throw new NodeError('InvalidParameter', 'A deletion names the head that it is of: If-Match.', {
    hint: `Send If-Match: "${chain.head.hash}" (the ETag of refs/head), or * for whatever the head is.`,
  })
}

function toldOf({ name, at, until }: Deletion): object {
  return { id: name.id, alias: name.alias, deletedAt: at, removedAfter: until }
}

/** All that a change may have set, as it is now. */
function stateOf(chain: DatasetChain): object {
  const { info, license, attachments } = viewOf(chain)
  return {
    ...listed(chain),
    ...(info === undefined ? {} : { info: withoutKind(info) }),
    ...(license === undefined ? {} : { license: withoutKind(license) }),
    ...defined({ attachments }),
  }
}
