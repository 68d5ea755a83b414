// What holds on every route: shape of errors, methods, media types, HEAD, tags, Host, CORS, broken HTTP.

import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { errorTable } from '../../../src/libraries/base/error-table.ts'
import { send, startLiveNode, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode({}, { limits: { requestJsonBytes: 2000, sqlBytes: 500 } })
await live.ingest('acme/goods', [{ id: 1, name: 'one' }], '?create=true')

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe('errors', () => {
  it('are problem details with the members that clients of deployed nodes know', async () => {
    const answer = await live.call('/acme/nothing/metadata')
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(answer.headers['cache-control']).toBe('no-store')
    const id = String(answer.headers['request-id'])
    expect(id).toMatch(uuid)
    expect(answer.json).toEqual({
      type: '/errors/dataset-not-found',
      title: errorTable.DatasetNotFound.title,
      status: 404,
      detail: answer.at('message'),
      instance: `urn:uuid:${id}`,
      ok: false,
      error: { kind: 'DatasetNotFound', message: answer.at('message') },
      message: expect.stringContaining('acme/nothing'),
      hint: expect.stringContaining('create=true'),
      retryable: false,
    })
  })

  it.runIf(runsWith('console'))('have a page each, and a catalogue', async () => {
    const catalogue = await live.call('/errors', { token: null })
    expect(catalogue.at('errors')).toHaveLength(Object.keys(errorTable).length)
    const page = await live.call('/errors/invalid-request-input-hash', { token: null })
    expect(page.json).toMatchObject({ kind: 'InvalidRequest::InputHash', status: 400, retryable: false })
    const html = await live.call('/errors/saturated', { token: null, headers: { accept: 'text/html' } })
    expect(html.headers['content-type']).toContain('text/html')
    expect((await live.call('/errors/none')).status).toBe(404)
  })
})

describe('methods', () => {
  it.each([
    ['DELETE', '/query', 'GET, HEAD, POST'],
    ['PROPFIND', '/acme/goods/tail', 'GET, HEAD'],
    ['GET', '/acme/goods/ingest', 'POST'],
    ['PUT', '/verify', 'GET, HEAD, POST'],
    ['GET', '/tokens/abc', 'DELETE'],
    ['POST', '/', 'GET, HEAD'],
  ])('%s %s is 405 and says what is allowed', async (method, path, allow) => {
    const answer = await live.call(path, { method })
    expect(answer.refusal).toBe('405 MethodNotAllowed')
    expect(answer.headers.allow).toBe(allow)
    expect(answer.at('hint')).toBe(`${path} takes ${allow}.`)
  })

  it.each([
    '/',
    '/info',
    '/limits',
    '/datasets',
    '/healthz',
    '/metrics',
    '/openapi.json',
    '/query?query=select+1',
    '/acme/goods/metadata',
    '/acme/goods/tail',
    '/acme/goods/refs/head',
    '/acme/goods/blocks',
  ])('HEAD %s answers as GET does, without a body', async (path) => {
    const get = await live.call(path)
    const head = await live.call(path, { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([get.status, ''])
    expect(head.headers['content-type']).toBe(get.headers['content-type'])
    // The metrics grow with each request.
    expect(path === '/metrics' || head.headers['content-length'] === get.headers['content-length']).toBe(true)
  })
})

describe('request bodies', () => {
  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.acme.v1+json;x=1'])(
    'takes %s as JSON',
    async (type) => {
      const answer = await live.call('/query', {
        method: 'POST',
        headers: { 'content-type': type },
        body: '{"query":"select 1"}',
      })
      expect(answer.status).toBe(200)
    },
  )

  it.each(['text/plain', 'application/jsonx', 'application/xml', undefined])('refuses %s with 415', async (type) => {
    const headers = type === undefined ? {} : { 'content-type': type }
    expect((await live.call('/query', { method: 'POST', headers, body: '{"query":"select 1"}' })).refusal).toBe(
      '415 UnsupportedMediaType',
    )
  })

  it.each([false, true])('refuses a JSON body over its limit (chunked: %s)', async (chunked) => {
    const body = `{"query":"select 1"${' '.repeat(3_000_000)}}`
    const headers = { 'content-type': 'application/json' }
    const answer = await live.call('/query', { method: 'POST', headers, body, chunked })
    expect(answer.refusal).toBe('413 BodyTooLarge')
    expect(answer.at('limit')).toEqual({ name: 'requestJsonBytes', value: 2000, unit: 'bytes' })
  })

  it('takes a body of exactly the limit', async () => {
    const start = '{"query":"select 1"'
    const body = `${start}${' '.repeat(2000 - start.length - 1)}}`
    const headers = { 'content-type': 'application/json' }
    expect((await live.call('/query', { method: 'POST', headers, body })).status).toBe(200)
  })

  it('refuses a statement one byte over its limit, and takes one that fits', async () => {
    const fits = `select 1 as ${'a'.repeat(488)}`
    expect((await live.query(fits)).status).toBe(200)
    const answer = await live.query(`${fits}a`)
    expect([answer.status, answer.at('limit.name')]).toEqual([413, 'sqlBytes'])
  })
})

describe('a refused body', () => {
  it('is answered before it ends, and the rest of it does not reset the connection', async () => {
    const { hostname, port } = new URL(live.node.url)
    const socket = connect(Number(port), hostname)
    const errors: unknown[] = []
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const head = `Host: localhost\r\nAuthorization: Bearer ${live.adminToken}\r\nContent-Type: text/plain\r\n`
    socket.write(`POST /query HTTP/1.1\r\n${head}Content-Length: 600000\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 415 /)
    for (let sent = 0; sent < 600_000; sent += 100_000) {
      const error = await new Promise((resolve) => socket.write('x'.repeat(100_000), resolve))
      if (error !== undefined && error !== null) errors.push(error)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await closed
    expect(errors).toEqual([])
  })

  it('that never ends is not waited for', async () => {
    const head = `Host: localhost\r\nAuthorization: Bearer ${live.adminToken}\r\nContent-Type: text/plain\r\n`
    const text = await live.raw(`POST /query HTTP/1.1\r\n${head}Content-Length: 600000\r\n\r\nxxx`)
    expect(text).toMatch(/^HTTP\/1.1 415 /)
    expect(text.toLowerCase()).toContain('connection: close')
  })
})

describe('conditional requests', () => {
  it.each(['/acme/goods/metadata', '/acme/goods/refs/head'])('GET %s is 304 for who has it', async (path) => {
    const first = await live.call(path)
    const etag = String(first.headers.etag)
    expect(etag).toMatch(/^"[^"]+"$/)
    const again = await live.call(path, { headers: { 'if-none-match': `"other", ${etag}` } })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
    expect((await live.call(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  it('the tag of metadata depends on what is included', async () => {
    const seed = await live.call('/acme/goods/metadata')
    const more = await live.call('/acme/goods/metadata?include=seed,schema')
    expect(seed.headers.etag).not.toBe(more.headers.etag)
  })
})

describe('Host', () => {
  const call = (host: string): ReturnType<typeof send> => send(live.node.url, '/info', { headers: { host } })

  it.each(['localhost', 'localhost:1234', '127.0.0.1', '[::1]:80', 'LOCALHOST'])('answers to %s', async (host) => {
    expect((await call(host)).status).toBe(200)
  })

  it.each(['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:80'])(
    'does not answer to %s',
    async (host) => {
      expect((await call(host)).refusal).toBe('421 MisdirectedRequest')
    },
  )

  it('wants a Host', async () => {
    const text = await live.raw('GET /info HTTP/1.1\r\nConnection: close\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(text).toContain('"InvalidParameter"')
  })
})

describe('CORS', () => {
  const origin = 'http://localhost:5173'
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }

  it.each(['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:80'])('lets pages of %s read', async (one) => {
    const answer = await live.call('/info', { headers: { origin: one } })
    expect(answer.headers['access-control-allow-origin']).toBe(one)
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
    expect(answer.headers.vary).toContain('Origin')
  })

  it.each(['https://evil.example', 'null', 'http://localhost.evil.example'])('not those of %s', async (one) => {
    const answer = await live.call('/info', { headers: { origin: one } })
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })

  it('answers the preflight of a query and names Authorization', async () => {
    const headers = { origin, ...preflight }
    const answer = await live.call('/query', { method: 'OPTIONS', token: null, headers })
    expect(answer.status).toBe(204)
    expect(answer.headers['access-control-allow-methods']).toBe('GET, HEAD, POST')
    expect(String(answer.headers['access-control-allow-headers']).split(', ')).toContain('Authorization')
  })

  it.each(['/acme/goods/ingest', '/tokens', '/tokens/abc'])('never opens %s', async (path) => {
    const answer = await live.call(path, { method: 'OPTIONS', token: null, headers: { origin, ...preflight } })
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })

  it('never lists PUT', async () => {
    const headers = { origin, 'access-control-request-method': 'PUT' }
    const answer = await live.call('/acme/goods', { method: 'OPTIONS', token: null, headers })
    expect(String(answer.headers['access-control-allow-methods'])).not.toContain('PUT')
  })

  it('tells a page why its request failed', async () => {
    const answer = await live.call('/acme/nothing/metadata', { headers: { origin } })
    expect(answer.headers['access-control-allow-origin']).toBe(origin)
  })
})

describe('broken HTTP', () => {
  it.each([
    ['no HTTP', 'HELLO\r\n\r\n', 'InvalidParameter'],
    ['a space in the path', 'GET /in fo HTTP/1.1\r\nHost: localhost\r\n\r\n', 'InvalidParameter'],
    ['a header of 30 KB', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'y'.repeat(30_000)}\r\n\r\n`, 'InvalidParameter'],
    [
      'two lengths',
      'POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      'MalformedBody',
    ],
  ])('%s is 400 with a body like any other', async (_what, bytes, kind) => {
    const text = await live.raw(bytes)
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
    expect(head.toLowerCase()).toContain('content-type: application/problem+json')
    expect(JSON.parse(body)).toMatchObject({ status: 400, ok: false, error: { kind } })
  })
})

describe('a node with lists of hosts and origins', () => {
  it('answers to those, and the loopback names, alone', async () => {
    const listed = await startLiveNode({ 'allowed-hosts': 'data.example', 'cors-origins': 'https://app.example' })
    try {
      const ask = async (host: string, origin: string): Promise<unknown[]> => {
        const answer = await send(listed.node.url, '/info', { headers: { host, origin } })
        return [answer.status, answer.headers['access-control-allow-origin']]
      }
      expect(await ask('DATA.example:443', 'https://app.example')).toEqual([200, 'https://app.example'])
      expect(await ask('localhost', 'http://localhost')).toEqual([200, undefined])
      expect(await ask('app.example', 'https://app.example')).toEqual([421, undefined])
    } finally {
      await listed.stop()
    }
  })
})

describe('a node for the network', () => {
  it('answers to any Host and any origin, but not to anonymous readers', async () => {
    const open = await startLiveNode({ listen: '0.0.0.0:0' })
    try {
      const headers = { host: 'data.example', origin: 'https://app.example' }
      const url = open.node.url.replace('0.0.0.0', '127.0.0.1')
      const info = await send(url, '/info', { headers })
      expect([info.status, info.headers['access-control-allow-origin']]).toEqual([200, 'https://app.example'])
      for (const path of ['/datasets', '/acme/goods/metadata', '/query?query=select+1', '/metrics', '/receipts/x']) {
        const answer = await send(url, path, { headers })
        expect([path, answer.status]).toEqual([path, 401])
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
      }
      for (const path of [
        '/',
        '/healthz',
        '/readyz',
        '/limits',
        '/openapi.json',
        '/swagger',
        '/errors',
        '/.well-known/did.json',
      ]) {
        expect([path, (await send(url, path, { headers })).status]).toEqual([path, 200])
      }
    } finally {
      await open.stop()
    }
  })
})
