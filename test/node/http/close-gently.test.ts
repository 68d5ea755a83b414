// A server that is asked to close answers what is in flight and cuts off who stalls.

import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { fastify, type FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { closeGently } from '../../../src/node/http/connections.ts'
import { StreamRoom } from '../../../src/node/gateway/stream-room.ts'
import { isHandshake, RecordSockets } from '../../../src/node/http/record-sockets.ts'
import { handClock } from '../../helpers/hand-clock.ts'

async function started(): Promise<{ app: FastifyInstance; port: number; asked: Promise<() => void> }> {
  const app = fastify({ forceCloseConnections: 'idle' })
  const asked = new Promise<() => void>((tell) => {
    app.get('/', () => new Promise((resolve) => tell(() => resolve('done'))))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { app, port, asked }
}

describe('closing', () => {
  it('waits for an answer in flight, and no longer', async () => {
    const { app, port, asked } = await started()
    const clock = handClock()
    const fetched = fetch(`http://127.0.0.1:${port}/`).then((response) => response.text())
    const answer = await asked
    const closed = closeGently(app, clock)
    answer()
    expect(await fetched).toBe('done')
    await closed
    expect(clock.slept).toEqual([10_000])
  })

  it('cuts off a client that does not finish its request', async () => {
    const { app, port } = await started()
    const clock = handClock()
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n')
    await new Promise((resolve) => setTimeout(resolve, 50))
    const ended = once(socket, 'close')
    const closed = closeGently(app, clock)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await clock.advance(10_000)
    await closed
    await ended
    expect(app.server.listening).toBe(false)
  })

  it('cuts off a stream over WebSocket that does not end', async () => {
    const app = fastify({ forceCloseConnections: 'idle', http: { shouldUpgradeCallback: isHandshake } })
    const clock = handClock()
    const sockets = new RecordSockets(app, { clock, limits: { recordBytes: 1_000 } })
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    app.post('/:account/:dataset/stream', (request, reply) => {
      reply.hijack()
      sockets.of(request.raw)?.accept(new StreamRoom(clock, { hold: () => undefined, leave: () => {} }))
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const stream = new WebSocket(`ws://127.0.0.1:${port}/a/b/stream`)
    await once(stream, 'open')
    const ended = once(stream, 'close')
    const closed = closeGently(app, clock)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(stream.readyState).toBe(WebSocket.OPEN)
    await clock.advance(10_000)
    await closed
    await ended
    expect(app.server.listening).toBe(false)
  })
})
