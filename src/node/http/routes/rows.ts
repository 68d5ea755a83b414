// GET …/rows/{offset}: one row by its address.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { decodeUtf8 } from '../../../libraries/base/bytes.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { askingOf } from '../../answers/pin.ts'
import { tailRows } from '../../answers/tail.ts'
import { type DatasetChain, viewOf } from '../../catalog/dataset-chain.ts'
import { datasetOf } from '../access.ts'
import { callerOf } from '../answer.ts'
import type { ReplicaContext } from '../context.ts'
import { DatasetParams, DecimalText } from '../request-target.ts'

const params = Type.Object({ ...DatasetParams.properties, offset: DecimalText('Offset of the row in the dataset.') })

export function registerRows(app: FastifyInstance, context: ReplicaContext): void {
  app.get(
    '/:account/:dataset/rows/:offset',
    { config: { right: 'read' }, schema: { params } },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const text = await rowText(context, chain, { request, reply })
      void reply
        .header('dataset-head', `${chain.name.alias};block="${chain.head.hash}"`)
        .header('cache-control', 'no-cache')
      return reply.type('application/json; charset=utf-8').send(text)
    },
  )
}

/** The row of a request as JSON, an object of its columns. Throws NodeError `ObjectNotFound`, and as `tailRows`. */
export async function rowText(
  context: ReplicaContext,
  chain: DatasetChain,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<string> {
  const offset = offsetOf(request)
  const view = viewOf(chain)
  if (offset >= view.rows) {
    throw new NodeError(
      'ObjectNotFound',
      `'${chain.name.alias}' has ${view.rows} rows, and none with the offset ${offset}.`,
      {
        hint: 'Offsets count from 0.',
      },
    )
  }
  const { catalog, replica } = context
  const asking = askingOf(catalog, callerOf(context, request, reply))
  const wanted = { skip: view.rows - 1 - offset, limit: 1, dataFormat: 'JsonAos', asking }
  // A list of one.
  return decodeUtf8(await tailRows(replica, view, wanted)).slice(1, -1)
}

/** The offset that the address of a row names. */
export function offsetOf({ params: given }: Pick<FastifyRequest, 'params'>): number {
  return Number((given as { offset: string }).offset) // validated by the route
}
