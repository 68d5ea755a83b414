// A node that dies at each point of a request: while a body comes, before and while it answers, while it runs a query.
// Points behind the request, between a batch and its block, are in test/syscalls. POINT_REPEATS says how often each is
// tried (default 1), SEED repeats the choices.

import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServedNode, startServed } from '../history/chaos.ts'
import { type Answer, type BatchSent, type History, judge } from '../history/history.ts'
import { type Address, randomOf, readBack } from '../history/load.ts'
import { checkStore } from '../../src/index.ts'
import { seed } from '../helpers/seed.ts'

const repeats = Number(process.env['POINT_REPEATS'] ?? 1)
const random = randomOf(seed)
const alias = 'acme/points'
const rows = 400

let dir = ''
let node: ServedNode
let at: Address
let lives = 0

async function start(): Promise<void> {
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir, { recursive: true })
  const tuning = { cut: { burstBlocks: 100_000, openAgeMs: 100, waitAgeMs: 20 } }
  node = startServed({ session: `life ${++lives}`, dataDir, compileCache: join(dir, 'compiled'), tuning })
  at = await node.ready
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-points-'))
  await start()
})
afterAll(async () => {
  await node.end('SIGKILL')
  await rm(dir, { recursive: true, force: true })
})

const bodyOf = (id: string): string =>
  Array.from(
    { length: rows },
    (_, i) => `${JSON.stringify({ batch: id, i, of: rows, fill: 'x'.repeat(1_000) })}\n`,
  ).join('')

/** The bytes of a request that posts a batch, with the head apart. */
function postOf(id: string, more = ''): { head: string; body: string } {
  const body = bodyOf(id)
  const lines = [
    `POST /${alias}/ingest?create=true HTTP/1.1`,
    `host: ${new URL(at.url).host}`,
    `authorization: Bearer ${at.token}`,
    'content-type: application/x-ndjson',
    `content-length: ${body.length}`,
    `idempotency-key: ${id}`,
    `prefer: wait=5`,
  ]
  return { head: `${lines.join('\r\n')}\r\n${more}\r\n`, body }
}

async function connected(): Promise<Socket> {
  const { hostname, port } = new URL(at.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const write = (socket: Socket, text: string): Promise<void> =>
  new Promise((resolve) => socket.write(text, () => resolve()))

const firstBytes = (socket: Socket): Promise<unknown> => Promise.race([once(socket, 'data'), once(socket, 'close')])

/** What is sent before the node dies, by point. */
const points: Readonly<Record<string, (socket: Socket, id: string) => Promise<unknown>>> = {
  'the head of a request has come': async (socket, id) => write(socket, postOf(id).head),
  'half of a body has come': async (socket, id) => {
    const { head, body } = postOf(id)
    await write(socket, head + body.slice(0, random.between(1, body.length - 1)))
    await sleep(random.between(0, 20))
  },
  'a body has come': async (socket, id) => {
    const { head, body } = postOf(id)
    await write(socket, head + body)
  },
  'a batch is on its way to its block': async (socket, id) => {
    const { head, body } = postOf(id)
    await write(socket, head + body)
    await sleep(random.between(0, 60))
  },
  'the first bytes of a receipt are out': async (socket, id) => {
    const { head, body } = postOf(id)
    await write(socket, head + body)
    await firstBytes(socket)
  },
  'a query runs': async (socket) => {
    const body = JSON.stringify({ query: `select count(*), sum(i) from "${alias}"`, include: ['Proof'] })
    const lines = [
      'POST /query HTTP/1.1',
      `host: ${new URL(at.url).host}`,
      `authorization: Bearer ${at.token}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    await write(socket, `${lines.join('\r\n')}\r\n\r\n${body}`)
    await sleep(random.between(0, 40))
  },
}

test(`dies at each point of a request ${repeats} times, and no promise breaks (SEED=${seed})`, async () => {
  const batches: BatchSent[] = []
  const counts: Record<string, number> = {}
  let order = 0
  for (let n = 0; n < repeats; n++) {
    for (const [point, send] of Object.entries(points)) {
      const id = `b${batches.length}`
      const batch: BatchSent = { id, dataset: alias, rows, key: id, attempts: [] }
      batches.push(batch)
      const sentAt = ++order
      const socket = await connected()
      await send(socket, id)
      await node.end('SIGKILL')
      socket.destroy()
      const unknown: Answer = { kind: 'unknown', error: point }
      batch.attempts.push({ sentAt, answeredAt: ++order, session: at.session, answer: unknown })
      counts[point] = (counts[point] ?? 0) + 1
      await start()
      // Now and then nobody repeats the batch: it may be there, or not.
      if (random.next() < 0.3) continue
      const again = ++order
      const answer = await repeat(id)
      batch.attempts.push({ sentAt: again, answeredAt: ++order, session: at.session, answer })
    }
  }
  const stored = await readBack(at, [alias])
  expect(await node.end('SIGTERM')).toBe(0)
  const report = await checkStore(join(dir, 'data'))
  expect([report.problems, report.datasets.flatMap(({ problems }) => problems)]).toEqual([[], []])
  const drain = { tookMs: 0, withinMs: 1 }
  const history: History = { batches, heads: [], proofs: [], rejected: [], stored, drain, held: [] }
  console.log(`kills at points of a request: ${JSON.stringify(counts)}`)
  expect(judge(history)).toEqual([])
})

async function repeat(id: string): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${at.token}`,
    'content-type': 'application/x-ndjson',
    'idempotency-key': id,
    prefer: 'wait=30',
  }
  const response = await fetch(`${at.url}/${alias}/ingest?create=true`, { method: 'POST', headers, body: bodyOf(id) })
  expect(response.status).toBe(200)
  const { receiptId, block, offsets } = (await response.json()) as {
    receiptId: string
    block: { sequence: number; hash: string }
    offsets: { start: number; end: number }
  }
  return { kind: 'ok', receiptId, block, offsets }
}
