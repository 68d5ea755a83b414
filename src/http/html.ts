// Pages for browsers, made on the server: a template that escapes whatever is put into it, one frame around all pages, and
// a policy under which none of them runs a script or fetches anything. Who asks for a page is judged here, too.

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A piece of HTML, which `html` alone makes. */
export class Html {
  readonly text: string

  constructor(parts: readonly string[], values: readonly HtmlValue[]) {
    this.text = parts.map((part, i) => part + (i < values.length ? textOf(values[i]) : '')).join('')
  }
}

type HtmlValue = string | number | undefined | Html | readonly Html[]

/** HTML as it is written in the program, with values between: text is escaped, in content and in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts, values)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function textOf(value: HtmlValue): string {
  if (value === undefined) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(textOf).join('\n')
  return String(value).replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
}

const style = `:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;display:block;overflow-x:auto}th,td{border:1px solid #8886;padding:.2rem .6rem;text-align:left}
pre{white-space:pre-wrap;overflow-wrap:anywhere}dt{font-weight:600}`

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Sends a page of its own address, title and body. */
export function sendHtml(reply: FastifyReply, title: string, body: Html): FastifyReply {
  const sheet = new Html([`<style>${style}</style>`], [])
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>${sheet}</head>
<body>
${body}
</body></html>
`
  return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(page.text)
}

/** A browser navigates: it says so, or it names HTML before any JSON (docs/spec/http.md §4). */
export function wantsHtml({ headers }: FastifyRequest): boolean {
  const types = (headers.accept ?? '').split(',').map((type) => (type.split(';')[0] ?? '').trim().toLowerCase())
  const page = types.indexOf('text/html')
  const json = types.findIndex((type) => type.endsWith('json'))
  return page >= 0 && (headers['sec-fetch-mode'] === 'navigate' || json < 0 || page < json)
}
