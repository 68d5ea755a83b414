// POST /verify: checks a saved answer and runs it again on the blocks it names.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { NodeError } from '../../model/errors.ts'
import type { ReadProof } from '../../proof/read-proof.ts'
import { verifyProof } from '../../replica/verify.ts'
import { callerOf } from '../answer.ts'
import type { ReplicaContext } from '../context.ts'
import { problemResponses } from '../schemas.ts'

const Verified = Type.Object({
  ok: Type.Literal(true),
  signer: Type.Object({ did: Type.String(), relation: Type.String({ description: 'self, known or unknown' }) }),
  engine: Type.Object({
    name: Type.String(),
    version: Type.String(),
    dialect: Type.String(),
    stability: Type.String({
      description: 'exact: the rows alone decide the answer; pinned: how they lie in blocks may show',
    }),
  }),
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
        runs: true,
        reads: 'proof',
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
      const proof = (request.body ?? undefined) as ReadProof | undefined // the content type parser read it
      if (proof === undefined) throw new NodeError('InvalidRequest', 'The request has no body.')
      const deps = {
        ...context.replica,
        work: context.work,
        trustedSigners: context.trustedSigners,
        signers: context.signers,
      }
      return reply.send(await verifyProof(deps, proof, callerOf(context, request, reply)))
    },
  )
}
