// Who asks: the principal of each request, before names are looked at.

import type { FastifyInstance } from 'fastify'
import { bearerToken } from '../access/authorization.ts'
import { anonymousPrincipal } from '../access/scopes.ts'
import type { HttpContext } from './context.ts'

/** Sets `request.principal`. Throws NodeError `BadAuthorization`, `Unauthenticated` on every route. */
export function registerAuthentication(
  app: FastifyInstance,
  context: Pick<HttpContext, 'tokens' | 'anonymousRead'>,
): void {
  const anonymous = anonymousPrincipal(context.anonymousRead)
  // Declared so that requests share one shape; set before any handler runs.
  app.decorateRequest('principal')
  app.addHook('onRequest', async (request) => {
    const token = bearerToken(request.headers.authorization)
    request.principal = token === undefined ? anonymous : await context.tokens.authenticate(token)
  })
}
