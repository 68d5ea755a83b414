// A proxy before a broker that reads the frames of Kafka's protocol and spoils chosen ones: cut before or in the
// middle of a request, or after it with the answer lost; or everything swallowed, as by a network that drops packets.

import { connect, createServer, type Server, type Socket } from 'node:net'
import type { ISocketFactory } from 'kafkajs'

/** Key of the request in the protocol. */
export const produceKey = 0

/** Nobody listens there. */
const closedPort = 1

/** What becomes of one request. */
export type Fate = 'pass' | 'before' | 'half' | 'after'

export class KafkaProxy {
  /** Decides on each request of the clients; by default all pass. */
  fate: (apiKey: number) => Fate = () => 'pass'
  /** While true, nothing gets through in either direction; connections stay open. */
  swallows = false
  /** While true, new connections are refused. */
  refuses = false
  cuts = 0
  readonly #server: Server
  readonly #target: number
  readonly #sockets = new Set<Socket>()
  #port = 0

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer((client) => this.#serve(client))
  }

  /** The next request to store is stored and its answer lost; then connections are refused for `ms`. */
  storeAndRefuse(ms: number): void {
    this.fate = (apiKey) => {
      if (apiKey !== produceKey || this.refuses) return 'pass'
      this.refuses = true
      setTimeout(() => {
        this.refuses = false
        this.fate = () => 'pass'
      }, ms)
      return 'after'
    }
  }

  /** A proxy before the broker at `address` (host:port on this machine). */
  static async before(address: string): Promise<KafkaProxy> {
    const proxy = new KafkaProxy(Number(address.split(':')[1]))
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', () => resolve()))
    const bound = proxy.#server.address()
    if (bound !== null && typeof bound === 'object') proxy.#port = bound.port
    return proxy
  }

  /** host:port of the proxy itself. */
  get address(): string {
    return `127.0.0.1:${this.#port}`
  }

  /** Connections of a client that all go through this proxy. */
  get socketFactory(): ISocketFactory {
    return ({ onConnect }) => {
      const socket = connect(this.refuses ? closedPort : this.#port, '127.0.0.1', onConnect)
      let hasEnded = false
      socket.once('end', () => {
        hasEnded = true
      })
      socket.once('close', () => {
        if (!hasEnded) socket.emit('end')
      })
      return socket
    }
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.cutAll()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(client: Socket): void {
    const broker = connect(this.#target, '127.0.0.1')
    const cut = (): void => {
      client.destroy()
      broker.destroy()
    }
    for (const socket of [client, broker]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        cut()
      })
    }
    let answerIsLost = false
    broker.on('data', (chunk: Buffer) => {
      if (answerIsLost) cut()
      else if (!this.swallows) client.write(chunk)
    })
    let pending = Buffer.alloc(0)
    let isTorn = false
    client.on('data', (chunk: Buffer) => {
      if (this.swallows || isTorn) return
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 6 && pending.length >= 4 + pending.readInt32BE(0) && !isTorn) {
        const frame = pending.subarray(0, 4 + pending.readInt32BE(0))
        pending = pending.subarray(frame.length)
        const fate = this.fate(frame.readInt16BE(4))
        if (fate !== 'pass') this.cuts++
        if (fate === 'before') return cut()
        if (fate === 'half') {
          isTorn = true
          broker.end(frame.subarray(0, frame.length >> 1), () => cut())
          return
        }
        if (fate === 'after') answerIsLost = true
        broker.write(frame)
      }
    })
  }
}
