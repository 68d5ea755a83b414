// What the node's page shows: readiness, facts, gauges for callers that may read, limits.

import type { FastifyRequest } from 'fastify'
import type { Page } from '../layout.ts'
import { nodePage, type ShownLimit } from '../node-page.ts'
import { type HttpContext, ledgerOf, type PageContext } from '../../../node/http/context.ts'
import { limitsOf } from '../../../node/http/routes/node.ts'

export async function nodePageOf({ context }: PageContext, { principal }: FastifyRequest): Promise<Page> {
  const { facts, replica } = context
  const mayRead = principal.anonymousRead || principal.tokenId !== undefined
  return nodePage({
    version: facts.version,
    did: facts.did,
    roles: facts.roles,
    log: facts.log,
    engine: replica === undefined ? undefined : `DuckDB ${replica.engine.version}`,
    reasons: await context.health.reasons(),
    gauges: mayRead ? await context.metrics.readGauges() : undefined,
    limits: shownLimits(context),
    hasLedger: ledgerOf(context) !== undefined,
    nowMs: context.clock.nowMs(),
  })
}

function shownLimits(context: HttpContext): ShownLimit[] {
  const { limits, fixed } = limitsOf(context)
  return [...Object.entries(limits), ...Object.entries(fixed)].map(([name, limit]) => ({
    option: undefined,
    name,
    ...limit,
  }))
}
