// Answers that are files beside DuckDB's own COPY with one thread over the same rows: 1,000,000 rows of eight columns, from
// the engine's process into this one. The first byte, and the event loop of this process meanwhile.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DuckDBInstance } from '@duckdb/node-api'
import type { DataType, Field } from '../src/libraries/model/schema.ts'
import { compareMs, type Measure, median } from './measure.ts'
import { openOwnEngine } from './own-engine.ts'

const rows = 1_000_000
const rounds = 5

const select = `SELECT i AS id, (i % 1000)::INTEGER AS small, (i * 7919 % 1000003) / 97.0 AS x,
  (i * 31 % 100000) / 8.0 AS y, i % 3 = 0 AS flag, make_timestamptz(1700000000000000 + i * 1234567) AS t,
  'city number ' || (i % 5000) AS city, 'user-' || (i * 2654435761 % 4294967296) || '@example.com' AS mail
  FROM range(${rows}) r(i)`

const kinds: Readonly<Record<string, DataType>> = {
  id: { kind: 'Int64' },
  small: { kind: 'Int32' },
  x: { kind: 'Float64' },
  y: { kind: 'Float64' },
  flag: { kind: 'Bool' },
  t: { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' },
  city: { kind: 'String' },
  mail: { kind: 'String' },
}
const fields: Field[] = Object.entries(kinds).map(([name, type]) => ({ name, type }))

export async function measureOutputs(): Promise<Measure[]> {
  const root = mkdtempSync(join(tmpdir(), 'proofstream-bench-'))
  const own = await (await DuckDBInstance.create(':memory:', { threads: '1', temp_directory: '' })).connect()
  await own.run("SET TimeZone = 'UTC'")
  const slice = join(root, 'slice.parquet')
  await own.run(`COPY (${select}) TO '${slice}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 131072)`)
  const engine = openOwnEngine(root)
  const by = { caller: { key: ['bench'], mayRead: () => true }, signal: new AbortController().signal }
  const analysis = await engine.analyze('select * from "t"', by)
  const files = { list: root, from: 0, to: 1, path: () => slice }
  const tables = [{ parts: ['t'], dataset: root, files, schema: { fields } }]
  const firstMs: number[] = []
  const stream = (format: string) => async (): Promise<void> => {
    const startMs = performance.now()
    const options = { escapeFormulas: false, geometry: undefined }
    const job = { analysis, tables, format, options, skip: 0, limit: undefined, inOffsetOrder: true }
    const { pieces } = await engine.stream(job, by)
    firstMs.push(performance.now() - startMs)
    for await (const _ of pieces);
  }
  const copy = (form: string) => async (): Promise<void> => {
    await own.run(`COPY (FROM '${slice}') TO '${join(root, 'copy')}' (FORMAT ${form})`)
  }
  const delays = monitorEventLoopDelay({ resolution: 1 })
  const measures: Measure[] = []
  for (const [format, form, least] of [
    ['Csv', 'csv', 0.4],
    ['NdJson', 'json', undefined],
    ['Arrow', 'parquet', 0.6],
    ['Parquet', 'parquet', 0.6],
  ] as const) {
    delays.enable()
    const { first, second } = await compareMs(rounds, stream(format), copy(form))
    delays.disable()
    measures.push({ name: `${format}, 1 M rows`, unit: 'rows/s', value: (1000 * rows) / first })
    const bar = least === undefined ? {} : { bar: { least } }
    measures.push({ name: `${format} beside DuckDB's COPY TO ${form}`, unit: '×', value: second / first, ...bar })
  }
  measures.push({ name: 'first byte of a file', unit: 'ms', value: median(firstMs), bar: { most: 300 } })
  measures.push({ name: 'event loop during files', unit: 'ms', value: delays.max / 1e6, bar: { most: 50 } })
  await engine.close()
  own.closeSync()
  rmSync(root, { recursive: true })
  return measures
}
