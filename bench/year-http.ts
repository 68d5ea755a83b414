// A year of a row a second, a block a minute, in packs (make-year.ts), served by a node over HTTP; 500,000 blocks unless
// `--year-blocks=N` asks for others.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { loadConfig } from '../src/app/config.ts'
import { packDatasets } from '../src/app/upkeep/repair.ts'
import { dataPaths } from '../src/node/store/layout.ts'
import { baseMs } from '../test/node/builder/support.ts'
import { type BenchNode, cpuMicros, fail, makeDataDir, peakMiB, startBenchNode } from './machine.ts'
import { makeYear, rowsPerBlock } from './make-year.ts'
import { compareMs, type Measure, median, timeMs } from './measure.ts'

const blocks = Number(
  process.argv.find((arg) => arg.startsWith('--year-blocks='))?.slice('--year-blocks='.length) ?? 500_000,
)
const [year, young] = ['acme/year', 'acme/young']
const runs = 7
const pinnedRuns = 1
/** No merged file has been made for so long: they are all there. */
const quietMs = 5_000

export async function measureYear(): Promise<Measure[]> {
  const data = makeDataDir()
  const madeMs = await timeMs(() => makeYear(data, year, blocks))
  const packedMs = await timeMs(() => packDatasets(loadConfig({ data }), { sweep: true }))
  const ready: number[] = []
  for (let i = 0; i < 3; i++) {
    const again = await startBenchNode({}, { data })
    ready.push(again.readyMs)
    await again.kill()
  }
  // What is pinned reads every slice.
  const node = await startBenchNode({ 'limit-query-ms': 600_000 }, { data })
  const measures = [...(await measureReads(node)), ...(await measureCommits(node))]
  const peak = peakMiB(node.pid)
  const catalog = await metric(node, 'catalog_bytes')
  const files = filesIn(data)
  await node.remove()
  return [
    { name: `making ${named.slice(3)}`, value: madeMs / 1000, unit: 's' },
    { name: `packing and sweeping the last day ${named}`, value: packedMs / 1000, unit: 's' },
    { name: `files ${named}`, value: files, unit: 'files', bar: { most: 1_500 } },
    { name: `killed to ready ${named}`, value: median(ready), unit: 'ms', bar: { most: 3_000 } },
    ...measures,
    { name: `memory of the catalog ${named}`, value: catalog / 2 ** 20, unit: 'MiB', bar: { most: 64 } },
    { name: `peak memory ${named}`, value: peak, unit: 'MiB' },
  ]
}

const named = `of ${blocks.toLocaleString('en')} blocks`

function filesIn(data: string): number {
  return readdirSync(dataPaths(data).store, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    .length
}

async function metric(node: BenchNode, name: string): Promise<number> {
  const text = await (await node.call('/metrics')).text()
  return Number(new RegExp(`^proofstream_${name} (\\S+)$`, 'm').exec(text)?.[1])
}

/** Resolves when the node makes no more merged files. */
async function allMerged(node: BenchNode): Promise<void> {
  for (let made = -1; ; await sleep(quietMs)) {
    const now = await metric(node, 'merged_files_made_total')
    if (now === made) return
    made = now
  }
}

async function p50(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < runs; i++) times.push(await timeMs(work))
  return median(times)
}

/** Sums of integers are the same in whatever order they are added; averages of floats are not, and are pinned to one. */
const aggregates = (from: string): { readonly exact: string; readonly pinned: string } => ({
  exact: `SELECT city, count(*) AS rows, sum(n) AS total, max(event_time) AS newest FROM ${from} GROUP BY city ORDER BY city`,
  pinned: `SELECT city, avg(n / 3.0) AS mean FROM ${from} GROUP BY city ORDER BY city`,
})

/** By the event time, of which footers tell. */
function lastHour(from: string): string {
  const since = new Date(baseMs + (blocks * rowsPerBlock - 3600) * 1000).toISOString()
  return `SELECT city, count(*) AS rows, max(n) AS newest FROM ${from} WHERE event_time >= '${since}' GROUP BY city ORDER BY city`
}

