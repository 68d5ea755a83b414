// A node under ten times the load that it can take: how much of its peak it still does, what it answers, what memory
// that takes, how soon it is itself again; and what a caller with few posts notices of one with very many.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { FloodOrder, FloodResult } from './flood.ts'
import { type BenchNode, canPin, cpuMicros, rawPost, residentMiB, startBenchNode } from './machine.ts'
import type { Measure } from './measure.ts'

const rowBody = '{"device":"d-17","temp":21.5,"k":12345,"at":"2026-03-01T10:00:00Z"}\n'
const peakConnections = 256
const peakMs = 4_000
const times = 10
const quickMs = 250
const quickInARow = 10

/** Ten times the posts of the peak are wanted, without waiting for answers or heeding Retry-After. */
const floods = [
  { name: 'pipelined', connections: 640, window: 16 },
  { name: 'connections', connections: peakConnections * times, window: 1 },
] as const

/** Floods the node for `--overload-seconds` in all, 60 by default. */
export async function measureOverload(): Promise<Measure[]> {
  const option = process.argv.find((arg) => arg.startsWith('--overload-seconds='))
  const measureMs = (1000 * Number(option?.split('=')[1] ?? 60)) / floods.length
  const node = await startBenchNode({}, { pinned: true })
  await node.post('acme/t', rowBody, { query: '?create=true' })
  const parts = { token: node.token, prefer: 'respond-async', body: rowBody }
  const { host, port, request } = rawPost(node.url, '/acme/t/ingest', parts)
  const at = { host, port, request }
  const peakOrder: FloodOrder = { ...at, connections: peakConnections, window: 1, measureMs: peakMs }
  // Code is compiled while it warms up.
  await flood(node.pid, peakOrder)
  let [before, accepted] = [await flood(node.pid, peakOrder), 1]
  const memoryMiB = residentMiB(node.pid)
  const memory = watchMemory(node.pid)
  const measures: Measure[] = []
  for (const { name, ...over } of floods) {
    const quiet = await quietCaller(node)
    const flooded = await flood(node.pid, { ...at, ...over, perSecond: byClock(before) * times, measureMs })
    const recoveryMs = await recovery(node)
    const quietMs = quiet.stop()
    const after = await flood(node.pid, peakOrder)
    measures.push(...told(name, flooded, [before, after]))
    measures.push({ name: `${name}: p99 of another caller`, value: quietMs, unit: 'ms' })
    measures.push({ name: `${name}: to quick answers`, value: recoveryMs / 1000, unit: 's', bar: { most: 10 } })
    accepted += (flooded.statuses['202'] ?? 0) + (after.statuses['202'] ?? 0)
    before = after
  }
  const grownMiB = memory.stop() - memoryMiB
  measures.push({ name: 'growth of memory in overload', value: grownMiB, unit: 'MiB', bar: { most: 768 } })
  await demandAccepted(node, accepted)
  await node.remove()
  return measures
}

function told(name: string, flooded: Flooded, peaks: readonly Flooded[]): Measure[] {
  const { statuses, sent, seconds, unanswered } = flooded
  const refused = sum([statuses['429'] ?? 0, statuses['503'] ?? 0])
  const answers = sum(Object.values(statuses))
  const others = answers - refused - sum([statuses['200'] ?? 0, statuses['202'] ?? 0])
  const peak = sum(peaks.map(byClock)) / peaks.length
  const cpuRatio = (byCpu(flooded) * peaks.length) / sum(peaks.map(byCpu))
  return [
    { name: `${name}: peak before and after`, value: peak, unit: 'posts/s' },
    { name: `${name}: posts sent / peak`, value: sent / seconds / peak, unit: '×' },
    { name: `${name}: goodput / peak, by CPU`, value: cpuRatio, unit: '×', bar: { least: 0.8 } },
    { name: `${name}: goodput / peak, by rate`, value: byClock(flooded) / peak, unit: '×', bar: { least: 0.8 } },
    { name: `${name}: refused`, value: (100 * refused) / answers, unit: '%' },
    { name: `${name}: other answers, lost ones`, value: others + unanswered, unit: 'posts', bar: { most: 0 } },
  ]
}

/** What came of a flood, and the time that the node used for it. */
type Flooded = FloodResult & { readonly cpuSeconds: number }

async function flood(pid: number, order: FloodOrder): Promise<Flooded> {
  const beforeMicros = cpuMicros(pid)
  const own = [process.execPath, new URL('./flood.ts', import.meta.url).pathname, JSON.stringify(order)]
  const [command = '', ...args] = canPin ? ['taskset', '-c', '1', ...own] : own
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  await once(child, 'close')
  const result = JSON.parse(text) as FloodResult // what bench/flood.ts prints
  return { ...result, cpuSeconds: (cpuMicros(pid) - beforeMicros) / 1e6 }
}

/** Posts that were accepted, by second of the clock while requests were sent. */
function byClock({ accepted, seconds }: Flooded): number {
  return accepted / seconds
}

/** The same by second of the node's own time. */
function byCpu({ statuses, cpuSeconds }: Flooded): number {
  return (statuses['202'] ?? 0) / cpuSeconds
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}

function watchMemory(pid: number): { stop(): number } {
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, residentMiB(pid))), 100)
  return {
    stop: () => {
      clearInterval(timer)
      return most
    },
  }
}

/** A caller with a token of its own who posts five times a second; `stop` gives the 99th percentile of its answers. */
async function quietCaller(node: BenchNode): Promise<{ stop(): number }> {
  const body = JSON.stringify({ name: 'quiet', scopes: ['ingest'] })
  const made = await node.call('/tokens', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { token } = (await made.json()) as { token: string } // the answer of /tokens
  const headers = { 'content-type': 'application/x-ndjson', prefer: 'respond-async', authorization: `Bearer ${token}` }
  const latencies: number[] = []
  const timer = setInterval(() => {
    const startMs = performance.now()
    void node
      .call('/acme/t/ingest', { method: 'POST', headers, body: rowBody })
      .then(() => latencies.push(performance.now() - startMs))
  }, 200)
  return {
    stop: () => {
      clearInterval(timer)
      latencies.sort((a, b) => a - b)
      return latencies[Math.floor(0.99 * latencies.length)] ?? Number.NaN
    },
  }
}

/** Milliseconds until ten posts in a row are answered quickly. */
async function recovery(node: BenchNode): Promise<number> {
  const startMs = performance.now()
  let endMs = startMs
  for (let quick = 0; quick < quickInARow;) {
    const sentMs = performance.now()
    await node.post('acme/t', rowBody, { prefer: 'respond-async' })
    const isQuick = performance.now() - sentMs <= quickMs
    if (quick === 0) endMs = performance.now()
    quick = isQuick ? quick + 1 : 0
  }
  return endMs - startMs
}

/** All that was accepted comes into blocks. */
async function demandAccepted(node: BenchNode, least: number): Promise<void> {
  for (let i = 0; i < 240; i++) {
    const answer = (await node.query('select count(*) from "acme/t"')) as { output: { data: [[number]] } } // JsonAoa
    if (answer.output.data[0][0] >= least) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error(`${least} posts were accepted, and after two minutes not all are in blocks`)
}
