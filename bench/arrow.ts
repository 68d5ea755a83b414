// The reader of Arrow bodies beside that of the same rows as NDJSON: rows per second. Run: node bench/arrow.ts

import { tableFromIPC, tableToIPC } from 'apache-arrow'
import { encodeArrowStream } from '../src/libraries/columnar/arrow/ipc.ts'
import { arrow } from '../src/libraries/formats/arrow/format.ts'
import { ndjson } from '../src/libraries/formats/json/format.ts'
import { must } from '../src/libraries/base/assert.ts'
import { type Limits, limitTable } from '../src/libraries/base/limits.ts'
import type { RecordBatch } from '../src/libraries/model/schema.ts'
import { reading, readingFields, readingOptions } from './readings.ts'

const rows = 200_000
const runs = 5
const chunkBytes = 64 * 1024

const options = readingOptions(readingFields)
// The table is the proof of the shape.
const limits = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as unknown as Limits

function ndjsonBody(): Uint8Array {
  return Buffer.from(Array.from({ length: rows }, (_, i) => JSON.stringify(reading(i))).join('\n'))
}

function readNdjson(body: Uint8Array, batches: RecordBatch[] = []): RecordBatch[] {
  const reader = ndjson.createReader(options)
  for (let at = 0; at < body.length; at += chunkBytes) reader.push(body.subarray(at, at + chunkBytes))
  batches.push(...reader.take(), ...reader.finish().batches)
  return batches
}

async function readArrow(body: Uint8Array): Promise<number> {
  const file = {
    bytes: body.length,
    at: async (start: number, end: number) => body.slice(start, end),
    demandCaller: () => {},
  }
  const reader = await arrow.openFile(file, { limits })
  let read = 0
  for await (const batch of reader.read(options)) read += batch.rows
  return read
}

async function rowsPerSecond(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs; run++) {
    const before = performance.now()
    await work()
    least = Math.min(least, performance.now() - before)
  }
  return (1000 * rows) / least
}

const lines = ndjsonBody()
const batches = readNdjson(lines)
const fields = must(batches[0], 'a batch').columns.map(({ name, type }) => ({
  name,
  type: { kind: 'Option', inner: type } as const,
}))
const stream = encodeArrowStream(fields, batches)
const file = tableToIPC(tableFromIPC(stream), 'file')
const base = await rowsPerSecond(() => readNdjson(lines))
for (const [name, body] of [
  ['stream', stream],
  ['file', file],
] as const) {
  const figure = await rowsPerSecond(() => readArrow(body))
  console.log(`Arrow ${name}: ${(figure / 1e6).toFixed(2)} M rows/s, ${(figure / base).toFixed(1)} × NDJSON`)
}
console.log(`NDJSON: ${(base / 1e6).toFixed(2)} M rows/s`)
