// A signal that fires when the client goes away, so that nobody computes an answer for no one. Who has only ended his
// side of the connection still hears the answer: an interim response (102) now and then tells the two apart.

import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Clock, systemClock } from '../lib/clock.ts'

/** The first write to a peer that is gone is answered with a reset, which the second one notices. */
const firstLookMs = 50
const nextLooksMs = 1_000

/** Has connections whose client has sent its last byte answered before they are closed. */
export function registerHalfOpen(app: FastifyInstance): void {
  // A documented switch of Node's HTTP server, which its types lack.
  Object.assign(app.server, { httpAllowHalfOpen: true })
}

/** Aborts when the connection closes before the answer is sent. */
export function clientSignal(reply: FastifyReply, clock: Clock = systemClock): AbortSignal {
  const { raw } = reply
  const controller = new AbortController()
  const over = new AbortController()
  const onEnd = (): void => void lookForClient(reply, clock, over.signal)
  const { socket } = reply.request.raw
  socket.once('end', onEnd)
  if (socket.readableEnded) onEnd()
  raw.once('close', () => {
    socket.off('end', onEnd)
    over.abort()
    if (!raw.writableFinished) controller.abort()
  })
  if (reply.raw.closed) controller.abort()
  return controller.signal
}

async function lookForClient({ raw, request }: FastifyReply, clock: Clock, over: AbortSignal): Promise<void> {
  // Clients of HTTP/1.0 know no interim responses.
  if (request.raw.httpVersion !== '1.1') return
  for (let waitMs = firstLookMs; !over.aborted && !raw.headersSent; waitMs = nextLooksMs) {
    raw.writeProcessing()
    await clock.sleep(waitMs, over)
  }
}
