// GET /receipts/{id}: what became of a batch, asked at any gateway as long as the chain exists.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { can } from '../../access/scopes.ts'
import type { GatewayContext } from '../context.ts'
import { Receipt, problemResponses } from '../schemas.ts'

export function registerReceipts(app: FastifyInstance, context: GatewayContext): void {
  app.get(
    '/receipts/:id',
    {
      config: { right: 'read' },
      schema: {
        summary: 'The receipt of a batch as of now',
        tags: ['ingest'],
        params: Type.Object({ id: Type.String({ maxLength: 1400, description: 'receiptId of an ingest answer.' }) }),
        response: { 200: Receipt, ...problemResponses },
      },
    },
    async (request, reply) => {
      const { id } = request.params as { id: string } // validated above
      const { principal } = request
      const { receipt } = await context.gateway.receipt(id, (sender, dataset) => {
        return (sender !== undefined && sender === principal.tokenId) || can(principal, 'read', dataset)
      })
      return reply.header('cache-control', 'no-cache').send(receipt)
    },
  )
}
