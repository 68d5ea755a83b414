// The query engine beside DuckDB itself with one thread over the same slices, and a proof's form beside the plain one.
// Ratios inside one run. Usage: node bench/engine.ts [rows] [slices]

import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { EngineFiles, EngineJob } from '../src/node/engine/messages.ts'
import { defaultVocabulary, systemFields } from '../src/libraries/model/schema.ts'
import { openOwnEngine } from './own-engine.ts'

const rows = Number(process.argv[2] ?? 1_000_000)
const slices = Number(process.argv[3] ?? 10)
const rounds = 21

const root = mkdtempSync(join(tmpdir(), 'proofstream-bench-'))
const instance = await DuckDBInstance.create(':memory:', { threads: '1', temp_directory: '' })
const own = await instance.connect()
for (const setting of [
  "TimeZone = 'UTC'",
  'parquet_metadata_cache = true',
  "validate_external_file_cache = 'NO_VALIDATION'",
]) {
  await own.run(`SET ${setting}`)
}
const files: string[] = []
for (let i = 0; i < slices; i++) {
  const [from, to] = [Math.floor((rows * i) / slices), Math.floor((rows * (i + 1)) / slices)]
  const path = join(root, `slice-${i}`)
  await own.run(`COPY (SELECT i AS "offset", 0::INT AS op, TIMESTAMPTZ '2026-01-01' + to_milliseconds(i) AS system_time,
    TIMESTAMPTZ '2026-01-01' + to_milliseconds(i) AS event_time, 'dev' || (i * 7919) % 1000 AS device, (i * 31) % 100000 AS k,
    i / 3.0::DOUBLE AS temp FROM range(${from}, ${to}) r(i)) TO '${path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 131072)`)
  files.push(path)
}
const listed: EngineFiles = { list: root, to: files.length, path: (number) => files[number] ?? '' }
const list = files.map((file) => `'${file}'`).join(', ')
await own.run(`CREATE VIEW "acme/trips" AS SELECT * FROM read_parquet([${list}])`)

const engine = openOwnEngine(root)
const schema = {
  fields: [
    ...systemFields(defaultVocabulary),
    { name: 'device', type: { kind: 'String' as const } },
    { name: 'k', type: { kind: 'Int64' as const } },
    { name: 'temp', type: { kind: 'Float64' as const } },
  ],
}

async function ask(sql: string, options: Partial<EngineJob> = {}): Promise<number> {
  const by = { caller: { key: ['bench'], mayRead: () => true }, signal: new AbortController().signal }
  const analysis = await engine.analyze(sql, by)
  const job = {
    analysis,
    tables: analysis.tables.map(({ parts }) => ({ parts, dataset: root, files: listed, schema })),
    reproducible: false,
    dataFormat: 'JsonAoa' as const,
    wantSchema: true,
    keyOrder: 'canonical' as const,
    ascii: false,
    skip: 0,
    limit: 100,
    ...options,
  }
  const answer = await engine.run(job, by)
  return answer.data.length
}

/** Times of both, taken in turns so that the machine's load falls on each alike. Medians in milliseconds. */
async function compare(first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []]
  for (let i = 0; i < rounds + 2; i++) {
    for (const [at, run] of [first, second].entries()) {
      const start = performance.now()
      await run()
      if (i >= 2) times[at]?.push(performance.now() - start)
    }
  }
  const median = (values: number[]): number => values.sort((a, b) => a - b)[rounds >> 1] ?? 0
  return [median(times[0]), median(times[1])]
}

function report(what: string, [base, measured]: [number, number]): void {
  console.log(
    `${what.padEnd(58)} ${base.toFixed(2).padStart(9)} ${measured.toFixed(2).padStart(9)} ${(measured / base).toFixed(2).padStart(7)}`,
  )
}

console.log(`${cpus()[0]?.model} × ${cpus().length}, ${rows} rows in ${slices} slices, medians of ${rounds} in ms`)
console.log(
  `${'duckdb alone, one thread → engine'.padEnd(58)} ${'duckdb'.padStart(9)} ${'engine'.padStart(9)} ${'ratio'.padStart(7)}`,
)
const aggregates = [
  'SELECT count(*) FROM "acme/trips"',
  'SELECT device, count(*), sum(temp), max(k) FROM "acme/trips" GROUP BY device ORDER BY device',
  'SELECT sum(k), avg(temp), min(event_time), max(event_time) FROM "acme/trips" WHERE k % 3 = 0',
]
for (const sql of aggregates) {
  report(
    sql,
    await compare(
      async () => await (await own.run(sql)).getRows(),
      async () => await ask(sql),
    ),
  )
}

console.log(
  `${'without proof → with proof (engine only)'.padEnd(58)} ${'without'.padStart(9)} ${'with'.padStart(9)} ${'ratio'.padStart(7)}`,
)
let serial = 0
const hundred = [
  (): string => 'SELECT * FROM "acme/trips" LIMIT 100',
  (): string => 'SELECT * FROM "acme/trips" WHERE offset < 100',
  (): string => `SELECT device, sum(k) AS s FROM "acme/trips" GROUP BY device ORDER BY s DESC LIMIT 100`,
  // A text never seen before: nothing of it is remembered.
  (): string => `SELECT *, ${serial++} AS n FROM "acme/trips" WHERE offset < 100`,
]
for (const sql of hundred) {
  report(
    sql(),
    await compare(
      async () => await ask(sql()),
      async () => await ask(sql(), { reproducible: true, ascii: true }),
    ),
  )
}

console.log('rendering')
const whole = { limit: 100_000 } as const
for (const dataFormat of ['JsonAoa', 'JsonAos', 'JsonSoa'] as const) {
  let bytes = 0
  const times = await compare(
    async () => await (await own.run('SELECT * FROM "acme/trips" LIMIT 100001')).getRows(),
    async () => (bytes = await ask('SELECT * FROM "acme/trips"', { ...whole, dataFormat })),
  )
  report(`100,000 rows of 7 columns as ${dataFormat} beside getRows()`, times)
  console.log(`  ${(100_000 / times[1]).toFixed(0)} k rows/s, ${(bytes / 1000 / times[1]).toFixed(0)} MB/s`)
}

await engine.close()
own.closeSync()
rmSync(root, { recursive: true })
