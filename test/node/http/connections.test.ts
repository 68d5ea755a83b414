// Connections whose client does not do as most do: it closes its side early, or announces a body that it never sends.

import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startLiveNode, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
await live.ingest('acme/goods', [{ a: 1 }], '?create=true')

function request(method: string, path: string, body = '', type = 'application/json'): string {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${live.adminToken}`]
  const content = body === '' ? [] : [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]
  return `${[...head, ...content].join('\r\n')}\r\n\r\n${body}`
}

function open(): Promise<Socket> {
  const { hostname, port } = new URL(live.node.url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => resolve(socket))
  })
}

/** Sends, closes its own side at once, and gives all that comes back until the node closes. */
async function sendAndEnd(text: string): Promise<string> {
  const socket = await open()
  const chunks: Buffer[] = []
  socket.end(text)
  for await (const chunk of socket) chunks.push(chunk as Buffer) // no encoding is set
  return Buffer.concat(chunks).toString('utf8')
}

describe('a client that has closed its side', () => {
  it.each([
    ['a query', () => request('POST', '/query', '{"query":"select 42 as answer"}'), '[[42]]'],
    [
      'a slow query',
      () => request('POST', '/query', `{"query":"select count(*) from range(60000000) where range % 7 = 3"}`),
      '"data":[[8571429]]',
    ],
    ['rows', () => request('POST', '/acme/goods/ingest', '{"a":2}\n', 'application/x-ndjson'), '"committed":1'],
    ['a read', () => request('GET', '/acme/goods/tail'), '"data":'],
    ['two at once', () => request('GET', '/info') + request('GET', '/limits'), '"limits"'],
  ])('hears the answer to %s', async (_what, text, expected) => {
    const answer = await sendAndEnd(text())
    expect(answer).toContain('HTTP/1.1 200 OK')
    expect(answer).toContain(expected)
  })
})

describe('a body that a GET announces', () => {
  it('is not waited for, by answer or connection', async () => {
    const socket = await open()
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.on('end', () => socket.end())
    socket.write(`GET /info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n`)
    await closed
    expect(text).toContain('HTTP/1.1 200 OK')
  })

  it('leaves the connection open when it comes', async () => {
    const socket = await open()
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
    socket.write(`GET /info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n`)
    await expect.poll(() => text).toContain('HTTP/1.1 200 OK')
    socket.write('bodyGET /limits HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(() => text).toContain('"limits"')
    socket.destroy()
  })
})

describe('small departures', () => {
  it.each([
    ['/query', 'POST', ['application/json']],
    ['/acme/put', 'PUT', ['application/json']],
    ['/acme/goods/ingest', 'POST', expect.arrayContaining(['text/csv', 'application/x-ndjson'])],
  ])('%s lists the media types that it takes', async (path, method, expected) => {
    for (const type of ['nonsense', 'a/b/c', ';', 'text/']) {
      const answer = await live.call(path, { method, body: '{}', headers: { 'content-type': type } })
      expect([type, answer.status, answer.at('error.kind')]).toEqual([type, 415, 'UnsupportedMediaType'])
      expect(answer.at('candidates')).toEqual(expected)
    }
  })

  it('a range outside the object says how long it is', async () => {
    const path = `/acme/goods/blocks/${await live.head('acme/goods')}`
    const whole = await live.call(path)
    for (const range of [`bytes=${whole.bytes.length}-`, 'bytes=99999999-', 'bytes=-0']) {
      const answer = await live.call(path, { headers: { range } })
      expect(answer.refusal).toBe('416 RangeNotSatisfiable')
      expect(answer.headers['content-range']).toBe(`bytes */${whole.bytes.length}`)
    }
  })

  it('a limit of rows below 100 is the default of questions', async () => {
    const small = await startLiveNode({ 'limit-result-rows': 50 })
    try {
      await small.ingest(
        'acme/goods',
        Array.from({ length: 60 }, (_, a) => ({ a })),
        '?create=true',
      )
      const rows = await small.query('select * from range(60)')
      expect([rows.status, rows.at('output.data.length')]).toEqual([200, 50])
      const tail = await small.call('/acme/goods/tail')
      expect([tail.status, tail.at('data.length')]).toEqual([200, 50])
      expect((await small.query('select 1', { limit: 51 })).status).toBe(422)
    } finally {
      await small.stop()
    }
  })
})
