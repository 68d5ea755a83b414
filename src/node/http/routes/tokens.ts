// /tokens: make, list, revoke. Only for `admin`; the text of a token is shown once.

import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { HttpContext } from '../context.ts'

const TokenBody = Type.Object(
  {
    name: Type.String({ maxLength: 100, description: 'A name for people, such as the owner.' }),
    scopes: Type.Array(Type.String(), { description: 'read, ingest, create, admin' }),
    datasets: Type.Optional(Type.Array(Type.String(), { description: 'Patterns such as acme/*.' })),
    expiresAt: Type.Optional(Type.String({ description: 'RFC 3339.' })),
  },
  { additionalProperties: false },
)

export function registerTokens(app: FastifyInstance, context: HttpContext): void {
  app.post('/tokens', { config: { right: 'admin' }, schema: { body: TokenBody } }, async (request, reply) => {
    const { record, token } = await context.tokens.create(request.body as Static<typeof TokenBody>) // TokenBody validated it
    const { lastFour: _, ...shown } = record
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ ...shown, token })
  })
  app.get('/tokens', { config: { right: 'admin' } }, async (_request, reply) => {
    return reply.header('cache-control', 'no-store').send({ tokens: await context.tokens.list() })
  })
  app.delete(
    '/tokens/:id',
    {
      config: { right: 'admin' },
      schema: {
        params: Type.Object({ id: Type.String({ maxLength: 100, description: 'id of the token; not its text.' }) }),
      },
    },
    async (request, reply) => {
      await context.tokens.revoke((request.params as { id: string }).id) // validated above
      return reply.code(204).send()
    },
  )
}
