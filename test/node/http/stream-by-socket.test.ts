// Records without end over WebSocket, by the client that Node.js has: what is told, how it ends, and which handshakes are
// answered as plain requests.

import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { randomOf } from '../../history/load.ts'
import { type Line, producer } from '../../helpers/http-stream.ts'
import { type LiveNode, liveNode, startLiveNode } from '../../helpers/live-node.ts'
import { frame } from '../../helpers/websocket-frames.ts'
import { until } from '../../helpers/until.ts'

const stream = { ageMs: 20, rows: 50 }
const live = await liveNode({}, { stream, limits: { recordBytes: 2_000 } })

let made = 0
async function dataset(at: LiveNode = live): Promise<string> {
  const alias = `acme/w${++made}`
  const fields = [{ name: 'n', type: { kind: 'Option', inner: { kind: 'Int64' } } }]
  await at.call(`/${alias}`, { method: 'PUT', json: { schema: { fields } } })
  return alias
}

class Socket {
  readonly lines: Line[] = []
  readonly socket: WebSocket
  readonly closed: Promise<CloseEvent>

  constructor(path: string, headers: Readonly<Record<string, string>> = {}, at: LiveNode = live) {
    const all = { authorization: `Bearer ${at.adminToken}`, ...headers }
    this.socket = new WebSocket(`${at.node.url.replace('http', 'ws')}${path}`, { headers: all })
    this.socket.addEventListener('message', ({ data }) => this.lines.push(JSON.parse(String(data)) as Line))
    this.closed = new Promise((resolve) => this.socket.addEventListener('close', resolve))
  }

  get last(): number | undefined {
    return this.lines.findLast(({ numbers }) => numbers !== undefined)?.numbers?.last
  }

  async open(): Promise<this> {
    await until('a connection', () => this.socket.readyState !== WebSocket.CONNECTING)
    return this
  }

  send(...messages: readonly (string | Uint8Array<ArrayBuffer>)[]): this {
    for (const message of messages) this.socket.send(message)
    return this
  }

  async told(last: number): Promise<void> {
    await until(`the receipt of ${last}`, () => this.last === last)
  }

  async end(): Promise<Line> {
    this.socket.send('')
    await this.closed
    return this.lines.at(-1) ?? {}
  }
}

/** The values of `n` in the order of their offsets, once all of the log is in blocks. */
async function values(alias: string): Promise<unknown[]> {
  await live.ingest(alias, [{ n: -1 }])
  const answer = await live.query(`select n from "${alias}" where n >= 0 order by "offset"`, { limit: 1000 })
  return (answer.at('output.data') as unknown[][]).map(([n]) => n)
}

