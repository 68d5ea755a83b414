// Bodies that trickle end with 408; the clock is the test's, so nothing here waits for 30 seconds.

import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { fastify } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { registerSlowBodies, slowBodies } from '../../../src/node/http/slow-clients.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { type HandClock, handClock } from '../../helpers/hand-clock.ts'

let cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of cleanup.toReversed()) await step()
  cleanup = []
})

/** A server whose only route reads its body to the end, and a connection that has sent `head`. */
async function open(
  bytesPerSecond: number,
): Promise<{ socket: Socket; answer: Promise<string>; clock: HandClock; read: string[] }> {
  const clock = handClock()
  const app = fastify()
  const read: string[] = []
  cleanup.push(() => app.close())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (_request: unknown, payload: AsyncIterable<Buffer>) => {
    for await (const chunk of payload) read.push(chunk.toString())
    return read.join('')
  })
  const bodies = registerSlowBodies(app, { clock, limits: { bodyRate: bytesPerSecond, bodyMs: 600_000 } })
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    bodies.begin(raw)
    done()
  })
  app.setErrorHandler((error, _request, reply) =>
    reply
      .code(408)
      .header('connection', 'close')
      .send({ kind: error instanceof NodeError ? error.kind : 'other' }),
  )
  app.post('/', (request) => request.body)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  cleanup.push(async () => socket.destroy())
  await once(socket, 'connect')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const answer = once(socket, 'close').then(() => Buffer.concat(chunks).toString())
  socket.write(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n',
  )
  socket.write('first')
  await expect.poll(() => read.length).toBe(1)
  return { socket, answer, clock, read }
}

describe('a body', () => {
  it('that stands still for 30 seconds is given up', async () => {
    const { answer, clock } = await open(512)
    await clock.advance(29_000)
    await clock.advance(2_000)
    const text = await answer
    expect(text).toMatch(/^HTTP\/1.1 408 /)
    expect(text).toContain('"RequestTimeout"')
  })

  it('that comes fast enough in each window goes on', async () => {
    const { socket, answer, clock, read } = await open(512)
    for (let sent = 5; sent < 100_000;) {
      const size = Math.min(20_000, 100_000 - sent)
      socket.write('x'.repeat(size))
      sent += size
      await expect.poll(() => read.join('').length).toBe(sent)
      await clock.advance(31_000)
    }
    expect(await answer).toMatch(/^HTTP\/1.1 200 /)
  })

  it('that takes too long in all is given up, however fast it comes', async () => {
    const { socket, answer, clock, read } = await open(512)
    for (let sent = 5; sent < 80_005; sent += 20_000) {
      socket.write('x'.repeat(20_000))
      await expect.poll(() => read.join('').length).toBe(sent + 20_000)
      await clock.advance(31_000)
    }
    await clock.advance(600_000 - 4 * 31_000)
    expect(await answer).toContain('"RequestTimeout"')
  })

  it('that comes just too slowly is given up', async () => {
    const { socket, answer, clock, read } = await open(512)
    socket.write('x'.repeat(10_000))
    await expect.poll(() => read.join('').length).toBe(10_005)
    await clock.advance(30_000)
    expect(await answer).toContain('"RequestTimeout"')
  })
})

describe('the watch', () => {
  it('leaves requests alone that nobody reads, or whose bytes lie here unread', () => {
    const bodies = slowBodies(512)
    const emitted: unknown[] = []
    const request = (more: object): never =>
      // The four members that the watch looks at.
      ({
        complete: false,
        destroyed: false,
        readableLength: 0,
        socket: { bytesRead: 0 },
        listenerCount: () => 1,
        emit: (_name: string, error: unknown) => emitted.push(error),
        ...more,
      }) as never
    for (const one of [{ complete: true }, { destroyed: true }, { readableLength: 9 }, { listenerCount: () => 0 }]) {
      bodies.begin(request(one), 0)
    }
    bodies.check(31_000)
    expect(emitted).toEqual([])
    bodies.begin(request({}), 31_000)
    bodies.check(60_000)
    expect(emitted).toEqual([])
    bodies.check(61_000)
    expect(emitted).toHaveLength(1)
  })
})
