// The HTTP server: fastify with the contract's rules around it, and one file per route.

import { randomUUID } from 'node:crypto'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { type ErrorKind } from '../model/error-table.ts'
import { assert } from '../lib/assert.ts'
import { NodeError } from '../model/errors.ts'
import { registerAuthentication } from './authenticate.ts'
import type { HttpContext } from './context.ts'
import { registerJsonBodies } from './json-body.ts'
import { registerMethodRules } from './method-rules.ts'
import { registerOriginRules } from './origin-rules.ts'
import { problemOf } from './problem.ts'
import { registerDatasetData } from './routes/dataset-data.ts'
import { registerDatasets } from './routes/datasets.ts'
import { registerIngest } from './routes/ingest.ts'
import { registerNode } from './routes/node.ts'
import { registerObjects } from './routes/objects.ts'
import { registerQuery } from './routes/query.ts'
import { registerReceipts } from './routes/receipts.ts'
import { registerTokens } from './routes/tokens.ts'
import { registerVerify } from './routes/verify.ts'

const maxParamChars = 1500

export interface HttpServer {
  /** Resolves with the port when connections are taken. */
  listen(host: string, port: number): Promise<number>
  /** Takes no more connections and resolves when those under way are answered. */
  close(): Promise<void>
}

/** A server that is ready to listen. */
export async function createServer(context: HttpContext): Promise<HttpServer> {
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    bodyLimit: context.limits.requestJsonBytes,
    routerOptions: { maxParamLength: maxParamChars, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    requestTimeout: context.limits.bodyMs,
    http: { headersTimeout: context.limits.requestHeaderMs, connectionsCheckingInterval: 1000 },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false, allErrors: false } },
    schemaErrorFormatter: (errors, where) => schemaError(errors[0], where),
    frameworkErrors: (error, request, reply) => void sendProblem(context, error, { request, reply }),
    exposeHeadRoutes: true,
  })
  // Answers are objects of our own making; declared response schemas document them.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
  registerErrorsAndMetrics(app, context)
  registerOriginRules(app, context)
  registerAuthentication(app, context)
  registerJsonBodies(app)
  registerMethodRules(app)
  await registerDocument(app, context)
  for (const register of [
    registerNode,
    registerDatasets,
    registerDatasetData,
    registerIngest,
    registerQuery,
    registerVerify,
    registerObjects,
    registerReceipts,
    registerTokens,
  ]) {
    register(app, context)
  }
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  await app.ready()
  return {
    async listen(host, port) {
      await app.listen({ host, port })
      const address = app.server.address()
      assert(typeof address === 'object' && address !== null, 'the server listens on a port')
      return address.port
    },
    close: () => app.close(),
  }
}

function registerErrorsAndMetrics(app: FastifyInstance, context: HttpContext): void {
  app.addHook('onRequest', async (request, reply) => void reply.header('request-id', request.id))
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    context.metrics.requests.inc({ route, status: String(reply.statusCode) })
    context.metrics.requestSeconds.observe({ route }, reply.elapsedTime / 1000)
  })
  app.setErrorHandler((error, request, reply) => sendProblem(context, error, { request, reply }))
}

function sendProblem(
  context: HttpContext,
  error: unknown,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const known = error instanceof NodeError ? error : frameworkError(error)
  const problem = problemOf(known ?? error, request.id)
  if (problem.status === 500) {
    context.logger.error(
      {
        requestId: request.id,
        route: request.routeOptions.url,
        err: String(error),
        stack: error instanceof Error ? error.stack : undefined,
      },
      'A request failed',
    )
  }
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer realm="proofstream"')
  // A refused body is not read to its end: the connection closes after the answer.
  if (!request.raw.complete && request.raw.readable && request.method !== 'GET')
    void reply.header('connection', 'close')
  return reply
    .code(problem.status)
    .headers({ ...problem.headers, 'request-id': request.id })
    .type(problem.mediaType)
    .send(JSON.stringify(problem.body))
}

const frameworkKinds: Readonly<Record<string, ErrorKind>> = {
  FST_ERR_BAD_URL: 'InvalidName',
  FST_ERR_CTP_BODY_TOO_LARGE: 'BodyTooLarge',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'MalformedJson',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UnsupportedMediaType',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'MalformedBody',
  FST_ERR_VALIDATION: 'InvalidRequest',
}

/** The kind of an error that fastify itself raised, or undefined when it is none. */
function frameworkError(error: unknown): NodeError | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error as FastifyError // has a code
  const kind = frameworkKinds[code]
  return kind === undefined ? undefined : new NodeError(kind, error.message, { cause: error })
}

function schemaError(
  first: { instancePath: string; message?: string; params?: unknown } | undefined,
  where: string,
): NodeError {
  const extra =
    first?.params !== undefined &&
    typeof first.params === 'object' &&
    first.params !== null &&
    'additionalProperty' in first.params
      ? ` '${String(first.params.additionalProperty)}'`
      : ''
  const member = first?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  const message = `${where === 'body' ? 'The body' : where === 'params' ? 'The path' : 'The query string'}${member === '' ? '' : `, member ${member},`} ${first?.message ?? 'is not valid'}${extra}.`
  return new NodeError(
    where === 'body' ? 'InvalidRequest' : where === 'params' ? 'InvalidName' : 'InvalidParameter',
    message,
    {
      hint: 'GET /openapi.json describes every parameter.',
    },
  )
}

async function registerDocument(app: FastifyInstance, context: HttpContext): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Proofstream',
        version: context.facts.version,
        description: 'A data node that can be held to account.',
        license: { name: 'Apache-2.0' },
      },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{}, { token: [] }],
    },
  })
  await app.register(swaggerUi, {
    routePrefix: '/swagger',
    uiConfig: { validatorUrl: null, persistAuthorization: true },
    staticCSP:
      "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  })
}
