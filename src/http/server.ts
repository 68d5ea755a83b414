// The HTTP server: fastify with the contract's rules around it, and one file per route.

import { randomUUID } from 'node:crypto'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { assert } from '../lib/assert.ts'
import { NodeError } from '../model/errors.ts'
import { AnswersUnderWay } from './answers-under-way.ts'
import { registerHalfOpen } from './abort.ts'
import { registerAuthentication } from './authenticate.ts'
import { answerBrokenRequest } from './broken-requests.ts'
import { closeGently } from './close-gently.ts'
import { registerCompression } from './compress.ts'
import type { HttpContext } from './context.ts'
import { registerDocument } from './document.ts'
import { frameworkError, schemaError } from './framework-error.ts'
import { registerJsonBodies } from './json-body.ts'
import { registerKnownPaths } from './known-paths.ts'
import { registerMethodRules } from './method-rules.ts'
import { registerOriginRules } from './origin-rules.ts'
import { registerParameterRules } from './parameters.ts'
import { registerOneAtATime } from './one-at-a-time.ts'
import { problemOf } from './problem.ts'
import { hasArrived, lingeringAnswer, registerUnreadBodies } from './refused-body.ts'
import { registerAbout } from './routes/about.ts'
import { registerAbsent } from './routes/absent.ts'
import { registerBlocks } from './routes/blocks.ts'
import { registerMetadata, registerTail } from './routes/dataset-data.ts'
import { registerCreation, registerDatasets } from './routes/datasets.ts'
import { registerIngest } from './routes/ingest.ts'
import { registerNode } from './routes/node.ts'
import { registerObjects } from './routes/objects.ts'
import { registerQuery } from './routes/query.ts'
import { registerReceipts } from './routes/receipts.ts'
import { registerTokens } from './routes/tokens.ts'
import { registerVerify } from './routes/verify.ts'
import { registerSlowBodies } from './slow-bodies.ts'
import { registerSlowReaders } from './slow-readers.ts'

const maxParamChars = 1500

export interface HttpServer {
  /** Resolves with the port when connections are taken. */
  listen(host: string, port: number): Promise<number>
  /** Takes no more connections and resolves when those under way are answered, or cut off after 10 s. */
  close(): Promise<void>
}

/** A server that is ready to listen. */
export async function createServer(context: HttpContext): Promise<HttpServer> {
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: maxParamChars, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    // The gateway refuses work of its own while it drains, with a body like any other.
    return503OnClosing: false,
    requestTimeout: context.limits.bodyMs,
    http: {
      headersTimeout: context.limits.requestHeaderMs,
      connectionsCheckingInterval: 1000,
      // A request without Host is answered by the rules for it, not by Node with an empty body.
      requireHostHeader: false,
    },
    clientErrorHandler: answerBrokenRequest,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false, allErrors: false } },
    schemaErrorFormatter: (errors, where) => schemaError(errors[0], where),
    frameworkErrors: (error, request, reply) => void sendProblem(context, error, { request, reply }),
    exposeHeadRoutes: true,
  })
  // Answers are objects of our own making; declared response schemas document them.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
  const findPath = registerKnownPaths(app)
  registerHalfOpen(app)
  registerOneAtATime(app)
  registerUnreadBodies(app, context.clock)
  registerErrorsAndMetrics(app, context)
  registerOriginRules(app, context, findPath)
  registerAuthentication(app, context)
  registerParameterRules(app)
  registerSlowBodies(app, context)
  registerJsonBodies(app, context)
  registerCompression(app)
  registerMethodRules(app, findPath)
  await registerDocument(app, context)
  registerRoutes(app, context)
  // An Expect that is not known here is no reason to answer 417 with an empty body (RFC 9110 §10.1.1 says MAY).
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  await app.ready()
  return {
    async listen(host, port) {
      await app.listen({ host, port })
      const address = app.server.address()
      assert(typeof address === 'object' && address !== null, 'the server listens on a port')
      return address.port
    },
    close: () => closeGently(app, context.clock),
  }
}

/** The routes of the roles that this process has; those of another role say which one answers them. */
function registerRoutes(app: FastifyInstance, context: HttpContext): void {
  const { gateway, replica } = context
  registerNode(app, context)
  if (gateway !== undefined) {
    for (const register of [registerCreation, registerIngest, registerReceipts]) register(app, { ...context, gateway })
    registerTokens(app, context)
  } else registerAbsent(app, 'gateway')
  if (gateway !== undefined || replica !== undefined) {
    for (const register of [registerDatasets, registerAbout, registerMetadata, registerObjects, registerBlocks])
      register(app, context)
  } else registerAbsent(app, 'catalog')
  if (replica !== undefined) {
    const answers = new AnswersUnderWay(context.limits)
    context.metrics.gauge(
      'answers_open_bytes',
      'Bytes of answers on their way to those who asked.',
      () => answers.heldBytes,
    )
    const own = { ...context, replica, answers, watchReader: registerSlowReaders(app, context) }
    for (const register of [registerQuery, registerVerify, registerTail]) register(app, own)
  } else registerAbsent(app, 'replica')
}

function registerErrorsAndMetrics(app: FastifyInstance, context: HttpContext): void {
  // Hooks of every request call back where they can: a promise each would cost small posts more than their rows do.
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('request-id', request.id).header('x-content-type-options', 'nosniff')
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    context.metrics.answered(route, reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
  app.setErrorHandler((error, request, reply) => sendProblem(context, error, { request, reply }))
}

function sendProblem(
  context: HttpContext,
  error: unknown,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const known = error instanceof NodeError ? error : frameworkError(error, request)
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
  // Of the answer that was begun, nothing holds for an error.
  for (const name of ['etag', 'accept-ranges', 'dataset-head']) void reply.removeHeader(name)
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer realm="proofstream"')
  const text = JSON.stringify(problem.body)
  void reply
    .code(problem.status)
    .headers({ ...problem.headers, 'request-id': request.id })
    .type(problem.mediaType)
  if (hasArrived(request.raw)) return reply.send(text)
  void reply.header('connection', 'close').header('content-length', Buffer.byteLength(text))
  return reply.send(lingeringAnswer(text, request.raw, context.clock))
}
