// Answers that are read too slowly hold memory: below a rate over a window the connection is closed.

import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import type { Limits } from '../lib/limits.ts'

const windowMs = 30_000
const checkEveryMs = 1_000

interface Window {
  readonly startedMs: number
  /** Bytes that the system had taken when the window began. */
  readonly bytes: number
}

/** Watches answers that are being sent. Pure but for the connections it closes; the clock is the caller's. */
export class SlowReaders {
  readonly #bytesPerSecond: number
  readonly #open = new Map<ServerResponse, Window>()

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond
  }

  begin(response: ServerResponse, nowMs: number): void {
    this.#open.set(response, { startedMs: nowMs, bytes: takenBytes(response) })
  }

  end(response: ServerResponse): void {
    this.#open.delete(response)
  }

  /**
   * Closes connections whose window is over and took too few bytes. What lies before the system is taken all at once:
   * so a window is as long as that may take.
   */
  check(nowMs: number): void {
    for (const [response, window] of this.#open) {
      const waitingBytes = response.socket?.writableLength ?? 0
      const elapsedMs = nowMs - window.startedMs
      if (elapsedMs < Math.max(windowMs, (1000 * waitingBytes) / this.#bytesPerSecond)) continue
      const bytes = takenBytes(response) - window.bytes
      // With nothing waiting here, the delay is the node's.
      if (bytes * 1000 < this.#bytesPerSecond * elapsedMs && waitingBytes > 0) response.destroy()
      else this.begin(response, nowMs)
    }
  }
}

function takenBytes({ socket }: ServerResponse): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength
}

/** Starts the watch when the server is ready and ends it when the server closes. */
export function registerSlowReaders(
  app: FastifyInstance,
  { clock, limits }: { readonly clock: Clock; readonly limits: Pick<Limits, 'answerRate'> },
): (response: ServerResponse) => void {
  const readers = new SlowReaders(limits.answerRate)
  const stop = new AbortController()
  app.addHook('onListen', (done) => {
    void watch(readers, clock, stop.signal)
    done()
  })
  app.addHook('onClose', (_app, done) => {
    stop.abort()
    done()
  })
  return (response) => {
    readers.begin(response, clock.monotonicMs())
    response.once('close', () => readers.end(response))
  }
}

async function watch(readers: SlowReaders, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(checkEveryMs, signal)
    readers.check(clock.monotonicMs())
  }
}
