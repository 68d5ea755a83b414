// The door for programs that speak to PostgreSQL beside HTTP: statements of which each is another one, 1,000,000 rows in binary beside
// Arrow, and what idle connections take.

import { connect, type Socket } from 'node:net'
import { freePort } from '../test/helpers/free-port.ts'
import { bulkLine } from './bulk.ts'
import { type BenchNode, startBenchNode, treeMiB } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'

const rows = 1_000_000
const rowsAtOnce = 100_000
const statements = 300
const rounds = 5
const idle = 500

export async function measurePostgresDoor(): Promise<Measure[]> {
  const port = await freePort()
  const node = await startBenchNode({ 'pg-listen': `127.0.0.1:${port}` })
  try {
    for (let first = 0; first < rows; first += rowsAtOnce) {
      const lines = Array.from({ length: rowsAtOnce }, (_, at) => bulkLine(first + at + 1))
      await node.post('acme/trips', lines.join(''), { query: '?create=true', prefer: 'wait=30' })
    }
    const small = await smallStatements(node, port)
    return [...small, ...(await manyRows(node, port)), await idleConnections(node, port)]
  } finally {
    await node.remove()
  }
}

async function smallStatements(node: BenchNode, port: number): Promise<Measure[]> {
  const client = await DoorClient.open(port)
  const times: Record<'http' | 'door', number[]> = { http: [], door: [] }
  // The first ones warm up.
  for (let n = -statements; n < statements; n++) {
    const http = await timeMs(() => node.query(`SELECT ${n + 1000}`))
    const door = await timeMs(() => client.ask(`SELECT ${n + 5000}`))
    if (n >= 0) {
      times.http.push(http)
      times.door.push(door)
    }
  }
  client.end()
  const [http, door] = [median(times.http), median(times.door)]
  return [
    { name: 'SELECT n over HTTP', value: http, unit: 'ms' },
    { name: 'SELECT n by the door', value: door, unit: 'ms' },
    { name: 'SELECT n: door / HTTP', value: door / http, unit: '×', bar: { most: 1.5 } },
  ]
}

async function manyRows(node: BenchNode, port: number): Promise<Measure[]> {
  const sql = 'SELECT * FROM acme.trips'
  const turns: { readonly arrow: number; readonly door: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const arrow = await timeMs(async () => {
      const body = JSON.stringify({ query: sql, dataFormat: 'Arrow' })
      const answer = await node.call('/query', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      for await (const _ of answer.body ?? []) continue
    })
    const client = await DoorClient.open(port)
    const door = await timeMs(() => client.ask(sql, true))
    client.end()
    turns.push({ arrow, door })
  }
  const name = `${rows.toLocaleString('en')} rows out`
  return [
    { name: `${name}, Arrow over HTTP`, value: median(turns.map(({ arrow }) => arrow)), unit: 'ms' },
    { name: `${name}, binary by the door`, value: median(turns.map(({ door }) => door)), unit: 'ms' },
    {
      name: `${name}: Arrow / door`,
      value: median(turns.map(({ arrow, door }) => arrow / door)),
      unit: '×',
      bar: { least: 0.5 },
    },
  ]
}

async function idleConnections(node: BenchNode, port: number): Promise<Measure> {
  // One caller has at most 200: each token is one.
  const before = treeMiB(node.pid)
  const clients: DoorClient[] = []
  for (let first = 0; first < idle; first += 100) {
    const body = JSON.stringify({ name: `idle ${first}`, scopes: ['read'] })
    const answer = await node.call('/tokens', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { token } = (await answer.json()) as { token: string } // as the routes of tokens answer
    for (let at = 0; at < 100; at++) clients.push(await DoorClient.open(port, token))
  }
  const value = treeMiB(node.pid) - before
  for (const client of clients) client.end()
  return { name: `${idle} idle connections`, value, unit: 'MiB', bar: { most: 60 } }
}

/** As much of a client as counts rows at the socket. */
class DoorClient {
  readonly #socket: Socket
  #tail: Buffer = Buffer.alloc(0)
  #onReady: () => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#tail = Buffer.concat([this.#tail, chunk.subarray(-6)]).subarray(-6)
      // ReadyForQuery, outside of a transaction.
      if (this.#tail[0] === 0x5a && this.#tail[5] === 0x49) this.#onReady()
    })
  }

  static async open(port: number, token?: string): Promise<DoorClient> {
    const client = new DoorClient(connect(port, '127.0.0.1'))
    const user = token === undefined ? 'anonymous' : 'someone'
    const texts = ['user', user, 'database', 'all', ''].map((text) => `${text}\0`).join('')
    client.#socket.write(message('', Buffer.concat([Buffer.from([0, 3, 0, 0]), Buffer.from(texts)])))
    const ready = client.#ready()
    if (token !== undefined) client.#socket.write(message('p', Buffer.from(`${token}\0`)))
    await ready
    return client
  }

  async ask(sql: string, isBinary = false): Promise<void> {
    const ready = this.#ready()
    const bind = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 0, isBinary ? 1 : 0])
    this.#socket.write(
      Buffer.concat([
        message('P', Buffer.from(`\0${sql}\0\0\0`)),
        message('B', bind),
        message('D', Buffer.from('P\0')),
        message('E', Buffer.from([0, 0, 0, 0, 0])),
        message('S', Buffer.alloc(0)),
      ]),
    )
    await ready
  }

  end(): void {
    this.#socket.end(message('X', Buffer.alloc(0)))
  }

  #ready(): Promise<void> {
    this.#tail = Buffer.alloc(0)
    return new Promise((resolve) => {
      this.#onReady = resolve
    })
  }
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), head, body])
}
