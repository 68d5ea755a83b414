// A stream of records beside one body with the same records, over one connection each, in turns: until all are durable
// (logged), and until all are in blocks, since those of a stream are built while it goes on and those of a body after it.
// Then how long after it was sent a record of a slow stream is known to be durable, and what a thousand devices cost that
// each send ten records a second.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, rmSync, statSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bulkLine, bulkRows, writeBody } from './bulk.ts'
import { type BenchNode, cpuMicros, fail, makeDataDir, startBenchNode } from './machine.ts'
import { type Measure, median, quantile, timeMs } from './measure.ts'
import type { StreamOrder, StreamResult } from './stream-load.ts'
import { measureStreamsAtOnce } from './streams-at-once.ts'

const rounds = 3
const slowRows = 60
const slowEveryMs = 50

/** Sends records to `path`; `onLine` is told each line of the answer, which `done` resolves after. */
function open(node: BenchNode, path: string, more: { headers?: object; onLine?: (line: string) => void } = {}) {
  let call: ClientRequest | undefined
  const done = new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${node.token}`, 'content-type': 'application/x-ndjson', ...more.headers }
    call = request(`${node.url}${path}`, { method: 'POST', headers }, (answer) => {
      let rest = ''
      let last = ''
      answer.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) more.onLine?.(line)
        last = lines.at(-1) ?? last
      })
      answer.on('end', () => resolve(rest === '' ? last : rest))
      answer.on('error', reject)
    })
    call.on('error', reject)
  })
  return { call: call ?? fail('a request', 'it is made at once'), done }
}

async function sendFile(node: BenchNode, path: string, file: string, headers: object, isDone: RegExp): Promise<void> {
  const { call, done } = open(node, path, { headers })
  createReadStream(file, { highWaterMark: 256 * 1024 }).pipe(call)
  const last = await done
  if (!isDone.test(last)) fail('sending the records', last)
}

/** Resolves when so many rows are in blocks. */
async function inBlocks(node: BenchNode, rows: number): Promise<void> {
  for (;;) {
    const { output } = (await node.query('select count(*) from "acme/bulk"')) as { output: { data: number[][] } }
    if (output.data[0]?.[0] === rows) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function startNode(): Promise<BenchNode> {
  const node = await startBenchNode({})
  const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=30' }
  const made = await node.call('/acme/bulk/ingest?create=true', { method: 'POST', headers, body: bulkLine(1) })
  if (made.status !== 200) fail('the first post', await made.text())
  return node
}

/** Time from the sending of each record of a slow stream to its receipt. */
async function latencies(node: BenchNode): Promise<number[]> {
  const sentMs: number[] = []
  const tookMs: number[] = []
  const onLine = (line: string): void => {
    const { numbers } = JSON.parse(line) as { numbers?: { first: number; last: number } }
    if (numbers === undefined) return
    const nowMs = performance.now()
    for (let n = numbers.first; n <= numbers.last; n++) tookMs.push(nowMs - (sentMs[n] ?? nowMs))
  }
  const { call, done } = open(node, '/acme/bulk/stream', { onLine })
  for (let n = 0; n < slowRows; n++) {
    sentMs.push(performance.now())
    call.write(bulkLine(n))
    await new Promise((resolve) => setTimeout(resolve, slowEveryMs))
  }
  call.end()
  await done
  return tookMs
}

const devices = { connections: 1_000, rowsPerSecond: 10, measureMs: 20_000 }

/** What the load generator says, and how many cores the node used meanwhile, the builder of the same process with it. */
async function ofDevices(): Promise<StreamResult & { readonly cores: number }> {
  const node = await startNode()
  const order: StreamOrder = { ...devices, url: node.url, path: '/acme/devices/stream', token: node.token }
  await node.post('acme/devices', '{"device":0,"n":0,"text":""}\n', { query: '?create=true', prefer: 'wait=30' })
  const program = new URL('./stream-load.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(order))
  const lines: string[] = []
  let [microsBefore, sinceMs] = [0, 0]
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === 1) [microsBefore, sinceMs] = [cpuMicros(node.pid), performance.now()]
  }
  const cores = (cpuMicros(node.pid) - microsBefore) / 1000 / (performance.now() - sinceMs)
  if (child.exitCode === null) await once(child, 'close')
  await node.remove()
  return { ...(JSON.parse(lines.at(-1) ?? '') as StreamResult), cores } // what bench/stream-load.ts prints
}

export async function measureStream(): Promise<Measure[]> {
  const dir = makeDataDir()
  const file = join(dir, 'body.ndjson')
  await writeBody(file)
  const length = { 'content-length': statSync(file).size, prefer: 'respond-async' }
  const bulkMs = { durable: [] as number[], inBlocks: [] as number[] }
  const streamMs = { durable: [] as number[], inBlocks: [] as number[] }
  let tookMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const one = await startNode()
    const loading = timeMs(() => inBlocks(one, bulkRows + 1))
    bulkMs.durable.push(await timeMs(() => sendFile(one, '/acme/bulk/ingest', file, length, /"accepted"|"committed"/)))
    bulkMs.inBlocks.push(await loading)
    await one.stop()
    const other = await startNode()
    // A producer that is known, as one that was cut off is: the first range of another is decided by a block first.
    const first = open(other, '/acme/bulk/stream', { headers: { 'producer-id': 'bench', 'producer-sequence': '0' } })
    first.call.end(bulkLine(0))
    await first.done
    const producer = { 'producer-id': 'bench', 'producer-sequence': '1' }
    const isDone = new RegExp(`"ended":true,"last":${bulkRows}}`)
    const streaming = timeMs(() => inBlocks(other, bulkRows + 2))
    streamMs.durable.push(await timeMs(() => sendFile(other, '/acme/bulk/stream', file, producer, isDone)))
    streamMs.inBlocks.push(await streaming)
    if (round === 0) tookMs = await latencies(other)
    await other.stop()
  }
  rmSync(dir, { recursive: true, force: true })
  const [bulk, stream] = [median(bulkMs.durable), median(streamMs.durable)]
  const beside = median(bulkMs.inBlocks) / median(streamMs.inBlocks)
  const fleet = await ofDevices()
  return [
    { name: 'stream: records of a stream', value: (bulkRows / stream) * 1000, unit: 'rows/s' },
    { name: 'stream: the same as one body', value: (bulkRows / bulk) * 1000, unit: 'rows/s' },
    { name: 'stream beside one body, until all are durable', value: bulk / stream, unit: '×' },
    { name: 'stream beside one body, until all are in blocks', value: beside, unit: '×', bar: { least: 0.7 } },
    { name: 'stream: from a record to its receipt, p50', value: quantile(tookMs, 0.5), unit: 'ms', bar: { most: 300 } },
    { name: 'stream: from a record to its receipt, p99', value: quantile(tookMs, 0.99), unit: 'ms' },
    { name: 'stream: 1,000 devices at 10 records/s', value: fleet.rowsPerSecond, unit: 'rows/s' },
    { name: 'stream: cores for them', value: fleet.cores, unit: 'cores', bar: { most: 1 } },
    { name: 'stream: their records to receipt, p50', value: fleet.p50Ms, unit: 'ms', bar: { most: 300 } },
    { name: 'stream: their records to receipt, p99', value: fleet.p99Ms, unit: 'ms', bar: { most: 1_000 } },
    ...(await measureStreamsAtOnce()),
  ]
}
