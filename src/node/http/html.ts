// Which requests get a page: those of browsers that navigate, unless a parameter says which bytes are wanted.

import type { FastifyRequest } from 'fastify'

/** Its answer is a page: the route has one, a browser asks, and no parameter says which bytes are wanted instead. */
export function wantsPage(request: FastifyRequest): boolean {
  const { page, pageParameters, dataParameters = [] } = request.routeOptions.config
  if (page !== true || !wantsHtml(request)) return false
  const named = Object.keys(Object(request.method === 'POST' ? request.body : request.query))
  if (named.some((name) => dataParameters.includes(name))) return false
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
