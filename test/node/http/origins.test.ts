// What a browser may do for the page of another site: read where that is allowed, run nothing else, write nothing. And the
// names that the node answers to.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Answer, type Call, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
await live.ingest('acme/goods', [{ a: 1 }], '?create=true')

const allowed = 'http://localhost:5173'
const evil = 'https://evil.example'
const sql = '/query?query=select%201'
const ownOrigin = (): string => live.node.url

/** Writes that would succeed, or fail for another reason than where they come from. */
const writes: Readonly<Record<string, [string, Call]>> = {
  ingest: [
    '/acme/goods/ingest',
    { method: 'POST', body: '{"a":2}\n', headers: { 'content-type': 'application/x-ndjson' } },
  ],
  'ingest that makes': [
    '/acme/new/ingest?create=true',
    { method: 'POST', body: '{"a":2}\n', headers: { 'content-type': 'application/x-ndjson' } },
  ],
  put: ['/acme/put', { method: 'PUT', json: {} }],
  'new token': ['/tokens', { method: 'POST', json: { name: 'x', scopes: ['read'] } }],
  'end of a token': ['/tokens/abc', { method: 'DELETE' }],
}
const with_ = (call: Call, headers: object): Call => ({ ...call, headers: { ...call.headers, ...headers } })

describe.each(Object.keys(writes))('a write (%s)', (name) => {
  const ask = (headers: object, token?: null): Promise<Answer> => {
    const [path, call] = writes[name] ?? ['', {}]
    return live.call(path, { ...with_(call, headers), ...(token === null ? { token } : {}) })
  }

  it.each([
    [{ origin: evil }],
    [{ origin: 'null' }],
    [{ origin: allowed }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'cross-site', origin: allowed }],
  ])('of a page elsewhere is refused: %j', async (headers) => {
    for (const token of [undefined, null] as const) {
      const answer = await ask(headers, token)
      expect(answer.refusal).toBe('403 Forbidden')
      expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  it('of a program, or a page of the node, is judged by its token', async () => {
    for (const headers of [
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin', origin: ownOrigin() },
    ]) {
      expect((await ask({ ...headers, host: new URL(ownOrigin()).host })).status).not.toBe(403)
    }
  })
})

describe('a question of a page elsewhere', () => {
  const ask = (path: string, headers: object): Promise<Answer> =>
    live.call(
      path,
      path === sql
        ? { headers: { ...headers } }
        : { method: 'POST', json: { query: 'select 1' }, headers: { ...headers } },
    )

  it.each([sql, '/query', '/verify'])('is not run (%s) unless it may read', async (path) => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'cross-site', origin: evil }]) {
      expect((await ask(path, headers)).refusal).toBe('403 Forbidden')
    }
    const fine = [
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'cross-site', origin: allowed },
    ]
    for (const headers of fine) expect((await ask(path, headers)).status).not.toBe(403)
  })
})

describe('CORS headers', () => {
  /** Any spelling of a path that means the same: each character as it is or escaped. */
  const spelled = (path: string): fc.Arbitrary<string> =>
    fc
      .array(fc.constantFrom('plain', 'upper', 'lower'), { minLength: path.length, maxLength: path.length })
      .map((ways) =>
        Array.from(path)
          .map((char, i) => escaped(char, ways[i] ?? 'plain'))
          .join(''),
      )
  const escaped = (char: string, way: string): string => {
    const code = `%${char.charCodeAt(0).toString(16)}`
    return char === '/' || way === 'plain' ? char : way === 'upper' ? code.toUpperCase() : code
  }

  it('are those of the route, however its path is written', async () => {
    const cases = fc.oneof(
      ...[
        { path: '/tokens', opens: false },
        { path: '/info', opens: true },
        { path: '/acme/goods/tail', opens: true },
      ].map(({ path, opens }) => spelled(path).map((text) => ({ path: text, opens }))),
    )
    await fc.assert(
      fc.asyncProperty(cases, async ({ path, opens }) => {
        const answer = await live.call(path, { headers: { origin: allowed } })
        expect([path, answer.headers['access-control-allow-origin']]).toEqual([path, opens ? allowed : undefined])
        const headers = { origin: allowed, 'access-control-request-method': 'GET' }
        const preflight = await live.call(path, { method: 'OPTIONS', token: null, headers })
        expect(preflight.headers['access-control-allow-origin']).toBe(opens ? allowed : undefined)
      }),
      { numRuns: 60 },
    )
  })

  it('are announced to caches, also when no page asks', async () => {
    for (const path of ['/info', '/acme/goods/tail', `/acme/goods/blocks/${await live.head('acme/goods')}`, sql]) {
      expect(String((await live.call(path)).headers.vary)).toContain('Origin')
    }
  })
})

