// GET …/metadata and GET …/tail: what a dataset says of itself, and its newest rows.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { DatasetChain } from '../../catalog/dataset-chain.ts'
import { hashOf } from '../../catalog/objects.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import type { FileFacts } from '../../../libraries/columnar/outputs/file-format.ts'
import { readFileOptions } from '../../../libraries/formats/file-choices.ts'
import { openFileTail } from '../../answers/files.ts'
import { answerMetadata, parseAspects } from '../../answers/metadata.ts'
import { openTail } from '../../answers/tail.ts'
import { datasetOf, nameOf, rightsOf } from '../access.ts'
import { callerOf, isUnchanged, keepForEver, networkOf, sendAnswer } from '../answer.ts'
import { type HttpContext, ledgerOf, type ReplicaContext } from '../context.ts'
import { fileNameOf, sendFile } from '../file-answer.ts'
import { At, DataFormatText, DatasetParams, DecimalText, FileParameters, SchemaFormatText } from '../request-target.ts'
import { oneFormat, readSchemaFormat, readWindow } from './query.ts'

const MetadataQuery = Type.Object(
  {
    include: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Comma list of attachments, info, ledger, license, refs, schema, seed, vocab.',
      }),
    ),
    schemaFormat: Type.Optional(SchemaFormatText),
    at: At,
  },
  { additionalProperties: false },
)

const longestWaitSeconds = 60
/** Parameter of routes that wait for a block. */
export const WaitText = Type.Optional(
  DecimalText(`Seconds to wait, ${longestWaitSeconds} at most, while the head is the one that If-None-Match names.`),
)

const TailQuery = Type.Object(
  {
    skip: Type.Optional(DecimalText('Rows left out, counted from the newest.')),
    limit: Type.Optional(DecimalText('Rows at most; 100 by default.')),
    dataFormat: Type.Optional(DataFormatText),
    format: Type.Optional(DataFormatText),
    schemaFormat: Type.Optional(SchemaFormatText),
    at: At,
    wait: WaitText,
    ...FileParameters,
  },
  { additionalProperties: false },
)

const rightsEveryMs = 5_000

export function registerMetadata(app: FastifyInstance, context: HttpContext): void {
  app.get(
    '/:account/:dataset/metadata',
    { config: { right: 'read' }, schema: { params: DatasetParams, querystring: MetadataQuery } },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const query = request.query as Static<typeof MetadataQuery> // MetadataQuery validated it
      const aspects = parseAspects(query.include)
      const format = readSchemaFormat(query.schemaFormat) ?? 'ArrowJson'
      const { body, view } = await answerMetadata(context.catalog, chain, {
        aspects,
        schemaFormat: format,
        at: query.at === undefined ? undefined : hashOf(query.at),
        ledgerOf: async ({ block }) => await ledgerOf(context)?.secretsOf(chain.name, block.sequence),
      })
      void reply.header('dataset-head', `${chain.name.alias};block="${view.block.hash}"`)
      // Of what is secret of blocks, caches keep nothing.
      if (aspects.includes('ledger')) {
        return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(body)
      }
      if (query.at === undefined) void reply.header('cache-control', 'no-cache')
      else keepForEver(reply, context, chain.name)
      if (isUnchanged(request, reply, [view.block.hash, ...aspects, format].join('.'))) return reply.code(304).send()
      return reply.type('application/json; charset=utf-8').send(body)
    },
  )
}

export function registerTail(app: FastifyInstance, context: ReplicaContext): void {
  app.get(
    '/:account/:dataset/tail',
    { config: { right: 'read' }, schema: { params: DatasetParams, querystring: TailQuery } },
    async (request, reply) => {
      const name = await nameOf(context.catalog, request, 'read')
      // A long chain takes its time to be read.
      if (context.catalog.known(name.alias) === undefined) context.replica.engine.expectOwn()
      const chain = await context.catalog.chainOf(name)
      const query = request.query as Static<typeof TailQuery> // TailQuery validated it
      const dataFormat = oneFormat(query)
      const format = context.outputs.asked(dataFormat, request.headers.accept)
      const waitMs = waitMsOf(query.wait)
      if (waitMs > 0) demandMayWait(query, format)
      if (format !== undefined) return await respondFile(context, request, { reply, format, chain, query })
      const asked = {
        alias: chain.name.alias,
        ...readWindow({ ...query, dataFormat }, 'JsonAos', context),
        schemaFormat: readSchemaFormat(query.schemaFormat),
        at: query.at === undefined ? undefined : hashOf(query.at),
      }
      const caller = callerOf(context, request, reply)
      let tail = await openTail(context.replica, asked, caller)
      if (waitMs > 0 && isUnchanged(request, reply, tail.tag)) {
        await waitForBlock(context, request, { chain, seen: tail.head, waitMs, signal: caller.signal })
        if (context.followers.isDraining) void reply.header('connection', 'close')
        tail = await openTail(context.replica, asked, caller)
      }
      void reply.header('dataset-head', `${chain.name.alias};block="${tail.head}"`)
      if (query.at === undefined) void reply.header('cache-control', 'no-cache')
      else keepForEver(reply, context, chain.name)
      if (isUnchanged(request, reply, tail.tag)) return reply.code(304).send()
      const answer = await tail.answer()
      if (answer.truncated) void reply.header('result-truncated', 'true')
      return sendAnswer(context, reply, answer)
    },
  )
}

