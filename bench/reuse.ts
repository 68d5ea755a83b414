// Answers from memory: one statement asked over and over by 16 callers while its head does not move.

import { runLoad, startBenchNode } from './machine.ts'
import type { Measure } from './measure.ts'

const rows = 200_000
const sql = 'SELECT device, count(*) AS n, max(k) AS most FROM "acme/trips" GROUP BY device ORDER BY n DESC LIMIT 20'

export async function measureReuse(): Promise<Measure[]> {
  const node = await startBenchNode({}, { pinned: true, tuning: { limits: { keptAnswerBytes: 64 * 2 ** 20 } } })
  const lines = Array.from({ length: rows }, (_, i) => `{"device":"d${(i * 7919) % 100}","k":${(i * 31) % 100_000}}\n`)
  await node.post('acme/trips', lines.join(''), { query: '?create=true', prefer: 'wait=30' })
  const { hostname, host, port } = new URL(node.url)
  const measured = async (more: object): Promise<{ perSecond: number; micros: number; p99Ms: number }> => {
    const body = JSON.stringify({ query: sql, ...more })
    const request =
      `POST /query HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${node.token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    const order = { host: hostname, port: Number(port), request, connections: 16, warmMs: 2_000, measureMs: 3_000 }
    const { perSecond, microsPerAnswer, p99Ms, statuses } = await runLoad(node.pid, order)
    if (Object.keys(statuses).join() !== '200') throw new Error(`answers: ${JSON.stringify(statuses)}`)
    return { perSecond, micros: microsPerAnswer, p99Ms }
  }
  const plain = await measured({})
  const proven = await measured({ include: ['Proof'] })
  await node.remove()
  const same = 'one statement, 16 callers, head unmoved'
  return [
    { name: same, value: plain.perSecond, unit: 'answers/s', bar: { least: 2_000 } },
    { name: `${same}: CPU`, value: plain.micros, unit: 'µs/answer' },
    { name: `${same}: p99`, value: plain.p99Ms, unit: 'ms' },
    { name: `${same}, with proof`, value: proven.perSecond, unit: 'answers/s', bar: { least: 2_000 } },
    { name: `${same}, with proof: CPU`, value: proven.micros, unit: 'µs/answer' },
  ]
}
