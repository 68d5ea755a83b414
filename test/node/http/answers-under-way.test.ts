// Answers that nobody reads: their bytes are bounded, in all and by caller, and whoever does not read loses the
// connection. The clock of the slowest rate is the test's.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { array, assert as assertProperty, boolean, constantFrom, integer, property, record } from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { AnswerBudget, networkOf, smallAnswerBytes } from '../../../src/node/http/answer.ts'
import type { OpenRoom } from '../../../src/node/http/context.ts'
import { slowReaders } from '../../../src/node/http/slow-clients.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { type Answer, type LiveNode, startLiveNode } from '../../helpers/live-node.ts'

const mebibyte = 1024 * 1024
const largeSql = "select repeat('x', 1000) as text from range(20000)"
const largePath = `/query?${new URLSearchParams({ query: largeSql, limit: '20000' }).toString()}`

describe('the room for answers', () => {
  const limits = { answerBytes: 16 * mebibyte, callerAnswerShare: 25 }

  function refusalOf(action: () => void): string | undefined {
    try {
      action()
      return undefined
    } catch (error) {
      if (error instanceof NodeError) return `${error.kind} ${error.details.limit?.name}`
      throw error
    }
  }

  it('is a quarter for one caller with several answers; one alone may have any size', () => {
    const answers = new AnswerBudget(limits)
    answers.open('a').take(10 * mebibyte)
    expect(refusalOf(() => answers.open('a').take(mebibyte))).toBe('Saturated callerAnswerShare')
    answers.open('a').take(smallAnswerBytes)
    answers.open('b').take(2 * mebibyte)
    answers.open('b').take(2 * mebibyte)
    expect(refusalOf(() => answers.open('b').take(mebibyte))).toBe('Saturated callerAnswerShare')
    expect(refusalOf(() => answers.open('c').take(2 * mebibyte))).toBe('Saturated answerBytes')
  })

  it('is free again when the answers are gone, and whoever has left takes none', () => {
    const answers = new AnswerBudget(limits)
    const room = answers.open('a')
    room.take(10 * mebibyte)
    room.close()
    room.close()
    room.take(mebibyte)
    expect(answers.heldBytes).toBe(0)
  })

  it('is never exceeded by more than one answer', () => {
    const step = record({
      caller: constantFrom('a', 'b', 'c'),
      bytes: integer({ min: 1, max: 20 * mebibyte }),
      ends: boolean(),
    })
    assertProperty(
      property(array(step, { maxLength: 60 }), (steps) => {
        const answers = new AnswerBudget(limits)
        const open: OpenRoom[] = []
        for (const { caller, bytes, ends } of steps) {
          if (ends) open.shift()?.close()
          const before = answers.heldBytes
          const room = answers.open(caller)
          open.push(room)
          const refused = refusalOf(() => room.take(bytes)) !== undefined
          expect(answers.heldBytes).toBe(refused ? before : before + bytes)
          const most = before === 0 ? bytes : Math.max(before, limits.answerBytes)
          expect(answers.heldBytes).toBeLessThanOrEqual(most)
        }
        for (const room of open) room.close()
        expect(answers.heldBytes).toBe(0)
      }),
    )
  })
})

describe('a slow reader', () => {
  /** A connection whose client reads when it is told to, and the answer of `bytes` on it. */
  async function sending(bytes: number): Promise<{ response: ServerResponse; client: Socket }> {
    const server = createServer()
    const asked = once(server, 'request')
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const client = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1')
    onTestFinished(() => {
      client.destroy()
      server.closeAllConnections()
      server.close()
    })
    client.pause()
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const [, response] = (await asked) as [unknown, ServerResponse] // what the event hands over
    response.write(Buffer.alloc(bytes))
    return { response, client }
  }

  it('loses the connection when what lies before the system is not taken at the slowest rate', async () => {
    const { response } = await sending(40 * mebibyte)
    const readers = slowReaders(1000 * 1024)
    readers.begin(response, 0)
    for (const nowMs of [29_000, 30_000, 39_000]) readers.check(nowMs)
    expect(response.destroyed).toBe(false)
    readers.check(42_000)
    expect(response.destroyed).toBe(true)
  })

  it('keeps it while it reads', async () => {
    const { response, client } = await sending(40 * mebibyte)
    const readers = slowReaders(512)
    readers.begin(response, 0)
    client.resume()
    await expect.poll(() => response.socket?.writableLength).toBe(0)
    for (let nowMs = 0; nowMs < 300_000; nowMs += 1000) readers.check(nowMs)
    expect(response.destroyed).toBe(false)
  })
})

describe('a node', () => {
  let live: LiveNode
  beforeAll(async () => {
    live = await startLiveNode({}, { limits: { concurrentQueries: 2, answerBytes: 64 * mebibyte } })
  })
  afterAll(() => live.stop())

  const heldBytes = async (): Promise<number> =>
    Number(/^proofstream_answers_open_bytes (\d+)$/m.exec((await live.call('/metrics')).text)?.[1])

  /** A connection that asks for 20 MB and reads none of it. */
  function unread(token?: string): Socket {
    const { hostname, port } = new URL(live.node.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    const right = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
    socket.pause()
    socket.write(`GET ${largePath} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${right}\r\n`)
    return socket
  }

  it('holds no more of unread answers than its limit, and goes on answering', async () => {
    const sockets = Array.from({ length: 20 }, () => unread())
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    await expect.poll(heldBytes).toBeGreaterThan(20_000_000)
    for (let i = 0; i < 20; i++) {
      expect((await live.query(`select ${i}`)).at('output.data.0.0')).toBe(i)
      expect(await heldBytes()).toBeLessThan(64 * mebibyte)
    }
    await expect
      .poll(async () => (await live.call(largePath, { token: null })).at('limit.name'))
      .toBe('callerAnswerShare')
    const refused = await live.call(largePath, { token: null })
    expect([refused.status, refused.at('error.kind'), refused.headers['retry-after']]).toEqual([503, 'Saturated', '1'])
    expect((await live.query('select 1', {}, { token: null })).status).toBe(200)
    // Another caller reads as large an answer meanwhile.
    expect((await live.call(largePath)).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await expect.poll(heldBytes).toBe(0)
    expect((await live.call(largePath, { token: null })).status).toBe(200)
  })

  it('sends a large answer whole, of known length, compressed where that is asked for', async () => {
    const expected = Array.from({ length: 20_000 }, () => ['x'.repeat(1000)])
    const bodies: [string, (answer: Answer) => string][] = [
      ['identity', ({ text }) => text],
      ['gzip', ({ bytes }) => gunzipSync(bytes).toString()],
      ['br', ({ bytes }) => brotliDecompressSync(bytes).toString()],
    ]
    for (const [encoding, body] of bodies) {
      const answer = await live.call(largePath, { headers: { 'accept-encoding': encoding } })
      expect(answer.status).toBe(200)
      expect(answer.headers['content-length']).toBe(encoding === 'identity' ? String(answer.bytes.length) : undefined)
      expect(answer.headers.vary).toContain('Accept-Encoding')
      expect(JSON.parse(body(answer)).output.data).toEqual(expected)
    }
    const head = await live.call(largePath, { method: 'HEAD' })
    expect([head.status, Number(head.headers['content-length']) > 20_000_000, head.bytes.length]).toEqual([
      200,
      true,
      0,
    ])
    expect(await heldBytes()).toBe(0)
  })
})

describe('an anonymous caller', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::9', '2001:db8:1:2'],
    ['2001:db8::9', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ])('at %s is known as %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})
