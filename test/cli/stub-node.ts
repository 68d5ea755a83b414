// A server that stands in for a node: answers as each test says and keeps what it was asked.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What to answer; `lost`: the connection breaks without an answer; `isCut`: it breaks behind the body. */
export type Reply =
  | {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: unknown
      readonly trailers?: Readonly<Record<string, string>>
      readonly isCut?: boolean
    }
  | 'lost'

export interface StubNode extends AsyncDisposable {
  readonly url: string
  readonly asked: Asked[]
  /** The requests of one method and path, in order. */
  readonly of: (method: string, path: string) => Asked[]
}

export type Replies = Readonly<Record<string, Reply | readonly Reply[] | ((asked: Asked) => Reply)>>

/**
 * Starts a stub. `replies` goes from `GET /path` to what is answered; of a list each request takes the next one, the
 * last one stays. A body that is a string goes out as it is.
 */
export async function startStub(replies: Replies): Promise<StubNode> {
  const asked: Asked[] = []
  const counts = new Map<string, number>()
  const server = createServer((request, response) => {
    void answer(request, response)
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://stub')
    const method = request.method ?? ''
    const body = (await buffer(request)).toString()
    const one = { method, path: url.pathname, query: url.searchParams, headers: request.headers, body }
    asked.push(one)
    const route = `${method} ${url.pathname}`
    const at = counts.get(route) ?? 0
    counts.set(route, at + 1)
    const reply = replyTo(replies[route], one, at)
    if (reply === 'lost') {
      request.socket.destroy()
      return
    }
    const { status = 200, headers = {}, body: content = null, trailers, isCut } = reply
    const names = trailers === undefined ? {} : { trailer: Object.keys(trailers).join() }
    response.writeHead(status, { 'content-type': 'application/json', ...names, ...headers })
    if (trailers !== undefined) response.addTrailers(trailers)
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    if (isCut === true) response.write(text, () => request.socket.destroy())
    else response.end(text)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    of: (method, path) => asked.filter((one) => one.method === method && one.path === path),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function replyTo(replies: Replies[string] | undefined, asked: Asked, at: number): Reply {
  if (typeof replies === 'function') return replies(asked)
  if (replies === undefined) return problem(404, 'RouteNotFound', `There is no ${asked.method} ${asked.path}.`)
  const list: readonly Reply[] = Array.isArray(replies) ? replies : [replies as Reply]
  return list[Math.min(at, list.length - 1)] ?? {}
}

/** A problem body as nodes send it. */
export function problem(
  status: number,
  kind: string,
  message: string,
  members: Readonly<Record<string, unknown>> = {},
): { status: number; headers: Record<string, string>; body: object } {
  const retryable = [408, 429, 502, 503, 504].includes(status) || kind === 'OutcomeUnknown'
  return {
    status,
    headers: { 'content-type': 'application/problem+json', 'request-id': 'b1c9' },
    body: { status, detail: message, message, ok: false, error: { kind, message }, retryable, ...members },
  }
}

/** A receipt as nodes send it. */
export function receipt(members: Readonly<Record<string, unknown>> = {}): object {
  return {
    receiptId: 'R'.repeat(40),
    status: 'committed',
    dataset: { id: `did:odf:fed01${'0'.repeat(64)}`, alias: 'me/lab' },
    records: { received: 2, committed: 2, duplicates: 0 },
    bodyHash: `f1220${'0'.repeat(64)}`,
    mediaType: 'application/x-ndjson',
    bytes: 10,
    log: { name: 'file', partition: 0, position: 7 },
    block: { hash: `f1620${'a'.repeat(64)}`, sequence: 3 },
    offsets: { start: 5, end: 6 },
    times: { received: '2026-01-01T00:00:00.000Z', accepted: '2026-01-01T00:00:00.000Z' },
    ...members,
  }
}
