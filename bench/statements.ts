// Small statements of which each is another one, so that every answer is computed: 16 callers over a million rows, and one;
// the CPU of an answer is that of all processes of the node.

import { buildBacklog } from './backlog.ts'
import { type BenchNode, makeDataDir, startBenchNode, treeMicros } from './machine.ts'
import { type Measure, quantile, timeMs } from './measure.ts'

const blocks = 16
const rowsPerBlock = 62_500
const rows = blocks * rowsPerBlock
const dataset = 'acme/large'
const warmAnswers = 400
const measureMs = 5_000

export async function measureStatements(): Promise<Measure[]> {
  const data = makeDataDir()
  await buildBacklog(data, [{ alias: dataset, blocks, batches: () => [{ rows: rowsPerBlock }] }])
  const node = await startBenchNode({}, { data })
  let asked = 0
  const fromOffset = (): string =>
    `SELECT * FROM "${dataset}" WHERE "offset" >= ${(asked++ * 7919) % (rows - 10)} ORDER BY "offset" LIMIT 10`
  const many = await load(node, 16, fromOffset)
  const one = await load(node, 1, fromOffset)
  const nothing = await load(node, 16, () => `SELECT ${asked++}`)
  await node.remove()
  const name = 'ten rows from an offset on, 16 callers'
  return [
    { name, value: many.perSecond, unit: 'answers/s', bar: { least: 120 } },
    { name: `${name}: CPU`, value: many.cpuMs, unit: 'ms/answer', bar: { most: 12 } },
    { name: `${name}: p99`, value: many.p99Ms, unit: 'ms' },
    { name: 'the same, one caller: p50', value: one.p50Ms, unit: 'ms' },
    { name: 'a statement without a table, 16 callers: CPU', value: nothing.cpuMs, unit: 'ms/answer' },
  ]
}

interface Loaded {
  readonly perSecond: number
  readonly cpuMs: number
  readonly p50Ms: number
  readonly p99Ms: number
}

async function load(node: BenchNode, callers: number, sqlOf: () => string): Promise<Loaded> {
  // By as many callers, so that every process stands and has compiled its code.
  let warm = 0
  const warmer = async (): Promise<void> => {
    while (warm++ < warmAnswers) await node.query(sqlOf())
  }
  await Promise.all(Array.from({ length: callers }, warmer))
  const times: number[] = []
  const before = treeMicros(node.pid)
  const startMs = performance.now()
  const caller = async (): Promise<void> => {
    while (performance.now() - startMs < measureMs) times.push(await timeMs(() => node.query(sqlOf())))
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const seconds = (performance.now() - startMs) / 1000
  return {
    perSecond: times.length / seconds,
    cpuMs: (treeMicros(node.pid) - before) / 1000 / times.length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  }
}
