// A node over HTTP: starting, first rows, many small posts, a large post, queries over a million rows.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { dataPaths } from '../src/node/store/layout.ts'
import { type BenchNode, makeDataDir, rawPost, runLoad, startBareServer, startBenchNode, watch } from './machine.ts'
import { compareMs, type Measure, median, timeMs } from './measure.ts'
import { ndjsonRows } from './rows.ts'

const rowBody = '{"device":"d-17","temp":21.5,"k":12345,"at":"2026-03-01T10:00:00Z"}\n'

/** From spawning the process to its ready line, on a directory that holds a dataset. */
export async function measureStart(): Promise<Measure[]> {
  const data = makeDataDir()
  const first = await startBenchNode({}, { data })
  await first.post('acme/t', rowBody, { query: '?create=true' })
  await first.stop()
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const node = await startBenchNode({}, { data })
    times.push(node.readyMs)
    await (i < 4 ? node.stop() : node.remove())
  }
  return [{ name: 'start to ready, warm', value: median(times), unit: 'ms', bar: { most: 1500 } }]
}

/** One row at a time, as a first user or a slow device sends them. */
export async function measureSingleRows(): Promise<Measure[]> {
  const node = await startBenchNode()
  const created = await timeMs(() => node.post('acme/first', rowBody, { query: '?create=true' }))
  const again: number[] = []
  for (let i = 0; i < 7; i++) {
    again.push(await timeMs(() => node.post('acme/first', rowBody)))
  }
  const twoHundred = await timeMs(async () => {
    for (let i = 0; i < 200; i++) await node.post('acme/sequential', rowBody, { query: i === 0 ? '?create=true' : '' })
  })
  await node.remove()
  return [
    { name: 'first row of a new dataset in a block', value: created, unit: 'ms', bar: { most: 400 } },
    { name: 'one row in a block, quiet dataset', value: median(again), unit: 'ms', bar: { most: 400 } },
    { name: '200 one-row posts, one after another', value: twoHundred / 1000, unit: 's', bar: { most: 30 } },
  ]
}

/**
 * Single-row durable posts on 64 connections beside a bare fastify server that reads the same body, and beside one that
 * does no more, but answers as late and as much as a durable post has to.
 */
export async function measureDurablePosts(rounds = 3): Promise<Measure[]> {
  const node = await startBenchNode({}, { pinned: true })
  const bare = await startBareServer('prompt')
  const late = await startBareServer('late')
  await node.post('acme/t', rowBody, { query: '?create=true' })
  const parts = { token: node.token, prefer: 'respond-async', body: rowBody }
  const rates: { bare: number[]; late: number[]; node: number[] } = { bare: [], late: [], node: [] }
  const costs: { bare: number[]; node: number[] } = { bare: [], node: [] }
  const latencies: number[] = []
  // Code is compiled while it warms up, and ours is more than theirs.
  for (let i = 0; i < 2; i++) await runLoad(node.pid, rawPost(node.url, '/acme/t/ingest', parts))
  for (let i = 0; i < rounds; i++) {
    const theirs = await runLoad(bare.pid, rawPost(bare.url, '/acme/t/ingest', parts))
    rates.late.push((await runLoad(late.pid, rawPost(late.url, '/acme/t/ingest', parts))).perSecond)
    const ours = await runLoad(node.pid, rawPost(node.url, '/acme/t/ingest', parts))
    const unexpected = Object.keys(ours.statuses).filter((status) => status !== '202')
    if (unexpected.length > 0) throw new Error(`answers other than 202: ${JSON.stringify(ours.statuses)}`)
    rates.bare.push(theirs.perSecond)
    rates.node.push(ours.perSecond)
    costs.bare.push(theirs.microsPerAnswer)
    costs.node.push(ours.microsPerAnswer)
    latencies.push(ours.p99Ms)
  }
  bare.stop()
  late.stop()
  await node.remove()
  const costRatio = median(costs.node.map((cost, i) => (costs.bare[i] ?? Number.NaN) / cost))
  const ratio = median(rates.node.map((rate, i) => rate / (rates.bare[i] ?? Number.NaN)))
  return [
    { name: 'bare fastify, 64 connections', value: median(rates.bare), unit: 'posts/s' },
    { name: 'bare fastify that answers 1 ms later, 1.2 kB', value: median(rates.late), unit: 'posts/s' },
    { name: 'durable one-row posts, 64 connections', value: median(rates.node), unit: 'posts/s' },
    { name: 'p99 of durable one-row posts', value: median(latencies), unit: 'ms' },
    { name: 'CPU of a post, bare fastify', value: median(costs.bare), unit: 'µs' },
    { name: 'CPU of a durable post, its block included', value: median(costs.node), unit: 'µs' },
    { name: 'durable posts / bare fastify, by CPU', value: costRatio, unit: '×', bar: { least: 0.6 } },
    { name: 'durable posts / bare fastify, by rate', value: ratio, unit: '×', bar: { least: 0.6 } },
  ]
}

