// Bodies that trickle hold memory and connections: below a rate over a window the request ends with 408.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import type { Limits } from '../lib/limits.ts'
import { NodeError } from '../model/errors.ts'

const windowMs = 30_000
const checkEveryMs = 1_000

interface Window {
  readonly startedMs: number
  /** Bytes read from the connection when the window began. */
  readonly bytes: number
}

/** Watches bodies that are still coming. Pure but for the stream it ends; the clock is the caller's. */
export class SlowBodies {
  readonly #bytesPerSecond: number
  readonly #open = new Map<IncomingMessage, Window>()

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond
  }

  begin(request: IncomingMessage, nowMs: number): void {
    this.#open.set(request, { startedMs: nowMs, bytes: request.socket.bytesRead })
  }

  end(request: IncomingMessage): void {
    this.#open.delete(request)
  }

  /** Ends bodies whose window is over and held too few bytes: their readers get NodeError `RequestTimeout`. */
  check(nowMs: number): void {
    for (const [request, window] of this.#open) {
      if (request.complete || request.destroyed) this.#open.delete(request)
      const elapsedMs = nowMs - window.startedMs
      if (elapsedMs < windowMs || !this.#open.has(request)) continue
      const bytes = request.socket.bytesRead - window.bytes
      // Bytes that lie here unread are the node's delay, not the client's.
      const isSlow = bytes * 1000 < this.#bytesPerSecond * elapsedMs && request.readableLength === 0
      if (isSlow && request.listenerCount('error') > 0) {
        this.#open.delete(request)
        request.emit('error', tooSlow(this.#bytesPerSecond))
      } else {
        this.begin(request, nowMs)
      }
    }
  }
}

/** Starts the watch when the server is ready and ends it when the server closes. */
export function registerSlowBodies(
  app: FastifyInstance,
  context: { readonly clock: Clock; readonly limits: Pick<Limits, 'bodyRate'> },
): void {
  const { clock } = context
  const bodies = new SlowBodies(context.limits.bodyRate)
  const stop = new AbortController()
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.raw.complete && hasBody(request.raw)) bodies.begin(request.raw, clock.monotonicMs())
    done()
  })
  app.addHook('onResponse', (request, _reply, done) => {
    bodies.end(request.raw)
    done()
  })
  app.addHook('onListen', (done) => {
    void watch(bodies, clock, stop.signal)
    done()
  })
  app.addHook('onClose', (_app, done) => {
    stop.abort()
    done()
  })
}

async function watch(bodies: SlowBodies, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(checkEveryMs, signal)
    bodies.check(clock.monotonicMs())
  }
}

/** True when the header announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

function tooSlow(bytesPerSecond: number): NodeError {
  return new NodeError('RequestTimeout', `The body came slower than ${bytesPerSecond} bytes a second.`, {
    limit: { name: 'bodyRate', value: bytesPerSecond, unit: 'bytes/s' },
    hint: 'Send it again; nothing was stored.',
  })
}
