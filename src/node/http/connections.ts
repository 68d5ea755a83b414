// What happens on a connection beside requests and answers: requests take turns, a client that goes away is noticed, a
// refused body is read to an end, and a server that closes waits for what is in flight.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Clock, systemClock } from '../../libraries/base/clock.ts'
import { hasBody } from './slow-clients.ts'

interface Connection {
  readonly socket: Socket
  /** A request is being handled. */
  isBusy: boolean
  /** Those that have been read and wait for their turn. */
  readonly waiting: (() => void)[]
}

const turnOf = Symbol('turnOf')

/** A request whose reader gave up has no socket any more, though its answer has gone out and the next request comes. */
type TurnRequest = IncomingMessage & { [turnOf]?: Connection }

/**
 * Requests of one connection are handled one after the other, and no more of them are read than one chunk holds: a client
 * that sends without waiting for answers is held back by TCP, not held in memory.
 */
export class ConnectionTurns {
  readonly #connections = new WeakMap<Socket, Connection>()

  /** Calls `handle` when the connection's earlier requests are answered: at once where there are none. */
  take(request: TurnRequest, handle: () => void): void {
    const connection = this.#connectionOf(request.socket)
    request[turnOf] = connection
    if (!connection.isBusy) {
      connection.isBusy = true
      return handle()
    }
    connection.waiting.push(handle)
    connection.socket.pause()
  }

  /** The request is answered: the connection's next one has its turn. */
  pass(request: TurnRequest): void {
    const connection = request[turnOf]
    if (connection === undefined || connection.socket.destroyed) return
    const next = connection.waiting.shift()
    connection.isBusy = next !== undefined
    if (next !== undefined && connection.waiting.length === 0) connection.socket.resume()
    next?.()
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket)
    if (known !== undefined) return known
    const connection = newConnection(socket)
    this.#connections.set(socket, connection)
    return connection
  }
}

/** Closes the connection of an answered request whose body was announced, that nobody waits for, and that does not come. */
export function closeUnlessRead(request: IncomingMessage, clock: Clock): void {
  // A request that was broken off has lost its connection already.
  if (request.complete || request.destroyed || !hasBody(request)) return
  const { socket } = request
  void clock.sleep(lingerMs).then(() => {
    if (!request.complete) socket.destroy()
  })
}

function newConnection(socket: Socket): Connection {
  const connection: Connection = { socket, isBusy: false, waiting: [] }
  // What reads a body resumes the connection.
  socket.on('resume', () => {
    if (connection.waiting.length > 0) socket.pause()
  })
  return connection
}

/** The first write to a peer that is gone is answered with a reset, which the second one notices. */
const firstLookMs = 50
const nextLooksMs = 1_000

/**
 * Aborts when the connection closes before the answer is sent, so that nobody computes an answer for no one. A client
 * that has only ended its side still hears the answer: an interim response (102) now and then tells the two apart.
 */
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
    // A reason is an error with a stack unless one is given: dear for what every request does.
    over.abort('closed')
    if (!raw.writableFinished) controller.abort()
  })
  if (raw.closed) controller.abort()
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

/** How long requests that are being answered when the server closes are waited for. */
export const closeGraceMs = 10_000

/** Takes no more connections; those still busy after 10 s are cut off. Resolves when all are closed. */
export async function closeGently(app: FastifyInstance, clock: Clock): Promise<void> {
  const closed = new AbortController()
  const cut = clock.sleep(closeGraceMs, closed.signal).then(() => {
    if (!closed.signal.aborted) app.server.closeAllConnections()
  })
  await app.close()
  closed.abort()
  await cut
}

const lingerBytes = 1024 * 1024
const lingerMs = 2_000

/** True when all of the request has arrived; of a body in one packet Node says so only after its first reader ran. */
export function hasArrived(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return true
  const length = request.headers['content-length']
  return length !== undefined && request.readableLength >= Number(length)
}

/**
 * The answer to a body that is refused before its end. Closing at once would reset the connection, and a client that is
 * still sending might never see why: so `text` comes at once, and the end of the stream when the body ended, 1 MiB of it
 * was read and thrown away, or 2 s went by.
 */
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
