// Pages on their way to browsers, and the policy under which none of them runs a script that is not a file of this node,
// fetches anything from elsewhere, or stands in a frame.

import type { FastifyReply } from 'fastify'
import type { Pages, Told } from '../../node/http/context.ts'
import { problemPage, type ShownProblem } from './errors-page.ts'
import { addressOf } from './files.ts'
import { layout, type Page, shell } from './layout.ts'

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

/** Sends a page. What it shows depends on the caller, and nobody keeps it unasked. */
export function sendHtml(reply: FastifyReply, page: Page): FastifyReply {
  return reply.send(htmlOf(reply, page))
}

/** The text of a page, of which the reply gets the headers. */
export function htmlOf(reply: FastifyReply, page: Page): string {
  if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'private, no-cache')
  void reply
    .header('content-security-policy', policy)
    .header('referrer-policy', 'same-origin')
    .type('text/html; charset=utf-8')
  return layout(page, addressOf)
}

export const pages: Pages = {
  send: sendHtml,
  sendProblem: (reply, problem) => sendHtml(reply, problemPage(shownProblem(problem))),
  sendTokenForm: (reply) => sendHtml(reply, shell),
}

function shownProblem({ status, body }: Told): ShownProblem {
  const text = (name: string): string => String(body[name])
  const hint = body['hint'] === undefined ? undefined : text('hint')
  const kind = String(Object(body['error'])['kind'])
  return {
    status,
    title: text('title'),
    kind,
    detail: text('detail'),
    hint,
    type: text('type'),
    instance: text('instance'),
  }
}
