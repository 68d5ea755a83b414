// Requests that are sent on one connection without waiting for answers: answered in order, handled one after the other,
// and held back by TCP when there are more than the node wants to hold.

import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { ConnectionTurns } from '../../../src/node/http/connections.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { startLiveNode, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
await live.ingest('acme/goods', [{ n: 0 }], '?create=true')

function post(n: number, more = ''): string {
  const body = `{"n":${n}}\n`
  return (
    `POST /acme/goods/ingest HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${live.adminToken}\r\n${more}` +
    `Content-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}

test('are stored in the order in which they were sent, and answered in it', async () => {
  const asked = Array.from({ length: 300 }, (_, n) => post(n + 1, 'Prefer: respond-async\r\n')).join('')
  const answers = await live.raw(`${asked}GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  expect(answers.match(/HTTP\/1\.1 202 /g)).toHaveLength(300)
  expect(answers.endsWith('{"ok":true}')).toBe(true)
  await expect.poll(async () => (await live.query('select count(*) from "acme/goods"')).at('output.data.0.0')).toBe(301)
  const rows = await live.query('select n from "acme/goods" order by "offset"', { limit: 400 })
  expect(rows.at('output.data')).toEqual(Array.from({ length: 301 }, (_, n) => [n]))
})

test('wait for the one before them, so that a slow answer holds back those behind it alone', async () => {
  const { hostname, port } = new URL(live.node.url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  socket.write(post(1, 'Prefer: wait=20\r\n') + 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect((await live.call('/healthz')).status).toBe(200)
  await expect.poll(() => text.match(/HTTP\/1\.1 200 /g)?.length).toBe(2)
  expect(text.indexOf('"committed"')).toBeLessThan(text.indexOf('{"ok":true}'))
  socket.destroy()
})

test('come to their turn after one that was refused before all of its body was read', async () => {
  const { hostname, port } = new URL(live.node.url)
  // It inflates to more than its ratio allows, so nothing is read of what follows.
  const body = Buffer.concat([gzipSync(Buffer.alloc(100_000_000, 10)), Buffer.alloc(150_000)])
  for (let round = 0; round < 2; round++) {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    const head = post(1, `Content-Encoding: gzip\r\n`).split('Content-Length')[0]
    socket.write(Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]))
    await expect.poll(() => text).toContain(' 413 ')
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(() => text.endsWith('{"ok":true}') || socket.destroyed).toBe(true)
    expect(socket.destroyed).toBe(false)
    socket.destroy()
  }
})

test('are read no further than one chunk while the one before them is handled, and lose nothing by it', async () => {
  const app = fastify()
  const turns = new ConnectionTurns()
  app.addHook('onRequest', ({ raw }, _reply, done) => turns.take(raw, done))
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    done()
    turns.pass(raw)
  })
  let handled = 0
  let answer: (() => void) | undefined
  let served: Socket | undefined
  app.server.on('connection', (socket) => (served = socket))
  app.get('/', async () => {
    if (++handled === 1) await new Promise<void>((resolve) => (answer = resolve))
    return ''
  })
  const { hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), hostname)
  let text = ''
  client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  const requests = 50_000
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(requests))
  await expect.poll(() => handled).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(must(served, 'a connection').bytesRead).toBeLessThan(200_000)
  expect(handled).toBe(1)
  answer?.()
  await expect.poll(() => text.match(/HTTP\/1\.1 200 /g)?.length).toBe(requests)
  client.destroy()
  await app.close()
})

test('a refused batch that had come whole leaves the connection open', async () => {
  const unknown = post(1).replace('"n":1', '"m":1')
  const answers = await live.raw(`${unknown}GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 422', 'HTTP/1.1 200'])
})

test('are not too late when it was others before them that took the time', async () => {
  const slow = await startLiveNode({}, { limits: { requestHeaderMs: 500 }, cut: { openAgeMs: 4000, waitAgeMs: 4000 } })
  await slow.call('/acme/slow', { method: 'PUT', json: { schema: { fields: [{ name: 'n', type: 'Int64' }] } } })
  const { hostname, port } = new URL(slow.node.url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const first = post(1, 'Prefer: wait=20\r\n').replace('goods', 'slow').replace(live.adminToken, slow.adminToken)
  const second = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
  socket.write(first + second + second.slice(0, 20))
  await expect.poll(() => text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(2)
  socket.write(second.slice(20))
  await expect.poll(() => text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(3)
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200'])
  socket.destroy()
  await slow.stop()
})
