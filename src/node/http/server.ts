// The HTTP server: fastify with the contract's rules around it, and the routes of the roles that this process has. What a
// request passes on its way is drawn in docs/ARCHITECTURE.md, "The life of a request".

import { randomUUID } from 'node:crypto'
import { fastify, type FastifyInstance } from 'fastify'
import { assert } from '../../libraries/base/assert.ts'
import { BlockEvents } from '../answers/block-events.ts'
import { Followers } from '../answers/followers.ts'
import { AnswerBudget, registerCompression } from './answer.ts'
import { closeGently } from './connections.ts'
import type { HttpContext, ReplicaContext } from './context.ts'
import { registerDocument } from './document.ts'
import { registerJsonBodies } from './json-body.ts'
import { Listeners } from './listeners.ts'
import { answerBrokenRequest, schemaError, sendProblem } from './problem.ts'
import { Readings } from './readings.ts'
import { isHandshake } from './record-sockets.ts'
import { registerSteps } from './request-steps.ts'
import { notAnswered, registerParameterRules } from './request-target.ts'
import { registerChanges } from './routes/changes.ts'
import { registerMetadata, registerTail } from './routes/dataset-data.ts'
import { registerAbout, registerCreation, registerDatasets } from './routes/datasets.ts'
import { registerEvents } from './routes/events.ts'
import { registerExport } from './routes/export.ts'
import { registerIngest, registerReceipts } from './routes/ingest.ts'
import { registerNode } from './routes/node.ts'
import { registerBlocks, registerObjects } from './routes/objects.ts'
import { registerQuery, registerVerify } from './routes/query.ts'
import { registerRows } from './routes/rows.ts'
import { registerQuerySaving, registerSavedQueries } from './routes/saved-queries.ts'
import { registerStream } from './routes/stream.ts'
import { registerTokens } from './routes/tokens.ts'
import { registerSlowReaders } from './slow-clients.ts'
import { type OperationText, routeTexts } from './texts.ts'

const maxParamChars = 1500

export interface HttpServer {
  /** Resolves with the port when connections are taken. */
  listen(host: string, port: number): Promise<number>
  /** Takes no more connections and resolves when those in flight are answered, or cut off after 10 s. */
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
    // Bodies are watched one by one, because those of streams have no end (slow-clients.ts).
    requestTimeout: 0,
    http: {
      headersTimeout: context.limits.requestHeaderMs,
      connectionsCheckingInterval: 1000,
      // A request without Host is answered by the rules for it, not by Node with an empty body.
      requireHostHeader: false,
      shouldUpgradeCallback: isHandshake,
    },
    clientErrorHandler: answerBrokenRequest,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false, allErrors: false } },
    schemaErrorFormatter: (errors, where) => schemaError(errors[0], where),
    frameworkErrors: (error, request, reply) => void sendProblem(context, error, { request, reply }),
    exposeHeadRoutes: true,
  })
  app.setErrorHandler((error, request, reply) => sendProblem(context, error, { request, reply }))
  app.decorate('pages', context.routes.find(({ pages }) => pages !== undefined)?.pages)
  registerSteps(app, context)
  registerParameterRules(app)
  registerJsonBodies(app, context)
  registerCompression(app)
  await registerDocument(app, context)
  registerRoutes(app, context)
  // Clients that have sent their last byte are answered before they are closed. A documented switch of Node's HTTP
  // server, which its types lack.
  Object.assign(app.server, { httpAllowHalfOpen: true })
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
  const reading = replica === undefined ? undefined : readingContext(app, context, replica)
  for (const { every } of context.routes) every?.(app, context, reading)
  for (const name of context.without) {
    registerAbsent(
      app,
      ({ feature }) => feature === name,
      `This node was started without the feature '${name}' (--without).`,
    )
  }
  registerNode(app, context)
  if (gateway !== undefined) {
    const own = { ...context, gateway }
    for (const register of [registerCreation, registerChanges, registerIngest, registerStream, registerReceipts])
      register(app, own)
    for (const { gateway } of context.routes) gateway?.(app, own)
    registerTokens(app, context)
  } else {
    // A reader of another node's private datasets has a token of this one.
    if (context.origin !== undefined) registerTokens(app, context)
    registerAbsent(app, ofRole('gateway'), hintOf('gateway', context.origin))
  }
  if (gateway !== undefined || replica !== undefined) {
    for (const register of [registerDatasets, registerAbout, registerMetadata, registerBlocks]) register(app, context)
    registerObjects(app, context, reading)
  } else registerAbsent(app, ofRole('catalog'), hintOf('catalog'))
  if (reading !== undefined) {
    for (const register of [
      registerQuery,
      registerVerify,
      registerTail,
      registerRows,
      registerEvents,
      registerExport,
      registerSavedQueries,
    ])
      register(app, reading)
    for (const { replica } of context.routes) replica?.(app, reading)
    // Saving looks at a statement as a replica does, and writes as a gateway.
    if (gateway !== undefined) registerQuerySaving(app, reading)
  } else {
    const isSaving = ({ id }: OperationText): boolean => id === 'saveQuery' || id === 'deleteQuery'
    registerAbsent(app, (operation) => ofRole('replica')(operation) || isSaving(operation), hintOf('replica'))
  }
}

/** What routes that answer from data are given. */
function readingContext(
  app: FastifyInstance,
  context: HttpContext,
  replica: ReplicaContext['replica'],
): ReplicaContext {
  const answers = new AnswerBudget(context.limits)
  const { metrics } = context
  const kept = replica.answers
  metrics.gauge('answers_open_bytes', 'Bytes of answers on their way to callers.', () => answers.heldBytes)
  metrics.gauge('answers_kept_bytes', 'Bytes of answers kept for repeated queries.', () => kept.bytes)
  metrics.counter('answers_reused_total', 'Answers that were there, or being found for another.', () => kept.reused)
  const listeners = new Listeners(context.limits)
  metrics.gauge('listeners', 'Requests that wait for blocks.', () => listeners.held)
  const followers = new Followers(context)
  // Streams have no end of their own: the server would wait for them.
  app.addHook('preClose', () => followers.close())
  return {
    ...context,
    replica,
    answers,
    listeners,
    followers,
    events: new BlockEvents(replica, context.clock),
    readings: new Readings(context.clock),
    watchReader: registerSlowReaders(app, context),
  }
}

type Role = NonNullable<OperationText['role']>

function ofRole(role: Role): (operation: OperationText) => boolean {
  return (operation) => operation.role === role
}

const answeredBy = { gateway: 'gateway', replica: 'replica', catalog: 'gateway or replica' } as const

/** The answer for a role that this process does not have. */
function hintOf(role: Role, origin?: string): string {
  return origin === undefined
    ? `Ask a node with the role ${answeredBy[role]}; GET /info names the roles of a node.`
    : `This node follows ${origin}, and changes nothing: ask there.`
}

/** Registers routes that this process has not, and which are not there yet: each throws NodeError `RouteNotFound`. */
function registerAbsent(app: FastifyInstance, isAbsent: (operation: OperationText) => boolean, hint: string): void {
  for (const [key, operation] of Object.entries(routeTexts.operations)) {
    const [method = '', path = ''] = key.split(' ')
    const url = path.replace(/\{(\w+)\}/g, ':$1')
    if (!isAbsent(operation) || app.hasRoute({ method: method.toUpperCase(), url })) continue
    app.route({
      method: method.toUpperCase(),
      url,
      schema: { hide: true },
      config: { absent: hint },
      // Before any body is read.
      onRequest: async (request) => {
        throw notAnswered(request, hint)
      },
      handler: () => undefined,
    })
  }
}
