// The files of the page that runs questions again, as a node serves them: open to all, under a policy that lets the page
// load the engine from here and ask nobody else.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { browserEngineVersion, hasBrowserEngine } from '../../helpers/browser-engine.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode({ 'anonymous-read': false })

const engineFiles: [file: string, mediaType: string][] = [
  ['duckdb-browser-eh.worker.js', 'text/javascript; charset=utf-8'],
  ['duckdb-eh.wasm', 'application/wasm'],
]

describe('GET /assets/rerun/{file}', () => {
  it.each<[file: string, mediaType: string]>([
    ['page.html', 'text/html; charset=utf-8'],
    ['page.css', 'text/css; charset=utf-8'],
    ['page.js', 'text/javascript; charset=utf-8'],
    ...(hasBrowserEngine ? engineFiles : []),
  ])('serves %s', async (file, mediaType) => {
    const answer = await live.call(`/assets/rerun/${file}`, { token: null })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({ 'content-type': mediaType, 'x-content-type-options': 'nosniff' })
    const policy = String(answer.headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; /)
    expect(policy).not.toMatch(/'unsafe-|https?:|\*/)
    const held = { 'if-none-match': String(answer.headers.etag) }
    expect((await live.call(`/assets/rerun/${file}`, { token: null, headers: held })).status).toBe(304)
  })

  it('names the release of the engine that it was tested with', () => {
    for (const path of ['src/features/console/rerun.ts', 'docs/decisions/console.md', 'docs/engines.md'])
      expect(readFileSync(path, 'utf8')).toContain(browserEngineVersion)
  })

  it('has no other file', async () => {
    for (const file of ['verify.html', 'duckdb-mvp.wasm', '..%2Fverify.html', '%2e%2e'])
      expect((await live.call(`/assets/rerun/${file}`, { token: null })).refusal).toBe('404 RouteNotFound')
  })
})
