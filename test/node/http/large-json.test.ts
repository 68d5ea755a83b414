// JSON requests that are large, or few bytes for many values: they are refused by their limits, hold nobody up, and
// those that are in order are answered.

import { describe, expect, it } from 'vitest'
import { gzipSync } from 'node:zlib'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
await live.ingest('acme/goods', [{ a: 1 }], '?create=true')

const json = { 'content-type': 'application/json' }
const post = (path: string, body: string | Uint8Array, headers: object = {}): Promise<Answer> =>
  live.call(path, { method: path.startsWith('/new/') ? 'PUT' : 'POST', headers: { ...json, ...headers }, body })

describe('a body of many values', () => {
  /** Small values without an order that compression could use much. */
  const objects = (mebibytes: number): Buffer => {
    const items = Array.from({ length: (mebibytes * 1024 * 1024) / 3 - 1 }, (_, i) =>
      Math.imul(i, 0x9e3779b1) < 0 ? '{},' : '[],',
    )
    return Buffer.from(`[${items.join('')}0]`)
  }
  const nested = (count: number): string => JSON.stringify({ query: 'select 1', include: Array(count).fill(0) })

  it.each([
    ['/verify', 'jsonValues', 1_000_000, 16],
    ['/query', 'requestJsonValues', 50_000, 3.9],
    ['/new/one', 'requestJsonValues', 50_000, 3.9],
    ['/tokens', 'requestJsonValues', 50_000, 3.9],
  ])('is refused by %s: %s', async (path, name, value, mebibytes) => {
    for (const [body, headers] of [
      [objects(mebibytes), {}],
      [gzipSync(objects(mebibytes), { level: 1 }), { 'content-encoding': 'gzip' }],
    ] as const) {
      const answer = await post(path, body, headers)
      expect([answer.status, answer.at('error.kind'), answer.at('limit.name')]).toEqual([413, 'BodyTooLarge', name])
      expect(answer.at('limit.value')).toBe(value)
    }
  })

  it('is read up to the limit', async () => {
    // The body, two members and the items themselves.
    const answer = await post('/query', nested(50_000 - 3))
    expect(answer.refusal).toBe('422 InvalidRequest')
    expect((await post('/query', nested(50_000 - 2))).status).toBe(413)
  })
})

describe('large requests', () => {
  it('are answered as small ones are', async () => {
    const comment = `-- ${'x'.repeat(60_000)}\n`
    const query = JSON.stringify({ query: `${comment}select a from "acme/goods"` }) + ' '.repeat(100_000)
    expect((await post('/query', query)).at('output.data')).toEqual([[1]])
    const made = await post(
      '/new/two',
      JSON.stringify({ info: { description: 'd', keywords: ['k'] } }) + ' '.repeat(100_000),
    )
    expect(made.status).toBe(201)
    const token = await post('/tokens', JSON.stringify({ name: 'n', scopes: ['read'] }) + '\n'.repeat(100_000))
    expect(token.status).toBe(201)
    const fault = await post('/query', `${' '.repeat(100_000)}{"query":1,}`)
    expect([fault.at('error.kind'), fault.at('position.offset')]).toEqual(['MalformedJson', 100_011])
  })

  it('of one caller leave room for those of others, and for small ones', async () => {
    const body = Buffer.from(`"${'x'.repeat(60 * 1024 * 1024)}"`)
    const large = Array.from({ length: 4 }, () => post('/verify', body))
    for (let i = 0; i < 20; i++) expect((await post('/query', '{"query":"select 1"}')).status).toBe(200)
    const statuses = (await Promise.all(large)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 422).length).toBeGreaterThan(0)
    for (const status of statuses) expect([422, 429, 503]).toContain(status)
  })

  it('have proofs of many rows verified', async () => {
    const sql = "select range::varchar || repeat('x', 400) as t from range(20000)"
    const saved = await live.query(sql, { include: ['Proof'], limit: 20_000 })
    expect(saved.bytes.length).toBeGreaterThan(8_000_000)
    const answer = await post('/verify', saved.bytes)
    expect([answer.status, answer.at('ok')]).toEqual([200, true])
    const other = await post('/verify', saved.text.replace('xxx', 'yxx'))
    expect(other.at('error.kind')).toBe('InvalidRequest::OutputHash')
  })
})
