// Pages that are files of their own, as scripts/build-pages.ts makes them: verify.html checks proofs in the browser, from
// this node or from wherever it was saved to.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { NodeError } from '../../model/errors.ts'
import { isUnchanged } from '../answer.ts'

const verifyPage = new URL('../../../dist/console/verify.html', import.meta.url)

export function registerAssets(app: FastifyInstance): void {
  app.get('/assets/verify.html', async (request, reply) => {
    const page = await readPage()
    void reply.header('cache-control', 'no-cache')
    if (isUnchanged(request, reply, createHash('sha256').update(page).digest('hex'))) return reply.code(304).send()
    return reply
      .header('content-security-policy', `${policyOf(page)}; frame-ancestors 'none'`)
      .type('text/html; charset=utf-8')
      .send(page)
  })
}

/** Throws NodeError `RouteNotFound` in a checkout where the pages were not built yet. */
async function readPage(): Promise<string> {
  try {
    return await readFile(verifyPage, 'utf8')
  } catch (cause) {
    throw new NodeError('RouteNotFound', 'The page was not built here.', {
      hint: 'In a checkout: node scripts/build-pages.ts. Published packages have it.',
      cause,
    })
  }
}

/** What the page allows itself when it is read from disk, where no header comes with it. */
function policyOf(page: string): string {
  return /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? "default-src 'none'"
}
