// Streams of records over WebSocket (RFC 6455), for senders behind proxies that hold posts back or cut them: a handshake
// goes the way of the POST it stands for, messages are its body, and each line of the answer is a message
// (docs/decisions/streams.md).

import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough, type Duplex, type Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../libraries/base/clock.ts'
import type { StreamRoom } from '../gateway/stream-room.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { closeGraceMs } from './connections.ts'
import { hasBody } from './slow-clients.ts'

const streamPath = /^\/[^/?]+\/[^/?]+\/stream(?:\?|$)/
const keyPattern = /^[+/0-9A-Za-z]{22}==$/
/** A peer that is told the end has so long to say that it heard. */
const goodbyeMs = 2_000
/** Proxies close connections on which nothing comes for a minute. */
const pingEveryMs = 25_000
const lineFeed = 0x0a
/** Parts of one message at most, each of which keeps more memory than its bytes. */
const messageParts = 1024
/** How often it is looked whether there is room again. */
const roomEveryMs = 500

/** Whether an upgrade is taken. Any other is answered as if it were not asked for (RFC 9110 §7.8). */
export function isHandshake(request: IncomingMessage): boolean {
  const { method, url = '', headers } = request
  return method === 'GET' && streamPath.test(url) && headers.upgrade?.toLowerCase() === 'websocket' && !hasBody(request)
}

/** Throws NodeErrors `UpgradeRequired`, `InvalidParameter` for what is no handshake of RFC 6455 (§4.2). */
export function demandGoodHandshake(
  headers: IncomingMessage['headers'],
  answerWith: (name: string, value: string) => unknown,
): void {
  if (headers['sec-websocket-version'] !== '13') {
    answerWith('sec-websocket-version', '13')
    throw new NodeError('UpgradeRequired', 'WebSocket must be version 13.', {
      hint: 'Send Sec-WebSocket-Version: 13, or POST the stream.',
    })
  }
  if (keyPattern.test(headers['sec-websocket-key'] ?? '')) return
  throw new NodeError('InvalidParameter', 'The header Sec-WebSocket-Key is not base64 of 16 bytes.', {
    hint: 'A client of WebSocket makes it at random; or POST the stream.',
  })
}

export class RecordSockets {
  readonly #server: WebSocketServer
  readonly #clock: Clock
  readonly #handshakes = new WeakMap<IncomingMessage, RecordSocket>()

