// What every request passes between its header and its body, and after its answer: the steps of docs/ARCHITECTURE.md,
// "The life of a request", in their order. One hook for all of them: a hook each, or a promise, costs small posts more than
// their rows do.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../access/scopes.ts'
import { admitCaller, callerFinder } from './access.ts'
import { closeUnlessRead, ConnectionTurns } from './connections.ts'
import type { HttpContext } from './context.ts'
import { checkOrigin } from './origin-rules.ts'
import { demandWellEscaped, registerPaths } from './request-target.ts'
import { registerSlowBodies } from './slow-clients.ts'

type Done = (error?: Error) => void

interface Begun {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly done: Done
}

/** Methods that datasets take at their own address. */
const changing: ReadonlySet<string> = new Set(['PUT', 'PATCH', 'DELETE'])

/** Register before the routes. */
export function registerSteps(app: FastifyInstance, context: HttpContext): void {
  const { findPath, refuseUnknown } = registerPaths(app)
  const turns = new ConnectionTurns()
  const callerOf = callerFinder(context)
  const bodies = registerSlowBodies(app, context)
  const origins = { context, findPath }
  // Declared so that requests share one shape; set before any handler runs.
  app.decorateRequest('principal')

  const begin = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    let fault: Error | undefined
    try {
      void reply.header('request-id', request.id).header('x-content-type-options', 'nosniff')
      if (checkOrigin(request, reply, origins) === 'answered') return
      const caller = callerOf(request)
      if (caller instanceof Promise) {
        void beginLate(caller, { request, reply, done })
        return
      }
      goOn(request, reply, caller)
    } catch (error) {
      fault = error as Error // what the steps throw
    }
    done(fault)
  }
  const beginLate = async (caller: Promise<Principal>, { request, reply, done }: Begun): Promise<void> => {
    let fault: Error | undefined
    try {
      goOn(request, reply, await caller)
    } catch (error) {
      fault = error as Error // what the steps throw
    }
    done(fault)
  }
  const goOn = (request: FastifyRequest, reply: FastifyReply, principal: Principal): void => {
    admitCaller(request, principal)
    demandWellEscaped(request.url)
    // An address that others answer under one method is no dataset under another.
    const isOfDatasets = changing.has(request.method) && request.routeOptions.url === '/:account/:dataset'
    if (request.is404 || (isOfDatasets && findPath(request.url)?.methods.has(request.method) === false)) {
      refuseUnknown(request, reply)
    }
    if (request.routeOptions.config.endless !== true) bodies.begin(request.raw)
  }
  app.addHook('onRequest', (request, reply, done) => turns.take(request.raw, () => begin(request, reply, done)))

  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    context.metrics.answered(route, reply.statusCode, reply.elapsedTime / 1000)
    bodies.end(request.raw)
    done()
    turns.pass(request.raw)
    closeUnlessRead(request.raw, context.clock)
  })
}
