// Statements over long histories: the newest 100 of four million rows in 64 blocks and in one, its tails, the last hour of a
// year that lies in a block an hour, and all of that year, once its merged files are there, beside the same rows in large
// blocks. Answers are computed each time.

import { setTimeout as sleep } from 'node:timers/promises'
import { baseMs } from '../test/node/builder/support.ts'
import { buildBacklog } from './backlog.ts'
import { type BenchNode, cpuMicros, fail, makeDataDir, startBenchNode } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'

const hours = Number(process.env['BENCH_BLOCKS'] ?? 8_760)
const rowsPerHour = 60
const blocks = 64
const rowsPerBlock = 62_500
const [year, whole, large, single] = ['acme/year', 'acme/whole', 'acme/large', 'acme/single']
const warmRuns = 10
const runs = 31
const merge = { everyMs: 250, mostMs: 600_000 }

export async function measureNewest(): Promise<Measure[]> {
  const data = makeDataDir()
  const all = hours * rowsPerHour
  await buildBacklog(data, [
    { alias: year, blocks: hours, batches: () => [{ rows: rowsPerHour }] },
    { alias: whole, blocks: 4, batches: () => [{ rows: all / 4 }] },
    { alias: large, blocks, batches: () => [{ rows: rowsPerBlock }] },
  ])
  const node = await startBenchNode({}, { data })
  await node.post(single, singleBody(), { query: '?create=true', prefer: 'wait=60' })
  // Rows are a millisecond apart.
  const since = new Date(baseMs + (hours - 1) * rowsPerHour).toISOString()
  const statements: Readonly<Record<string, { readonly sql: string; readonly most: number }>> = {
    'newest 100 of 4 M rows': { sql: `SELECT * FROM "${large}" ORDER BY offset DESC LIMIT 100`, most: 50 },
    'newest 100 of 4 M rows by event time': {
      sql: `SELECT * FROM "${large}" ORDER BY event_time DESC LIMIT 100`,
      most: 50,
    },
    'newest 100 of 4 M rows that meet a condition': {
      sql: `SELECT * FROM "${large}" WHERE city = 'city 7' ORDER BY offset DESC LIMIT 100`,
      most: 60,
    },
    'newest 100 of 4 M rows in one block by event time': {
      sql: `SELECT * FROM "${single}" ORDER BY event_time DESC LIMIT 100`,
      most: 60,
    },
    'newest 100 of 4 M rows in one block, of two values': {
      sql: `SELECT * FROM "${single}" WHERE city IN ('city 7', 'city 8') ORDER BY offset DESC LIMIT 100`,
      most: 60,
    },
    'last hour of a year': { sql: `SELECT * FROM "${year}" WHERE event_time >= '${since}'`, most: 80 },
    'last hour of a year, counted': {
      sql: `SELECT count(*), max(event_time) FROM "${year}" WHERE event_time >= '${since}'`,
      most: 80,
    },
    'rows of a year': { sql: `SELECT count(*) FROM "${year}"`, most: 300 },
  }
  const measures = await measureMerging(node)
  for (const [name, { sql, most }] of Object.entries(statements)) {
    measures.push({ name: `${name}: first`, value: await timeMs(() => node.query(sql)), unit: 'ms' })
    measures.push({ name, value: await medianMs(node, sql), unit: 'ms', bar: { most } })
  }
  for (const skip of [0, 2_000_000]) {
    const value = await medianOf(() => tail(node, `limit=100&skip=${skip}`))
    measures.push({ name: `100 rows of one block of 4 M, ${skip} before them`, value, unit: 'ms', bar: { most: 15 } })
  }
  const sums = (alias: string): string =>
    `SELECT op, count(*), max(event_time), min(offset) FROM "${alias}" GROUP BY op`
  const ratio = (await medianMs(node, sums(year))) / (await medianMs(node, sums(whole)))
  measures.push({ name: 'a year over the same rows in large blocks', value: ratio, unit: 'times', bar: { most: 1.5 } })
  await node.remove()
  return measures
}

/** Waits until the year is read as few files. */
async function measureMerging(node: BenchNode): Promise<Measure[]> {
  const sql = `SELECT count(*) FROM "${year}"`
  const unmerged = await timeMs(() => node.query(sql))
  const before = cpuMicros(node.pid)
  let files = hours
  const ms = await timeMs(async () => {
    for (let waited = 0; files >= hours / 16 + 256 && waited < merge.mostMs; waited += merge.everyMs) {
      await sleep(merge.everyMs)
      files = await filesRead(node, sql)
    }
  })
  return [
    { name: 'rows of a year, before its files are merged: first', value: unmerged, unit: 'ms' },
    { name: 'merging a year', value: ms, unit: 'ms' },
    { name: 'CPU of merging, a block', value: (cpuMicros(node.pid) - before) / hours, unit: 'µs' },
    { name: 'files of a year', value: files, unit: 'files', bar: { most: hours / 16 + 256 } },
  ]
}

async function filesRead(node: BenchNode, query: string): Promise<number> {
  const headers = { 'content-type': 'application/json' }
  const answer = await node.call('/query', { method: 'POST', headers, body: JSON.stringify({ query, explain: true }) })
  await answer.text()
  return Number(/files-read=(\d+)/.exec(answer.headers.get('query-scan') ?? '')?.[1] ?? hours)
}

/** Rows of one block, a second apart. */
function singleBody(): string {
  const pieces = Array.from({ length: blocks }, (_, piece) => {
    const lines = Array.from({ length: rowsPerBlock }, (_line, at) => {
      const row = piece * rowsPerBlock + at
      return `{"event_time":"${new Date(baseMs + row * 1000).toISOString()}","city":"city ${row % 100}"}\n`
    })
    return lines.join('')
  })
  return pieces.join('')
}

async function tail(node: BenchNode, query: string): Promise<void> {
  const answer = await node.call(`/${single}/tail?${query}`)
  const text = await answer.text()
  if (answer.status !== 200) fail('a tail', text)
}

/** Of a statement that is computed each time, once it is warm. */
export async function medianMs(node: BenchNode, sql: string): Promise<number> {
  return await medianOf(() => node.query(sql))
}

async function medianOf(work: () => Promise<unknown>): Promise<number> {
  for (let run = 0; run < warmRuns; run++) await work()
  const times: number[] = []
  for (let run = 0; run < runs; run++) times.push(await timeMs(work))
  return median(times)
}