async function measureReads(node: BenchNode): Promise<Measure[]> {
  const [ours, theirs] = [aggregates(`"${year}"`), aggregates(`read_parquet('${join(node.data, 'one.parquet')}')`)]
  const firstTail = await timeMs(async () => await (await node.call(`/${year}/tail`)).text())
  const tail = await p50(async () => await (await node.call(`/${year}/tail?limit=10`)).text())
  const count = `SELECT count(*) FROM "${year}"`
  const firstCount = await timeMs(() => node.query(count))
  const counted = await p50(() => node.query(count))
  const hour = lastHour(`"${year}"`)
  const firstHour = await timeMs(() => node.query(hour))
  const lastHours = await p50(() => node.query(hour))
  const firstMs = await timeMs(() => node.query(ours.exact).catch((error: unknown) => console.error(String(error))))
  const mergedMs = await timeMs(() => allMerged(node))
  // The same rows, as DuckDB writes them.
  const exported = join(node.data, 'export.parquet')
  const answer = await node.call(`/${year}/export?format=Parquet`)
  if (answer.status !== 200) fail('export', await answer.text())
  writeFileSync(exported, new Uint8Array(await answer.arrayBuffer()))
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', temp_directory: '' })
  const own = await instance.connect()
  await own.run(
    `COPY (FROM read_parquet('${exported}')) TO '${join(node.data, 'one.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
  )
  await own.run('SET parquet_metadata_cache = true')
  const beside = (sql: 'exact' | 'pinned'): Promise<{ first: number; second: number }> =>
    compareMs(
      sql === 'exact' ? runs : pinnedRuns,
      async () => await (await own.run(theirs[sql])).getRowsJson(),
      () => node.query(ours[sql]),
    )
  const exact = await beside('exact')
  const pinned = await beside('pinned')
  own.closeSync()
  return [
    { name: `first touch ${named}`, value: firstTail, unit: 'ms' },
    { name: `tail ${named}`, value: tail, unit: 'ms', bar: { most: 20 } },
    { name: `first count(*) ${named}`, value: firstCount, unit: 'ms' },
    { name: `count(*) ${named}`, value: counted, unit: 'ms', bar: { most: 300 } },
    { name: `first last hour ${named}`, value: firstHour, unit: 'ms' },
    { name: `last hour ${named}`, value: lastHours, unit: 'ms', bar: { most: 80 } },
    { name: `first aggregation ${named}`, value: firstMs, unit: 'ms' },
    { name: `merged files ${named}, until they are there`, value: mergedMs / 1000, unit: 's' },
    { name: `aggregation ${named}`, value: exact.second, unit: 'ms' },
    { name: `aggregation ${named} / one file`, value: exact.second / exact.first, unit: '×', bar: { most: 1.5 } },
    { name: `pinned aggregation ${named}`, value: pinned.second, unit: 'ms' },
    { name: `pinned aggregation ${named} / one file`, value: pinned.second / pinned.first, unit: '×' },
  ]
}

const commits = 10
const rowBody = '{"city":"city 1","n":1,"event_time":"2026-03-01T00:00:00Z"}\n'

/** One-row blocks of the long chain and of one that is ten blocks long, in turns. */
async function measureCommits(node: BenchNode): Promise<Measure[]> {
  const commit = async (alias: string): Promise<void> => void (await node.post(alias, rowBody, { prefer: 'wait=30' }))
  const microsOf = async (alias: string): Promise<number> => {
    const before = cpuMicros(node.pid)
    for (let i = 0; i < commits; i++) await commit(alias)
    return (cpuMicros(node.pid) - before) / commits
  }
  await node.post(young, rowBody, { query: '?create=true', prefer: 'wait=30' })
  for (const alias of [year, young]) await microsOf(alias)
  const costs: { old: number; young: number }[] = []
  for (let i = 0; i < 3; i++) costs.push({ old: await microsOf(year), young: await microsOf(young) })
  const ratio = median(costs.map((one) => one.old / one.young))
  const synced = { old: await syncsOf(node, () => commit(year)), young: await syncsOf(node, () => commit(young)) }
  return [
    { name: 'CPU of a commit at block 10', value: median(costs.map((one) => one.young)) / 1000, unit: 'ms' },
    { name: `commit ${named} / at block 10, by CPU`, value: ratio, unit: '×', bar: { most: 1.5 } },
    { name: 'fsyncs of a commit at block 10', value: synced.young, unit: 'calls' },
    { name: `fsyncs of a commit ${named}`, value: synced.old, unit: 'calls' },
  ]
}

/** Calls of fsync and fdatasync that `work` takes, each time; NaN where there is no strace, or it may not look. */
async function syncsOf(node: BenchNode, work: () => Promise<void>): Promise<number> {
  const out = join(node.data, 'syncs.txt')
  const args = ['-f', '-qq', '-e', 'trace=fsync,fdatasync', '-e', 'signal=none', '-o', out, '-p', String(node.pid)]
  const child = spawn('strace', args, { stdio: 'ignore' })
  child.on('error', () => {})
  const ended = once(child, 'close')
  await sleep(500)
  if (child.exitCode !== null || child.pid === undefined) return Number.NaN
  for (let i = 0; i < commits; i++) await work()
  child.kill('SIGINT')
  await ended
  const calls = readFileSync(out, 'utf8').match(/f(?:data)?sync\(/g)?.length ?? 0
  rmSync(out)
  return calls / commits
}
