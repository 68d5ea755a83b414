// Query strings are strict everywhere unless a route says otherwise: unknown, repeated and ill-escaped parameters are
// errors, because a misspelt `limit` that is ignored answers another question than the one asked.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { NodeError } from '../model/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Unknown query parameters are ignored. */
    readonly looseParameters?: boolean
  }
}

const NoParameters = Type.Object({}, { additionalProperties: false })

/** Register before the routes. Throws NodeError `InvalidParameter` at each request that breaks the rule. */
export function registerParameterRules(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.looseParameters === true || route.schema?.hide === true) return
    route.schema = { querystring: NoParameters, ...route.schema }
  })
  app.addHook('onRequest', (request, _reply, done) => {
    done(isWellEscaped(request.url) ? undefined : illEscaped())
  })
}

function isWellEscaped(url: string): boolean {
  const query = url.indexOf('?')
  if (query < 0 || !url.includes('%', query)) return true
  try {
    decodeURIComponent(url.slice(query + 1))
    return true
  } catch {
    return false
  }
}

function illEscaped(): NodeError {
  return new NodeError('InvalidParameter', 'The query string has a percent sign that begins no UTF-8 escape.', {
    hint: "Write % as %25; curl does it with -G --data-urlencode 'query=…'.",
  })
}