describe('the host that a request is for', () => {
  const head = async (lines: string): Promise<[string, string]> => {
    const text = await live.raw(`${lines}\r\nConnection: close\r\n\r\n`)
    return [text.slice(9, 12), /"error":{"kind":"([^"]*)"/.exec(text)?.[1] ?? '']
  }

  it.each([
    'GET /info HTTP/1.1\r\nHost: localhost\r\nHost: evil.example',
    'GET /info HTTP/1.1\r\nHost: localhost\r\nHost: localhost',
    'GET http://evil.example/info HTTP/1.1\r\nHost: localhost',
    'GET http://localhost:1/info HTTP/1.1\r\nHost: localhost',
    'POST http://evil.example/acme/goods/ingest HTTP/1.1\r\nHost: localhost',
    'GET /info HTTP/1.1',
  ])('must be clear: %j', async (lines) => {
    expect(await head(lines)).toEqual(['400', 'InvalidParameter'])
  })

  it('may stand in the target as well', async () => {
    expect(await head('GET http://localhost/info HTTP/1.1\r\nHost: LOCALHOST')).toEqual(['200', ''])
    expect(await head('GET http://evil.example/info HTTP/1.1\r\nHost: evil.example')).toEqual([
      '421',
      'MisdirectedRequest',
    ])
  })
})

describe('assets of the pages', () => {
  it('that climb, or are no path, are not there', async () => {
    const hex = fc.constantFrom('%2e', '%2E', '.', '%00', '%5c', '%2f', '/', '%ff', 'x', '%c0%ae', '%25')
    await fc.assert(
      fc.asyncProperty(fc.array(hex, { maxLength: 8 }), async (parts) => {
        const text = await live.raw(
          `GET /swagger/static/${parts.join('')} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        )
        expect(Number(text.slice(9, 12))).toBeLessThan(500)
      }),
      { numRuns: 60 },
    )
    const climbing = await live.call('/swagger/static/%2e%2e/package.json')
    expect(climbing.refusal).toBe('404 RouteNotFound')
  })
})

describe('a read that a page elsewhere causes and cannot read', () => {
  const reads = ['/acme/goods', '/acme/goods/tail', '/acme/goods/events', '/events?dataset=acme/goods', '/datasets']
  const cross = { 'sec-fetch-site': 'cross-site' }

  it.each([...reads, '/acme/goods/blocks', '/iceberg/v1/config', '/ogc/collections'])(
    'is refused: %s',
    async (path) => {
      for (const more of [
        { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
        { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
        { 'sec-fetch-mode': 'cors', origin: evil },
        { 'sec-fetch-mode': 'cors', origin: 'null' },
      ]) {
        expect((await live.call(path, { headers: { ...cross, ...more } })).refusal).toBe('403 Forbidden')
      }
    },
  )

  it.each(['/acme/goods', '/acme/goods/tail', '/datasets'])('is answered where it may: %s', async (path) => {
    for (const headers of [
      {},
      { ...cross, origin: allowed, 'sec-fetch-mode': 'cors' },
      { ...cross, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    ]) {
      expect((await live.call(path, { headers })).status).toBe(200)
    }
  })
})
