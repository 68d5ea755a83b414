// POST /verify: checks a saved answer and runs it again on the blocks it names.

import type { FastifyInstance } from 'fastify'
import { NodeError } from '../../model/errors.ts'
import type { ReadProof } from '../../proof/read-proof.ts'
import { verifyProof } from '../../replica/verify.ts'
import { callerOf } from '../answer.ts'
import type { ReplicaContext } from '../context.ts'

export function registerVerify(app: FastifyInstance, context: ReplicaContext): void {
  app.post('/verify', { config: { right: 'read', runs: true, reads: 'proof' } }, async (request, reply) => {
    const proof = (request.body ?? undefined) as ReadProof | undefined // the content type parser read it
    if (proof === undefined) throw new NodeError('InvalidRequest', 'The request has no body.')
    const deps = {
      ...context.replica,
      work: context.work,
      trustedSigners: context.trustedSigners,
      signers: context.signers,
    }
    return reply.send(await verifyProof(deps, proof, callerOf(context, request, reply)))
  })
}
