// A signal that fires when the client goes away, so that nobody computes an answer for no one.

import type { FastifyReply } from 'fastify'

/** Aborts when the connection closes before the answer is sent. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  if (reply.raw.closed) controller.abort()
  return controller.signal
}
