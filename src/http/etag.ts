// Strong entity tags and If-None-Match (RFC 9110 §13).

import type { FastifyReply, FastifyRequest } from 'fastify'

/** Sets the ETag of the answer; true when the client holds that very one and 304 is due. */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  const etag = `"${tag}"`
  void reply.header('etag', etag)
  const held = request.headers['if-none-match']
  if (held === undefined) return false
  return held.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}
