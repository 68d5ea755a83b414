// One body of 2,000,000 records (NDJSON, 250 MB; CSV, 120 MB) into a dataset that exists, until it is in a block, beside
// DuckDB's own COPY of the same file into Parquet, with one thread, in a process of its own; in turns, so that other work on
// the machine falls on both alike. The same with one core for either, and one-row posts of somebody else beside the load.
// `--bulk-rows=N` takes another number of records.

import { execFileSync } from 'node:child_process'
import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import {
  type BenchNode,
  canPin,
  cpuMicros,
  fail,
  makeDataDir,
  peakMiB,
  rawPost,
  runLoad,
  startBenchNode,
  watch,
} from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'

const rounds = 3
export const bulkRows = Number(
  process.argv.find((arg) => arg.startsWith('--bulk-rows='))?.slice('--bulk-rows='.length) ?? 2_000_000,
)
const linesAtOnce = 10_000

export function bulkLine(row: number): string {
  const time = new Date(1_772_000_000_000 + row * 250).toISOString()
  return `{"id":${row},"time":"${time}","device":"d-${(row * 7919) % 1000}","temp":${((row * 31) % 40_000) / 1000},"humidity":${(row * 17) % 101},"status":"ok","note":"n${row}"}\n`
}

function csvLine(row: number): string {
  const time = new Date(1_772_000_000_000 + row * 250).toISOString()
  return `${row},${time},d-${(row * 7919) % 1000},${((row * 31) % 40_000) / 1000},${(row * 17) % 101},ok,n${row}\n`
}

export interface Kind {
  readonly title: string
  readonly mediaType: string
  readonly head: string
  readonly line: (row: number) => string
  /** How DuckDB reads a file of the kind. */
  readonly duckReader: (path: string, columns: string) => string
  readonly bar: number
}

export const ndjson: Kind = {
  title: 'NDJSON',
  mediaType: 'application/x-ndjson',
  head: '',
  line: bulkLine,
  duckReader: (path, columns) => `read_json('${path}', format = 'newline_delimited', columns = ${columns})`,
  bar: 2,
}
export const csv: Kind = {
  title: 'CSV',
  mediaType: 'text/csv',
  head: 'id,time,device,temp,humidity,status,note\n',
  line: csvLine,
  duckReader: (path, columns) => `read_csv('${path}', header = true, columns = ${columns})`,
  bar: 2.2,
}

/** Writes as many lines after `head`. */
export async function writeBody(path: string, line = bulkLine, head = ''): Promise<void> {
  const file = createWriteStream(path)
  file.write(head)
  for (let first = 0; first < bulkRows; first += linesAtOnce) {
    const count = Math.min(linesAtOnce, bulkRows - first)
    const text = Array.from({ length: count }, (_, i) => line(first + i)).join('')
    if (!file.write(text)) await new Promise<void>((resolve) => file.once('drain', () => resolve()))
  }
  await finished(file.end())
}

const duckColumns =
  "{id: 'BIGINT', time: 'TIMESTAMPTZ', device: 'VARCHAR', temp: 'DOUBLE', humidity: 'BIGINT', status: 'VARCHAR', note: 'VARCHAR'}"

const duckProgram = (from: string, to: string): string => `
  import { DuckDBInstance } from '@duckdb/node-api'
  const own = await (await DuckDBInstance.create(':memory:', { threads: '1', temp_directory: '' })).connect()
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()]
  await own.run(${JSON.stringify(`COPY (FROM ${from}) TO '${to}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 131072)`)})
  const cpu = process.cpuUsage(startCpu)
  console.log(JSON.stringify({ seconds: (performance.now() - startMs) / 1000, cpu: (cpu.user + cpu.system) / 1e6 }))`

/** Time and CPU of DuckDB's COPY, in seconds, its start left out. */
export function duckCopy(
  kind: Kind,
  path: string,
  pinned: boolean,
): { readonly seconds: number; readonly cpu: number } {
  const program = duckProgram(kind.duckReader(path, duckColumns), `${path}.parquet`)
  const own = [process.execPath, '--input-type=module', '-e', program]
  const [command = '', ...args] = pinned ? ['taskset', '-c', '0', ...own] : own
  const text = execFileSync(command, args, { cwd: new URL('..', import.meta.url), encoding: 'utf8' })
  return JSON.parse(text) as { seconds: number; cpu: number } // what the program prints
}

/** Posts a file; resolves when its rows are in a block. */
export function upload(node: BenchNode, path: string, mediaType = ndjson.mediaType, query = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${node.token}`,
      'content-type': mediaType,
      // As curl sends a file.
      'content-length': statSync(path).size,
      prefer: 'wait=60',
    }
    const call = request(`${node.url}/acme/bulk/ingest${query}`, { method: 'POST', headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (more: string) => {
        text += more
      })
      answer.on('end', () => (text.includes('"committed"') ? resolve() : reject(new Error(text.slice(0, 500)))))
    })
    call.on('error', reject)
    createReadStream(path, { highWaterMark: 256 * 1024 }).pipe(call)
  })
}

