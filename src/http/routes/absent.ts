// Routes that this process does not have, because it has not the role: 404 that names the role which answers them.

import type { FastifyInstance } from 'fastify'
import { NodeError } from '../../model/errors.ts'
import { type OperationText, routeTexts } from '../texts.ts'

const answeredBy = { gateway: 'gateway', replica: 'replica', catalog: 'gateway or replica' } as const

/** Registers the routes of a role that this process has not: each throws NodeError `RouteNotFound`. */
export function registerAbsent(app: FastifyInstance, role: NonNullable<OperationText['role']>): void {
  for (const [key, operation] of Object.entries(routeTexts.operations)) {
    if (operation.role !== role) continue
    const [method = '', path = ''] = key.split(' ')
    const url = path.replace(/\{(\w+)\}/g, ':$1')
    app.route({
      method: method.toUpperCase(),
      url,
      schema: { hide: true },
      // Before any body is read.
      onRequest: async () => {
        throw new NodeError('RouteNotFound', `This node does not answer ${method.toUpperCase()} ${url}.`, {
          hint: `Ask a node with the role ${answeredBy[role]}; GET /info names the roles of a node.`,
        })
      },
      handler: () => undefined,
    })
  }
}
