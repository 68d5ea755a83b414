// Routes that this process does not have, because it has not the role: 404 that names the role which answers them.

import type { FastifyInstance } from 'fastify'
import { NodeError } from '../../model/errors.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What a process must be to have the routes: `catalog` stands for a gateway or a replica. */
const routesOf = {
  gateway: [
    ['PUT', '/:account/:dataset'],
    ['POST', '/:account/:dataset/ingest'],
    ['GET', '/receipts/:id'],
    ['GET', '/tokens'],
    ['POST', '/tokens'],
    ['DELETE', '/tokens/:id'],
  ],
  replica: [
    ['GET', '/query'],
    ['POST', '/query'],
    ['POST', '/verify'],
    ['GET', '/:account/:dataset/tail'],
  ],
  catalog: [
    ['GET', '/datasets'],
    ['GET', '/datasets/:id'],
    ['GET', '/:account/:dataset'],
    ['GET', '/:account/:dataset/metadata'],
    ['GET', '/:account/:dataset/refs/head'],
    ['GET', '/:account/:dataset/blocks'],
    ['GET', '/:account/:dataset/blocks/:hash'],
    ['GET', '/:account/:dataset/data/:hash'],
    ['GET', '/:account/:dataset/checkpoints/:hash'],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly [Method, string])[]>>

const answeredBy = { gateway: 'gateway', replica: 'replica', catalog: 'gateway or replica' } as const

/** Registers routes that throw NodeError `RouteNotFound`. */
export function registerAbsent(app: FastifyInstance, of: keyof typeof routesOf): void {
  for (const [method, url] of routesOf[of]) {
    app.route({
      method,
      url,
      schema: { hide: true },
      // Before any body is read.
      onRequest: async () => {
        throw new NodeError('RouteNotFound', `This node does not answer ${method} ${url}.`, {
          hint: `Ask a node with the role ${answeredBy[of]}; GET /info names the roles of a node.`,
        })
      },
      handler: () => undefined,
    })
  }
}
