// What an Idempotency-Key costs, by how many of them the dataset remembers: CPU of a post with a new key beside one
// without, while more blocks are made than the 64 after which checkpoints repeat earlier ids. The longest history goes
// on over the 4,096th checkpoint, which repeats them all.

import { buildBacklog } from './backlog.ts'
import type { LoadOrder } from './load.ts'
import { makeDataDir, rawPost, runLoad, startBenchNode } from './machine.ts'
import { type Measure, median } from './measure.ts'

const alias = 'acme/keys'
const rounds = 3
/** Twenty blocks a second: more than 64 in a round. */
const tuning = { cut: { openAgeMs: 50, burstBlocks: 1_000_000 } }
const history = [
  { keys: 100, blocks: 50 },
  { keys: 10_000, blocks: 1_000 },
  { keys: 100_000, blocks: 4_060 },
]

export async function measureKeys(): Promise<Measure[]> {
  const measures: Measure[] = []
  for (const { keys, blocks } of history) {
    const data = makeDataDir()
    const keysOf = (number: number): number[] => {
      const [first, end] = [number, number + 1].map((block) => Math.floor((keys * block) / blocks))
      return Array.from({ length: (end ?? 0) - (first ?? 0) }, (_, i) => (first ?? 0) + i)
    }
    const batches = (number: number) => keysOf(number).map((key) => ({ rows: 1, key: `k${key}` }))
    await buildBacklog(data, [{ alias, blocks, batches }])
    const node = await startBenchNode({}, { data, pinned: true, tuning })
    const parts = { token: node.token, prefer: 'respond-async', body: '{"city":"x","n":1}\n' }
    const plain: LoadOrder = {
      ...rawPost(node.url, `/${alias}/ingest`, parts),
      connections: 8,
      rate: 300,
      warmMs: 1000,
      measureMs: 4000,
    }
    const keyed = { ...plain, request: plain.request.replace('\r\n', '\r\nIdempotency-Key: {key}\r\n') }
    await runLoad(node.pid, plain)
    const costs: { plain: number[]; keyed: number[] } = { plain: [], keyed: [] }
    for (let i = 0; i < rounds; i++) {
      costs.keyed.push(await cost(node.pid, keyed))
      costs.plain.push(await cost(node.pid, plain))
    }
    await node.remove()
    const after = `after ${keys.toLocaleString('en')} keys in ${blocks.toLocaleString('en')} blocks`
    const ratio = median(costs.keyed.map((micros, i) => micros / (costs.plain[i] ?? Number.NaN)))
    measures.push(
      { name: `CPU of a post with a new key, ${after}`, value: median(costs.keyed), unit: 'µs' },
      { name: `the same beside one without a key, ${after}`, value: ratio, unit: 'times', bar: { most: 1.3 } },
    )
  }
  return measures
}

async function cost(pid: number, order: LoadOrder): Promise<number> {
  const { statuses, microsPerAnswer } = await runLoad(pid, order)
  const unexpected = Object.keys(statuses).filter((status) => status !== '202')
  if (unexpected.length > 0) throw new Error(`answers other than 202: ${JSON.stringify(statuses)}`)
  return microsPerAnswer
}
