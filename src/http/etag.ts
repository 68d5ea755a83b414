// Strong entity tags and If-None-Match (RFC 9110 §13).

import type { FastifyReply, FastifyRequest } from 'fastify'

/** Ending of the tag of a compressed answer (compress.ts). */
const compressedForm = /-(?:gz|br)"$/

/** Sets the ETag of the answer; true when the client holds that very one and 304 is due. */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  const etag = `"${tag}"`
  void reply.header('etag', etag)
  const held = request.headers['if-none-match']
  if (held === undefined) return false
  const found = held
    .split(',')
    .map((one) => one.trim().replace(/^W\//, ''))
    .find((one) => one === '*' || one === etag || one.replace(compressedForm, '"') === etag)
  if (found !== undefined && found !== '*') void reply.header('etag', found)
  return found !== undefined
}
