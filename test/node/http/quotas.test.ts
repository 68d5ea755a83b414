// What one token may take of a node: 429 with Retry-After at the edge, for ingest alone and for that token alone.

import { type ClientRequest, request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const ndjson = { 'content-type': 'application/x-ndjson' }

const live = await liveNode({}, { limits: { openIngestRequests: 4 } })
await live.ingest('acme/goods', [{ n: 1 }], '?create=true')

async function makeToken(name: string): Promise<string> {
  const made = await live.call('/tokens', { method: 'POST', json: { name, scopes: ['ingest', 'read'] } })
  return String(made.at('token'))
}

function post(token: string): Promise<Answer> {
  const headers = { ...ndjson, prefer: 'respond-async' }
  return live.call('/acme/goods/ingest', { method: 'POST', token, headers, body: '{"n":2}\n' })
}

/** What a refusal says, and the header that says when to come again. */
function quotaOf(answer: Answer): unknown[] {
  return [answer.status, answer.at('error.kind'), answer.at('retryable'), answer.at('limit')]
}

function quota(name: string, value: number, unit: string): unknown[] {
  return [429, 'QuotaExceeded', true, { name, value, unit }]
}

/** A body that has begun and does not end until it is destroyed. */
function hanging(token: string): ClientRequest {
  const { hostname, port } = new URL(live.node.url)
  const headers = { ...ndjson, authorization: `Bearer ${token}`, 'content-length': '100' }
  const request = httpRequest({ hostname, port, path: '/acme/goods/ingest', method: 'POST', headers })
  request.on('error', () => {})
  request.write('{"n":3}\n')
  return request
}

describe('a token', () => {
  it('over its quota still reads, queries and pulls', async () => {
    const token = await makeToken('hasty reader')
    const open = [hanging(token), hanging(token)]
    await expect.poll(async () => (await post(token)).status).toBe(429)
    const head = await live.call('/acme/goods/refs/head', { token })
    for (let i = 0; i < 30; i++) {
      expect((await live.call(`/acme/goods/blocks/${head.text}`, { token })).status).toBe(200)
    }
    expect((await live.query('select count(*) from "acme/goods"', {}, { token })).status).toBe(200)
    expect((await post(token)).status).toBe(429)
    for (const request of open) request.destroy()
    await expect.poll(async () => (await post(token)).status).toBe(202)
  })

  it('holds half of what the others leave free; a full node says that it is full', async () => {
    const [many, few, third] = [await makeToken('many'), await makeToken('few'), await makeToken('third')]
    const open = [hanging(many), hanging(many)]
    await expect.poll(async () => (await post(many)).status).toBe(429)
    expect(quotaOf(await post(many))).toEqual(quota('callerShare', 50, 'percent'))
    expect((await post(few)).status).toBe(202)
    open.push(hanging(few), hanging(third))
    const latecomer = await makeToken('late')
    await expect.poll(async () => (await post(latecomer)).status).toBe(503)
    const late = await post(latecomer)
    expect(late.at('limit')).toEqual({ name: 'openIngestRequests', value: 4, unit: 'requests' })
    for (const request of open) request.destroy()
    await expect.poll(async () => (await post(third)).status).toBe(202)
  })

  it('finds its share under /limits, with its unit, and the option of those that have one', async () => {
    const { limits } = (await live.call('/limits')).json as { limits: Record<string, object> }
    expect(limits['callerShare']).toMatchObject({ value: 50, unit: 'percent' })
    const set = Object.entries(limits).flatMap(([name, limit]) => ('option' in limit ? [[name, limit.option]] : []))
    expect(Object.fromEntries(set)).toMatchObject({
      queryMs: '--limit-query-ms',
      sliceFileBytes: '--limit-cache-bytes',
    })
    expect(set.length).toBe(9)
  })
})
