// What a node answers as a witness, as C2SP's tlog-witness has it, and to everybody.
// Source: https://c2sp.org/tlog-witness

import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { maxAddCheckpointBytes } from '../../libraries/ledger/witness.ts'
import { AdmissionQueue, ofJson } from '../../node/gateway/admission.ts'
import { bodyChunks } from '../../node/gateway/read-body.ts'
import type { HttpContext } from '../../node/http/context.ts'
import { callerOf } from '../../node/http/json-body.ts'
import { inlineBytes } from '../../node/machine/work/thread-pool.ts'
import { demandLength, notCosigned, readBody, readRequest, type Witness } from './witness.ts'

/** Whether this process is a witness. */
export type Witnessing =
  | { readonly kind: 'none' }
  /** The name of its own ledger is not known yet. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly witness: Witness | undefined; readonly follower: Witness | undefined }

export type WitnessKeys = Readonly<Partial<Record<'witness' | 'follower', string>>>

declare module 'fastify' {
  interface FastifyInstance {
    /** The keys of what this process is of ledgers elsewhere. */
    readonly witnessKeys?: () => WitnessKeys
  }
}

export function registerWitness(app: FastifyInstance, context: HttpContext, state: () => Witnessing): void {
  const { limits, clock } = context
  // As JSON: without those of up to 64 KiB.
  const admission = new AdmissionQueue(limits, clock, { kind: ofJson })
  app.decorate('witnessKeys', () => keysOf(state()))
  const describes = { consumes: ['text/plain'], body: Type.String({ description: 'As tlog-witness has it.' }) }
  app.post('/ledger/witness/add-checkpoint', { config: { stream: true, describes } }, async (request, reply) => {
    const witnesses = running(state())
    demandLength(request.headers['content-length'])
    const bytes = Number(request.headers['content-length'] ?? maxAddCheckpointBytes)
    // A small one that does not come to an end takes nobody's turn.
    const admitted = bytes > inlineBytes ? await admission.enter(callerOf(request), bytes) : undefined
    try {
      const payload = request.body as Readable // of a route that reads streams
      const body = await readBody(bodyChunks(payload, undefined, limits, { update: () => {} }))
      const asked = readRequest(body)
      const [first, ...others] = witnesses
      const answer = await (others.find((witness) => witness.knows(asked.head.origin)) ?? first).answer(asked)
      return await reply.code(answer.status).type(answer.mediaType).send(answer.body)
    } finally {
      admitted?.leave()
    }
  })
  const params = Type.Object({
    origin: Type.String({ maxLength: 100, description: 'SHA-256 of the origin of the ledger, in hex.' }),
  })
  app.get('/ledger/witness/:origin/checkpoint', { schema: { params } }, async (request, reply) => {
    const { origin } = request.params as { origin: string } // validated
    const head = /^[0-9a-f]{64}$/.test(origin) ? await running(state())[0].head(origin) : undefined
    if (head === undefined) throw notCosigned(origin)
    return await reply.header('cache-control', 'no-cache').type('text/plain; charset=utf-8').send(head)
  })
}

/** The keys with which heads are cosigned, as a policy has them. */
export function keysOf(state: Witnessing): WitnessKeys {
  return state.kind === 'running' ? defined({ follower: state.follower?.key, witness: state.witness?.key }) : {}
}

/** One or both: what they have cosigned lies in one place. */
function running(state: Witnessing): [Witness, ...Witness[]] {
  const [first, ...others] = state.kind === 'running' ? [state.witness ?? [], state.follower ?? []].flat() : []
  if (first !== undefined) return [first, ...others]
  if (state.kind === 'starting') {
    throw new NodeError('Saturated', 'The witness of this node waits for the name of its ledger.', {
      hint: 'Ask again in a moment.',
    })
  }
  throw new NodeError('RouteNotFound', 'This node is a witness of no ledger.', {
    hint: 'Its operator names ledgers in lines of the file of --ledger-policy.',
  })
}