/** Milliseconds of the parameter `wait`; 0 where it is absent. Throws NodeError `InvalidParameter`. */
export function waitMsOf(wait: string | undefined): number {
  const seconds = Number(wait ?? 0)
  if (seconds > longestWaitSeconds) {
    throw new NodeError('InvalidParameter', `wait is ${seconds}; a node waits ${longestWaitSeconds} seconds at most.`, {
      hint: `Ask again with the tag of the answer, or read the stream of …/events.`,
    })
  }
  return seconds * 1000
}

/** Throws NodeError `InvalidParameter`. */
function demandMayWait({ at }: Static<typeof TailQuery>, format: FileFacts | undefined): void {
  if (at === undefined && format === undefined) return
  const fault = at === undefined ? 'A file does not wait.' : 'A block that is named stays as it is.'
  throw new NodeError('InvalidParameter', fault, { hint: 'Leave wait out, or ask for the head as JSON.' })
}

/**
 * Resolves when the dataset has moved on from the block `seen`, when the time is over, when the caller has left or the node
 * shuts down. Throws NodeErrors `Saturated`, `QuotaExceeded`, and what takes the caller's right away meanwhile.
 */
export async function waitForBlock(
  context: ReplicaContext,
  request: FastifyRequest,
  of: {
    readonly chain: DatasetChain
    readonly seen: string
    readonly waitMs: number
    /** Aborts when the caller has left. */
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { chain, seen, waitMs, signal } = of
  const { listeners, followers } = context
  const leave = listeners.enter(request.principal.tokenId ?? networkOf(request.ip))
  const follower = followers.follow([chain], new Map([[chain.name.id, chain.sequenceOf(seen) ?? -1]]))
  signal.addEventListener('abort', () => followers.leave(follower), { once: true })
  const rights = rightsOf(context, request, [chain.name])
  try {
    for (let leftMs = waitMs; leftMs > 0 && !follower.isBehind && !followers.isDraining; leftMs -= rightsEveryMs) {
      await followers.next(follower, Math.min(leftMs, rightsEveryMs))
      if (follower.state === 'left') return
      if (!follower.isBehind) await rights()
    }
    // Also where nobody waited: what has come since the request may have ended its right.
    await rights()
  } finally {
    followers.leave(follower)
    leave()
  }
}

/** Answers with the newest rows as a file. */
async function respondFile(
  context: ReplicaContext,
  request: FastifyRequest,
  {
    reply,
    format,
    chain,
    query,
  }: {
    readonly reply: FastifyReply
    readonly format: FileFacts
    readonly chain: DatasetChain
    readonly query: Static<typeof TailQuery>
  },
): Promise<FastifyReply> {
  if (query.schemaFormat !== undefined) {
    throw new NodeError('InvalidParameter', `${format.name} holds the rows alone: it has no schemaFormat.`)
  }
  const { skip, limit } = readWindow({ skip: query.skip, limit: query.limit }, 'JsonAos', context)
  const at = query.at === undefined ? undefined : hashOf(query.at)
  const options = readFileOptions(query, format)
  const wanted = { alias: chain.name.alias, at, format, options, skip, limit }
  const file = await openFileTail(context.replica, wanted, callerOf(context, request, reply))
  if (at !== undefined) keepForEver(reply, context, chain.name)
  else void reply.header('cache-control', request.principal.tokenId === undefined ? 'no-cache' : 'private, no-cache')
  const name = `${fileNameOf(file.heads)}-tail`
  const { truncated, rowsBefore } = file
  const isPinned = at !== undefined
  const sameRows = { sql: `select * from "${chain.name.alias}"`, skip: rowsBefore }
  return await sendFile(context, request, reply, { format, file, name, query: sameRows, truncated, isPinned })
}