describe('a stream over WebSocket', () => {
  it('tells what is durable while it goes on, whatever its messages are', async () => {
    const alias = await dataset()
    const socket = await new Socket(`/${alias}/stream`).open()
    socket.send('{"n":0}')
    await socket.told(0)
    expect(socket.lines[0]).toMatchObject({ status: 'accepted', numbers: { first: 0, last: 0 } })
    const receipt = await live.call(`/receipts/${socket.lines[0]?.receiptId}`)
    expect(receipt.at('records.received')).toBe(1)
    socket.send('{"n":1}\n{"n":2}', '{"n":3}\n', new TextEncoder().encode('{"n":4}\n{"n":5}\n'))
    await socket.told(5)
    expect(await socket.end()).toEqual({ ended: true, last: 5 })
    expect((await socket.closed).code).toBe(1000)
    expect(await values(alias)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('takes what the post takes: a producer, that it makes a dataset, and CSV', async () => {
    const first = await new Socket('/acme/cells/stream?create=true', {
      ...producer('gauge', 10),
      'content-type': 'text/csv',
    }).open()
    expect(await first.send('n,t\n1,a', '2,"b\nc"\n').end()).toEqual({ ended: true, last: 11 })
    const again = await new Socket('/acme/cells/stream', {
      ...producer('gauge', 10),
      'content-type': 'text/csv',
    }).open()
    expect(await again.send('n,t\n1,a\n2,"b\nc"\n3,d').end()).toEqual({ ended: true, last: 12 })
    await live.ingest('acme/cells', [{ n: -1, t: '' }])
    const answer = await live.query('select n, t from "acme/cells" where n >= 0 order by "offset"')
    expect(answer.at('output.data')).toEqual([
      [1, 'a'],
      [2, 'b\nc'],
      [3, 'd'],
    ])
  })

  it('goes as docs/devices.md shows it', async () => {
    const page = await readFile('docs/devices.md', 'utf8')
    const program = /^```js\nconst stream = [\s\S]*?^```/m.exec(page)?.[0].split('\n').slice(1, -1).join('\n') ?? ''
    const fields = [{ name: 'celsius', type: { kind: 'Float64' } }]
    await live.call('/acme/readings', { method: 'PUT', json: { schema: { fields } } })
    const own = program
      .replace('ws://localhost:8080', live.node.url.replace('http', 'ws'))
      .replace('TOKEN', live.adminToken)
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', own])
    expect(stdout).toMatch(/^\{.*"numbers":\{"first":0,.*\n\{"ended":true,"last":1\}\n$/s)
  })

  it('ends with the record that does not fit, and the code of a refusal', async () => {
    const alias = await dataset()
    const socket = await new Socket(`/${alias}/stream`).open()
    socket.send('{"n":0}', '{"n":"x"}', '{"n":2}')
    expect((await socket.closed).code).toBe(1008)
    expect(socket.lines.at(-1)).toMatchObject({ ended: true, last: 0, problem: { error: { kind: 'RecordsDoNotFit' } } })
    expect(await values(alias)).toEqual([0])
  })

  it('stores the whole messages of a connection that is cut, and no half one', async () => {
    const alias = await dataset()
    const peer = await rawHandshake(`/${alias}/stream`)
    peer.write(Buffer.concat([frame('{"n":7}'), frame('{"n":8}').subarray(0, 9)]))
    await new Promise((resolve) => setTimeout(resolve, 100))
    peer.destroy()
    await until('rows', async () => (await values(alias)).length > 0)
    expect(await values(alias)).toEqual([7])
  })

  it('is over soon after its end, whether the peer says goodbye or not', async () => {
    const alias = await dataset()
    const peer = await rawHandshake(`/${alias}/stream`)
    peer.resume().write(Buffer.concat([frame('{"n":1}'), frame('')]))
    await once(peer, 'end')
    expect(await values(alias)).toEqual([1])
  })

  it('breaks off with a peer that speaks something else, and goes on with the others', async () => {
    const alias = await dataset()
    const random = randomOf(4_711)
    const garbage = Array.from({ length: 40 }, () => randomBytesOf(random, random.between(1, 3_000)))
    const unmasked = Buffer.from([0x81, 0x02, 0x7b, 0x7d])
    const fragments = Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.from([0, 0x80, 0, 0, 0, 0])))
    const many = Buffer.concat([Buffer.from([0x01, 0x80, 0, 0, 0, 0]), fragments])
    for (const bytes of [...garbage, unmasked, many]) {
      const peer = await rawHandshake(`/${alias}/stream`)
      peer.resume().end(bytes)
      await once(peer, 'close')
    }
    const socket = await new Socket(`/${alias}/stream`).open()
    expect(await socket.send('{"n":1}').end()).toEqual({ ended: true, last: 0 })
    expect(await values(alias)).toEqual([1])
  })

  it('takes no message that is longer than a record may be', async () => {
    const alias = await dataset()
    const socket = await new Socket(`/${alias}/stream`).open()
    socket.send('{"n":0}', `{"n":1${' '.repeat(2_000)}}`)
    expect((await socket.closed).code).toBe(1009)
    expect(await values(alias)).toEqual([0])
  })

  it('holds back a sender whom the node cannot keep up with, and loses nothing', async () => {
    const alias = await dataset()
    const socket = await new Socket(`/${alias}/stream`).open()
    const rows = Array.from({ length: 4_000 }, (_, n) => `{"n":${n}}`)
    socket.send(...rows)
    expect(await socket.end()).toEqual({ ended: true, last: 3_999 })
    await live.ingest(alias, [{ n: -1 }])
    const answer = await live.query(`select count(distinct n), sum(n) from "${alias}" where n >= 0`)
    expect(answer.at('output.data')).toEqual([[4_000, 7_998_000]])
  })

  it('is told when the node stops', async () => {
    const other = await startLiveNode({}, { stream })
    const alias = await dataset(other)
    const socket = await new Socket(`/${alias}/stream`, {}, other).open()
    socket.send('{"n":0}')
    await socket.told(0)
    const beganMs = performance.now()
    await other.stop()
    expect((await socket.closed).code).toBe(1013)
    expect(socket.lines.at(-1)).toMatchObject({ ended: true, last: 0, problem: { error: { kind: 'Draining' } } })
    expect(performance.now() - beganMs).toBeLessThan(9_000)
  })
})

describe('a handshake', () => {
  it('is refused where the caller has as many streams as he may, until one of them is over', async () => {
    const few = await startLiveNode({}, { stream, limits: { streamsPerCaller: 1 } })
    const alias = await dataset(few)
    const one = await new Socket(`/${alias}/stream`, {}, few).open()
    const token = { authorization: `Bearer ${few.adminToken}` }
    expect((await handshake(`/${alias}/stream`, token, few)).status).toBe(429)
    await one.send('{"n":1}').end()
    const next = await new Socket(`/${alias}/stream`, {}, few).open()
    expect(await next.send('{"n":2}').end()).toEqual({ ended: true, last: 0 })
    await few.stop()
  })

  it('is refused as the post would be, with its status', async () => {
    const alias = await dataset()
    const refused = async (path: string, headers: Record<string, string>): Promise<unknown[]> => {
      const { status, body } = await handshake(path, headers)
      return [status, (JSON.parse(body) as { error: { kind: string } }).error.kind]
    }
    const token = { authorization: `Bearer ${live.adminToken}` }
    expect(await refused(`/${alias}/stream`, {})).toEqual([401, 'Unauthenticated'])
    expect(await refused('/acme/none/stream', token)).toEqual([404, 'DatasetNotFound'])
    expect(await refused(`/${alias}/stream`, { ...token, 'content-type': 'text/turtle' })).toEqual([
      415,
      'UnsupportedMediaType',
    ])
    expect(await refused(`/${alias}/stream`, { ...token, 'content-encoding': 'gzip' })).toEqual([
      415,
      'UnsupportedEncoding',
    ])
    expect(await refused(`/${alias}/stream?dryRun=true`, token)).toEqual([400, 'InvalidParameter'])
    const foreign = { ...token, origin: 'https://other.example' }
    expect(await refused(`/${alias}/stream`, foreign)).toEqual([403, 'Forbidden'])
  })

  it('of another version is 426 with the one that is taken, and with a bad key 400', async () => {
    const alias = await dataset()
    const token = { authorization: `Bearer ${live.adminToken}` }
    const old = await handshake(`/${alias}/stream`, { ...token, 'sec-websocket-version': '8' })
    expect([old.status, old.headers['sec-websocket-version']]).toEqual([426, '13'])
    for (const key of ['x', '', 'AAAAAAAAAAAAAAAAAAAAAA', `${'A'.repeat(23)}=`]) {
      const { status } = await handshake(`/${alias}/stream`, { ...token, 'sec-websocket-key': key })
      expect(status).toBe(400)
    }
  })

  it('that is none, or not of a stream, is answered as if it were not asked for', async () => {
    const alias = await dataset()
    const token = { authorization: `Bearer ${live.adminToken}` }
    expect((await handshake(`/${alias}/stream`, { ...token, upgrade: 'h2c' })).status).toBe(405)
    expect((await handshake(`/${alias}`, token)).status).toBe(200)
    expect((await handshake('/info', token)).status).toBe(200)
  })

  it('of a peer that does not wait for its answer is forgotten', async () => {
    const few = await startLiveNode({}, { stream, limits: { streamsPerCaller: 2 } })
    const alias = await dataset(few)
    for (let n = 0; n < 20; n++) {
      const peer = await sendHandshake(`/${alias}/stream`, key(), few)
      if (n % 2 === 0) await new Promise((resolve) => setTimeout(resolve, n / 2))
      peer.destroy()
    }
    const next = await new Socket(`/${alias}/stream`, {}, few).open()
    expect(await next.send('{"n":2}').end()).toEqual({ ended: true, last: 0 })
    await few.stop()
  })

  it('before the answer to the request before it loses its connection', async () => {
    const alias = await dataset()
    const { hostname, port } = new URL(live.node.url)
    const peer = connect(Number(port), hostname)
    const head = `Host: ${hostname}:${port}\r\nAuthorization: Bearer ${live.adminToken}\r\n`
    peer.write(
      `GET /datasets HTTP/1.1\r\n${head}\r\nGET /${alias}/stream HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key()}\r\n\r\n`,
    )
    peer.resume()
    await once(peer, 'close')
    expect((await live.call('/info')).status).toBe(200)
  })
})

const key = (): string => randomBytes(16).toString('base64')

/** The answer to a handshake that is refused. */
async function handshake(
  path: string,
  headers: Readonly<Record<string, string>>,
  at: LiveNode = live,
): Promise<Pick<IncomingMessage, 'headers'> & { readonly status: number | undefined; readonly body: string }> {
  const asked = httpRequest(`${at.node.url}${path}`, {
    agent: false,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key(),
      ...headers,
    },
  })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) body += chunk
  return { status: response.statusCode, headers: response.headers, body }
}

/** A connection on which a handshake was sent. */
async function sendHandshake(path: string, asked: string, at: LiveNode): Promise<ReturnType<typeof connect>> {
  const { hostname, port } = new URL(at.node.url)
  const peer = connect(Number(port), hostname).on('error', () => {})
  await once(peer, 'connect')
  peer.write(
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${at.adminToken}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${asked}\r\n\r\n`,
  )
  return peer
}

/** A connection after its handshake, as bytes. */
async function rawHandshake(path: string): Promise<ReturnType<typeof connect>> {
  const asked = key()
  const peer = await sendHandshake(path, asked, live)
  const [head] = (await once(peer, 'data')) as [Buffer]
  const accept = createHash('sha1').update(`${asked}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  expect(head.toString()).toMatch(/^HTTP\/1\.1 101 /)
  expect(head.toString()).toContain(accept)
  return peer
}

function randomBytesOf(random: ReturnType<typeof randomOf>, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.between(0, 255)))
}
