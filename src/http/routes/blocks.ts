// GET …/blocks: the chain as people read it, newest block first.

import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { blockPage, hashOf } from '../../catalog/objects.ts'
import type { HttpContext } from '../context.ts'
import { datasetOf } from '../dataset-access.ts'
import { pageSize } from '../page-size.ts'
import { DatasetParams, DecimalText, problemResponses } from '../schemas.ts'

const BlocksQuery = Type.Object(
  {
    limit: Type.Optional(DecimalText('Blocks of one page, 1 to 1,000; 100 by default.')),
    before: Type.Optional(Type.String({ maxLength: 120, description: 'Hash of the last block of the page before.' })),
  },
  { additionalProperties: false },
)

const Blocks = Type.Object({
  blocks: Type.Array(
    Type.Object({
      hash: Type.String(),
      sequence: Type.Integer(),
      prevBlockHash: Type.Optional(Type.String()),
      systemTime: Type.String(),
      event: Type.Unknown(),
    }),
  ),
  next: Type.Optional(Type.String()),
})

export function registerBlocks(app: FastifyInstance, context: HttpContext): void {
  app.get(
    '/:account/:dataset/blocks',
    {
      config: { right: 'read' },
      schema: {
        summary: 'Blocks of the chain, newest first',
        tags: ['datasets'],
        params: DatasetParams,
        querystring: BlocksQuery,
        response: { 200: Blocks, ...problemResponses },
      },
    },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const query = request.query as Static<typeof BlocksQuery> // BlocksQuery validated it
      const before = query.before === undefined ? undefined : hashOf(query.before)
      const page = await blockPage(context.store, chain, { limit: pageSize(query.limit), before })
      return reply.header('cache-control', 'no-cache').send(page)
    },
  )
}
