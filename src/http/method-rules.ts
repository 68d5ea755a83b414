// 405 with Allow for a known path, 404 for an unknown one: fastify says 404 to both.

import type { FastifyInstance } from 'fastify'
import { NodeError } from '../model/errors.ts'
import { type FindPath, pathOf } from './known-paths.ts'

export function registerMethodRules(app: FastifyInstance, findPath: FindPath): void {
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url)
    const nearest = findPath(request.url)
    // An asset that is not there lies under a known path too.
    if (nearest === undefined || nearest.methods.has(request.method)) {
      throw new NodeError('RouteNotFound', `There is no route ${path.slice(0, 200)}.`, {
        hint: 'GET / lists the routes.',
      })
    }
    const methods = [...nearest.methods.keys()].sort()
    void reply.header('allow', methods.join(', '))
    throw new NodeError('MethodNotAllowed', `${path.slice(0, 200)} does not take ${request.method}.`, {
      candidates: methods,
    })
  })
}
