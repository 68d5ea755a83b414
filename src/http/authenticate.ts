// Who asks: the principal of each request, and the right without which a route does not look at names or bodies.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { tokenOf } from '../access/token.ts'
import { type Principal, type Right, anonymousPrincipal, demandAdmin, demandToken } from '../access/scopes.ts'
import type { HttpContext } from './context.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route does. Routes without it are open to all. */
    readonly right?: Right | 'admin'
  }
}

/**
 * Sets `request.principal` and demands what the route's `right` says of the token alone.
 * Throws NodeError `BadAuthorization`, `Unauthenticated` on every route; `Forbidden` where only an admin may ask.
 */
export function registerAuthentication(
  app: FastifyInstance,
  context: Pick<HttpContext, 'tokens' | 'anonymousRead'>,
): void {
  const anonymous = anonymousPrincipal(context.anonymousRead)
  // Declared so that requests share one shape; set before any handler runs.
  app.decorateRequest('principal')
  app.addHook('onRequest', (request, _reply, done) => {
    const token = tokenOf(request.headers.authorization)
    const known = token === undefined ? anonymous : context.tokens.known(token)
    if (token === undefined || known !== undefined) {
      admit(request, known ?? anonymous)
      return done()
    }
    return context.tokens.authenticate(token).then((principal) => admit(request, principal))
  })
}

/** Throws NodeErrors `Unauthenticated`, `Forbidden`. */
function admit(request: FastifyRequest, principal: Principal): void {
  request.principal = principal
  const { right } = request.routeOptions.config
  if (right === 'admin') demandAdmin(principal)
  else if (right !== undefined) demandToken(principal, right)
}
