// The answer to a body that is refused before its end. Closing at once would reset the connection, and a client that is
// still sending might never see why; so a little more is read and thrown away, then the connection closes.

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { hasBody } from './slow-bodies.ts'

const lingerBytes = 1024 * 1024
const lingerMs = 2_000

/** True when all of the request has arrived; of a body in one packet Node says so only after its first reader ran. */
export function hasArrived(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return true
  const length = request.headers['content-length']
  return length !== undefined && request.readableLength >= Number(length)
}

/** Closes connections on which a body was announced that nobody waits for and that does not come within 2 s. */
export function registerUnreadBodies(app: FastifyInstance, clock: Clock): void {
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    done()
    // A request that was broken off has lost its connection already.
    if (raw.complete || raw.destroyed || !hasBody(raw)) return
    const { socket } = raw
    void clock.sleep(lingerMs).then(() => {
      if (!raw.complete) socket.destroy()
    })
  })
}

/** `text` at once, the end of the stream when the body ended, 1 MiB of it was read, or 2 s went by. */
export function lingeringAnswer(text: string, request: IncomingMessage, clock: Clock): Readable {
  return Readable.from(pieces(Buffer.from(text), request, clock), { objectMode: false })
}

async function* pieces(text: Buffer, request: IncomingMessage, clock: Clock): AsyncGenerator<Buffer> {
  yield text
  await discard(request, clock)
}

async function discard(request: IncomingMessage, clock: Clock): Promise<void> {
  const enough = new AbortController()
  const stop = (): void => enough.abort()
  let bytes = 0
  const count = (chunk: Uint8Array): void => {
    bytes += chunk.length
    if (bytes >= lingerBytes) stop()
  }
  if (request.complete || request.destroyed) return
  // A reader that gave up may have left its listener, which would keep the stream from flowing.
  request.removeAllListeners('readable')
  request.on('data', count).once('end', stop).once('close', stop).on('error', stop)
  request.resume()
  await clock.sleep(lingerMs, enough.signal)
  request.off('data', count)
}
