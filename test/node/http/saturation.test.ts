// Full means 503 with Retry-After and nothing stored, for bodies and for queries.

import { type ClientRequest, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

/** A body waits two seconds for room before it is refused. */
const long = { timeout: 10_000 }

const live = await liveNode({}, { limits: { openIngestBytes: 1_000, concurrentQueries: 1, queuedQueries: 1 } })
await live.ingest('acme/goods', [{ n: 1 }], '?create=true')

/** A request that is in flight until it is destroyed. */
function hanging(path: string, headers: Readonly<Record<string, string>>, body: string): ClientRequest {
  const { hostname, port } = new URL(live.node.url)
  const all = { authorization: `Bearer ${live.adminToken}`, ...headers }
  const request = httpRequest({ hostname, port, path, method: 'POST', headers: all })
  request.on('error', () => {})
  request.write(body)
  return request
}

describe('a full node', () => {
  it('refuses one more body until another is done', async () => {
    const headers = { 'content-type': 'application/x-ndjson', 'content-length': '900' }
    const first = hanging('/acme/goods/ingest', headers, '{"n":2}\n')
    const second = { method: 'POST', headers, body: `{"n":3}${'\n'.repeat(893)}` }
    await expect.poll(async () => (await live.call('/acme/goods/ingest?dryRun=true', second)).status, long).toBe(503)
    const answer = await live.call('/acme/goods/ingest', second)
    expect([answer.at('error.kind'), answer.headers['retry-after'], answer.at('retryable')]).toEqual([
      'Saturated',
      '1',
      true,
    ])
    expect(answer.at('limit')).toEqual({ name: 'openIngestBytes', value: 1_000, unit: 'bytes' })
    first.destroy()
    await expect.poll(async () => (await live.call('/acme/goods/ingest?dryRun=true', second)).status, long).toBe(200)
    expect((await live.query('select max(n) from "acme/goods"')).at('output.data.0.0')).toBe(1)
  })

  it('refuses one more query while one runs and one waits', async () => {
    // Two questions: one that is asked twice is answered once.
    const open = [6, 7].map((n) => {
      const body = JSON.stringify({ query: `select sum(range % ${n}) from range(1000000000000)` })
      return hanging('/query', { 'content-type': 'application/json', 'content-length': String(body.length) }, body)
    })
    // A query that came before both of them are analysed would wait as long as the first may run.
    const full = /query_running 1\n[^]*query_waiting 1\n/
    await expect.poll(async () => (await live.call('/metrics')).text, long).toMatch(full)
    await sleep(500)
    await expect.poll(async () => (await live.call('/metrics')).text, long).toMatch(full)
    const answer = await live.query('select 1')
    expect([answer.at('error.kind'), answer.headers['retry-after'] !== undefined]).toEqual(['Saturated', true])
    for (const request of open) request.destroy()
    await expect.poll(async () => (await live.query('select 1')).status).toBe(200)
  })
})
