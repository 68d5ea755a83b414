// Hosts and origins: the names that the node answers to, what pages of other origins may read, and that they may
// write nothing (docs/spec/http.md §1).

import { isIP } from 'node:net'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { isLoopback } from '../../libraries/base/loopback.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { HttpContext } from './context.ts'
import { wantsPage } from './html.ts'
import type { FindPath } from './request-target.ts'

const exposedHeaders =
  'Answer-Stability, ETag, Link, Location, Dataset-Head, Query-Scan, Retry-After, Request-Id, Result-Truncated, ' +
  'Idempotent-Replayed, Ingest-Warnings, Preference-Applied, Properties-Left-Out, Ledger-Quorum'

type OriginContext = Pick<HttpContext, 'loopbackOnly' | 'allowedHosts' | 'corsOrigins'>

/**
 * `answered` where the request was a preflight. Throws NodeErrors `InvalidParameter`, `MisdirectedRequest`; `Forbidden`
 * for what pages of other origins may not ask.
 */
export function checkOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  rules: { readonly context: OriginContext; readonly findPath: FindPath },
): 'answered' | 'goes on' {
  const { context } = rules
  checkHost(request, context)
  const { origin } = request.headers
  const { url, config } = request.routeOptions
  if (url !== undefined && isShared(request.method, config)) {
    // Also where no page asks: what a cache keeps of it, a page must not be given.
    addVary(reply, 'Origin')
    if (origin !== undefined && isOriginAllowed(origin, context)) {
      void reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposedHeaders)
    }
  }
  if (isPreflight(request)) {
    answerPreflight(request, reply, rules)
    return 'answered'
  }
  demandOwnPage(request, context)
  return 'goes on'
}

