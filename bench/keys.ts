// What an Idempotency-Key costs, by how many of them the dataset remembers: CPU of a post with a new key beside one
// without, while more blocks are made than the 64 after which checkpoints repeat earlier ids. The longest history goes
// on over the 4,096th checkpoint, which repeats them all.

import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../src/lib/clock.ts'
import { silentLogger } from '../src/lib/logger.ts'
import { openFileLog } from '../src/log/file-log.ts'
import { openDirectoryStore } from '../src/store/directory-store.ts'
import { dataPaths } from '../src/store/layout.ts'
import { datasetId, noCuts, start, TestWriter } from '../test/builder/support.ts'
import type { LoadOrder } from './load.ts'
import { makeDataDir, rawPost, runLoad, startBenchNode } from './machine.ts'
import { type Measure, median } from './measure.ts'

const alias = 'acme/keys'
const rounds = 3
/** Twenty blocks a second: more than 64 in a round. */
const cuts = { 'cut-open-age': '50ms', 'cut-burst': 1_000_000 }
const history = [
  { keys: 100, blocks: 50 },
  { keys: 10_000, blocks: 1_000 },
  { keys: 100_000, blocks: 4_060 },
]

export async function measureKeys(): Promise<Measure[]> {
  const measures: Measure[] = []
  for (const { keys, blocks } of history) {
    const data = makeDataDir()
    await build(data, keys, blocks)
    const node = await startBenchNode(cuts, { data, pinned: true })
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

/** A dataset that remembers `keys` keys, evenly in `blocks` blocks. */
async function build(data: string, keys: number, blocks: number): Promise<void> {
  const paths = dataPaths(data)
  const log = await openFileLog({ directory: paths.log, clock: systemClock, logger: silentLogger })
  const store = await openDirectoryStore(paths.store)
  const dataset = datasetId('keys')
  const writer = new TestWriter('keys')
  await log.append(0, [writer.create(dataset, alias)])
  const running = await start(log, store, { options: noCuts })
  let next = 0
  let messages: Uint8Array[] = []
  for (let block = 0; block < blocks; block++) {
    const end = Math.floor((keys * (block + 1)) / blocks)
    const batches = Array.from({ length: end - next }, (_, i) => ({ rows: 1, key: `k${next + i}` }))
    next = end
    messages.push(writer.rows(dataset, batches), writer.cut([{ dataset, sequence: 3 + block }]))
    if (messages.length < 200 && block < blocks - 1) continue
    await log.append(0, messages)
    messages = []
  }
  for (;;) {
    const [partition] = running.builder.status().partitions
    if ((partition?.position ?? 0) > 2 * blocks && partition?.waitingPlans === 0) break
    await sleep(20)
  }
  await running.builder.stop()
  await store.close()
  await log.close()
}
