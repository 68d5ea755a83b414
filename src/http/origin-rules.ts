// Who may call from where: Host names that a loopback node answers to, and CORS for reads (contract.md §1).

import type { FastifyInstance, FastifyReply } from 'fastify'
import { NodeError } from '../model/errors.ts'
import type { HttpContext } from './context.ts'

const exposedHeaders =
  'ETag, Link, Location, Dataset-Head, Retry-After, Request-Id, Result-Truncated, Idempotent-Replayed, Preference-Applied'

type OriginContext = Pick<HttpContext, 'loopbackOnly' | 'allowedHosts' | 'corsOrigins'>

export function registerOriginRules(app: FastifyInstance, context: OriginContext): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw hostMissing()
    checkHost(request.headers.host, context)
    const origin = request.headers.origin
    if (origin === undefined) return done()
    addVary(reply, 'Origin')
    const allowed = isOriginAllowed(origin, context)
    const isRead = ['GET', 'HEAD'].includes(request.method) || (request.method === 'POST' && isReadRoute(request.url))
    if (allowed && isRead && !isPrivateRoute(request.url)) {
      void reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposedHeaders)
    }
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
      if (allowed && !isPrivateRoute(request.url)) {
        void reply
          .header('access-control-allow-origin', origin)
          .header('access-control-allow-methods', isReadRoute(request.url) ? 'GET, HEAD, POST' : 'GET, HEAD')
          .header('access-control-allow-headers', 'Authorization, Content-Type, If-None-Match, Range')
          .header('access-control-max-age', '600')
      }
      void reply.code(204).send()
      return
    }
    done()
  })
}

/** Adds to Vary what the answer depends on. */
export function addVary(reply: FastifyReply, name: string): void {
  const held = reply.getHeader('vary')
  void reply.header('vary', held === undefined ? name : `${String(held)}, ${name}`)
}

function hostMissing(): NodeError {
  return new NodeError('InvalidParameter', 'The request has no Host header.', {
    hint: 'HTTP/1.1 asks for one (RFC 9112 §3.2).',
  })
}

function checkHost(host: string | undefined, context: OriginContext): void {
  if (!context.loopbackOnly && context.allowedHosts.length === 0) return
  const name = (host ?? '')
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  if (isLoopbackName(name) || context.allowedHosts.some((allowed) => allowed.toLowerCase() === name)) return
  throw new NodeError('MisdirectedRequest', `This node does not answer to the host name '${name.slice(0, 100)}'.`, {
    hint: 'Use localhost, or start the node with --allowed-hosts.',
  })
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name)
}

function isOriginAllowed(origin: string, context: OriginContext): boolean {
  if (context.corsOrigins !== undefined)
    return context.corsOrigins.includes('*') || context.corsOrigins.includes(origin)
  if (!context.loopbackOnly) return true
  const match = /^https?:\/\/(\[[^\]]+\]|[^:/]+)(?::\d+)?$/.exec(origin)
  return match !== null && isLoopbackName((match[1] ?? '').replace(/^\[(.*)\]$/, '$1').toLowerCase())
}

function isReadRoute(url: string): boolean {
  return /^\/(?:query|verify)(?:\?|$)/.test(url)
}

function isPrivateRoute(url: string): boolean {
  return /^\/tokens(?:[/?]|$)/.test(url) || /\/ingest(?:\?|$)/.test(url)
}
