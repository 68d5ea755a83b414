// Pages on their way to browsers: who wants one, and the policy under which none of them runs a script that is not a file
// of this node, fetches anything from elsewhere, or stands in a frame.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { layout, type Page } from '../features/console/layout.ts'
import { addressOf } from '../features/console/files.ts'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Sends a page. What it shows depends on who asks, and nobody keeps it unasked. */
export function sendHtml(reply: FastifyReply, page: Page): FastifyReply {
  if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'private, no-cache')
  return reply
    .header('content-security-policy', policy)
    .header('referrer-policy', 'same-origin')
    .type('text/html; charset=utf-8')
    .send(layout(page, addressOf))
}

/** Its answer is a page: the route has one, a browser asks, and no parameter says which bytes are wanted instead. */
export function wantsPage(request: FastifyRequest): boolean {
  const { page, pageParameters } = request.routeOptions.config
  if (page !== true || !wantsHtml(request)) return false
  const named = Object.keys(Object(request.method === 'POST' ? request.body : request.query))
  return pageParameters === undefined || named.every((name) => pageParameters.includes(name))
}

/** A browser navigates: it says so, or it names HTML before any JSON (docs/spec/http.md §4). */
export function wantsHtml({ headers }: FastifyRequest): boolean {
  const types = (headers.accept ?? '').split(',').flatMap((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    // RFC 9110 §12.4.2: a weight of 0 is what the client does not take.
    return parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter)) ? [] : [type]
  })
  const page = types.indexOf('text/html')
  const json = types.findIndex((type) => type.endsWith('json'))
  return page >= 0 && (headers['sec-fetch-mode'] === 'navigate' || json < 0 || page < json)
}
