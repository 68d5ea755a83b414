// Work ends with its caller: a file that takes long is read no further when nobody waits for the answer, and nothing of it is
// stored.

import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const fixture = (name: string): Uint8Array => readFileSync(new URL(`../../fixtures/parquet/${name}`, import.meta.url))
const body = fixture('fewer-equal-items.parquet')

/** Batches that are being read now. */
async function open(): Promise<number> {
  const { text } = await live.call('/metrics')
  return Number(/^proofstream_ingest_open_requests (\d+)/m.exec(text)?.[1])
}

test('a file is read no further when its caller has gone', async () => {
  const { hostname, port } = new URL(live.node.url)
  const path = '/acme/gone/ingest?create=true'
  const headers = {
    'content-type': 'application/vnd.apache.parquet',
    'content-length': body.length,
    authorization: `Bearer ${live.adminToken}`,
  }
  const request = httpRequest({ hostname, port, path, method: 'POST', headers })
  request.on('error', () => {})
  request.end(body)
  await expect.poll(open, { timeout: 600_000 }).toBe(1)
  request.destroy()
  await expect.poll(open, { timeout: 600_000 }).toBe(0)
  expect((await live.call('/acme/gone/tail')).refusal).toBe('404 DatasetNotFound')
})

test('a file of 10 KB with 400 million items is refused before any is read', async () => {
  const headers = { 'content-type': 'application/vnd.apache.parquet' }
  const call = { method: 'POST', headers, body: fixture('equal-items.parquet') }
  expect((await live.call('/acme/many/ingest?create=true', call)).refusal).toBe('413 BodyTooLarge')
  expect((await live.call('/acme/many/tail')).refusal).toBe('404 DatasetNotFound')
})

test('a file that takes long is stored where its caller waits', async () => {
  const headers = { 'content-type': 'application/vnd.apache.parquet', prefer: 'wait=60' }
  const answer = await live.call('/acme/waits/ingest?create=true', { method: 'POST', headers, body })
  expect([200, 202]).toContain(answer.status)
  expect(answer.at('records.received')).toBe(32_000)
})
