// What the ledger shows to everybody: its head, its tiles, its statements, as C2SP's tlog-tiles names them, and how it is doing.
// Source: https://c2sp.org/tlog-tiles

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { type Policy, policyText } from '../../libraries/ledger/policy.ts'
import { parseTileName } from '../../libraries/ledger/tiles.ts'
import type { HttpContext } from '../../node/http/context.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import { aboutLedger, type KeeperStatus, type Told } from './about.ts'
import type { Answers } from './answers.ts'
import { newestLedger } from './identity.ts'
import { policyOf } from './policy-file.ts'
import { ProofQuery, sendProof } from './proof-routes.ts'
import { originCodec } from './records.ts'

interface LedgerRoutes {
  readonly context: HttpContext
  readonly status: () => KeeperStatus | undefined
  readonly policy: () => Policy | undefined
  /** There once the feature has started. */
  readonly answers: Promise<Answers>
}

const immutable = 'public, max-age=31536000, immutable'

const headType = 'text/plain; charset=utf-8'

export function registerLedger(app: FastifyInstance, { context, status, policy, answers }: LedgerRoutes): void {
  const get = context.stored
  /** Of the newest ledger. Throws NodeError `RouteNotFound` where the store has none. */
  const told = async (): Promise<Told> => {
    const ledger = await newestLedger({ get })
    const statement = async (): Promise<string | undefined> => await (await answers).newestStatement()
    if (ledger > 0) return { get, clock: context.clock, ledger, status: status(), policy: policy(), statement }
    throw new NodeError('RouteNotFound', 'This node has no ledger.', {
      hint: 'A gateway that builds keeps one, unless --without ledger.',
    })
  }
  app.get('/ledger', async (_request, reply) => {
    const keys = app.witnessKeys?.()
    // A follower has no ledger of its own, nor has a witness alone.
    const isOther = keys?.follower !== undefined || context.facts.roles.includes('witness')
    const about = isOther ? {} : await intact(told().then(aboutLedger))
    return await reply.header('cache-control', 'no-cache').send({ ...about, ...keys })
  })
  app.get('/ledger/policy', async (_request, reply) => {
    const { ledger, policy } = await told()
    const origin = await get(ledgerObjectKey(ledger, 'origin'))
    const { key } = await intact(Promise.resolve(origin ?? new Uint8Array()).then(originCodec.decode))
    return await reply
      .header('cache-control', 'no-cache')
      .type(headType)
      .send(policyText(policyOf(key, policy)))
  })
  registerTree(app, '/ledger', { get, answers })
  registerTree(app, '/ledger/:ledger', { get, answers })
}

/** What one tree shows, the first under `/ledger`, the n-th under `/ledger/<n>`. */
function registerTree(
  app: FastifyInstance,
  prefix: string,
  { get, answers }: Pick<Told, 'get'> & Pick<LedgerRoutes, 'answers'>,
): void {
  const numberOf = ({ params }: FastifyRequest): number => {
    const { ledger = '1' } = params as { ledger?: string } // of the path
    return prefix === '/ledger' || /^(?:[2-9]|[1-9]\d{1,4})$/.test(ledger) ? Number(ledger) : 0
  }
  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { name, mediaType }: { readonly name: string; readonly mediaType: string },
  ): Promise<FastifyReply> => {
    const ledger = numberOf(request)
    const bytes = ledger > 0 ? await get(ledgerObjectKey(ledger, name)) : undefined
    if (bytes === undefined) throw notThere(name)
    const caching = name === 'checkpoint' ? 'no-cache' : immutable
    return reply.header('cache-control', caching).type(mediaType).send(bytes)
  }
  const hide = prefix !== '/ledger'
  app.get(`${prefix}/checkpoint`, { schema: { hide } }, (request, reply) =>
    send(request, reply, { name: 'checkpoint', mediaType: headType }),
  )
  const params = Type.Object({
    hash: Type.String({ maxLength: 100, description: 'SHA-256 of the statement, in hex.' }),
  })
  app.get(`${prefix}/statements/:hash`, { schema: hide ? { hide } : { params } }, (request, reply) => {
    const { hash } = request.params as { hash: string } // of the path
    if (!/^[0-9a-f]{64}$/.test(hash)) throw notThere(`statements/${hash}`)
    return send(request, reply, { name: `statements/${hash}`, mediaType: 'application/json' })
  })
  const ofProof = hide ? { hide } : { params, querystring: ProofQuery }
  app.get(`${prefix}/statements/:hash/proof`, { schema: ofProof }, async (request, reply) => {
    const { hash } = request.params as { hash: string } // of the path
    const [ledger, number] = [await answers, numberOf(request)]
    const isHash = number > 0 && /^[0-9a-f]{64}$/.test(hash)
    const proven = isHash ? await ledger.proveStatement(number, hash) : undefined
    if (proven === undefined) throw notThere(`statements/${hash}`)
    return await sendProof(request, reply, { ledger, proven })
  })
  const ofStamp = Type.Object({
    name: Type.String({ maxLength: 100, description: 'Size of a head, and `.tsr` or `.head`.' }),
  })
  app.get(`${prefix}/timestamps/:name`, { schema: hide ? { hide } : { params: ofStamp } }, (request, reply) => {
    const { name } = request.params as { name: string } // of the path
    const [, kind] = /^[1-9]\d{0,15}\.(tsr|head)$/.exec(name) ?? []
    if (kind === undefined) throw notThere(`timestamps/${name}`)
    const mediaType = kind === 'tsr' ? 'application/timestamp-reply' : headType
    return send(request, reply, { name: `timestamps/${name}`, mediaType })
  })
  app.get(`${prefix}/tile/*`, { schema: { hide: true } }, (request, reply) => {
    const name = `tile/${(request.params as { '*': string })['*']}` // the path has one
    if (parseTileName(name) === undefined) throw notThere(name)
    return send(request, reply, { name, mediaType: 'application/octet-stream' })
  })
}

/** Throws NodeError `StoreUnavailable` where the store has damaged records of the ledger. */
async function intact<T>(reading: Promise<T>): Promise<T> {
  return await reading.catch((error: unknown) => {
    if (!(error instanceof DecodeError)) throw error
    throw new NodeError('StoreUnavailable', 'What the store has of the ledger is damaged.', {
      hint: 'Put ledger/origin back from a copy. A builder writes the head anew.',
      cause: error,
    })
  })
}

function notThere(name: string): NodeError {
  return new NodeError('ObjectNotFound', `The ledger has no ${name.slice(0, 200)}.`, {
    hint: 'GET /ledger tells its size; tiles are named as C2SP tlog-tiles has them.',
  })
}
