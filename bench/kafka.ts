// The log in Kafka beside the log in files, in turns: batches of 100 rows, and bodies of 100,000. Then the roles in
// processes of their own (kafka-roles.ts). All on one real broker, started here.

import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Broker } from '../test/helpers/kafka-broker.ts'
import { missingKafkaTools } from '../test/helpers/kafka-broker-tools.ts'
import { measureRoles } from './kafka-roles.ts'
import { type BenchNode, canPin, fail, rawPost, runLoad, startBenchNode } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'
import { ndjsonRows } from './rows.ts'

const rounds = 5
const bulkRows = 100_000
const bulkPosts = 3

/** Nothing, after a loud line, where no broker can run. */
export async function measureKafka(): Promise<Measure[]> {
  const missing = missingKafkaTools()
  if (missing !== undefined) {
    console.error(`KAFKA WAS NOT MEASURED: ${missing} not found.`)
    return []
  }
  const broker = await Broker.start()
  // Elsewhere the broker has a machine of its own: here it shares the core of the load generator.
  if (canPin) spawnSync('taskset', ['-apc', '1', String(broker.pid)])
  try {
    const batches = await measureBatches(broker.address)
    const bulk = await measureBulk(broker.address)
    return [...batches, ...bulk, ...(await measureRoles(broker.address))]
  } finally {
    await broker.remove()
  }
}

interface Pair {
  readonly file: BenchNode
  readonly kafka: BenchNode
}

/** Two nodes that differ only in their log, each with a dataset that has its columns. */
async function startPair(broker: string, name: string): Promise<Pair> {
  const options = { log: 'kafka', 'kafka-brokers': [broker], 'topic-prefix': name }
  const file = await startBenchNode({}, { pinned: true })
  const kafka = await startBenchNode(options, { pinned: true })
  for (const node of [file, kafka]) await node.post('acme/t', ndjsonRows(0, 100), { query: '?create=true' })
  return { file, kafka }
}

/** Measures both in turns; what one has still to build is built before the other's turn. Medians, and their ratio. */
async function inTurns(
  { file, kafka }: Pair,
  work: (node: BenchNode) => Promise<number>,
): Promise<{ readonly file: number; readonly kafka: number; readonly ratio: number }> {
  const rates = { file: [] as number[], kafka: [] as number[] }
  for (let i = 0; i <= rounds; i++) {
    for (const [kind, node] of [
      ['file', file],
      ['kafka', kafka],
    ] as const) {
      const rate = await work(node)
      await drained(node)
      // The first round warms up.
      if (i > 0) rates[kind].push(rate)
    }
  }
  const ratio = median(rates.kafka.map((rate, i) => rate / (rates.file[i] ?? Number.NaN)))
  await Promise.all([file.remove(), kafka.remove()])
  return { file: median(rates.file), kafka: median(rates.kafka), ratio }
}

/** Resolves when all that was posted is in blocks. */
async function drained(node: BenchNode): Promise<void> {
  const answer = await node.post('acme/t', ndjsonRows(0, 1), { prefer: 'respond-async' })
  let receipt = (await answer.json()) as { receiptId: string; status: string } // a receipt
  while (receipt.status === 'accepted') {
    await sleep(50)
    const again = await node.call(`/receipts/${receipt.receiptId}`)
    if (again.status !== 200) fail('asking for a receipt', await again.text())
    receipt = (await again.json()) as typeof receipt // a receipt
  }
}

async function measureBatches(broker: string): Promise<Measure[]> {
  const pair = await startPair(broker, 'batches')
  const rates = await inTurns(pair, async (node) => {
    const post = rawPost(node.url, '/acme/t/ingest', {
      token: node.token,
      prefer: 'respond-async',
      body: ndjsonRows(0, 100),
    })
    const { perSecond, statuses } = await runLoad(node.pid, { ...post, warmMs: 500, measureMs: 2_000 })
    if (Object.keys(statuses).some((status) => status !== '202')) fail('posting', JSON.stringify(statuses))
    return perSecond * 100
  })
  return [
    { name: '100-row batches, log in files', value: rates.file, unit: 'rows/s' },
    { name: '100-row batches, log in Kafka', value: rates.kafka, unit: 'rows/s' },
    { name: '100-row batches, Kafka / files', value: rates.ratio, unit: '×', bar: { least: 0.5 } },
  ]
}

async function measureBulk(broker: string): Promise<Measure[]> {
  const pair = await startPair(broker, 'bulk')
  const body = ndjsonRows(0, bulkRows)
  const rates = await inTurns(pair, async (node) => {
    const ms = await timeMs(async () => {
      for (let i = 0; i < bulkPosts; i++) await node.post('acme/t', body, { prefer: 'respond-async' })
    })
    return (bulkPosts * bulkRows) / (ms / 1000)
  })
  return [
    { name: 'bodies of 100,000 rows, log in files', value: rates.file, unit: 'rows/s' },
    { name: 'bodies of 100,000 rows, log in Kafka', value: rates.kafka, unit: 'rows/s' },
    { name: 'bodies of 100,000 rows, Kafka / files', value: rates.ratio, unit: '×', bar: { least: 0.35 } },
  ]
}
