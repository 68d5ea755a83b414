// The log in Kafka beside the log in files, in turns: batches of 100 rows, and bodies of 100,000. Then the roles in
// processes of their own (kafka-roles.ts). All on one real broker, started here.

import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Broker } from '../test/helpers/kafka-broker.ts'
import { missingKafkaTools } from '../test/helpers/kafka-broker-tools.ts'
import { measureRoles } from './kafka-roles.ts'
import { type BenchNode, canPin, cpuMicros, fail, rawPost, runLoad, startBenchNode } from './machine.ts'
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
  const file = await startBenchNode({}, { pinned: true })
  const kafka = await startBenchNode({ log: `kafka://${broker}/${name}` }, { pinned: true })
  for (const node of [file, kafka]) await node.post('acme/t', ndjsonRows(0, 100), { query: '?create=true' })
  return { file, kafka }
}

interface Compared {
  readonly file: number
  readonly kafka: number
  /** Of the rates of one turn, and of what the whole process spends on a row up to its block. */
  readonly byRate: number
  readonly byCpu: number
}

/**
 * Measures both in turns; what one has still to build is built before the other's turn. `work` resolves with the rows
 * that it posted and the rows per second.
 */
async function inTurns(
  { file, kafka }: Pair,
  work: (node: BenchNode) => Promise<{ readonly rows: number; readonly rate: number }>,
): Promise<Compared> {
  const turns: { file: Turn; kafka: Turn }[] = []
  const turn = async (node: BenchNode): Promise<Turn> => {
    const before = cpuMicros(node.pid)
    const { rows, rate } = await work(node)
    await drained(node)
    return { rate, cost: (cpuMicros(node.pid) - before) / rows }
  }
  for (let i = 0; i <= rounds; i++) {
    const one = { file: await turn(file), kafka: await turn(kafka) }
    // The first round warms up.
    if (i > 0) turns.push(one)
  }
  await Promise.all([file.remove(), kafka.remove()])
  return {
    file: median(turns.map((one) => one.file.rate)),
    kafka: median(turns.map((one) => one.kafka.rate)),
    byRate: median(turns.map((one) => one.kafka.rate / one.file.rate)),
    byCpu: median(turns.map((one) => one.file.cost / one.kafka.cost)),
  }
}

interface Turn {
  readonly rate: number
  /** Microseconds of CPU per row. */
  readonly cost: number
}

function measuresOf(what: string, { file, kafka, byRate, byCpu }: Compared, least: number): Measure[] {
  return [
    { name: `${what}, log in files`, value: file, unit: 'rows/s' },
    { name: `${what}, log in Kafka`, value: kafka, unit: 'rows/s' },
    { name: `${what}, Kafka / files, by CPU`, value: byCpu, unit: '×', bar: { least } },
    { name: `${what}, Kafka / files, by rate`, value: byRate, unit: '×', bar: { least } },
  ]
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
  const compared = await inTurns(pair, async (node) => {
    const post = rawPost(node.url, '/acme/t/ingest', {
      token: node.token,
      prefer: 'respond-async',
      body: ndjsonRows(0, 100),
    })
    const { perSecond, statuses, answers } = await runLoad(node.pid, { ...post, warmMs: 500, measureMs: 2_000 })
    if (Object.keys(statuses).some((status) => status !== '202')) fail('posting', JSON.stringify(statuses))
    return { rows: answers * 100, rate: perSecond * 100 }
  })
  return measuresOf('100-row batches', compared, 0.5)
}

async function measureBulk(broker: string): Promise<Measure[]> {
  const pair = await startPair(broker, 'bulk')
  const body = ndjsonRows(0, bulkRows)
  const compared = await inTurns(pair, async (node) => {
    const ms = await timeMs(async () => {
      for (let i = 0; i < bulkPosts; i++) await node.post('acme/t', body, { prefer: 'respond-async' })
    })
    const rows = bulkPosts * bulkRows
    return { rows, rate: rows / (ms / 1000) }
  })
  return measuresOf('100,000-row bodies', compared, 0.35)
}
