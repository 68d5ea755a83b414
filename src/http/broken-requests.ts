// What is no HTTP at all, or comes too late, never reaches fastify: it is answered on the socket, in the same words.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { randomUUID } from 'node:crypto'
import { NodeError } from '../model/errors.ts'
import { problemOf } from './problem.ts'

/** Answers a request that the HTTP parser gave up on, and closes the connection. Nothing of it was stored. */
export function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  // What has not been read because others have their turn first is not the client's delay.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.isPaused()) return
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const requestId = randomUUID()
  const { status, mediaType, headers, body } = problemOf(errorOf(error.code ?? ''), requestId)
  const text = JSON.stringify(body)
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries({
      ...headers,
      'content-type': mediaType,
      'content-length': String(Buffer.byteLength(text)),
      'request-id': requestId,
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy())
}

function errorOf(code: string): NodeError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new NodeError('RequestTimeout', 'The request did not arrive in time.', {
      hint: 'GET /limits lists requestHeaderMs and bodyMs.',
    })
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new NodeError('InvalidParameter', 'The header of the request is too large.', {
      hint: 'Send long statements with POST.',
    })
  }
  if (/CHUNK|EOF|CONTENT_LENGTH|TRANSFER_ENCODING/.test(code)) {
    return new NodeError('MalformedBody', 'The body does not follow its Content-Length or Transfer-Encoding.')
  }
  return new NodeError('InvalidParameter', 'The request is not well-formed HTTP.')
}
