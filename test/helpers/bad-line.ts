// A line between a program and a node that can lose answers and refuse, so that the program repeats what it has sent. The
// node behind it may be stopped and started elsewhere.

import { once } from 'node:events'
import { createServer, type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** `lost`: passed on, and its answer lost; `refused`: 503; `cut`: not passed on, the connection ends. */
export type Fate = 'passed' | 'lost' | 'refused' | 'cut'

export class BadLine {
  /** Where requests are passed on to. */
  target: string
  /** Requests so far. */
  requests = 0
  readonly #server: Server

  private constructor(target: string, server: Server) {
    this.target = target
    this.#server = server
  }

  /** Opens a line to `target`; `fateOf` is told how many requests came before. */
  static async open(target: string, fateOf: (before: number) => Fate): Promise<BadLine> {
    const server = createServer((incoming, outgoing) => void line.#pass(incoming, outgoing, fateOf(line.requests++)))
    const line = new BadLine(target, server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return line
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo // a TCP server has one
    return `http://127.0.0.1:${port}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse, fate: Fate): Promise<void> {
    const body = await buffer(incoming)
    if (fate === 'cut') return void outgoing.destroy()
    if (fate === 'refused') return void outgoing.writeHead(503, { 'retry-after': '0' }).end()
    const { hostname, port } = new URL(this.target)
    const { method, url: path, headers } = incoming
    const onward = httpRequest({ hostname, port, method, path, headers }, (answer) => {
      void buffer(answer).then((bytes) => {
        if (fate === 'lost') outgoing.destroy()
        else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(bytes)
      })
    })
    // A node that is gone.
    onward.on('error', () => outgoing.destroy())
    onward.end(body)
  }
}
