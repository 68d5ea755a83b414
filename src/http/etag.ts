// How long answers may be kept: strong entity tags and If-None-Match (RFC 9110 §13), answers that never change.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { NameRecord } from '../chain/records.ts'
import type { HttpContext } from './context.ts'

/** For answers that no block to come can change. Only what anyone may read is for shared caches. */
export function keepForEver(
  reply: FastifyReply,
  context: Pick<HttpContext, 'anonymousRead'>,
  name: Pick<NameRecord, 'visibility'>,
): void {
  const scope = name.visibility === 'public' && context.anonymousRead ? 'public' : 'private'
  void reply.header('cache-control', `${scope}, max-age=31536000, immutable`)
}

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
