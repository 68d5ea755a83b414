// What the node says of itself: /, /info, /limits, health, metrics, DID document, the error catalogue.

import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { defined } from '../../../libraries/base/collections.ts'
import { fixedLimits, limitOption, limitTable } from '../../../libraries/base/limits.ts'
import { zoneDataVersion } from '../../../libraries/base/zone.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { schemaFormats } from '../../../libraries/model/query.ts'
import { addressText, noncePattern, signPossession } from '../../../libraries/proof/possession.ts'
import type { Signer } from '../../../libraries/proof/signer.ts'
import type { HttpContext } from '../context.ts'
import { errorCatalogue } from '../texts.ts'

/** Only links that answer a GET, on a node with these roles. */
export function linksOf({ gateway, replica }: HttpContext): Readonly<Record<string, string>> {
  return {
    info: '/info',
    limits: '/limits',
    ...(gateway === undefined && replica === undefined ? {} : { datasets: '/datasets' }),
    ...(replica === undefined ? {} : { query: '/query?query=select%2042%20as%20answer' }),
    verifyPage: '/assets/verify.html',
    openapi: '/openapi.json',
    swagger: '/swagger',
    errors: '/errors',
    health: '/healthz',
    ready: '/readyz',
    metrics: '/metrics',
    did: '/.well-known/did.json',
  }
}

export function registerNode(app: FastifyInstance, context: HttpContext): void {
  app.get('/', () => ({ name: 'proofstream', version: context.facts.version, links: linksOf(context) }))
  app.get('/info', () => info(context))
  app.get('/limits', () => limitsOf(context))
  app.get('/.well-known/did.json', async () => didDocument(context.facts.did, await context.signers()))
  registerPossession(app, context)
  registerHealth(app, context)
  registerErrors(app)
}

/** The node has its key, and answers at this very address. */
function registerPossession(app: FastifyInstance, { nodeKey }: HttpContext): void {
  const querystring = Type.Object(
    { nonce: Type.String({ pattern: noncePattern, description: 'Random: 16 to 64 bytes in lower-case hex.' }) },
    { additionalProperties: false },
  )
  app.get('/possession', { schema: { querystring } }, (request, reply) => {
    const { nonce } = request.query as Static<typeof querystring> // validated
    const { localAddress, localPort } = request.raw.socket
    // The address is not told: behind a proxy it is of no use, and nobody's business.
    const signature = signPossession(nodeKey, { address: addressText(localAddress, localPort), nonce })
    return reply.header('cache-control', 'no-store').send({ did: nodeKey.did, nonce, signature })
  })
}

function registerHealth(app: FastifyInstance, context: HttpContext): void {
  const loose = { config: { looseParameters: true } }
  app.get('/healthz', loose, () => ({ ok: true }))
  const ready = async (reply: FastifyReply): Promise<FastifyReply> => {
    const reasons = await context.health.reasons()
    const ok = Object.keys(reasons).length === 0
    return reply
      .code(ok ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ ok, ...(ok ? {} : { reasons }), ...context.health.facts() })
  }
  app.get('/readyz', loose, (_request, reply) => ready(reply))
  app.get('/system/health', loose, (_request, reply) => ready(reply))
  for (const path of ['/metrics', '/system/metrics']) {
    app.get(path, { config: { right: 'read', looseParameters: true } }, async (_request, reply) => {
      return reply.type(context.metrics.contentType).send(await context.metrics.text())
    })
  }
}

function registerErrors(app: FastifyInstance): void {
  app.get('/errors', () => ({ errors: errorCatalogue }))
  app.get(
    '/errors/:kind',
    {
      schema: {
        params: Type.Object({
          kind: Type.String({ maxLength: 100, description: 'Kind in kebab-case, as in `type` of an error body.' }),
        }),
      },
    },
    (request) => {
      const { kind } = request.params as { kind: string } // validated above
      const found = errorCatalogue.find((entry) => entry.page === `/errors/${kind}`)
      if (found === undefined)
        throw new NodeError('RouteNotFound', 'There is no such error kind.', { hint: 'GET /errors lists them.' })
      return found
    },
  )
}

async function info(context: HttpContext): Promise<object> {
  const engine = context.replica?.engine
  return {
    did: context.facts.did,
    version: context.facts.version,
    roles: context.facts.roles,
    ...defined({ log: context.facts.log }),
    ...(engine === undefined
      ? {}
      : { engine: { name: engine.name, version: engine.version, dialect: engine.dialect } }),
    ...defined({ engines: await context.replica?.engines.list() }),
    timeZoneData: zoneDataVersion,
    canonicalForm: 'verbatim',
    formats: {
      ingest: context.formats.read.map(({ mediaTypes }) => mediaTypes[0]),
      data: context.outputs.names,
      schema: schemaFormats,
    },
    isMultiTenant: true,
  }
}

interface LimitText {
  readonly value: number
  readonly unit: string
  readonly about: string
  readonly option?: string
}

/** Every limit by its name; those that are constant have no option. */
export function limitsOf(
  context: HttpContext,
): Readonly<Record<'limits' | 'fixed', Readonly<Record<string, LimitText>>>> {
  const values = new Map<string, number>(Object.entries(context.limits))
  const rows = Object.entries(limitTable).map(([name, { value, unit, text: about }]) => {
    const option = limitOption(name)
    const setBy = option === undefined ? {} : { option: `--${option}` }
    return [name, { value: values.get(name) ?? value, unit, about, ...setBy }] as const
  })
  const fixed = Object.entries(fixedLimits).map(([name, { value, unit, text: about }]) => {
    return [name, { value, unit, about }] as const
  })
  return { limits: Object.fromEntries(rows), fixed: Object.fromEntries(fixed) }
}

/**
 * The keys of the node, its present one first. A method that `expires` signs nothing after that moment. One that is
 * `revoked` leaked, and is no assertion method any more.
 * Source: https://www.w3.org/TR/cid-1.0/#verification-methods
 */
function didDocument(did: string, signers: readonly Signer[]): object {
  const all: readonly Signer[] = [{ did }, ...signers.filter((other) => other.did !== did)]
  const methods = all.map(({ did: controller, retired }) => {
    const publicKeyMultibase = controller.slice('did:key:'.length)
    return {
      id: `${controller}#${publicKeyMultibase}`,
      type: 'Ed25519VerificationKey2020',
      controller,
      publicKeyMultibase,
      ...defined({
        expires: retired?.why === 'rotated' ? retired.at : undefined,
        revoked: retired?.why === 'leaked' ? retired.at : undefined,
      }),
    }
  })
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/ed25519-2020/v1'],
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.filter(({ revoked }) => revoked === undefined).map(({ id }) => id),
  }
}
