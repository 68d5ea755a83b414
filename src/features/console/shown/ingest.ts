// What the ingest page shows: the formats that the node reads, and how much of them at once.

import type { FastifyRequest } from 'fastify'
import { ingestPage } from '../ingest-page.ts'
import type { Page } from '../layout.ts'
import type { Principal } from '../../../node/access/scopes.ts'
import type { HttpContext } from '../../../node/http/context.ts'

export function ingestPageOf({ limits, formats }: HttpContext, request: FastifyRequest): Page {
  const { dataset = '' } = request.query as { dataset?: string } // validated by the route
  const shown = formats.read.map(({ title, mediaTypes: [mediaType], extensions: endings, parameters = [] }) => ({
    title,
    mediaType,
    endings,
    parameters,
  }))
  return ingestPage({ dataset, account: accountOf(request.principal), mostBytes: limits.bodyBytes, formats: shown })
}

/** The one account that the token covers. */
function accountOf({ datasets = [] }: Principal): string {
  const [account = '', ...more] = new Set(datasets.map((pattern) => pattern.split('/', 1)[0] ?? ''))
  return more.length > 0 || account === '' || account.includes('*') ? 'me' : account
}
