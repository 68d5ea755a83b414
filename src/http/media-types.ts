// The error for a body of a type that its route does not take, with the list of those that it does.

import type { FastifyRequest } from 'fastify'
import { NodeError } from '../model/errors.ts'

export function unsupportedType(request: FastifyRequest): NodeError {
  const type = request.headers['content-type']
  const { stream, describes } = request.routeOptions.config
  const taken = stream === true && describes?.consumes !== undefined ? describes.consumes : ['application/json']
  const what = stream === true ? 'one of the types below' : 'JSON'
  return new NodeError(
    'UnsupportedMediaType',
    type === undefined
      ? `The request has no Content-Type; this route takes ${what}.`
      : `This route takes ${what}, not '${type.slice(0, 100)}'.`,
    { hint: `Send -H 'Content-Type: ${taken[0] ?? ''}'.`, candidates: taken },
  )
}