  /** The server's `shouldUpgradeCallback` is `isHandshake`. */
  constructor(
    app: FastifyInstance,
    { clock, limits }: { readonly clock: Clock; readonly limits: Pick<Limits, 'recordBytes'> },
  ) {
    // What a message inflates to is not known before: none is compressed.
    const bounds = {
      maxPayload: limits.recordBytes,
      perMessageDeflate: false,
      maxFragments: messageParts,
      closeTimeout: goodbyeMs,
    }
    this.#server = new WebSocketServer({ noServer: true, ...bounds })
    this.#clock = clock
    app.server.on('upgrade', (request, socket, head) => this.#route(app, request, { socket, head }))
    const closed = new AbortController()
    app.addHook('preClose', () => {
      // The HTTP server knows nothing of these connections any more.
      void clock.sleep(closeGraceMs, closed.signal).then(() => {
        for (const open of this.#server.clients) open.terminate()
      })
      return Promise.resolve()
    })
    app.addHook('onClose', () => {
      closed.abort()
      return Promise.resolve()
    })
  }

  /** The WebSocket that a request asks for, if it does. */
  of(request: IncomingMessage): RecordSocket | undefined {
    return this.#handshakes.get(request)
  }

  /** Handles a handshake as a POST: with an answer of its own until it is accepted. */
  #route(app: FastifyInstance, request: IncomingMessage, peer: { socket: Duplex; head: Buffer }): void {
    const socket = peer.socket as Socket // of a connection to this server
    socket.on('error', () => socket.destroy())
    const answer = new ServerResponse(request)
    try {
      answer.assignSocket(socket)
    } catch {
      // It came before the answer to the request before it.
      socket.destroy()
      return
    }
    answer.shouldKeepAlive = false
    answer.once('finish', () => socket.destroySoon())
    this.#handshakes.set(
      request,
      new RecordSocket({ server: this.#server, clock: this.#clock, request, socket, head: peer.head }),
    )
    request.method = 'POST'
    request.headers['content-type'] ??= 'application/x-ndjson'
    app.routing(request, answer)
  }
}

interface Handshake {
  readonly server: WebSocketServer
  readonly clock: Clock
  readonly request: IncomingMessage
  readonly socket: Socket
  /** What came with the request. */
  readonly head: Buffer
}

/** Why nothing is read of a connection. */
interface Pauses {
  /** The records before are not taken yet. */
  taking: boolean
  /** There is no room for more. */
  room: boolean
}

/** One handshake, and the WebSocket that it becomes. */
export class RecordSocket {
  readonly #handshake: Handshake
  readonly #body = new PassThrough()
  #socket: WebSocket | undefined
  /** Bytes of the connection when the last whole message had come. */
  #messageEnd = 0
  readonly #pauses: Pauses = { taking: false, room: false }
  #isWatched = false

  constructor(handshake: Handshake) {
    this.#handshake = handshake
    // The reader may give it up at any time.
    this.#body.on('error', () => {})
  }

  /** The records of all messages that come whole, each message ended by a line feed. */
  get body(): Readable {
    return this.#body
  }

  /** Answers the handshake, and takes messages from now on, as far as `room` allows; false where the peer is gone. */
  accept(room: StreamRoom): boolean {
    const { server, request, socket, head } = this.#handshake
    request.method = 'GET'
    server.handleUpgrade(request, socket, head, (taken) => {
      this.#socket = taken
      this.#listen(taken)
      this.#keepWithin(taken, room)
      void this.#ping(taken)
    })
    if (this.#socket === undefined) room.leave()
    return this.#socket !== undefined
  }

  /** Sends a message; resolves when the system has taken it, or the connection is gone. */
  send(text: string): Promise<void> {
    return new Promise((resolve) => this.#socket?.send(text, () => resolve()))
  }

  /** Ends the stream, with the status of the problem that it ended by; the connection is gone within 2 s. */
  close(status: number | undefined): void {
    this.#socket?.close(status === undefined ? 1000 : closeCode(status))
  }

  /** Ends the connection at once. */
  drop(): void {
    this.#socket?.terminate()
  }

  #listen(socket: WebSocket): void {
    const body = this.#body
    const isOver = (): boolean => body.writableEnded || body.destroyed
    socket.on('message', (data: Buffer) => {
      this.#messageEnd = this.#handshake.socket.bytesRead
      if (isOver()) return
      if (data.length === 0) {
        body.end()
        return
      }
      body.write(data.at(-1) === lineFeed ? data : Buffer.concat([data, Buffer.of(lineFeed)]))
      if (body.writableNeedDrain) this.#pause(socket, { taking: true })
    })
    body.on('drain', () => this.#pause(socket, { taking: false }))
    // Nobody reads on: the peer's goodbye must still be heard.
    body.on('close', () => this.#pause(socket, { taking: false }))
    // Its close follows.
    socket.on('error', () => {})
    socket.on('close', () => {
      if (!isOver()) body.end()
    })
  }

  #pause(socket: WebSocket, why: Partial<Pauses>): void {
    Object.assign(this.#pauses, why)
    if (this.#pauses.taking || this.#pauses.room) socket.pause()
    else socket.resume()
  }

  /** Counts what has come of messages that are not taken yet, and ends a long one that does not come to its end. */
  #keepWithin(socket: WebSocket, room: StreamRoom): void {
    const { socket: connection } = this.#handshake
    this.#messageEnd = connection.bytesRead
    connection.on('data', () => {
      const hasRoom = room.hold(this.#gatheredBytes)
      if (!hasRoom) this.#pause(socket, { room: true })
      const isLong = room.note(connection.bytesRead - this.#messageEnd)
      if ((isLong || !hasRoom) && !this.#isWatched) void this.#watch(socket, room)
    })
    socket.once('close', () => room.leave())
  }

  get #gatheredBytes(): number {
    const { readableLength, writableLength } = this.#body
    // A message is joined of its parts.
    return 2 * (this.#handshake.socket.bytesRead - this.#messageEnd) + readableLength + writableLength
  }

  async #watch(socket: WebSocket, room: StreamRoom): Promise<void> {
    const { clock, socket: connection } = this.#handshake
    this.#isWatched = true
    let end = this.#messageEnd
    for (let isLong = true; isLong && socket.readyState === socket.OPEN;) {
      const hasRoom = room.hold(this.#gatheredBytes)
      this.#pause(socket, { room: !hasRoom })
      await clock.sleep(roomEveryMs)
      // What waits for others to be taken is not late.
      if (this.#messageEnd !== end || this.#pauses.taking) room.restart(connection.bytesRead - this.#messageEnd)
      end = this.#messageEnd
      if (clock.monotonicMs() >= room.lateMs) {
        this.#pause(socket, { room: true })
        this.#body.destroy(room.lateError)
        return
      }
      isLong = !hasRoom || room.lateMs < Number.POSITIVE_INFINITY
    }
    this.#isWatched = false
    this.#pause(socket, { room: false })
  }

  async #ping(socket: WebSocket): Promise<void> {
    const closed = new AbortController()
    socket.once('close', () => closed.abort('closed'))
    for (;;) {
      await this.#handshake.clock.sleep(pingEveryMs, closed.signal)
      if (closed.signal.aborted) return
      socket.ping()
    }
  }
}

/** RFC 6455 §7.4.1 and its registry: try again later, internal error, policy violation. */
function closeCode(status: number): number {
  if (status === 503) return 1013
  return status >= 500 ? 1011 : 1008
}
