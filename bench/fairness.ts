// What an administrator notices of 80 anonymous callers who send one heavy query after the other: how long the newest
// rows take, and whether a query is ever refused.

import { type BenchNode, startBenchNode } from './machine.ts'
import { type Measure, quantile } from './measure.ts'

const senders = 80
const forMs = 15_000
const heavy = 'select sum(a.range * b.range % 7) from range(30000) a, range(1000) b'

export async function measureFairness(): Promise<Measure[]> {
  const node = await startBenchNode({ 'anonymous-read': true })
  await node.post('acme/t', '{"device":"d-17","temp":21.5}\n', { query: '?create=true' })
  const endMs = performance.now() + forMs
  const statuses = new Map<number, number>()
  const sending = Array.from({ length: senders }, () => sendHeavy(node.url, endMs, statuses))
  // The senders have the queue to themselves first.
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const tails: number[] = []
  const queries: number[] = []
  let refused = 0
  await Promise.all([
    every(200, endMs, async () => {
      tails.push(await timed(async () => (refused += Number(!(await node.call('/acme/t/tail')).ok))))
    }),
    every(500, endMs, async () => {
      queries.push(await timed(async () => (refused += Number(!(await ownQuery(node)).ok))))
    }),
  ])
  await Promise.all(sending)
  await node.remove()
  const answered = statuses.get(200) ?? 0
  return [
    {
      name: 'fairness: p99 of the administrator’s tails',
      value: quantile(tails, 0.99),
      unit: 'ms',
      bar: { most: 250 },
    },
    { name: 'fairness: refused of the administrator', value: refused, unit: 'requests', bar: { most: 0 } },
    { name: 'fairness: p99 of the administrator’s queries', value: quantile(queries, 0.99), unit: 'ms' },
    {
      name: 'fairness: heavy queries answered',
      value: (answered * 1000) / forMs,
      unit: 'queries/s',
      bar: { least: 0.1 },
    },
    { name: 'fairness: heavy queries refused', value: statuses.get(503) ?? 0, unit: 'queries' },
  ]
}

/** Equal texts would be one query. */
let texts = 0

/** One after the other; who is refused waits as long as he is told. */
async function sendHeavy(url: string, endMs: number, statuses: Map<number, number>): Promise<void> {
  while (performance.now() < endMs) {
    const answer = await fetch(`${url}/query?query=${encodeURIComponent(`${heavy} where a.range <> ${texts++}`)}`)
    await answer.arrayBuffer()
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const seconds = Number(answer.headers.get('retry-after') ?? 0)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}

async function ownQuery(node: BenchNode): Promise<Response> {
  const body = JSON.stringify({ query: 'select count(*) from "acme/t"' })
  return await node.call('/query', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

async function every(ms: number, endMs: number, work: () => Promise<void>): Promise<void> {
  const under: Promise<void>[] = []
  while (performance.now() < endMs) {
    under.push(work())
    await new Promise((resolve) => setTimeout(resolve, ms))
  }
  await Promise.all(under)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