/** True for what pages of other origins may ask: reads, but not those of admins. */
function isShared(method: string, { right, runs }: FastifyContextConfig): boolean {
  return right !== 'admin' && (method === 'GET' || method === 'HEAD' || runs === true)
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function answerPreflight(
  request: FastifyRequest,
  reply: FastifyReply,
  { context, findPath }: Parameters<typeof checkOrigin>[2],
): void {
  const { origin } = request.headers
  addVary(reply, 'Origin')
  const routes = [...(findPath(request.url)?.methods ?? [])]
  const methods = routes.filter(([method, config]) => isShared(method, config)).map(([method]) => method)
  if (origin !== undefined && methods.length > 0 && isOriginAllowed(origin, context)) {
    void reply
      .header('access-control-allow-origin', origin)
      .header('access-control-allow-methods', methods.sort().join(', '))
      .header('access-control-allow-headers', 'Authorization, Content-Type, If-None-Match, Last-Event-ID, Range')
      .header('access-control-max-age', '600')
  }
  void reply.code(204).send()
}

/** A browser sends requests on behalf of any page: those of others write nothing and run nothing unless they may read. */
function demandOwnPage(request: FastifyRequest, context: OriginContext): void {
  const { method, headers } = request
  const { url, config } = request.routeOptions
  const { origin, 'sec-fetch-site': site } = headers
  if (config.runs === true) {
    const isAllowed = origin !== undefined && isOriginAllowed(origin, context)
    if (site !== 'cross-site' || isAllowed) return
    // Somebody follows a link: the page of this address runs nothing unasked.
    if (method !== 'POST' && config.pageParameters !== undefined && wantsPage(request)) return
    throw foreign('Pages of this origin may not run queries here.')
  }
  if (['GET', 'HEAD'].includes(method)) return demandReader(request, context)
  if (url === undefined || method === 'OPTIONS') return
  const isOwn = origin === undefined || isOwnOrigin(origin, headers.host, context)
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return
  throw foreign('Pages of other origins may not write here.')
}

/**
 * What a page of another site embeds (an image, a script, a frame) or sends without asking to read the answer would only cost:
 * it is refused, unless somebody goes to the address with his browser, or the origin may read.
 */
function demandReader({ headers }: FastifyRequest, context: OriginContext): void {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': use } = headers
  if (site !== 'cross-site' || (mode === 'navigate' && use === 'document')) return
  if (origin !== undefined && isOriginAllowed(origin, context)) return
  throw foreign('Pages of this origin may not read here.')
}

function foreign(message: string): NodeError {
  return new NodeError('Forbidden', message, {
    hint: 'Send it from a program, or from a page of the node itself. --cors-origins lists the origins that may read.',
  })
}

/** The name and port that the request was sent to, or a name that the operator gave the node (a proxy may change Host). */
export function isOwnOrigin(
  origin: string,
  host: string | undefined,
  context: Pick<HttpContext, 'allowedHosts'>,
): boolean {
  const authority = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase()
  if (authority === undefined) return false
  return authority === host?.toLowerCase() || isListed(nameOf(authority), context)
}

/** Adds to Vary what the answer depends on. */
export function addVary(reply: FastifyReply, name: string): void {
  const held = String(reply.getHeader('vary') ?? '')
  const names = held === '' ? [] : held.split(', ')
  if (!names.includes(name)) void reply.header('vary', [...names, name].join(', '))
}

/** Throws NodeErrors `InvalidParameter` where the host is not clear, `MisdirectedRequest` where it is another. */
function checkHost({ raw, headers: { host } }: FastifyRequest, context: OriginContext): void {
  if (host === undefined && raw.httpVersion === '1.1') throw unclearHost('has no Host header')
  if (hostHeaders(raw.rawHeaders) > 1) throw unclearHost('has more than one Host header')
  const target = raw.url?.startsWith('/') === true ? undefined : /^[a-z]+:\/\/([^/?#]*)/i.exec(raw.url ?? '')?.[1]
  if (target !== undefined && target.toLowerCase() !== host?.toLowerCase()) {
    throw unclearHost('names another host in its target than in its Host header')
  }
  if (!context.loopbackOnly && context.allowedHosts.length === 0) return
  const name = nameOf(host ?? '')
  if (isLoopback(name) || isListed(name, context)) return
  // A page of another site reaches this node by a name that leads here, not by a number.
  if (!context.loopbackOnly && isIP(name) !== 0) return
  throw new NodeError('MisdirectedRequest', `This node does not answer to the host name '${name.slice(0, 100)}'.`, {
    hint: 'Use localhost, or start the node with --public-url or --allowed-hosts.',
  })
}

/** Of names and values in turn. Node keeps the first Host and drops the others; its own list of all costs every request. */
function hostHeaders(raw: readonly string[]): number {
  let count = 0
  for (let i = 0; i < raw.length; i += 2) if (raw[i]?.length === 4 && raw[i]?.toLowerCase() === 'host') count++
  return count
}

function unclearHost(fault: string): NodeError {
  return new NodeError('InvalidParameter', `The request ${fault}.`, {
    hint: 'HTTP/1.1 asks for one Host (RFC 9112 §3.2).',
  })
}

/** Of the last Host: nearly all requests have the same. */
let lastName = { authority: '', name: '' }

/** The name of `host` or `host:port`, in lower case. */
function nameOf(authority: string): string {
  if (lastName.authority === authority) return lastName.name
  const name = authority
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  lastName = { authority, name }
  return name
}

function isListed(name: string, { allowedHosts }: Pick<HttpContext, 'allowedHosts'>): boolean {
  return allowedHosts.some((allowed) => allowed.toLowerCase() === name)
}

function isOriginAllowed(origin: string, context: OriginContext): boolean {
  if (context.corsOrigins !== undefined)
    return context.corsOrigins.includes('*') || context.corsOrigins.includes(origin)
  if (!context.loopbackOnly) return true
  const authority = /^https?:\/\/([^/]+)$/.exec(origin)?.[1]
  return authority !== undefined && isLoopback(nameOf(authority))
}
