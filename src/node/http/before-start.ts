// What a process answers while its store is not open yet: that it lives, that it is not ready and why, and all else 503.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { NodeError } from '../../libraries/base/errors.ts'
import { problemOf } from './problem.ts'

const reasons = { store: 'the store is not open yet; where it does not answer, the log of the node says so' }

/** Answers until what this resolves with is called; then the address is free. Rejects where it cannot be listened at. */
export async function answerBeforeStart(host: string, port: number, headersTimeout: number): Promise<() => void> {
  const away = problemOf(new NodeError('StoreUnavailable', ''), randomUUID())
  const server = createServer({ headersTimeout, requestTimeout: headersTimeout }, ({ url = '' }, response) => {
    const [path = ''] = url.split('?')
    const isReadiness = path === '/readyz' || path === '/system/health'
    const body = path === '/healthz' ? { ok: true } : isReadiness ? { ok: false, reasons } : away.body
    const type = body === away.body ? away.mediaType : 'application/json; charset=utf-8'
    response.writeHead(path === '/healthz' ? 200 : 503, { ...away.headers, 'content-type': type, connection: 'close' })
    response.end(JSON.stringify(body))
  })
  await once(server.listen(port, host), 'listening')
  return () => {
    server.close()
    server.closeAllConnections()
  }
}
