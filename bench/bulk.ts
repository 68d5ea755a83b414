// One body of 2,000,000 NDJSON records (250 MB) into a dataset that exists, until it is in a block, beside DuckDB's own COPY
// of the same file into Parquet, with one thread, in a process of its own; in turns, so that other work on the machine
// falls on both alike. `--bulk-rows=N` takes another number of records.

import { execFileSync } from 'node:child_process'
import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { type BenchNode, cpuMicros, fail, makeDataDir, peakMiB, startBenchNode, watch } from './machine.ts'
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

/** Writes as many lines. */
export async function writeBody(path: string, line = bulkLine): Promise<void> {
  const file = createWriteStream(path)
  for (let first = 0; first < bulkRows; first += linesAtOnce) {
    const count = Math.min(linesAtOnce, bulkRows - first)
    const text = Array.from({ length: count }, (_, i) => line(first + i)).join('')
    if (!file.write(text)) await new Promise<void>((resolve) => file.once('drain', () => resolve()))
  }
  await finished(file.end())
}

const duckProgram = (from: string, to: string): string => `
  import { DuckDBInstance } from '@duckdb/node-api'
  const own = await (await DuckDBInstance.create(':memory:', { threads: '1', temp_directory: '' })).connect()
  const columns = "{id: 'BIGINT', time: 'TIMESTAMPTZ', device: 'VARCHAR', temp: 'DOUBLE', humidity: 'BIGINT', status: 'VARCHAR', note: 'VARCHAR'}"
  const from = "read_json('${from}', format = 'newline_delimited', columns = " + columns + ")"
  const startMs = performance.now()
  await own.run("COPY (FROM " + from + ") TO '${to}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 131072)")
  console.log(performance.now() - startMs)`

function duckMs(from: string, to: string): number {
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', duckProgram(from, to)], {
    cwd: new URL('..', import.meta.url),
    encoding: 'utf8',
  })
  return Number(out)
}

/** Posts a file; resolves when its rows are in a block. */
export function upload(node: BenchNode, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${node.token}`,
      'content-type': 'application/x-ndjson',
      prefer: 'wait=60',
    }
    const call = request(`${node.url}/acme/bulk/ingest`, { method: 'POST', headers }, (answer) => {
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

export async function measureBulk(): Promise<Measure[]> {
  const directory = makeDataDir()
  const body = join(directory, 'body.ndjson')
  await writeBody(body)
  const runs: { seconds: number; cpu: number; duck: number; held: number; peak: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const duck = duckMs(body, join(directory, 'copy.parquet')) / 1000
    // A node that has just started, as a user's who loads what he has.
    const node = await startBenchNode()
    await node.post('acme/bulk', bulkLine(0), { query: '?create=true', prefer: 'wait=30' })
    const before = cpuMicros(node.pid)
    let seconds = 0
    const { heldMs } = await watch(node, async () => {
      seconds = (await timeMs(() => upload(node, body))) / 1000
    })
    const cpu = (cpuMicros(node.pid) - before) / 1e6
    const counted = await node.query('select count(*) as n from "acme/bulk"')
    if (!JSON.stringify(counted).includes(String(bulkRows + 1))) fail('count', JSON.stringify(counted))
    runs.push({ seconds, cpu, duck, held: heldMs, peak: peakMiB(node.pid) })
    await node.remove()
  }
  rmSync(directory, { recursive: true })
  const of = (key: keyof (typeof runs)[number]): number => median(runs.map((run) => run[key]))
  const ratio = median(runs.map(({ seconds, duck }) => seconds / duck))
  const name = `${bulkRows.toLocaleString('en')} NDJSON rows at once`
  return [
    { name: `${name}, in a block`, value: of('seconds'), unit: 's' },
    { name: `${name}, CPU`, value: of('cpu'), unit: 's' },
    { name: `${name}, DuckDB's COPY`, value: of('duck'), unit: 's' },
    { name: `${name} / DuckDB's COPY`, value: ratio, unit: '×', bar: { most: 2 } },
    { name: `${name}, event loop`, value: of('held'), unit: 'ms', bar: { most: 50 } },
    { name: `${name}, peak memory`, value: of('peak'), unit: 'MiB', bar: { most: 700 } },
  ]
}
