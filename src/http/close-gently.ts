// The end of a server: what is under way is answered, but a client that stalls cannot keep the process from ending.

import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'

const graceMs = 10_000

/** Takes no more connections; those still busy after 10 s are cut off. Resolves when all are closed. */
export async function closeGently(app: FastifyInstance, clock: Clock): Promise<void> {
  const closed = new AbortController()
  const cut = clock.sleep(graceMs, closed.signal).then(() => {
    if (!closed.signal.aborted) app.server.closeAllConnections()
  })
  await app.close()
  closed.abort()
  await cut
}
