// POST /verify: checks a saved answer and runs it again on the blocks it names.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { demandToken } from '../../access/scopes.ts'
import type { JsonValue } from '../../model/json.ts'
import { verifyProof } from '../../replica/verify.ts'
import { clientSignal } from '../abort.ts'
import type { HttpContext } from '../context.ts'
import { mayRead } from '../dataset-access.ts'
import { problemResponses } from '../schemas.ts'

const Verified = Type.Object({
  ok: Type.Literal(true),
  signer: Type.Object({ did: Type.String(), relation: Type.String({ description: 'self, known or unknown' }) }),
  engine: Type.Object({ name: Type.String(), version: Type.String(), dialect: Type.String() }),
})

export function registerVerify(app: FastifyInstance, context: HttpContext): void {
  app.post(
    '/verify',
    {
      bodyLimit: context.limits.verifyBytes,
      config: { tokens: true },
      schema: {
        summary: 'Check a proof by re-execution',
        description: 'Send the whole saved answer: input, output (optional), subQueries, commitment, proof.',
        tags: ['query'],
        response: { 200: Verified, ...problemResponses },
      },
    },
    async (request, reply) => {
      demandToken(request.principal, 'read')
      const body = request.body as JsonValue // the content type parser keeps tokens on this route
      const answer = await verifyProof({ ...context.replica, trustedSigners: context.trustedSigners }, body, {
        mayRead: mayRead(request),
        signal: clientSignal(reply),
      })
      return reply.send(answer)
    },
  )
}
