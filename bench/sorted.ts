// One of a thousand devices over a year that lies in a block an hour, where the dataset has a layout and its sorted copies are
// made, beside the same rows without: milliseconds of a statement, and what making the copies takes.

import { setTimeout as sleep } from 'node:timers/promises'
import { optional } from '../src/model/schema.ts'
import { userFields } from '../test/builder/support.ts'
import { buildBacklog } from './backlog.ts'
import { type BenchNode, cpuMicros, makeDataDir, startBenchNode } from './machine.ts'
import { type Measure, timeMs } from './measure.ts'
import { medianMs } from './newest.ts'

const hours = Number(process.env['BENCH_BLOCKS'] ?? 8_760)
const rowsPerHour = Number(process.env['BENCH_ROWS'] ?? 250)
const [sorted, plain] = ['acme/sorted', 'acme/plain']
const fields = [...userFields, { name: 'device', type: optional({ kind: 'Int64' } as const) }]
const wait = { everyMs: 250, mostMs: 900_000 }

export async function measureSorted(): Promise<Measure[]> {
  const data = makeDataDir()
  const year = { blocks: hours, batches: () => [{ rows: rowsPerHour }], fields }
  await buildBacklog(data, [
    { alias: sorted, ...year, layout: { sortBy: ['device'] } },
    { alias: plain, ...year },
  ])
  const node = await startBenchNode({}, { data })
  const countOf = (alias: string): string => `SELECT count(*), max(n), min(event_time) FROM "${alias}" WHERE device = 7`
  const before = cpuMicros(node.pid)
  const merged = await waitFor(node, countOf(plain), /, merged-files-read=\d+$/)
  const between = cpuMicros(node.pid)
  const made = await waitFor(node, countOf(sorted), /sorted-files-read=\d+$/)
  const after = cpuMicros(node.pid)
  const times = { sorted: await medianMs(node, countOf(sorted)), plain: await medianMs(node, countOf(plain)) }
  await node.remove()
  const rows = hours * rowsPerHour
  return [
    { name: 'CPU of merging, a row', value: (between - before) / rows, unit: 'µs' },
    { name: 'CPU of merging and sorting, a row', value: (after - between) / rows, unit: 'µs' },
    { name: 'row groups of one device of a year, sorted', value: made.groups, unit: 'row groups' },
    { name: 'row groups of one device of a year, by offset', value: merged.groups, unit: 'row groups' },
    { name: 'one device of a year, sorted', value: times.sorted, unit: 'ms', bar: { most: 60 } },
    { name: 'one device of a year, by offset', value: times.plain, unit: 'ms' },
    {
      name: 'one device of a year, sorted over by offset',
      value: times.sorted / times.plain,
      unit: 'times',
      bar: { most: 0.5 },
    },
  ]
}

/** Waits until what a statement reads is as wanted, and stays so for as long as a file takes; then tells its row groups. */
async function waitFor(node: BenchNode, sql: string, wanted: RegExp): Promise<{ readonly groups: number }> {
  let [scan, same, waitedMs] = ['', 0, 0]
  while (same < 24 && waitedMs < wait.mostMs) {
    waitedMs += await timeMs(() => sleep(wait.everyMs))
    const now = await scanOf(node, sql)
    same = now === scan && wanted.test(now) ? same + 1 : 0
    scan = now
  }
  return { groups: Number(/row-groups-read=(\d+)/.exec(scan)?.[1] ?? 0) }
}

async function scanOf(node: BenchNode, query: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await node.call('/query', { method: 'POST', headers, body: JSON.stringify({ query, explain: true }) })
  await answer.text()
  return answer.headers.get('query-scan') ?? ''
}