/** A large post, then queries over ten of them. */
export async function measureMillionRows(): Promise<Measure[]> {
  const node = await startBenchNode({}, { tuning: { limits: { concurrentQueries: 1 } } })
  await node.post('acme/big', ndjsonRows(0, 100_000), { query: '?create=true', prefer: 'wait=30' })
  const times: number[] = []
  let bytes = 0
  const seen = await watch(node, async () => {
    for (let part = 1; part < 10; part++) {
      const body = ndjsonRows(part * 100_000, 100_000)
      bytes = body.length
      times.push(await timeMs(() => node.post('acme/big', body, { prefer: 'wait=30' })))
    }
  })
  const ms = median(times)
  const queries = await measureQueries(node)
  await node.remove()
  return [
    { name: '100,000 NDJSON rows in a block', value: ms / 1000, unit: 's', bar: { most: 3 } },
    { name: 'rows in blocks, large posts', value: 100_000 / (ms / 1000), unit: 'rows/s' },
    { name: 'bytes in blocks, large posts', value: bytes / 1e6 / (ms / 1000), unit: 'MB/s' },
    { name: 'growth of memory over nine large posts', value: seen.grownMiB, unit: 'MiB', bar: { most: 300 } },
    { name: 'event loop held by large posts', value: seen.heldMs, unit: 'ms', bar: { most: 100 } },
    ...queries,
  ]
}

const aggregate = 'SELECT device, count(*), sum(temp), max(k) FROM "acme/big" GROUP BY device ORDER BY device'
const hundred = 'SELECT * FROM "acme/big" WHERE offset < 100'

async function measureQueries(node: BenchNode): Promise<Measure[]> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', temp_directory: '' })
  const own = await instance.connect()
  const datasets = join(dataPaths(node.data).store, 'datasets')
  const files = readdirSync(datasets).flatMap((folder) =>
    readdirSync(join(datasets, folder, 'data')).map((name) => `'${join(datasets, folder, 'data', name)}'`),
  )
  await own.run("SET TimeZone = 'UTC'")
  await own.run('SET parquet_metadata_cache = true')
  await own.run(`CREATE VIEW "acme/big" AS SELECT * FROM read_parquet([${files.join(', ')}])`)
  const sums = await compareMs(
    15,
    async () => await (await own.run(aggregate)).getRowsJson(),
    () => node.query(aggregate, { limit: 1000 }),
  )
  own.closeSync()
  const proofs = await compareMs(
    41,
    () => node.query(hundred),
    () => node.query(hundred, { include: ['Proof'] }),
  )
  return [
    { name: 'aggregation over 1 M rows, DuckDB alone', value: sums.first, unit: 'ms' },
    { name: 'aggregation over HTTP / DuckDB alone', value: sums.second / sums.first, unit: '×', bar: { most: 1.5 } },
    { name: '100-row answer', value: proofs.first, unit: 'ms' },
    { name: 'with proof / without', value: proofs.second / proofs.first, unit: '×', bar: { most: 1.3 } },
  ]
}
