// One statement on all cores: aggregations of four million rows, one caller, beside DuckDB itself with as many threads; and
// on one thread beside DuckDB with one. All over the same slices, in turns; answers are computed each time.

import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { dataPaths } from '../src/node/store/layout.ts'
import { schemaOf } from '../test/node/builder/support.ts'
import { buildBacklog } from './backlog.ts'
import { makeDataDir, startBenchNode } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'
import { openOwnEngine } from './own-engine.ts'

type Work = () => Promise<unknown>

const [blocks, rowsPerBlock] = [64, 62_500]
const rounds = 21
const alias = 'acme/large'
/** Groups by a time of few values and by one of many, and none. */
const statements: Readonly<Record<string, string>> = {
  'few groups':
    `SELECT n % 1000 AS k, count(*), sum(n), min("offset"), max(event_time) FROM "${alias}" ` +
    'GROUP BY k ORDER BY k LIMIT 1000',
  'many groups': `SELECT n // 20 AS k, count(*), sum(n), max(city) FROM "${alias}" GROUP BY k ORDER BY ALL LIMIT 100`,
  'a condition': `SELECT count(*), sum(n), avg(n), max(event_time) FROM "${alias}" WHERE n % 3 = 0`,
}

export async function measureCores(): Promise<Measure[]> {
  const data = makeDataDir()
  await buildBacklog(data, [{ alias, blocks, batches: () => [{ rows: rowsPerBlock }] }])
  const node = await startBenchNode({}, { data })
  const paths = slicesOf(data)
  const all = await openOwn(paths, availableParallelism())
  const one = await openOwn(paths, 1)
  const engine = openOneThread(data, paths)
  const measures: Measure[] = []
  for (const [name, sql] of Object.entries(statements)) {
    const asked = async (by: DuckDBConnection): Promise<unknown> => await (await by.run(sql)).getRowsJson()
    const [theirs, ours, theirOne, ourOne] = await inTurns([
      () => asked(all),
      () => node.query(sql, { limit: 1000, include: ['Proof'] }),
      () => asked(one),
      () => engine.ask(sql),
    ])
    const times = (value: number, bar?: number): Omit<Measure, 'name'> => ({
      value,
      unit: '×',
      ...(bar !== undefined && { bar: { most: bar } }),
    })
    measures.push(
      { name: `4 M rows, ${name}: DuckDB, all threads`, value: theirs, unit: 'ms' },
      { name: `4 M rows, ${name}: DuckDB, one thread / all`, ...times(theirOne / theirs) },
      { name: `4 M rows, ${name}: proof over HTTP / DuckDB`, ...times(ours / theirs, 1.2) },
      { name: `4 M rows, ${name}: one thread of each`, ...times(ourOne / theirOne, 1.1) },
    )
  }
  await engine.close()
  for (const connection of [all, one]) connection.closeSync()
  await node.remove()
  return measures
}

/** Medians in milliseconds of works that are done in turns, so that the machine's load falls on all alike. */
async function inTurns(works: readonly [Work, Work, Work, Work]): Promise<readonly [number, number, number, number]> {
  const times = works.map((): number[] => [])
  for (let round = -2; round < rounds; round++) {
    for (const [at, work] of works.entries()) {
      const ms = await timeMs(work)
      if (round >= 0) times[at]?.push(ms)
    }
  }
  const [a = [], b = [], c = [], d = []] = times
  return [median(a), median(b), median(c), median(d)]
}

/** The slices of the one dataset in the order of their offsets. */
function slicesOf(data: string): string[] {
  const folder = join(dataPaths(data).store, 'datasets')
  return readdirSync(folder).flatMap((chain) =>
    readdirSync(join(folder, chain, 'data')).map((name) => join(folder, chain, 'data', name)),
  )
}

async function openOwn(paths: readonly string[], threads: number): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', { threads: String(threads), temp_directory: '' })
  const own = await instance.connect()
  const settings = [
    "TimeZone = 'UTC'",
    'parquet_metadata_cache = true',
    "validate_external_file_cache = 'NO_VALIDATION'",
  ]
  for (const setting of settings) await own.run(`SET ${setting}`)
  const list = paths.map((path) => `'${path}'`).join(', ')
  await own.run(`CREATE VIEW "${alias}" AS SELECT * FROM read_parquet([${list}])`)
  return own
}

/** The node's engine where a statement has one thread. */
function openOneThread(
  data: string,
  paths: readonly string[],
): { readonly ask: (sql: string) => Promise<unknown>; readonly close: () => Promise<void> } {
  const engine = openOwnEngine(data)
  const by = { caller: { key: ['bench'], mayRead: () => true }, signal: new AbortController().signal }
  const files = { list: data, to: paths.length, path: (number: number) => paths[number] ?? '' }
  const form = { dataFormat: 'JsonAoa', wantSchema: false, keyOrder: 'canonical', ascii: true } as const
  const ask = async (sql: string): Promise<unknown> => {
    const analysis = await engine.analyze(sql, by)
    const tables = [{ parts: [alias], dataset: data, files, schema: schemaOf(), rows: blocks * rowsPerBlock }]
    return await engine.run({ analysis, tables, ...form, reproducible: true, skip: 0, limit: 1000 }, by)
  }
  return { ask, close: async () => await engine.close() }
}
