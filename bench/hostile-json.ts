// JSON that is sent to do harm, and proofs as large as they may be: what others notice of them, and what memory they take.

import { gzipSync } from 'node:zlib'
import { type BenchNode, startBenchNode, watch } from './machine.ts'
import type { Measure } from './measure.ts'

const mebibyte = 1024 * 1024
const json = { 'content-type': 'application/json' }
/** A valid proof about as large as one may be. */
const proofRows = 15_000
const proofCellChars = 4_000

/** Millions of empty objects from four callers, then proofs of 60 MB, then 4 MiB of empty objects to /query. */
export async function measureHostileJson(): Promise<Measure[]> {
  const node = await startBenchNode()
  const sql = `select range as i, repeat('x', ${proofCellChars}) as t from range(${proofRows})`
  const body = JSON.stringify({ query: sql, include: ['Proof'], limit: proofRows })
  const proof = await (await node.call('/query', { method: 'POST', headers: json, body })).bytes()
  const objects = objectsOf(64 * mebibyte)
  const zipped = gzipSync(objects, { level: 1 })
  const gzip = { ...json, 'content-encoding': 'gzip' }
  const measures: Measure[] = []
  for (const [name, path, bytes, headers, expected] of [
    ['64 MiB of objects, gzip, to /verify', '/verify', zipped, gzip, [413, 429, 503]],
    ['64 MiB of objects to /verify', '/verify', objects, json, [413, 429, 503]],
    ['60 MB of proof to /verify', '/verify', proof, json, [200, 429, 503]],
    ['4 MiB of objects to /query', '/query', objectsOf(4 * mebibyte - 8), json, [413, 429, 503]],
  ] as const) {
    const send = async (): Promise<number> => {
      const answer = await node.call(path, { method: 'POST', headers, body: new Uint8Array(bytes) })
      await answer.arrayBuffer()
      return answer.status
    }
    const seen = await beside(node, () => Promise.all([send(), send(), send(), send()]))
    const others = seen.result.filter((status) => !expected.some((known) => known === status))
    if (others.length > 0 || !seen.result.some((status) => status === expected[0]))
      throw new Error(`${name}: ${seen.result.join(', ')}`)
    measures.push(
      { name: `${name}: p99 of /healthz`, value: seen.p99Ms, unit: 'ms', bar: { most: 100 } },
      { name: `${name}: event loop held`, value: seen.heldMs, unit: 'ms' },
      { name: `${name}: memory`, value: seen.grownMiB, unit: 'MiB', bar: { most: 512 } },
    )
  }
  await node.remove()
  return measures
}

/** Small values without an order that compression could use much. */
function objectsOf(bytes: number): Buffer {
  const out = Buffer.alloc(bytes, '{},')
  for (let at = 1; at + 3 < bytes; at += 3) out.write(Math.imul(at, 0x9e3779b1) < 0 ? '[],' : '{},', at, 'latin1')
  out.write('[', 0, 'latin1')
  return out
}

/** The 99th percentile of /healthz, the growth of memory, and how long the event loop was held, while `work` runs. */
async function beside<T>(
  node: BenchNode,
  work: () => Promise<T>,
): Promise<{ result: T; p99Ms: number; grownMiB: number; heldMs: number }> {
  const latencies: number[] = []
  let isDone = false
  const working = work().finally(() => (isDone = true))
  const seen = await watch(node, async () => {
    while (!isDone) {
      const startMs = performance.now()
      await (await node.call('/healthz')).arrayBuffer()
      latencies.push(performance.now() - startMs)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
  latencies.sort((a, b) => a - b)
  return { result: await working, p99Ms: latencies[Math.floor(0.99 * latencies.length)] ?? Number.NaN, ...seen }
}