interface Run {
  readonly seconds: number
  readonly cpu: number
  readonly duck: number
  readonly heldMs: number
  readonly peak: number
}

/** One load into a node that has just started, as a user's who loads what he has; `beside` is done meanwhile. */
async function load(
  kind: Kind,
  body: string,
  { pinned = false, beside }: { readonly pinned?: boolean; readonly beside?: (node: BenchNode) => Promise<unknown> },
): Promise<Run> {
  const duck = duckCopy(kind, body, pinned).seconds
  const node = await startBenchNode({}, { pinned })
  const headers = { 'content-type': kind.mediaType, prefer: 'wait=30' }
  const first = { method: 'POST', headers, body: kind.head + kind.line(1) }
  const made = await node.call('/acme/bulk/ingest?create=true', first)
  if (made.status !== 200) fail('the first post', await made.text())
  const before = cpuMicros(node.pid)
  let seconds = 0
  const { heldMs } = await watch(node, async () => {
    const loading = timeMs(() => upload(node, body, kind.mediaType))
    await beside?.(node)
    seconds = (await loading) / 1000
  })
  const cpu = (cpuMicros(node.pid) - before) / 1e6
  const counted = await node.query('select count(*) as n from "acme/bulk"')
  if (!JSON.stringify(counted).includes(String(bulkRows + 1))) fail('count', JSON.stringify(counted))
  const run = { seconds, cpu, duck, heldMs, peak: peakMiB(node.pid) }
  await node.remove()
  return run
}

async function measureKind(kind: Kind, body: string): Promise<Measure[]> {
  const runs: Run[] = []
  for (let round = 0; round < rounds; round++) runs.push(await load(kind, body, {}))
  const of = (key: keyof Run): number => median(runs.map((run) => run[key]))
  const ratio = median(runs.map(({ seconds, duck }) => seconds / duck))
  const name = `${bulkRows.toLocaleString('en')} ${kind.title} rows at once`
  return [
    { name: `${name}, in a block`, value: of('seconds'), unit: 's' },
    { name: `${name}, CPU`, value: of('cpu'), unit: 's' },
    { name: `${name}, DuckDB's COPY`, value: of('duck'), unit: 's' },
    { name: `${name} / DuckDB's COPY`, value: ratio, unit: '×', bar: { most: kind.bar } },
    { name: `${name}, event loop`, value: of('heldMs'), unit: 'ms', bar: { most: 50 } },
    { name: `${name}, peak memory`, value: of('peak'), unit: 'MiB', bar: { most: 700 } },
  ]
}

/** With one core for the node, and for DuckDB. */
async function measureOneCore(body: string): Promise<Measure[]> {
  if (!canPin) return []
  const { seconds, duck } = await load(ndjson, body, { pinned: true })
  return [{ name: 'NDJSON rows at once / DuckDB, one core', value: seconds / duck, unit: '×', bar: { most: 2.8 } }]
}

/** One-row posts of a client with one connection, while the load goes on. */
async function measureBeside(body: string): Promise<Measure[]> {
  let p99Ms = Number.NaN
  const beside = async (node: BenchNode): Promise<void> => {
    await node.post('acme/beside', bulkLine(1), { query: '?create=true', prefer: 'wait=30' })
    const parts = { token: node.token, prefer: 'respond-async', body: bulkLine(1) }
    const order = { ...rawPost(node.url, '/acme/beside/ingest', parts), connections: 1, warmMs: 200 }
    p99Ms = (await runLoad(node.pid, order)).p99Ms
  }
  await load(ndjson, body, { beside })
  return [{ name: 'p99 of one-row posts beside NDJSON rows at once', value: p99Ms, unit: 'ms', bar: { most: 60 } }]
}

export async function measureBulk(): Promise<Measure[]> {
  const directory = makeDataDir()
  const [lines, table] = [join(directory, 'body.ndjson'), join(directory, 'body.csv')]
  await writeBody(lines)
  await writeBody(table, csv.line, csv.head)
  const measures = [
    ...(await measureKind(ndjson, lines)),
    ...(await measureKind(csv, table)),
    ...(await measureOneCore(lines)),
    ...(await measureBeside(lines)),
  ]
  rmSync(directory, { recursive: true })
  return measures
}
