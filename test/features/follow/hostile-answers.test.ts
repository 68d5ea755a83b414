// Answers that are made to cost whoever asks: without an end, inflated, without a last page, a byte at a time, or sent on to
// another place. What the far side counts is the oracle: how much of it was taken, and who was asked at all.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGzip } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { Exchange, ProofstreamError } from '../../../src/libraries/client/exchange.ts'
import { Origin } from '../../../src/features/follow/origin.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { startReplica } from './support.ts'

const MiB = 1024 * 1024
const soon = { timeout: 30_000, interval: 50 }
const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

interface Far {
  readonly url: string
  readonly asked: string[]
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Far> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.on('error', () => {})
    answer(request, response)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

/** Zeros without an end; says how many bytes were taken when the connection is closed. */
function endless(response: ServerResponse, headers: Record<string, string>, status = 200): Promise<number> {
  response.writeHead(status, headers)
  const isPacked = headers['content-encoding'] === 'gzip'
  const gzip = isPacked ? createGzip({ level: 1 }) : undefined
  const to = gzip ?? response
  gzip?.pipe(response)
  let sent = 0
  const piece = Buffer.alloc(64 * 1024, 0x20)
  const more = (): void => {
    while (!response.destroyed && sent < 4096 * MiB) {
      sent += piece.length
      if (!to.write(piece)) return void to.once('drain', more)
    }
    response.destroy()
  }
  const closed = new Promise<number>((resolve) => response.on('close', () => resolve(sent)))
  more()
  return closed
}

function originAt(url: string, clock: Clock = systemClock): { origin: Origin; stop: AbortController } {
  const stop = new AbortController()
  return { origin: new Origin({ url, token: undefined }, { clock, stop: stop.signal }), stop }
}

const hash = `f1620${'0'.repeat(64)}`

async function faultOf(work: Promise<unknown>): Promise<ProofstreamError> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(ProofstreamError)
  return error as ProofstreamError
}

describe.each([{}, { 'content-encoding': 'gzip' }])('a body without an end (%j)', (headers) => {
  const asks = {
    'a list': (origin: Origin) => origin.list(),
    'a head': (origin: Origin) => origin.head('acme/goods'),
    'hashes of blocks': (origin: Origin) => origin.hashesBefore('acme/goods', hash, 100),
    'an object': (origin: Origin) => origin.object('acme/goods', 'blocks', hash, MiB),
  }
  test.each(Object.entries(asks))('%s is not read to the limit of memory', async (_, ask) => {
    let taken: Promise<number> | undefined
    const far = await serve((_request, response) => (taken = endless(response, headers)))
    const { origin } = originAt(far.url)
    await faultOf(ask(origin))
    // Packed, the buffers between the two hold a thousand times their bytes.
    expect(await taken).toBeLessThan(('content-encoding' in headers ? 2048 : 256) * MiB)
  })

  test('a refusal of a node is told, and what it holds beyond that not read', async () => {
    let taken: Promise<number> | undefined
    const far = await serve((_request, response) => (taken = endless(response, headers, 400)))
    const fault = await faultOf(new Exchange(far.url, {}).once('/query', {}))
    expect(fault.status).toBe(400)
    expect(await taken).toBeLessThan(64 * MiB)
  })
})

test('a JSON text of many values is refused before they are made', async () => {
  const far = await serve((_request, response) => response.end(`{"datasets":[${'[],'.repeat(4 * MiB)}0]}`))
  const before = process.memoryUsage().heapUsed
  expect((await faultOf(originAt(far.url).origin.list())).message).toContain('values')
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * MiB)
})

test.each([
  ['the same page', () => ({ datasets: [], next: 'x' })],
  ['always others', (at: number) => ({ datasets: pageOf(at), next: String(at) })],
])('a list without a last page is given up: %s', async (_, page) => {
  const far = await serve((_request, response) => response.end(JSON.stringify(page(far.asked.length))))
  expect((await faultOf(originAt(far.url).origin.list())).kind).toBe('Malformed')
  expect(far.asked.length).toBeLessThan(300)
})

function pageOf(at: number): object[] {
  return Array.from({ length: 1_000 }, (_, i) => ({
    id: `did:odf:fed01${(at * 1_000 + i).toString(16).padStart(64, '0')}`,
    alias: `acme/d${at}-${i}`,
    head: hash,
  }))
}

test('a body that drips is given up', async () => {
  const far = await serve((_request, response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(drip))
  })
  // A minute is a second here.
  const fast: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() * 100 }
  const fault = await faultOf(originAt(far.url, fast).origin.head('acme/goods'))
  expect(fault.message).toContain('too slowly')
})

describe('a node that sends requests on to another place', () => {
  test.each([301, 302, 303, 307, 308])('with %i: nobody else is asked', async (status) => {
    const inside = await serve((_request, response) => response.end('the secret of a service inside'))
    const far = await serve((_request, response) =>
      response.writeHead(status, { location: `${inside.url}/latest/meta-data` }).end(),
    )
    expect((await faultOf(new Exchange(far.url, { token: 'pst_x' }).once('/datasets', {}))).kind).toBe('Redirected')
    expect((await faultOf(originAt(far.url).origin.head('acme/goods'))).kind).toBe('Redirected')
    expect(inside.asked).toEqual([])
  })

  test('within itself is followed, and not for ever', async () => {
    const far = await serve((request, response) => {
      if (request.url === '/old') response.writeHead(308, { location: '/new' }).end()
      else if (request.url === '/new') response.end('here')
      else response.writeHead(302, { location: '/round' }).end()
    })
    const exchange = new Exchange(far.url, {})
    expect(await exchange.text('/old')).toBe('here')
    expect((await faultOf(exchange.once('/round', {}))).kind).toBe('Redirected')
  })

  test('strangers hear of a followed node what status it gave, and none of its words', async () => {
    const far = await serve((_request, response) =>
      response
        .writeHead(418, { 'content-type': 'application/json' })
        .end(JSON.stringify({ message: 'inside words', error: { kind: 'inside kind' } })),
    )
    const replica = await startReplica(far.url)
    try {
      const told = async (): Promise<string> => (await replica.call('/readyz', { token: null })).text
      await expect.poll(told, soon).toContain('418')
      expect(await told()).not.toContain('inside')
    } finally {
      await replica.remove()
    }
  })
})
