// The page that runs questions again in the browser, as scripts/build-pages.ts makes it, and the engine that it does that
// with, where the operator has installed @duckdb/duckdb-wasm beside the node.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { NodeError } from '../../libraries/base/errors.ts'
import { isUnchanged } from '../../node/http/answer.ts'

const pages = new URL('../../../dist/rerun/', import.meta.url)

/** The release that holds the very engine of nodes. */
const engine = { name: '@duckdb/duckdb-wasm', version: '1.33.1-dev65.0' }

/** The engine is compiled in the page, from here alone; nothing else runs, and nothing is asked elsewhere. */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const files: ReadonlyMap<string, { readonly mediaType: string; readonly isEngine: boolean }> = new Map([
  ['page.html', { mediaType: 'text/html; charset=utf-8', isEngine: false }],
  ['page.css', { mediaType: 'text/css; charset=utf-8', isEngine: false }],
  ['page.js', { mediaType: 'text/javascript; charset=utf-8', isEngine: false }],
  ['duckdb-browser-eh.worker.js', { mediaType: 'text/javascript; charset=utf-8', isEngine: true }],
  ['duckdb-eh.wasm', { mediaType: 'application/wasm', isEngine: true }],
])

const Params = Type.Object({
  file: Type.String({ maxLength: 100, description: 'page.html, or a file that it takes.' }),
})

export function registerRerun(app: FastifyInstance): void {
  app.get('/assets/rerun/:file', { schema: { params: Params } }, async (request, reply) => {
    const { file } = request.params as Static<typeof Params> // Params validated it
    const found = files.get(file)
    if (found === undefined) throw new NodeError('RouteNotFound', `There is no file '${file.slice(0, 100)}' here.`)
    const body = found.isEngine ? engineFile(file) : await pageFile(file)
    void reply.header('cache-control', found.isEngine ? 'public, max-age=86400' : 'no-cache')
    if (isUnchanged(request, reply, body.tag)) return reply.code(304).send()
    return reply.header('content-security-policy', policy).type(found.mediaType).send(body.open())
  })
}

/** The bytes of a file, which are opened when they are sent. */
interface Body {
  readonly tag: string
  open(): string | Readable
}

/** Throws NodeError `RouteNotFound` in a checkout where the pages were not built yet. */
async function pageFile(file: string): Promise<Body> {
  try {
    const text = await readFile(new URL(file, pages), 'utf8')
    return { tag: createHash('sha256').update(text).digest('hex'), open: () => text }
  } catch (cause) {
    throw new NodeError('RouteNotFound', 'The page has not been built here.', {
      hint: 'In a checkout, run node scripts/build-pages.ts. Published packages have the page.',
      cause,
    })
  }
}

/** A file of the engine: 37 MB in all, so it is no part of the package. Throws NodeError `RouteNotFound`. */
function engineFile(file: string): Body {
  try {
    const path = createRequire(import.meta.url).resolve(`${engine.name}/dist/${file}`)
    return { tag: `${engine.version}-${file}`, open: () => createReadStream(path) }
  } catch (cause) {
    throw new NodeError('RouteNotFound', 'This node has no engine for browsers.', {
      hint: `Its operator can install it beside the node: npm install ${engine.name}@${engine.version}`,
      cause,
    })
  }
}
