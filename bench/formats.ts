// The readers of text formats: rows and megabytes per second of CPU, the ratio to JSON.parse a line in the same run,
// and the cost of a body of one row. Run: node bench/formats.ts

import { csv } from '../src/libraries/formats/csv/format.ts'
import { json, ndjson } from '../src/libraries/formats/json/format.ts'
import { reading, readingFields, readingOptions } from './readings.ts'

type Format = 'csv' | 'json' | 'ndjson'

const rows = 200_000
const chunkBytes = 64 * 1024
const runs = 5

const options = readingOptions(readingFields)

function bodies(): Record<Format, Uint8Array> {
  const records = Array.from({ length: rows }, (_, i) => reading(i))
  const lines = records.map((row) => JSON.stringify(row))
  const csv = records.map((row) => Object.values(row).join(','))
  const header = Object.keys(records[0] ?? {}).join(',')
  return {
    ndjson: Buffer.from(lines.join('\n')),
    json: Buffer.from(`[${lines.join(',')}]`),
    csv: Buffer.from([header, ...csv].join('\n')),
  }
}

function read(format: Format, body: Uint8Array): number {
  const reader = { csv, json, ndjson }[format].createReader(options)
  for (let at = 0; at < body.length; at += chunkBytes) reader.push(body.subarray(at, at + chunkBytes))
  return reader.finish().records
}

function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const spent = process.cpuUsage(before)
  return (spent.user + spent.system) / 1e6
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

export interface StageFigure {
  readonly name: string
  readonly rowsPerSecond: number
  readonly megabytesPerSecond: number
}

function measure(name: string, bytes: number, work: () => void): StageFigure {
  work()
  const seconds = median(Array.from({ length: runs }, () => cpuSeconds(work)))
  return { name, rowsPerSecond: rows / seconds, megabytesPerSecond: bytes / 1e6 / seconds }
}

/** Microseconds of CPU for a body of one row, reader construction included. */
export function singleRowMicroseconds(): number {
  const body = Buffer.from(JSON.stringify(reading(1)))
  const posts = 50_000
  const work = (): void => {
    for (let i = 0; i < posts; i++) read('ndjson', body)
  }
  work()
  return (median(Array.from({ length: runs }, () => cpuSeconds(work))) / posts) * 1e6
}

/** Figures of each format, then of JSON.parse a line as the yardstick. */
export function formatFigures(): StageFigure[] {
  const made = bodies()
  const formats: readonly Format[] = ['ndjson', 'json', 'csv']
  const figures = formats.map((format) => measure(format, made[format].length, () => void read(format, made[format])))
  const text = Buffer.from(made.ndjson)
  const parse = measure('JSON.parse per line', text.length, () => {
    for (const line of text.toString('utf8').split('\n')) JSON.parse(line)
  })
  return [...figures, parse]
}

if (process.argv[1] === import.meta.filename) {
  for (const { name, rowsPerSecond, megabytesPerSecond } of formatFigures()) {
    process.stdout.write(
      `${name.padEnd(22)} ${Math.round(rowsPerSecond)} rows/s ${megabytesPerSecond.toFixed(0)} MB/s\n`,
    )
  }
  process.stdout.write(`${'body of one row'.padEnd(22)} ${singleRowMicroseconds().toFixed(1)} µs\n`)
}
