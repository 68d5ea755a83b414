// Clients that trickle: a body that comes, or an answer that is taken, slower than a rate over a window of 30 s holds
// memory for nothing. A slow body ends with 408, as one does that takes too long in all; a slow reader loses its connection.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'

const windowMs = 30_000
const checkEveryMs = 1_000

/** One direction of a transfer, as the watch sees it. */
interface Direction<T> {
  readonly movedBytes: (one: T) => number
  /** Bytes that the system takes all at once: a window is as long as that may last. */
  readonly pendingBytes: (one: T) => number
  readonly isOver: (one: T) => boolean
  /** The delay is the node's, not the client's. */
  readonly isOurs: (one: T) => boolean
  readonly end: (one: T) => void
}

/** Watches transfers in one direction. Pure but for those it ends; the time is the caller's. */
class SlowTransfers<T> {
  readonly #bytesPerSecond: number
  readonly #direction: Direction<T>
  /** When the window of each began, and how much it had moved by then. */
  readonly #open = new Map<T, { readonly startedMs: number; readonly bytes: number }>()

  constructor(bytesPerSecond: number, direction: Direction<T>) {
    this.#bytesPerSecond = bytesPerSecond
    this.#direction = direction
  }

  begin(one: T, nowMs: number): void {
    this.#open.set(one, { startedMs: nowMs, bytes: this.#direction.movedBytes(one) })
  }

  forget(one: T): void {
    this.#open.delete(one)
  }

  /** Ends transfers whose window is over and moved too few bytes. */
  check(nowMs: number): void {
    const { movedBytes, pendingBytes, isOver, isOurs, end } = this.#direction
    for (const [one, { startedMs, bytes }] of this.#open) {
      const elapsedMs = nowMs - startedMs
      if (isOver(one)) this.forget(one)
      else if (elapsedMs >= Math.max(windowMs, (1000 * pendingBytes(one)) / this.#bytesPerSecond)) {
        const isSlow = (movedBytes(one) - bytes) * 1000 < this.#bytesPerSecond * elapsedMs && !isOurs(one)
        if (!isSlow) this.begin(one, nowMs)
        else {
          this.forget(one)
          end(one)
        }
      }
    }
  }
}

/** Bodies that are still coming. Their readers get NodeError `RequestTimeout`. */
export function slowBodies(bytesPerSecond: number): SlowTransfers<IncomingMessage> {
  return new SlowTransfers(bytesPerSecond, {
    movedBytes: ({ socket }) => socket.bytesRead,
    pendingBytes: () => 0,
    isOver: (request) => request.complete || request.destroyed,
    // Bytes that lie here unread; a request that nobody reads.
    isOurs: (request) => request.readableLength > 0 || request.listenerCount('error') === 0,
    end: (request) => request.emit('error', tooSlow(bytesPerSecond)),
  })
}

/** Answers that are being sent. Their connections are closed. */
export function slowReaders(bytesPerSecond: number): SlowTransfers<ServerResponse> {
  const pendingBytes = ({ socket }: ServerResponse): number => socket?.writableLength ?? 0
  return new SlowTransfers(bytesPerSecond, {
    movedBytes: ({ socket }) => (socket === null ? 0 : socket.bytesWritten - socket.writableLength),
    pendingBytes,
    isOver: () => false,
    isOurs: (response) => pendingBytes(response) === 0,
    end: (response) => response.destroy(),
  })
}

/** Bodies that may not take longer than `mostMs`; the one that began first comes first. */
class LateBodies {
  readonly #mostMs: number
  readonly #begunMs = new Map<IncomingMessage, number>()

  constructor(mostMs: number) {
    this.#mostMs = mostMs
  }

  begin(request: IncomingMessage, nowMs: number): void {
    this.#begunMs.set(request, nowMs)
  }

  forget(request: IncomingMessage): void {
    this.#begunMs.delete(request)
  }

  /** Ends those that are late: their readers get NodeError `RequestTimeout`; a body that nobody reads loses its connection. */
  check(nowMs: number): void {
    for (const [request, begunMs] of this.#begunMs) {
      const isOver = request.complete || request.destroyed
      if (!isOver && nowMs - begunMs < this.#mostMs) return
      this.forget(request)
      if (isOver) continue
      if (request.listenerCount('error') > 0) request.emit('error', tooLate(this.#mostMs))
      else request.destroy()
    }
  }
}

/** The watch of all bodies from the time the server listens until it closes: of each, where it begins and ends. */
export function registerSlowBodies(
  app: FastifyInstance,
  { clock, limits }: { readonly clock: Clock; readonly limits: Pick<Limits, 'bodyRate' | 'bodyMs'> },
): { begin(request: IncomingMessage): void; end(request: IncomingMessage): void } {
  const bodies = slowBodies(limits.bodyRate)
  const late = new LateBodies(limits.bodyMs)
  watch(app, clock, [bodies, late])
  return {
    begin: (request) => {
      if (request.complete || !hasBody(request)) return
      bodies.begin(request, clock.monotonicMs())
      late.begin(request, clock.monotonicMs())
    },
    end: (request) => {
      bodies.forget(request)
      late.forget(request)
    },
  }
}

/** The function that is told of each answer to watch. */
export function registerSlowReaders(
  app: FastifyInstance,
  { clock, limits }: { readonly clock: Clock; readonly limits: Pick<Limits, 'answerRate'> },
): (response: ServerResponse) => void {
  const readers = slowReaders(limits.answerRate)
  watch(app, clock, [readers])
  return (response) => {
    readers.begin(response, clock.monotonicMs())
    response.once('close', () => readers.forget(response))
  }
}

function watch(app: FastifyInstance, clock: Clock, all: readonly { check(nowMs: number): void }[]): void {
  const stop = new AbortController()
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await clock.sleep(checkEveryMs, stop.signal)
      for (const transfers of all) transfers.check(clock.monotonicMs())
    }
  }
  app.addHook('onListen', (done) => {
    void run()
    done()
  })
  app.addHook('onClose', (_app, done) => {
    stop.abort()
    done()
  })
}

/** True when the header announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

function tooLate(ms: number): NodeError {
  return new NodeError('RequestTimeout', `The body took longer than ${ms} ms.`, {
    limit: { name: 'bodyMs', value: ms, unit: 'ms' },
    hint: 'Send it in smaller batches, or as a stream; nothing was stored.',
  })
}

function tooSlow(bytesPerSecond: number): NodeError {
  return new NodeError('RequestTimeout', `The body came slower than ${bytesPerSecond} bytes a second.`, {
    limit: { name: 'bodyRate', value: bytesPerSecond, unit: 'bytes/s' },
    hint: 'Send it again; nothing was stored.',
  })
}
