// A stream of records beside one body with the same records, over one connection each, in turns, until all are durable
// (logged); and how long after it was sent a record of a slow stream is known to be durable.

import { createReadStream, rmSync, statSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { bulkLine, bulkRows, writeBody } from './bulk.ts'
import { type BenchNode, fail, makeDataDir, startBenchNode } from './machine.ts'
import { type Measure, median, quantile, timeMs } from './measure.ts'

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

export async function measureStream(): Promise<Measure[]> {
  const dir = makeDataDir()
  const file = join(dir, 'body.ndjson')
  await writeBody(file)
  const length = { 'content-length': statSync(file).size, prefer: 'respond-async' }
  const bulkMs: number[] = []
  const streamMs: number[] = []
  let tookMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const one = await startNode()
    bulkMs.push(await timeMs(() => sendFile(one, '/acme/bulk/ingest', file, length, /"accepted"|"committed"/)))
    await one.stop()
    const other = await startNode()
    // A producer that is known, as one that was cut off is: the first range of another is decided by a block first.
    const first = open(other, '/acme/bulk/stream', { headers: { 'producer-id': 'bench', 'producer-sequence': '0' } })
    first.call.end(bulkLine(0))
    await first.done
    const producer = { 'producer-id': 'bench', 'producer-sequence': '1' }
    const isDone = new RegExp(`"ended":true,"last":${bulkRows}}`)
    streamMs.push(await timeMs(() => sendFile(other, '/acme/bulk/stream', file, producer, isDone)))
    if (round === 0) tookMs = await latencies(other)
    await other.stop()
  }
  rmSync(dir, { recursive: true, force: true })
  const [bulk, stream] = [median(bulkMs), median(streamMs)]
  return [
    { name: 'stream: records of a stream', value: (bulkRows / stream) * 1000, unit: 'rows/s' },
    { name: 'stream: the same as one body', value: (bulkRows / bulk) * 1000, unit: 'rows/s' },
    { name: 'stream beside one body', value: bulk / stream, unit: '×', bar: { least: 0.7 } },
    { name: 'stream: from a record to its receipt, p50', value: quantile(tookMs, 0.5), unit: 'ms', bar: { most: 300 } },
    { name: 'stream: from a record to its receipt, p99', value: quantile(tookMs, 0.99), unit: 'ms' },
  ]
}
