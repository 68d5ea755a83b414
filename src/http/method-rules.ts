// 405 with Allow for a known path, 404 for an unknown one: fastify says 404 to both.

import type { FastifyInstance } from 'fastify'
import { NodeError } from '../model/errors.ts'

interface KnownPath {
  readonly pattern: RegExp
  readonly methods: Set<string>
}

/** Register before the routes. */
export function registerMethodRules(app: FastifyInstance): void {
  const known = new Map<string, KnownPath>()
  app.addHook('onRoute', (route) => {
    const pattern = new RegExp(
      `^${route.url
        .replace(/[.]/g, '\\.')
        .replace(/:[A-Za-z]+/g, '[^/]+')
        .replace(/\*/g, '.*')}/?$`,
    )
    const entry = known.get(route.url) ?? { pattern, methods: new Set<string>() }
    for (const method of [route.method].flat()) entry.methods.add(method)
    known.set(route.url, entry)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const methods = new Set<string>()
    for (const entry of known.values())
      if (entry.pattern.test(path)) for (const method of entry.methods) methods.add(method)
    if (methods.size === 0)
      throw new NodeError('RouteNotFound', `There is no route ${path.slice(0, 200)}.`, {
        hint: 'GET / lists the routes.',
      })
    void reply.header('allow', [...methods].sort().join(', '))
    throw new NodeError('MethodNotAllowed', `${path.slice(0, 200)} does not take ${request.method}.`, {
      candidates: [...methods].sort(),
    })
  })
}
