// One HTTP exchange over node:http: streams a body, reads the whole answer, and takes an answer that comes before the
// body was sent in full.

import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type Readable, pipeline } from 'node:stream'
import { CommandFailure, exitCodes } from './failure.ts'

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Bytes, or a stream that is read once. */
  readonly body?: Uint8Array | Readable
  /** Ends the request. */
  readonly signal?: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Uint8Array
}

const connectMs = 10_000
const idleMs = 300_000

/**
 * Sends a request over a connection of its own. Rejects with a retryable CommandFailure (unreachable) when no answer
 * came; the node may have acted on it unless details.neverConnected. A fault of reading the body's source rejects as it is.
 */
export function sendRequest(asked: HttpRequest): Promise<HttpAnswer> {
  const { method, url, headers, body, signal } = asked
  const begin = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = begin(url, {
      method,
      headers,
      agent: false,
      timeout: connectMs,
      ...(signal === undefined ? {} : { signal }),
    })
    let connected = false
    let answered = false
    request.on('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        connected = true
        request.setTimeout(idleMs)
      })
    })
    request.on('timeout', () => request.destroy(new CommandFailure(exitCodes.unreachable, 'it does not answer')))
    request.on('error', (error) => reject(connectionFailure(url, connected, error)))
    request.on('response', (response) => {
      answered = true
      readAnswer(response)
        .then(resolve, (error: unknown) => reject(connectionFailure(url, true, error)))
        .finally(() => request.destroy())
    })
    sendBody(request, body, (error) => {
      // Once an answer came, the rest of the body is of no interest.
      if (!answered) reject(error)
    })
  })
}

function sendBody(request: ClientRequest, body: HttpRequest['body'], onSourceError: (error: unknown) => void): void {
  if (body === undefined || body instanceof Uint8Array) {
    request.end(body)
    return
  }
  body.once('error', (error) => {
    if (!request.destroyed) onSourceError(error)
  })
  request.once('response', () => body.unpipe(request))
  pipeline(body, request, () => {})
}

async function readAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of response) chunks.push(chunk as Uint8Array) // no encoding is set
  return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }
}

function connectionFailure(url: URL, connected: boolean, error: unknown): CommandFailure {
  const reason = error instanceof Error ? reasonOf(error) : String(error)
  if (connected) {
    return new CommandFailure(exitCodes.unreachable, `The connection to ${url.origin} was lost: ${reason}.`, {
      retryable: true,
      cause: error,
    })
  }
  return new CommandFailure(exitCodes.unreachable, `${url.origin} cannot be reached: ${reason}.`, {
    retryable: true,
    neverConnected: true,
    hint: 'Start a node with: proofstream serve. Another one is named by --server or PROOFSTREAM_SERVER.',
    cause: error,
  })
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host is not known',
  EAI_AGAIN: 'the host cannot be looked up',
  ECONNRESET: 'the other side closed it',
  EPIPE: 'the other side closed it',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
}

function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return reasons[code] ?? (error.message || code)
}
