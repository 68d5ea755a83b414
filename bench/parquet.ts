// Reading Parquet files beside the same rows as NDJSON, and beside hyparquet: rows per second of CPU, and ratios in one
// run. The files are DuckDB's, of a million rows of eight columns: numbers, a time, two texts of few values; the last one
// has texts of many values too. Run: node bench/parquet.ts

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetRead } from 'hyparquet'
import type { BodyFile } from '../src/libraries/columnar/body-file.ts'
import type { ReaderOptions } from '../src/libraries/formats/format.ts'
import { openParquet } from '../src/libraries/formats/parquet/format.ts'
import { libraryFormats } from '../src/libraries/formats/registry.ts'
import { limitTable } from '../src/libraries/base/limits.ts'
import type { Field } from '../src/libraries/model/schema.ts'
import { field, readingOptions } from './readings.ts'

const rows = 1_000_000
const runs = 5
const chunkBytes = 64 * 1024
const limits = { columns: limitTable.columns.value, recordBytes: limitTable.recordBytes.value, inflatedRatio: 200 }

const fields: readonly Field[] = [
  field('id', { kind: 'Int64' }),
  field('count', { kind: 'Int32' }),
  field('level', { kind: 'Float64' }),
  field('share', { kind: 'Float32' }),
  field('ok', { kind: 'Bool' }),
  field('device', { kind: 'String' }),
  field('status', { kind: 'String' }),
]
const free = field('note', { kind: 'String' })

const select = `
  select i as id, (hash(i) % 2000000)::int - 1000000 as count, (hash(i * 7) % 1000000007) / 1e4 as level,
    ((hash(i * 3) % 65536) / 256)::float as share, case when hash(i) % 10 = 0 then null else hash(i) % 3 = 0 end as ok,
    'device-' || hash(i * 11) % 200 as device, ['ok', 'warn', 'error', 'offline'][1 + (hash(i * 13) % 4)::int] as status`

interface Files {
  readonly snappy: Uint8Array
  readonly zstd: Uint8Array
  readonly texts: Uint8Array
  readonly ndjson: Uint8Array
  readonly textsNdjson: Uint8Array
}

async function makeFiles(): Promise<Files> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-parquet-'))
  const instance = await DuckDBInstance.create(':memory:')
  try {
    const connection = await instance.connect()
    await connection.run("set timezone = 'UTC'")
    const copy = async (name: string, what: string, options: string): Promise<Uint8Array> => {
      await connection.run(`copy (${what} from range(${rows}) t(i)) to '${join(folder, name)}' (${options})`)
      return new Uint8Array(readFileSync(join(folder, name)))
    }
    const time = 'make_timestamptz(1704067200000000 + i * 1000) as event_time'
    const text = "strftime(make_timestamp(1704067200000000 + i * 1000), '%Y-%m-%dT%H:%M:%S.%gZ') as event_time"
    const note = "'note ' || i * 7919 % 1000003 || ' of the series' as note"
    return {
      snappy: await copy('a', `${select}, ${time}`, 'format parquet, codec snappy'),
      zstd: await copy('b', `${select}, ${time}`, 'format parquet, codec zstd'),
      texts: await copy('c', `${select}, ${time}, ${note}`, 'format parquet, codec snappy'),
      ndjson: await copy('d', `${select}, ${text}`, 'format json'),
      textsNdjson: await copy('e', `${select}, ${text}, ${note}`, 'format json'),
    }
  } finally {
    instance.closeSync()
    rmSync(folder, { recursive: true })
  }
}

function bodyOf(bytes: Uint8Array): BodyFile {
  // oxlint-disable-next-line require-await -- a port: other bodies lie in files
  return { bytes: bytes.length, at: async (start, end) => bytes.subarray(start, end), demandCaller: () => {} }
}

async function readOurs(bytes: Uint8Array): Promise<void> {
  const file = await openParquet(bodyOf(bytes), { limits })
  let seen = 0
  for await (const batch of file.batches(file.fields.map((_, i) => i))) seen += batch.rows
  if (seen !== rows) throw new Error(`${seen} rows`)
}

/** As ingest does: columns matched and cast to the dataset's types. */
async function readAsIngest(bytes: Uint8Array, options: ReaderOptions): Promise<void> {
  const format = await libraryFormats.named('parquet').load()
  if (format.kind !== 'file') throw new Error('Parquet is a file')
  const reader = await format.openFile(bodyOf(bytes), { limits: valuesOf(limitTable) })
  let seen = 0
  for await (const batch of reader.read(options)) seen += batch.rows
  if (seen !== rows) throw new Error(`${seen} rows`)
}

function valuesOf<K extends string>(table: Readonly<Record<K, { readonly value: number }>>): Record<K, number> {
  const names = Object.keys(table) as K[]
  return Object.fromEntries(names.map((name) => [name, table[name].value])) as Record<K, number>
}

async function readNdjson(bytes: Uint8Array, options: ReaderOptions): Promise<void> {
  const format = await libraryFormats.named('ndjson').load()
  if (format.kind !== 'stream') throw new Error('NDJSON is a stream')
  const reader = format.createReader(options)
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    reader.push(bytes.subarray(at, at + chunkBytes))
    reader.take()
  }
  if (reader.finish().records !== rows) throw new Error('other rows')
}

async function readHyparquet(bytes: Uint8Array): Promise<void> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
  const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) }
  let seen = 0
  await parquetRead({ file, compressors, utf8: false, onChunk: ({ columnData }) => void (seen += columnData.length) })
  if (seen === 0) throw new Error('no rows')
}

async function cpuSeconds(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

async function rowsPerSecond(work: () => Promise<void>): Promise<number> {
  const seconds: number[] = []
  for (let run = 0; run <= runs; run++) seconds.push(await cpuSeconds(work))
  // The first compiles.
  return rows / (seconds.slice(1).toSorted((a, b) => a - b)[runs >> 1] ?? Number.NaN)
}

const files = await makeFiles()
const options = readingOptions(fields)
const textOptions = readingOptions([...fields, free])
const works: readonly [string, Uint8Array, () => Promise<void>][] = [
  ['NDJSON', files.ndjson, () => readNdjson(files.ndjson, options)],
  ['Parquet snappy, reader', files.snappy, () => readOurs(files.snappy)],
  ['Parquet snappy, as ingest', files.snappy, () => readAsIngest(files.snappy, options)],
  ['Parquet snappy, hyparquet', files.snappy, () => readHyparquet(files.snappy)],
  ['Parquet zstd, reader', files.zstd, () => readOurs(files.zstd)],
  ['Parquet zstd, as ingest', files.zstd, () => readAsIngest(files.zstd, options)],
  ['NDJSON with texts', files.textsNdjson, () => readNdjson(files.textsNdjson, textOptions)],
  ['Parquet with texts, as ingest', files.texts, () => readAsIngest(files.texts, textOptions)],
]
let ndjson = 0
for (const [name, bytes, work] of works) {
  const rate = await rowsPerSecond(work)
  if (name.startsWith('NDJSON')) ndjson = rate
  const shown = `${(rate / 1e6).toFixed(2)} M rows/s of CPU, ${(rate / ndjson).toFixed(1)} x NDJSON`
  console.log(`${name.padEnd(32)} ${(bytes.length / 1e6).toFixed(0).padStart(4)} MB  ${shown}`)
}
