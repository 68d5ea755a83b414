// Twenty callers who ask for answers of 250 MB and read nothing of them: the memory that this takes, and what another
// caller notices.

import { readFileSync, readdirSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { type BenchNode, residentMiB, startBenchNode } from './machine.ts'
import { type Measure, quantile, timeMs } from './measure.ts'

const callers = 20
const forMs = 30_000
const answerMB = 250
const sql = "select repeat('x', 2490) as text from range(100000)"

export async function measureUnreadAnswers(): Promise<Measure[]> {
  const node = await startBenchNode()
  const tokens = await Promise.all(Array.from({ length: callers }, (_, i) => readerToken(node, `reader ${i}`)))
  await node.post('acme/t', '{"device":"d-17","temp":21.5}\n', { query: '?create=true' })
  // Code is compiled and buffers are there: what comes on top is what unread answers take.
  for (let i = 0; i < 20; i++) await node.query("select repeat('x', 1000) from range(5000)", { limit: 5000 })
  const before = residentMiB(node.pid)
  let most = before
  const watch = setInterval(() => (most = Math.max(most, residentMiB(node.pid))), 50)
  const sockets = tokens.map((token) => unread(node, token))
  const times: number[] = []
  const endMs = performance.now() + forMs
  while (performance.now() < endMs) {
    times.push(await timeMs(async () => await (await node.call('/acme/t/tail')).text()))
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const held = await openBytes(node)
  const children = childrenOf(node.pid).reduce((sum, pid) => sum + residentMiB(pid), 0)
  clearInterval(watch)
  for (const socket of sockets) socket.destroy()
  await node.remove()
  return [
    { name: 'unread: growth of the node', value: most - before, unit: 'MiB', bar: { most: 512 } },
    { name: 'unread: bytes of answers held', value: held / 2 ** 20, unit: 'MiB', bar: { most: 512 } },
    { name: 'unread: asked for', value: callers * answerMB, unit: 'MB' },
    { name: 'unread: engine processes at the end, together', value: children, unit: 'MiB' },
    { name: 'unread: p99 of another caller’s tails', value: quantile(times, 0.99), unit: 'ms' },
  ]
}

async function readerToken(node: BenchNode, name: string): Promise<string> {
  const body = JSON.stringify({ name, scopes: ['read'] })
  const made = await node.call('/tokens', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await made.json()) as { token: string }).token // the answer of /tokens
}

/** A connection that asks and does not read. */
function unread(node: BenchNode, token: string): Socket {
  const { hostname, port, host } = new URL(node.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.pause()
  const path = `/query?${new URLSearchParams({ query: sql, limit: '100000' }).toString()}`
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  return socket
}

async function openBytes(node: BenchNode): Promise<number> {
  const text = await (await node.call('/metrics')).text()
  return Number(/^proofstream_answers_open_bytes (\S+)$/m.exec(text)?.[1])
}

/** Processes that a process has started; none where there is no /proc. */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
      .filter((text) => text !== '')
      .map(Number)
  } catch {
    return []
  }
}
