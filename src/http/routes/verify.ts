// POST /verify: checks a saved answer and runs it again on the blocks it names.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { JsonValue } from '../../model/json.ts'
import { verifyProof } from '../../replica/verify.ts'
import { callerOf } from '../answer.ts'
import type { ReplicaContext } from '../context.ts'
import { problemResponses } from '../schemas.ts'

const Verified = Type.Object({
  ok: Type.Literal(true),
  signer: Type.Object({ did: Type.String(), relation: Type.String({ description: 'self, known or unknown' }) }),
  engine: Type.Object({ name: Type.String(), version: Type.String(), dialect: Type.String() }),
})

const SavedAnswer = Type.Object(
  {
    input: Type.Unknown({ description: 'What was asked, with datasets and blocks.' }),
    output: Type.Optional(Type.Unknown({ description: 'The rows; when given, they must hash to outputHash.' })),
    subQueries: Type.Array(Type.Unknown(), { description: 'Answers that this one rests on; empty.' }),
    commitment: Type.Unknown({ description: '{inputHash, outputHash, subQueriesHash}' }),
    proof: Type.Unknown({ description: '{type, verificationMethod, proofValue}' }),
  },
  { additionalProperties: false },
)

export function registerVerify(app: FastifyInstance, context: ReplicaContext): void {
  app.post(
    '/verify',
    {
      config: {
        right: 'read',
        tokens: true,
        jsonLimit: 'verifyBytes',
        describes: { body: SavedAnswer, consumes: ['application/json'] },
      },
      schema: {
        summary: 'Check a proof by re-execution',
        description: 'Send the whole saved answer: input, output (optional), subQueries, commitment, proof.',
        tags: ['query'],
        response: { 200: Verified, ...problemResponses },
      },
    },
    async (request, reply) => {
      const body = request.body as JsonValue // the content type parser keeps tokens on this route
      const deps = { ...context.replica, trustedSigners: context.trustedSigners }
      const answer = await verifyProof(deps, body, callerOf(context, request, reply))
      return reply.send(answer)
    },
  )
}
