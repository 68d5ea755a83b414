// What scripts/build-pages.ts makes: files of the console, and verify.html, which checks proofs in the browser, from this
// node or from wherever it was saved to.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { NodeError } from '../../libraries/base/errors.ts'
import { isUnchanged } from '../../node/http/answer.ts'
import { consoleFile } from './files.ts'

const verifyPage = new URL('../../../dist/pages/verify.html', import.meta.url)

export function registerAssets(app: FastifyInstance): void {
  registerConsoleFiles(app)
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

function registerConsoleFiles(app: FastifyInstance): void {
  const params = Type.Object({
    file: Type.String({ maxLength: 100, description: 'Its name and the hash of its bytes.' }),
  })
  app.get('/assets/:file', { schema: { params } }, (request, reply) => {
    const { file } = request.params as Static<typeof params> // validated
    const found = consoleFile(`/assets/${file}`)
    if (found === undefined) throw new NodeError('RouteNotFound', 'There is no such file of the console.')
    return reply.header('cache-control', 'public, max-age=31536000, immutable').type(found.mediaType).send(found.bytes)
  })
}

/** Throws NodeError `RouteNotFound` in a checkout where the pages were not built yet. */
async function readPage(): Promise<string> {
  try {
    return await readFile(verifyPage, 'utf8')
  } catch (cause) {
    throw new NodeError('RouteNotFound', 'The page has not been built here.', {
      hint: 'In a checkout, run node scripts/build-pages.ts. Published packages have the page.',
      cause,
    })
  }
}

/** What the page allows itself when it is read from disk, where no header comes with it. */
function policyOf(page: string): string {
  return /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? "default-src 'none'"
}
