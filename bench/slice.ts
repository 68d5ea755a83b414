// Slices and logical hashes at size: 1,000,000 rows of 9 columns. Ratios against hyparquet-writer and against plain
// SHA3-256 over the same bytes, all in this run. Usage: node bench/slice.ts [rows]

import { constants, zstdCompressSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { bitAt } from '../src/libraries/columnar/arrow/buffers.ts'
import { createColumnBuilder } from '../src/libraries/columnar/arrow/column-builder.ts'
import { sliceBatch } from '../src/libraries/columnar/arrow/columns.ts'
import { createLogicalHash } from '../src/libraries/columnar/arrow/logical-hash.ts'
import { sha3256 } from '../src/libraries/base/ids/native-crypto.ts'
import {
  type Column,
  defaultVocabulary,
  type Field,
  optional,
  type RecordBatch,
  systemFields,
} from '../src/libraries/model/schema.ts'
import { encodeSlice } from '../src/libraries/columnar/parquet/write-slice.ts'
import { appendText } from '../test/helpers/slices.ts'

const rows = Number(process.argv[2] ?? 1_000_000)
const batchRows = 8192
const fields: Field[] = [
  ...systemFields(defaultVocabulary),
  { name: 'city', type: optional({ kind: 'String' }) },
  { name: 'id', type: optional({ kind: 'Int64' }) },
  { name: 'price', type: optional({ kind: 'Float64' }) },
  { name: 'note', type: optional({ kind: 'String' }) },
  { name: 'ok', type: optional({ kind: 'Bool' }) },
]

// Deterministic pseudo-random numbers below 2^32 (xorshift).
let state = 2463534242
function random(): number {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return state >>> 0
}

const start = Date.parse('2026-01-01T00:00:00Z')
const builders = fields.map((field) => createColumnBuilder(field, rows))
for (let i = 0; i < rows; i++) {
  const note = random() % 5 === 0 ? null : `note ${random().toString(36)}${random().toString(36)}`
  const row = [
    i,
    0,
    start,
    start + 250 * i,
    `city ${random() % 8}`,
    random() * 1000,
    random() / 977,
    note,
    random() % 2 === 0,
  ]
  row.forEach((value, c) => {
    const builder = builders[c]!
    if (value === null) builder.appendNull()
    else if (typeof value === 'string') appendText(builder, value)
    else if (typeof value === 'boolean') builder.appendBool(value)
    else if (builder.type.kind === 'Int32') builder.appendInt32(value)
    else if (builder.type.kind === 'Float64') builder.appendFloat64(value)
    else builder.appendInt64(value)
  })
}
const whole: RecordBatch = { rows, columns: builders.map((builder) => builder.finish()) }
const batches: RecordBatch[] = []
for (let at = 0; at < rows; at += batchRows) batches.push(sliceBatch(whole, at, Math.min(rows, at + batchRows)))

const zstd = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } })

function best(runs: number, work: () => number): { ms: number; bytes: number } {
  let ms = Number.POSITIVE_INFINITY
  let bytes = 0
  for (let i = 0; i < runs; i++) {
    const from = performance.now()
    bytes = work()
    ms = Math.min(ms, performance.now() - from)
  }
  return { ms, bytes }
}

function writeOurs(): number {
  let bytes = 0
  for (const part of encodeSlice({ fields, compress: zstd }, batches)) bytes += part.length
  return bytes
}

const timestamp = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const
const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
const elements = [
  { type: 'INT64' },
  { type: 'INT32' },
  timestamp,
  timestamp,
  text,
  { type: 'INT64' },
  { type: 'DOUBLE' },
  text,
  { type: 'BOOLEAN' },
] as const

/** A file of the same columns: names, types, annotations, nullability, row groups. */
function writeTheirs(): number {
  return parquetWriteBuffer({
    schema: [
      { name: 'root', num_children: fields.length },
      ...fields.map(({ name }, i) => ({
        name,
        repetition_type: i < 4 ? ('REQUIRED' as const) : ('OPTIONAL' as const),
        ...elements[i]!,
      })),
    ],
    columnData: fields.map(({ name }, i) => ({ name, data: columns[i]! })),
    codec: 'ZSTD',
    compressors: { ZSTD: zstd },
    rowGroupSize: 131_072,
  }).byteLength
}

/** Bytes that the logical hash takes in, but for names and types. */
function hashedBytes(batch: RecordBatch): number {
  let total = 0
  for (const { type, nullCount, rows: count, offsets, values } of batch.columns) {
    if (offsets !== undefined) total += nullCount + 8 * (count - nullCount) + (offsets[count] ?? 0)
    else total += type.kind === 'Bool' ? count : values.length
  }
  return total
}

function valuesOf({ type, rows: count, values, offsets, validity }: Column): unknown[] {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  const decoder = new TextDecoder()
  return Array.from({ length: count }, (_, i) => {
    if (validity !== undefined && !bitAt(validity, i)) return null
    if (offsets !== undefined) return decoder.decode(values.subarray(offsets[i], offsets[i + 1]))
    if (type.kind === 'Bool') return bitAt(values, i)
    if (type.kind === 'Int32') return view.getInt32(4 * i, true)
    if (type.kind === 'Timestamp') return new Date(Number(view.getBigInt64(8 * i, true)))
    return type.kind === 'Float64' ? view.getFloat64(8 * i, true) : view.getBigInt64(8 * i, true)
  })
}

function hashRows(): number {
  const hash = createLogicalHash(fields)
  for (const batch of batches) hash.update(batch)
  return hash.digest().length
}

const plain = new Uint8Array(hashedBytes(whole))
const sha3 = best(5, () => sha3256(plain).length)
const logical = best(5, hashRows)
const ours = best(5, writeOurs)
// JavaScript values come last: nine million of them slow every garbage collection.
const columns = whole.columns.map(valuesOf)
const theirs = best(3, writeTheirs)
const report = {
  rows,
  sliceMs: Math.round(ours.ms),
  sliceBytes: ours.bytes,
  hyparquetWriterMs: Math.round(theirs.ms),
  hyparquetWriterBytes: theirs.bytes,
  sliceRatio: Number((ours.ms / theirs.ms).toFixed(3)),
  logicalHashMs: Math.round(logical.ms),
  sha3Ms: Math.round(sha3.ms),
  hashedBytes: plain.length,
  logicalHashRatio: Number((logical.ms / sha3.ms).toFixed(3)),
  maxRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
