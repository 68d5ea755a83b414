// What the node says of itself: /, /info, /limits, health, metrics, DID document, the error catalogue.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { formats } from '../../formats/registry.ts'
import { fixedLimits, limitTable } from '../../lib/limits.ts'
import { NodeError } from '../../model/errors.ts'
import { schemaFormats } from '../../model/query.ts'
import { outputFormatNames } from '../../outputs/formats.ts'
import type { HttpContext } from '../context.ts'
import { type Html, html, sendHtml, wantsHtml } from '../html.ts'
import { addVary } from '../origin-rules.ts'
import { errorCatalogue, errorListHtml, errorPageHtml } from '../texts.ts'

/** Only links that answer a GET, on a node with these roles. */
function linksOf({ gateway, replica }: HttpContext): Readonly<Record<string, string>> {
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
  app.get('/', (request, reply) => {
    const { version } = context.facts
    const links = linksOf(context)
    const items = Object.entries(links).map(([name, href]) => html`<li><a href="${href}">${name}</a></li>`)
    const page = html`<h1>Proofstream ${version}</h1><ul>${items}</ul>`
    return sendPage(request, reply, { json: { name: 'proofstream', version, links }, title: 'Proofstream', page })
  })
  app.get('/info', () => info(context))
  app.get('/limits', () => limitsOf(context))
  app.get('/.well-known/did.json', async () => didDocument(context.facts.did, await context.signers()))
  registerHealth(app, context)
  registerErrors(app)
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
  app.get('/errors', (request, reply) =>
    sendPage(request, reply, { json: { errors: errorCatalogue }, title: 'Errors', page: errorListHtml() }),
  )
  app.get(
    '/errors/:kind',
    {
      schema: {
        params: Type.Object({
          kind: Type.String({ maxLength: 100, description: 'Kind in kebab-case, as in `type` of an error body.' }),
        }),
      },
    },
    (request, reply) => {
      const { kind } = request.params as { kind: string } // validated above
      const found = errorCatalogue.find((entry) => entry.page === `/errors/${kind}`)
      if (found === undefined)
        throw new NodeError('RouteNotFound', 'There is no such error kind.', { hint: 'GET /errors lists them.' })
      return sendPage(request, reply, { json: found, title: found.kind, page: errorPageHtml(found) })
    },
  )
}

function info(context: HttpContext): object {
  const engine = context.replica?.engine
  return {
    did: context.facts.did,
    version: context.facts.version,
    roles: context.facts.roles,
    ...(context.facts.log === undefined ? {} : { log: context.facts.log }),
    ...(engine === undefined
      ? {}
      : { engine: { name: engine.name, version: engine.version, dialect: engine.dialect } }),
    canonicalForm: 'verbatim',
    formats: {
      ingest: formats.map(({ mediaTypes }) => mediaTypes[0]),
      data: outputFormatNames,
      schema: schemaFormats,
    },
    isMultiTenant: true,
  }
}

function limitsOf(context: HttpContext): object {
  const rows = Object.entries(limitTable).map(([name, row]) => [
    name,
    {
      value: Object.entries(context.limits).find(([key]) => key === name)?.[1] ?? row.value,
      unit: row.unit,
      about: row.text,
      option: `--limit-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    },
  ])
  const fixed = Object.entries(fixedLimits).map(([name, row]) => [
    name,
    { value: row.value, unit: row.unit, about: row.text },
  ])
  return { limits: Object.fromEntries(rows), fixed: Object.fromEntries(fixed) }
}

/** did:key documents are a function of the DID (W3C did:key method). */
function didDocument(did: string, signers: readonly string[]): object {
  const all = [did, ...signers.filter((other) => other !== did)]
  const methods = all.map((controller) => {
    const publicKeyMultibase = controller.slice('did:key:'.length)
    return {
      id: `${controller}#${publicKeyMultibase}`,
      type: 'Ed25519VerificationKey2020',
      controller,
      publicKeyMultibase,
    }
  })
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/ed25519-2020/v1'],
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
  }
}

/** JSON, or a page for who asks for one. */
function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { json, title, page }: { readonly json: object; readonly title: string; readonly page: Html },
): FastifyReply {
  addVary(reply, 'Accept')
  return wantsHtml(request) ? sendHtml(reply, title, page) : reply.send(json)
}
