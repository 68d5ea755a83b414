// GET …/events and GET /events: the blocks of one or more datasets as they are committed, as server-sent events
// (docs/spec/http.md §12).

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { DatasetChain } from '../../catalog/dataset-chain.ts'
import { type DatasetId, datasetIdPattern } from '../../../libraries/base/ids/identifiers.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { Reader } from '../../answers/pin.ts'
import { datasetOf, mayRead, rightsOf } from '../access.ts'
import { networkOf } from '../answer.ts'
import type { ReplicaContext } from '../context.ts'
import { eventStream } from '../event-stream.ts'
import { trueOrFalse } from '../problem.ts'
import { DatasetParams } from '../request-target.ts'

/** Of one stream: their places in the chains have to fit into a header. */
const datasetsMost = 50

const Rows = Type.Optional(
  Type.String({ pattern: trueOrFalse, description: '`true`: with the rows of each block, 1,000 at most.' }),
)

const EventsQuery = Type.Object({ rows: Rows }, { additionalProperties: false })

const SharedQuery = Type.Object(
  {
    dataset: Type.Union([Type.String({ maxLength: 210 }), Type.Array(Type.String({ maxLength: 210 }))], {
      description: `Alias or DID; repeat it for more, ${datasetsMost} at most.`,
    }),
    rows: Rows,
  },
  { additionalProperties: false },
)

export function registerEvents(app: FastifyInstance, context: ReplicaContext): void {
  app.get(
    '/:account/:dataset/events',
    { config: { right: 'read' }, schema: { params: DatasetParams, querystring: EventsQuery } },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const { rows } = request.query as Static<typeof EventsQuery> // EventsQuery validated it
      return await sendEvents(context, { request, reply, chains: [chain], withRows: rows === 'true' })
    },
  )
  app.get('/events', { config: { right: 'read' }, schema: { querystring: SharedQuery } }, async (request, reply) => {
    const { dataset, rows } = request.query as Static<typeof SharedQuery> // SharedQuery validated it
    const names = [dataset].flat()
    if (names.length > datasetsMost) throw tooMany(names.length)
    const reader = new Reader(context.catalog, mayRead(request))
    const chains = new Set<DatasetChain>()
    for (const name of names) chains.add(await reader.need(name))
    return await sendEvents(context, { request, reply, chains: [...chains], withRows: rows === 'true' })
  })
}

interface Asked {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly chains: readonly DatasetChain[]
  readonly withRows: boolean
}

async function sendEvents(context: ReplicaContext, { request, reply, chains, withRows }: Asked): Promise<FastifyReply> {
  const { followers, listeners, logger } = context
  const places = await placesOf(context, request, chains)
  const leave = listeners.enter(request.principal.tokenId ?? networkOf(request.ip))
  // The stream ends when the node does: its connection is of no use after.
  void reply.type('text/event-stream').headers({
    'cache-control': 'no-store',
    connection: 'close',
    'x-accel-buffering': 'no',
  })
  if (request.method === 'HEAD') {
    leave()
    return reply.send()
  }
  const follower = followers.follow(chains, places)
  const names = chains.map(({ name }) => name)
  const stream = eventStream(context, {
    follower,
    withRows,
    rights: rightsOf(context, request, names),
    requestId: request.id,
    onFault: (error) => logger.error({ requestId: request.id, err: String(error) }, 'A stream of events failed'),
  })
  const close = (): void => {
    leave()
    followers.leave(follower)
  }
  if (reply.raw.closed) close()
  else reply.raw.once('close', close)
  // A client that has ended its side may be gone for good, and only bytes to it would show that.
  if (request.raw.socket.readableEnded) followers.leave(follower)
  else request.raw.socket.once('end', () => followers.leave(follower))
  context.watchReader(reply.raw)
  return reply.send(Readable.from(stream, { objectMode: false, highWaterMark: 1 }))
}

/**
 * By dataset, the block after which the listener goes on: what Last-Event-ID says; none where it says nothing. Throws
 * NodeError `InvalidParameter` where it is no list of places, or names one that the chain has not reached.
 */
async function placesOf(
  { catalog }: ReplicaContext,
  { headers }: FastifyRequest,
  chains: readonly DatasetChain[],
): Promise<ReadonlyMap<DatasetId, number>> {
  const text = String(headers['last-event-id'] ?? '')
  const places = new Map<DatasetId, number>()
  if (text === '') return places
  for (const place of text.split(',')) {
    const [, id = '', sequence = ''] = /^ *(did:.+):(\d{1,15}) *$/.exec(place) ?? []
    if (!datasetIdPattern.test(id)) throw noPlace(place)
    places.set(id, Number(sequence))
  }
  for (const chain of chains) {
    const seen = places.get(chain.name.id) ?? -1
    if (seen > chain.headSequence) await catalog.refresh(chain)
    if (seen > chain.headSequence) throw ahead(chain, seen)
  }
  return places
}

function noPlace(place: string): NodeError {
  return new NodeError(
    'InvalidParameter',
    `Last-Event-ID has '${place.slice(0, 100)}', which is not a place in a chain.`,
    {
      hint: 'Send the id of the last event as it came: <did>:<sequence>, separated by commas. Send none to get only new events.',
    },
  )
}

function ahead({ name, headSequence }: DatasetChain, seen: number): NodeError {
  return new NodeError(
    'InvalidParameter',
    `Last-Event-ID names block ${seen} of ${name.alias}, whose head is block ${headSequence}.`,
    { hint: 'Send the id of an event of this node, or none for what comes from now on.' },
  )
}

function tooMany(count: number): NodeError {
  return new NodeError(
    'InvalidParameter',
    `${count} datasets are named; one stream tells of ${datasetsMost} at most.`,
    {
      hint: 'Open another stream for the others.',
    },
  )
}
