// A thousand listeners of one dataset, and a hundred who want its rows: from the time of a block, which is made before it is committed, until each of them
// has its event; what an event costs; the memory that listeners take.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type BenchNode, cpuMicros, residentMiB, startBenchNode } from './machine.ts'
import { type Measure, quantile } from './measure.ts'

const posts = 60
const betweenMs = 500
const rows = 100

export async function measureLive(): Promise<Measure[]> {
  const node = await startBenchNode({}, { tuning: { limits: { callerShare: 100 } } })
  const body = Array.from({ length: rows }, (_, i) => `{"device":"d-${i}","temp":${20 + i / 10}}\n`).join('')
  await node.post('acme/quiet', body, { query: '?create=true' })
  // Code is compiled and the engine runs: what comes on top is what listeners take.
  for (let i = 0; i < 20; i++) await node.post('acme/quiet', body)
  const before = residentMiB(node.pid)
  const plain = await phase(node, { name: 'live', listeners: 1_000, path: '/acme/quiet/events', body })
  const withRows = await phase(node, { name: 'live, rows', listeners: 100, path: '/acme/quiet/events?rows=true', body })
  const after = residentMiB(node.pid)
  const loop = /^proofstream_nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(
    await (await node.call('/metrics')).text(),
  )?.[1]
  await node.remove()
  return [
    ...plain.measures,
    ...withRows.measures,
    {
      name: 'live: memory on top, most',
      value: Math.max(plain.mostMiB, withRows.mostMiB) - before,
      unit: 'MiB',
      bar: { most: 200 },
    },
    { name: 'live: memory on top, after they left', value: after - before, unit: 'MiB' },
    { name: 'live: event loop p99', value: Number(loop) * 1000, unit: 'ms' },
  ]
}

/** Opens the listeners, makes blocks, and says how late each listener heard of each. */
async function phase(
  node: BenchNode,
  {
    name,
    listeners,
    path,
    body,
  }: { readonly name: string; readonly listeners: number; readonly path: string; readonly body: string },
): Promise<{ readonly measures: Measure[]; readonly mostMiB: number }> {
  const first = await chainLength(node)
  const latenciesMs: number[] = []
  const sockets: Socket[] = []
  for (let i = 0; i < listeners; i += 50) {
    const group = Array.from({ length: 50 }, async () => await listen(node, path, (ms) => latenciesMs.push(ms)))
    sockets.push(...(await Promise.all(group)))
  }
  const cpu = cpuMicros(node.pid)
  let mostMiB = residentMiB(node.pid)
  for (let i = 0; i < posts; i++) {
    await node.post('acme/quiet', body)
    mostMiB = Math.max(mostMiB, residentMiB(node.pid))
    await new Promise((resolve) => setTimeout(resolve, betweenMs))
  }
  // Blocks of a steady stream are paced: there may be fewer than posts.
  const due = listeners * ((await chainLength(node)) - first)
  for (let i = 0; i < 50 && latenciesMs.length < due; i++) await new Promise((resolve) => setTimeout(resolve, 100))
  const micros = cpuMicros(node.pid) - cpu
  for (const socket of sockets) socket.destroy()
  const heard = latenciesMs.length
  return {
    mostMiB,
    measures: [
      { name: `${name}: events heard`, value: heard / due, unit: '× all', bar: { least: 1 } },
      { name: `${name}: p50 from block to event`, value: quantile(latenciesMs, 0.5), unit: 'ms' },
      { name: `${name}: p99 from block to event`, value: quantile(latenciesMs, 0.99), unit: 'ms', bar: { most: 250 } },
      { name: `${name}: CPU of an event, posts and blocks included`, value: micros / heard, unit: 'µs' },
    ],
  }
}

/** Blocks of the dataset, once all that was sent is in one. */
async function chainLength(node: BenchNode): Promise<number> {
  for (let before = -1; ;) {
    const { blocks } = (await (await node.call('/acme/quiet/blocks?limit=1')).json()) as {
      blocks: [{ sequence: number }]
    }
    if (blocks[0].sequence === before) return before + 1
    before = blocks[0].sequence
    await new Promise((resolve) => setTimeout(resolve, 3_000))
  }
}

/** A connection that listens; told of how old each block is when its event has come. */
async function listen(node: BenchNode, path: string, onEvent: (ms: number) => void): Promise<Socket> {
  const { hostname, port, host } = new URL(node.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined).setEncoding('utf8')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${node.token}\r\n\r\n`)
  let text = ''
  socket.on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const time = /"systemTime":"([^"]+)"/.exec(text.slice(0, end))?.[1]
      if (time !== undefined) onEvent(Date.now() - Date.parse(time))
      text = text.slice(end + 2)
    }
  })
  await once(socket, 'data')
  return socket
}
