// Rows of few and of many columns, in each format of ingest that node and features read record by record or as a file.

import { createColumnBuilder } from '../../src/libraries/columnar/arrow/column-builder.ts'
import { encodeArrowStream } from '../../src/libraries/columnar/arrow/ipc.ts'
import { encodeSlice } from '../../src/libraries/columnar/parquet/write-slice.ts'
import { concatBytes, utf8 } from '../../src/libraries/base/bytes.ts'
import { type Field, type RecordBatch, timestampMs } from '../../src/libraries/model/schema.ts'
import type { Body } from './small-node.ts'

export const manyColumns = 1900
const startMs = Date.parse('2026-01-01T00:00:00Z')
const names = Array.from({ length: manyColumns }, (_, i) => `c${i}`)

/** `some` of so many columns in each row, whole numbers of one digit. */
export interface Shape {
  readonly rows: number
  readonly columns: number
  readonly some: number
}

const timeAt = (row: number): string => new Date(startMs + 1000 * row).toISOString()

function* cells({ rows, columns, some }: Shape): Generator<readonly (readonly [name: string, digit: number])[]> {
  for (let row = 0; row < rows; row++)
    yield Array.from({ length: some }, (_, i) => [names[(row * some + i) % columns] ?? '', (row + i) % 10] as const)
}

function objects(shape: Shape): string[] {
  return [...cells(shape)].map((row, i) => {
    return `{"event_time":"${timeAt(i)}",${row.map(([name, digit]) => `"${name}":${digit}`).join(',')}}`
  })
}

function csv(shape: Shape): Uint8Array {
  const header = ['event_time', ...names.slice(0, shape.columns)].join(',')
  const rows = [...cells(shape)].map((row, i) => {
    const by = new Map(row)
    return [timeAt(i), ...names.slice(0, shape.columns).map((name) => by.get(name) ?? '')].join(',')
  })
  return utf8([header, ...rows, ''].join('\n'))
}

function lines(shape: Shape): Uint8Array {
  const all = [...cells(shape)].map((row, i) => {
    return `m ${row.map(([name, digit]) => `${name}=${digit}i`).join(',')} ${startMs + 1000 * i}000000\n`
  })
  return utf8(all.join(''))
}

function otlp(shape: Shape): Uint8Array {
  const records = [...cells(shape)].map((row, i) => {
    const attributes = row.map(([name, digit]) => `{"key":"${name}","value":{"intValue":"${digit}"}}`)
    return `{"timeUnixNano":"${startMs + 1000 * i}000000","attributes":[${attributes.join(',')}]}`
  })
  return utf8(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records.join(',')}]}]}]}`)
}

function geojson(shape: Shape): Uint8Array {
  const features = objects(shape).map((properties) => {
    return `{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":${properties}}`
  })
  return utf8(`{"type":"FeatureCollection","features":[${features.join(',')}]}`)
}

function table(shape: Shape): { readonly fields: Field[]; readonly batches: RecordBatch[] } {
  const optional = { kind: 'Option', inner: { kind: 'Int64' } } as const
  const fields: Field[] = [
    { name: 'event_time', type: timestampMs },
    ...names.slice(0, shape.columns).map((name) => ({ name, type: optional })),
  ]
  const builders = fields.map((field) => createColumnBuilder(field, shape.rows))
  const places = new Map(names.map((name, place) => [name, place + 1]))
  let at = 0
  for (const row of cells(shape)) {
    builders[0]?.appendInt64(startMs + 1000 * at)
    for (const [name, digit] of row) {
      const builder = builders[places.get(name) ?? 0]
      if (builder !== undefined && builder.rows < at) builder.appendNulls(at)
      builder?.appendInt64(digit)
    }
    at++
  }
  for (const builder of builders) if (builder.rows < at) builder.appendNulls(at)
  return { fields, batches: [{ rows: at, columns: builders.map((builder) => builder.finish()) }] }
}

/** Rows of a shape in each format of ingest, by its name. */
export function bodiesOf(shape: Shape): Record<string, Body> {
  const { fields, batches } = table(shape)
  return {
    ndjson: { type: 'application/x-ndjson', bytes: utf8(objects(shape).join('\n')) },
    json: { type: 'application/json', bytes: utf8(`[${objects(shape).join(',')}]`) },
    csv: { type: 'text/csv', bytes: csv(shape) },
    'line protocol': { type: 'text/x-line-protocol', bytes: lines(shape) },
    otlp: { type: 'application/x-otlp-logs+json', bytes: otlp({ ...shape, rows: Math.min(shape.rows, 500) }) },
    geojson: { type: 'application/geo+json', bytes: geojson(shape) },
    arrow: { type: 'application/vnd.apache.arrow.stream', bytes: encodeArrowStream(fields, batches) },
    parquet: { type: 'application/vnd.apache.parquet', bytes: concatBytes(encodeSlice({ fields }, batches)) },
  }
}
