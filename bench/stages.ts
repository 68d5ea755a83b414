// The way of a record, stage by stage, in this process: read, encode for the log, append durably, decode and check,
// write as a slice, hash logically. One body of 100,000 NDJSON rows goes through all of them.

import { rmSync } from 'node:fs'
import { zstdCompressSync } from 'node:zlib'
import { constantColumn, int64RangeColumn, sliceBatch } from '../src/libraries/columnar/arrow/columns.ts'
import { ArrowStreamReader } from '../src/libraries/columnar/arrow/ipc-reader.ts'
import { encodeArrowStream } from '../src/libraries/columnar/arrow/ipc.ts'
import { createLogicalHash } from '../src/libraries/columnar/arrow/logical-hash.ts'
import { ndjson } from '../src/libraries/formats/json/format.ts'
import { must } from '../src/libraries/base/assert.ts'
import { systemClock } from '../src/libraries/base/clock.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { openFileLog } from '../src/node/log/file/file-log.ts'
import {
  defaultVocabulary,
  type Field,
  optional,
  type RecordBatch,
  systemFields,
  timestampMs,
} from '../src/libraries/model/schema.ts'
import { encodeSlice } from '../src/libraries/columnar/parquet/write-slice.ts'
import { makeDataDir } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'

const rows = 100_000
const rounds = 5
const partBytes = 512 * 1024
const pieceRows = 8192
const userFields: readonly Field[] = [
  { name: 'device', type: optional({ kind: 'String' }) },
  { name: 'k', type: optional({ kind: 'Int64' }) },
  { name: 'temp', type: optional({ kind: 'Float64' }) },
  { name: 'note', type: optional({ kind: 'String' }) },
]
const payloadFields: readonly Field[] = [{ name: 'event_time', type: timestampMs }, ...userFields]
const fields: readonly Field[] = [...systemFields(defaultVocabulary), ...userFields]

function makeBody(): Uint8Array {
  const lines: string[] = []
  for (let i = 0; i < rows; i++) {
    const at = new Date(1_772_000_000_000 + i * 250).toISOString()
    lines.push(
      `{"event_time":"${at}","device":"device-${i % 1000}","k":${i * 31},"temp":${((i * 7919) % 40_000) / 1000},"note":"reading ${i} of the run"}\n`,
    )
  }
  return Buffer.from(lines.join(''))
}

function readBody(body: Uint8Array): readonly RecordBatch[] {
  const reader = ndjson.createReader({
    fields: userFields,
    eventTimeType: timestampMs,
    vocabulary: defaultVocabulary,
    unknownFields: 'reject',
    recordBytes: 2 ** 24,
    jsonDepth: 64,
  })
  for (let at = 0; at < body.length; at += 2 ** 16) reader.push(body.subarray(at, at + 2 ** 16))
  return reader.finish().batches
}

/** With system columns, in pieces as the builder makes them. */
function fullBatches(batches: readonly RecordBatch[]): RecordBatch[] {
  const [offset, operation, systemTime] = fields
  const full: RecordBatch[] = []
  let first = 0
  for (const batch of batches) {
    for (let at = 0; at < batch.rows; at += pieceRows) {
      const piece = sliceBatch(batch, at, Math.min(batch.rows, at + pieceRows))
      const system = [
        int64RangeColumn(must(offset, 'offset').name, first, piece.rows),
        constantColumn(must(operation, 'op'), 0, piece.rows),
        constantColumn(must(systemTime, 'system time'), 1_772_000_000_000, piece.rows),
      ]
      full.push({ rows: piece.rows, columns: [...system, ...piece.columns] })
      first += piece.rows
    }
  }
  return full
}

function writeSlice(batches: readonly RecordBatch[]): number {
  const parts = encodeSlice({ fields, compress: (bytes) => zstdCompressSync(bytes) }, batches)
  return parts.reduce((sum, chunk) => sum + chunk.length, 0)
}

function hashRows(batches: readonly RecordBatch[]): void {
  const hash = createLogicalHash(fields)
  for (const batch of batches) hash.update(batch)
  hash.digest()
}

/** Each stage as rows/s and MB/s of what goes into it. */
export async function measureStages(): Promise<Measure[]> {
  const body = makeBody()
  const batches = readBody(body)
  const stream = encodeArrowStream(payloadFields, batches)
  const full = fullBatches(batches)
  const measures: Measure[] = []
  const stage = async (name: string, bytes: number, work: () => unknown): Promise<void> => {
    const times: number[] = []
    for (let i = 0; i < rounds; i++) times.push(await timeMs(async () => work()))
    const seconds = median(times) / 1000
    measures.push({ name: `${name}`, value: rows / seconds, unit: 'rows/s' })
    measures.push({ name: `${name}`, value: bytes / 1e6 / seconds, unit: 'MB/s' })
  }
  await stage('read NDJSON', body.length, () => readBody(body))
  await stage('encode Arrow', stream.length, () => encodeArrowStream(payloadFields, batches))
  await stage('decode and check Arrow', stream.length, () => new ArrowStreamReader().push(stream))
  await stage('write a slice', stream.length, () => writeSlice(full))
  await stage('hash rows logically', stream.length, () => hashRows(full))
  const directory = makeDataDir()
  const log = await openFileLog({ directory, clock: systemClock, logger: silentLogger })
  await stage('append to the log, durably', stream.length, async () => {
    for (let at = 0; at < stream.length; at += partBytes) await log.append(0, [stream.subarray(at, at + partBytes)])
  })
  await log.close()
  rmSync(directory, { recursive: true })
  return measures
}
