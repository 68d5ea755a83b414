// The ODF transfer routes: refs/head, blocks, data, checkpoints, as an unmodified ODF client pulls them; and GET …/blocks,
// the chain as people read it, newest block first.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { blockPage, decodedBlock, hashOf, type ObjectKind } from '../../catalog/objects.ts'
import type { NameRecord } from '../../../libraries/odf/chain/records.ts'
import { datasetOf, nameOf } from '../access.ts'
import { isUnchanged, keepForEver } from '../answer.ts'
import { clientSignal } from '../connections.ts'
import type { HttpContext, ReplicaContext } from '../context.ts'
import { addVary } from '../origin-rules.ts'
import { DatasetParams, DecimalText, pageSize } from '../request-target.ts'
import { sendPart, wantedPart } from '../stored-bytes.ts'
import { WaitText, waitForBlock, waitMsOf } from './dataset-data.ts'

const DatasetHashParams = Type.Object({
  ...DatasetParams.properties,
  hash: Type.String({ maxLength: 120, description: 'Multibase multihash: f1620…, or the same in F, u, z.' }),
})

/** Objects up to this size are sent from memory. */
const pieceBytes = 1024 * 1024

const mediaTypes: Readonly<Record<ObjectKind, string>> = {
  blocks: 'application/octet-stream',
  data: 'application/vnd.apache.parquet',
  checkpoints: 'application/octet-stream',
}

const HeadQuery = Type.Object({ wait: WaitText }, { additionalProperties: false })

/** Without `reading`, for a process that is no replica, nobody waits: the head is answered at once. */
export function registerObjects(app: FastifyInstance, context: HttpContext, reading: ReplicaContext | undefined): void {
  app.get(
    '/:account/:dataset/refs/head',
    { config: { right: 'read' }, schema: { params: DatasetParams, querystring: HeadQuery } },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const { wait } = request.query as Static<typeof HeadQuery> // HeadQuery validated it
      const waitMs = waitMsOf(wait)
      const seen = chain.head.hash
      if (waitMs > 0 && reading !== undefined && isUnchanged(request, reply, seen)) {
        await waitForBlock(reading, request, { chain, seen, waitMs, signal: clientSignal(reply) })
        if (reading.followers.isDraining) void reply.header('connection', 'close')
      }
      void reply.header('cache-control', 'no-cache').type('text/plain; charset=utf-8')
      if (isUnchanged(request, reply, chain.head.hash)) return reply.code(304).send()
      return reply.send(chain.head.hash)
    },
  )
  for (const kind of ['blocks', 'data', 'checkpoints'] as const) {
    app.get(
      `/:account/:dataset/${kind}/:hash`,
      { config: { right: 'read' }, schema: { params: DatasetHashParams } },
      async (request, reply) => {
        const name = await nameOf(context.catalog, request, 'read')
        const { hash: text } = request.params as { hash: string } // DatasetHashParams validated it
        return await sendStored(context, { request, reply, kind, name, text })
      },
    )
  }
}

interface Asked {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly kind: ObjectKind
  /** Of a dataset that the caller may read. */
  readonly name: NameRecord
  /** The hash as the caller wrote it. */
  readonly text: string
}

/** Sends an object, or the range of it that is asked for. Throws as `Objects.find` and `Objects.check`. */
export async function sendStored(
  context: HttpContext,
  { request, reply, kind, name, text }: Asked,
): Promise<FastifyReply> {
  const there = await context.objects.find(name, { kind, text, chainOf: () => context.catalog.chainOf(name) })
  const found = request.method === 'HEAD' ? there : await context.objects.check(there)
  keepForEver(reply, context, name)
  if (kind === 'blocks') {
    addVary(reply, 'Accept')
    if (wantsJson(request)) return sendDecoded(context, { request, reply, name, hash: found.hash })
  }
  const bytes = {
    tag: found.hash,
    sizeBytes: found.sizeBytes,
    pieceBytes,
    read: async (start: number, end: number) => await context.objects.read(found.key, start, end),
  }
  void reply.header('accept-ranges', 'bytes').type(mediaTypes[kind])
  if (isUnchanged(request, reply, found.hash)) return reply.code(304).send()
  return await sendPart(request, reply, wantedPart(request, reply, bytes), bytes)
}

/** The block in JSON, for people; its tag is another than that of the bytes. */
async function sendDecoded(
  context: HttpContext,
  answer: { request: FastifyRequest; reply: FastifyReply; name: NameRecord; hash: string },
): Promise<FastifyReply> {
  const { request, reply, name, hash } = answer
  if (isUnchanged(request, reply, `${hash}.json`)) return reply.code(304).send()
  return reply.send(await decodedBlock(context.objects, name, hash))
}

function wantsJson(request: FastifyRequest): boolean {
  const accepted = (request.headers.accept ?? '').split(',').map((one) => one.split(';')[0]?.trim().toLowerCase())
  return accepted.includes('application/json') && !accepted.includes(mediaTypes.blocks)
}

const BlocksQuery = Type.Object(
  {
    limit: Type.Optional(DecimalText('Blocks of one page, 1 to 1,000; 100 by default.')),
    before: Type.Optional(Type.String({ maxLength: 120, description: 'Hash of the last block of the previous page.' })),
  },
  { additionalProperties: false },
)

export function registerBlocks(app: FastifyInstance, context: HttpContext): void {
  app.get(
    '/:account/:dataset/blocks',
    { config: { right: 'read' }, schema: { params: DatasetParams, querystring: BlocksQuery } },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const query = request.query as Static<typeof BlocksQuery> // BlocksQuery validated it
      const before = query.before === undefined ? undefined : hashOf(query.before)
      const page = await blockPage(context.objects, chain, { limit: pageSize(query.limit), before })
      return reply.header('cache-control', 'no-cache').send(page)
    },
  )
}
