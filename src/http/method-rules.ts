// 405 with Allow for a known path, 404 for an unknown one: fastify says 404 to both.

import type { FastifyInstance } from 'fastify'
import { NodeError } from '../model/errors.ts'

interface KnownPath {
  readonly pattern: RegExp
  /** Parts of the path that are not fixed: the fewer, the more the path is this one. */
  readonly variables: number
  readonly methods: Set<string>
}

/** Register before the routes. */
export function registerMethodRules(app: FastifyInstance): void {
  const known = new Map<string, KnownPath>()
  app.addHook('onRoute', (route) => {
    const entry = known.get(route.url) ?? knownPath(route.url)
    for (const method of [route.method].flat()) entry.methods.add(method)
    known.set(route.url, entry)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const matching = [...known.values()].filter((entry) => entry.pattern.test(path))
    const [nearest] = matching.sort((a, b) => a.variables - b.variables)
    // An asset that is not there lies under a known path too.
    if (nearest === undefined || nearest.methods.has(request.method)) {
      throw new NodeError('RouteNotFound', `There is no route ${path.slice(0, 200)}.`, {
        hint: 'GET / lists the routes.',
      })
    }
    const methods = [...nearest.methods].sort()
    void reply.header('allow', methods.join(', '))
    throw new NodeError('MethodNotAllowed', `${path.slice(0, 200)} does not take ${request.method}.`, {
      candidates: methods,
    })
  })
}

function knownPath(url: string): KnownPath {
  const pattern = url
    .replace(/[.]/g, '\\.')
    .replace(/:[A-Za-z]+/g, '[^/]+')
    .replace(/\*/g, '.*')
  return { pattern: new RegExp(`^${pattern}$`), variables: url.split(/[:*]/).length - 1, methods: new Set() }
}
